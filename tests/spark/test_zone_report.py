"""What a zone tells, as bytes and as the table. No Spark is started."""

from __future__ import annotations

import pyarrow as pa

from headwater.hosts.spark.zone_report import REPORT, ZoneReport, as_table, table_of, unpacked
from headwater.hosts.zone import StepOutput
from headwater.model import Column, ColumnType, Rows, strings

ANSWERS = Rows.of(
    {
        "query": strings(["q", "r"]),
        "event_time": Column.of(ColumnType.TIMESTAMP, [1_000_000, 2_500_000]),
        "match_id": Column.of(ColumnType.ID, ["0" * 32, "f" * 32]),
        "heat": Column.of(ColumnType.DOUBLE, [1.5, None]),
    }
)
LATE = Rows.of({"heat": Column.of(ColumnType.DOUBLE, [7.0])})
FULL_REPORT = ZoneReport(
    StepOutput((ANSWERS,), {"weather": LATE}, {}, {"held:weather": 0, "limit_cuts": 3}), None, 12
)


def test_what_is_packed_comes_back() -> None:
    again = unpacked(FULL_REPORT.packed())
    assert [rows.tolist() for rows in again.output.answers] == [ANSWERS.tolist()]
    assert {name: rows.tolist() for name, rows in again.output.late.items()} == {"weather": [{"heat": 7.0}]}
    assert (again.output.given_up, again.bad, again.seen) == ({}, None, 12)
    assert again.output.counts == {"held:weather": 0, "limit_cuts": 3}


def test_the_table_has_a_row_for_everything_reported() -> None:
    table = table_of([FULL_REPORT])
    assert table.select(["kind", "name", "body", "amount"]).to_pylist() == [
        {"kind": "answer", "name": "q", "body": _body("q", "01", "0", "1.5"), "amount": None},
        {"kind": "answer", "name": "r", "body": _body("r", "02.500000", "f", "null"), "amount": None},
        {"kind": "late", "name": "weather", "body": '{"heat": 7.0}', "amount": None},
        {"kind": "count", "name": "rows", "body": None, "amount": 12},
        {"kind": "count", "name": "held:weather", "body": None, "amount": 0},
        {"kind": "count", "name": "limit_cuts", "body": None, "amount": 3},
    ]
    assert table["match_id"].to_pylist()[:2] == ["0" * 32, "f" * 32]
    assert [at.timestamp() for at in table["event_time"].to_pylist()[:2]] == [1.0, 2.5]


def test_workers_make_the_same_table() -> None:
    packed = pa.record_batch({REPORT.split()[0]: [FULL_REPORT.packed(), FULL_REPORT.packed()]})
    bodies = pa.Table.from_batches(as_table(iter([packed])))["body"]
    assert bodies.to_pylist() == table_of([FULL_REPORT, FULL_REPORT])["body"].to_pylist()


def _body(query: str, seconds: str, digit: str, heat: str) -> str:
    return f'{{"query": "{query}", "event_time": "1970-01-01T00:00:{seconds}Z", "match_id": "{digit * 32}", "heat": {heat}}}'
