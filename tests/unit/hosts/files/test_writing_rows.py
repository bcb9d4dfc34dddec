from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater.hosts.files import check_output, json_lines, open_output, rows_from_arrow, rows_to_arrow
from headwater.hosts.files.json_lines import rows_from_json
from headwater.hosts.files.row_outputs import united
from headwater.model import Column, ColumnType, DataError, HostError, Rows, format_instant, strings

SIX = 1_769_839_200_000_000


def ids(*names: str) -> Column:
    return Column(ColumnType.ID, np.array([name.rjust(32, "0").encode() for name in names], "S32"))


FROST = Rows.of(
    {
        "query": strings(["frost", "frost", "frost"]),
        "event_time": Column.of(ColumnType.TIMESTAMP, [SIX + 5, SIX, SIX + 2_000_000]),
        "match_id": ids("a", "b", "c"),
        "value": Column.of(ColumnType.DOUBLE, [1.5, None, -3.0]),
        "name": strings(['say "hi", é', None, ""]),
        "wet": Column.of(ColumnType.BOOLEAN, [True, None, False]),
    }
)
COUNTS = Rows.of(
    {
        "query": strings(["counts"]),
        "event_time": Column.of(ColumnType.TIMESTAMP, [SIX]),
        "match_id": ids("d"),
        "value": Column.of(ColumnType.BIGINT, [7]),
        "name": Column.of(ColumnType.BIGINT, [8]),
    }
)
LINES = [
    '{"query": "counts", "event_time": "2026-01-31T06:00:00Z", "match_id": "0000000000000000000000000000000d", "value": 7, "name": 8}',
    '{"query": "frost", "event_time": "2026-01-31T06:00:00Z", "match_id": "0000000000000000000000000000000b", "value": null, "name": null, "wet": null}',
    '{"query": "frost", "event_time": "2026-01-31T06:00:00.000005Z", "match_id": "0000000000000000000000000000000a", "value": 1.5, "name": "say \\"hi\\", é", "wet": true}',
    '{"query": "frost", "event_time": "2026-01-31T06:00:02Z", "match_id": "0000000000000000000000000000000c", "value": -3.0, "name": "", "wet": false}',
]


def write(path: str, blocks: list[Rows]) -> None:
    output = open_output(path, [rows.types for rows in blocks])
    output.write(blocks)
    output.close()


def test_json_lines_are_in_order_and_have_each_query_s_own_columns(tmp_path):
    write(str(tmp_path / "answers.jsonl"), [FROST, COUNTS])
    assert (tmp_path / "answers.jsonl").read_text().splitlines() == LINES


def test_csv_has_the_columns_of_all_queries(tmp_path):
    write(str(tmp_path / "answers.csv"), [FROST, COUNTS])
    assert (tmp_path / "answers.csv").read_text().splitlines() == [
        "query,event_time,match_id,value,name,wet",
        "counts,2026-01-31T06:00:00Z,0000000000000000000000000000000d,7,8,",
        "frost,2026-01-31T06:00:00Z,0000000000000000000000000000000b,,,",
        'frost,2026-01-31T06:00:00.000005Z,0000000000000000000000000000000a,1.5,"say ""hi"", é",true',
        'frost,2026-01-31T06:00:02Z,0000000000000000000000000000000c,-3.0,"",false',
    ]


def test_parquet_has_typed_columns(tmp_path):
    write(str(tmp_path / "answers.parquet"), [FROST, COUNTS])
    table = pq.read_table(tmp_path / "answers.parquet")
    assert table.schema.types == [
        pa.string(), pa.timestamp("us", "UTC"), pa.string(), pa.float64(), pa.string(), pa.bool_(),
    ]  # fmt: skip
    assert table["value"].to_pylist() == [7.0, None, 1.5, -3.0]
    assert table["name"].to_pylist() == ["8", None, 'say "hi", é', ""]
    assert table["event_time"].cast(pa.int64()).to_pylist() == [SIX, SIX, SIX + 5, SIX + 2_000_000]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_file_is_there_when_it_is_complete_and_not_before(tmp_path, ending):
    path = tmp_path / f"answers.{ending}"
    path.write_text("before")
    output = open_output(str(path), [FROST.types])
    output.write([FROST])
    assert path.read_text() == "before"
    output.discard()
    assert [item.name for item in tmp_path.iterdir()] == [path.name]
    write(str(path), [FROST])
    assert [item.name for item in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() != b"before"


def test_columns_of_different_types_are_united():
    double, bigint, text = ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.STRING
    assert united([{"a": bigint, "b": bigint}, {"b": double, "c": text}, {"a": text}]) == {
        "a": text,
        "b": double,
        "c": text,
    }


def test_an_output_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    with pytest.raises(DataError, match="the format to write is not known for"):
        check_output(str(tmp_path / "answers.xml"))
    with pytest.raises(DataError, match="there is no folder"):
        check_output(str(tmp_path / "none" / "answers.csv"))


def test_a_file_that_cannot_be_written_is_reported_in_words(tmp_path):
    (tmp_path / "answers.csv").mkdir()
    output = open_output(str(tmp_path / "answers.csv"), [FROST.types])
    output.write([FROST])
    with pytest.raises(HostError) as caught:
        output.close()
    assert (caught.value.code, str(caught.value)) == (
        "cannot-write",
        f"error[cannot-write]: cannot write '{tmp_path / 'answers.csv'}': Is a directory",
    )
    output.discard()
    assert [item.name for item in tmp_path.iterdir()] == ["answers.csv"]


@example([0.0, -0.0, 1e10, 10000000000.5, 9999999999.5, 1e15, 1e16, 1e-4, 9.999e-5, 1e22])
@settings(deadline=None)
@given(st.lists(st.floats() | st.integers(-(10**17), 10**17).map(float) | st.none(), min_size=1))
def test_numbers_are_written_as_python_writes_them(values):
    rows = Rows.of({"v": Column.of(ColumnType.DOUBLE, values)})
    finite = [value if value is not None and math.isfinite(value) else None for value in values]
    assert json_lines(rows).to_pylist() == [json.dumps({"v": value}) for value in finite]


@settings(deadline=None)
@given(st.lists(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), min_size=1))
def test_instants_are_written_as_the_model_writes_them(instants):
    rows = Rows.of({"at": Column.of(ColumnType.TIMESTAMP, instants)})
    assert json_lines(rows).to_pylist() == [json.dumps({"at": format_instant(at)}) for at in instants]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.lists(
    st.tuples(
        st.none() | TEXTS,
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.booleans(),
        st.none() | st.integers(-(10**16), 10**17),
    )
)
TYPES = {
    "s": ColumnType.STRING,
    "d": ColumnType.DOUBLE,
    "n": ColumnType.BIGINT,
    "b": ColumnType.BOOLEAN,
    "t": ColumnType.TIMESTAMP,
}


@settings(deadline=None)
@given(ROWS)
def test_rows_come_back_from_arrow_and_from_json_as_they_were(items):
    columns = list(zip(*items, strict=True)) if items else [()] * len(TYPES)
    rows = Rows.of(
        {name: Column.of(kind, values) for (name, kind), values in zip(TYPES.items(), columns, strict=True)}
    )
    assert rows_from_arrow(rows_to_arrow(rows), TYPES).tolist() == rows.tolist()
    back = rows_from_json(json_lines(rows), TYPES)
    assert back.tolist() == rows.tolist()
    assert all(json.loads(line) is not None for line in json_lines(rows).to_pylist())
