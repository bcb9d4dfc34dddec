from __future__ import annotations

import json

import pyarrow as pa

from headwater.apps.cli.spark_runs import report_from_zones
from headwater.hosts.files import BAD_TYPES
from headwater.hosts.local import RunReport
from headwater.hosts.run_reports.spark_tables import report_from_table, with_listed_paths
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.hosts.zone import StepOutput
from headwater.model import Rows, strings
from headwater.query.planning.plan import compile_text

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
    bad = report_from_table(PLAN, table).bad
    assert list(zip(bad["file"].tolist(), bad["line"].tolist(), strict=True)) == sorted(places)


def test_what_zones_have_at_most_is_the_most_of_one_and_all_else_is_added_up():
    counts = [
        ("most_stored:q", 5),
        ("answers_cut", 2),
        ("most_stored:q", 9),
        ("answers_cut", 3),
        ("most_stored:q", 7),
    ]
    names, amounts = zip(*counts, strict=True)
    table = pa.table(
        {
            "kind": ["count"] * 5,
            "name": list(names),
            "amount": list(amounts),
            "body": pa.nulls(5, pa.string()),
        }
    )
    assert report_from_table(PLAN, table).counts == {"most_stored:q": 9, "answers_cut": 5}
    zones = [ZoneReport(StepOutput(counts=dict([one])), None, 0) for one in counts]
    assert report_from_zones(PLAN, zones).counts == {"most_stored:q": 9, "answers_cut": 5}


def test_files_are_named_as_they_were_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    files = [f"{tmp_path}/in/a.csv", f"{tmp_path}/b.csv", "/elsewhere/c.csv", f"{tmp_path}/inner/d.csv"]
    bad = Rows.of({name: strings(files) for name in BAD_TYPES})
    report = with_listed_paths(
        RunReport(bad=bad), {"weather": ["in", "./b.csv"], "other": [f"{tmp_path}/inner"]}
    )
    assert report.bad["file"].tolist() == [
        "in/a.csv",
        "./b.csv",
        "/elsewhere/c.csv",
        f"{tmp_path}/inner/d.csv",
    ]
    assert report.bad["text"].tolist() == files
    assert with_listed_paths(RunReport(), {"weather": ["in"]}).bad.count == 0
