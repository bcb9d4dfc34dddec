from __future__ import annotations

import json

import pyarrow as pa

from headwater.apps.cli.sparking import told_by_table
from headwater.query.plan import compile_text

PLAN = compile_text(
    "CREATE STREAM weather (at TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT a FROM weather;"
)


def test_bad_rows_come_in_the_order_of_their_files_and_lines():
    places = [("b.csv", 2), ("a.csv", 10), ("a.csv", 9), ("b.csv", 1)]
    bodies = [
        json.dumps({"stream": "weather", "file": file, "line": line, "reason": "bad-time: x", "text": ""})
        for file, line in places
    ]
    table = pa.table(
        {
            "kind": ["bad"] * 4,
            "name": ["weather"] * 4,
            "amount": pa.nulls(4, pa.int64()),
            "body": bodies,
        }
    )
    bad = told_by_table(PLAN, table).bad
    assert list(zip(bad["file"].tolist(), bad["line"].tolist(), strict=True)) == sorted(places)
