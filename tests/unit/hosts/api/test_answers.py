"""The face of answers: tables in one order and of plain types, pictures that say what came of the run, and words for what is not there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headwater as hw
from tests.unit.hosts.api.frost import BAD, COLUMNS, FROST, TEXT, frame


@pytest.fixture(scope="module")
def answers() -> hw.Answers:
    return hw.run(TEXT, {"weather": frame()}, engine="local")


def test_answers_are_a_mapping_of_queries(answers: hw.Answers) -> None:
    assert (list(answers), len(answers), answers.queries, answers.engine) == (
        ["frost", "cold"],
        2,
        ("frost", "cold"),
        "local",
    )
    assert "frost" in answers
    assert [len(table) for table in dict(answers).values()] == [2, 2]
    with pytest.raises(hw.HeadwaterError) as refused:
        answers["frst"]
    assert (refused.value.code, refused.value.advice) == (
        "unknown-query",
        ("known queries: cold, frost", "did you mean 'frost'?"),
    )


def test_a_table_has_plain_types_and_is_in_the_order_of_time(answers: hw.Answers) -> None:
    table = answers["frost"].to_arrow()
    assert table.schema == pa.schema(
        [
            ("query", pa.string()),
            ("event_time", pa.timestamp("us", "UTC")),
            ("match_id", pa.string()),
            ("station", pa.string()),
            ("temperature", pa.float64()),
            ("humidity", pa.float64()),
        ]
    )
    assert table.column_names == list(answers["frost"].columns)
    assert table["event_time"].to_pylist() == [
        datetime(2026, 1, 31, 6, 0, 5, tzinfo=UTC),
        datetime(2026, 1, 31, 6, 0, 20, tzinfo=UTC),
    ]
    assert pa.table(answers["frost"]) == table, "Arrow's interface, which Polars and DuckDB use"


def test_pandas_gets_its_own_types_and_types_with_nulls_where_there_are_any() -> None:
    text = """
    CREATE STREAM s (at TIMESTAMP TIME, n BIGINT, ok BOOLEAN, all_there BIGINT, x DOUBLE, name STRING);
    CREATE QUERY q AS SELECT n, ok, all_there, x, name FROM s WHERE x IS NULL OR x > 0;
    """
    rows = pa.table(
        {
            "at": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"],
            "n": [2**62 + 1, None],
            "ok": [True, None],
            "all_there": [1, 2],
            "x": [0.5, None],
            "name": ["a", None],
        }
    )
    frame = hw.run(text, {"s": rows})["q"].to_pandas()
    assert {name: str(kind) for name, kind in frame.dtypes.items()} == {
        "query": "object",
        "event_time": "datetime64[us, UTC]",
        "match_id": "object",
        "n": "Int64",
        "ok": "boolean",
        "all_there": "int64",
        "x": "float64",
        "name": "object",
    }
    assert frame["n"][0] == 2**62 + 1
    assert frame["n"].isna().tolist() == [False, True]


def test_rows_are_read_by_name(answers: hw.Answers) -> None:
    rows = list(answers["frost"])
    assert [(row.station, row["temperature"], row.humidity) for row in rows] == FROST
    assert list(dict(rows[0])) == ["query", "event_time", "match_id", "station", "temperature", "humidity"]
    with pytest.raises(AttributeError, match="the row has no column 'wind'; its columns: query, event_time"):
        _ = rows[0].wind
    with pytest.raises(KeyError):
        rows[0]["wind"]
    assert repr(rows[0]).startswith(
        "AnswerRow(query='frost', event_time=datetime.datetime(2026, 1, 31, 6, 0, 5"
    )


def test_what_became_of_the_rows(answers: hw.Answers) -> None:
    assert [dict(row) for row in answers.bad] == [BAD]
    assert len(answers.late) == 0
    assert answers.late.columns == ("stream", "row")
    assert {row.name: row.amount for row in answers.counts}["rows"] == 5
    lines = answers.summary().splitlines()
    assert lines[0].startswith("read      5 rows, ")
    assert lines[1:] == [
        "answers   4: frost 2, cold 2",
        "bad       1 row",
        "          missing-time 1, first row 3 of weather: column 'at' is empty",
    ]
    assert repr(answers.summary()) == str(answers.summary()), "shown without quotes"


def test_all_answers_together_are_those_of_the_command_line(answers: hw.Answers) -> None:
    told = [(row.query, json.loads(row.answer)) for row in answers.all()]
    assert [query for query, _ in told] == ["cold", "frost", "cold", "frost"]
    assert all(list(answer)[:3] == ["query", "event_time", "match_id"] for _, answer in told)


def test_pictures_for_a_terminal(answers: hw.Answers) -> None:
    assert repr(answers["frost"]).splitlines() == [
        'answers["frost"]: 2 rows',
        "event_time            station  temperature  humidity",
        "────────────────────  ───────  ───────────  ────────",
        "2026-01-31T06:00:05Z  meadow          -1.5      85.0",
        "2026-01-31T06:00:20Z  meadow          -2.0      85.0",
        "1 row could not be used: answers.bad",
    ]
    assert repr(answers).splitlines() == [
        "answers of the local engine",
        "read      5 rows",
        "answers   4: frost 2, cold 2",
        "bad       1 row",
        "          missing-time 1, first row 3 of weather: column 'at' is empty",
    ]
    assert repr(answers.late) == "answers.late: 0 rows"


def test_pictures_for_a_notebook(answers: hw.Answers) -> None:
    picture = answers["frost"]._repr_html_()
    assert "<th>station</th><th>temperature</th>" in picture
    assert '<td style="text-align: right">-1.5</td>' in picture
    assert "1 row could not be used: answers.bad" in picture
    assert "match_id" not in picture
    whole = answers._repr_html_()
    assert '<td style="text-align: left">frost</td><td style="text-align: right">2</td>' in whole
    assert "missing-time 1, first row 3 of weather" in whole


def test_a_picture_shows_few_rows_of_many_and_escapes_what_stands_in_them() -> None:
    text = "CREATE STREAM s (at TIMESTAMP TIME, x STRING); CREATE QUERY q AS SELECT x FROM s WHERE x <> '';"
    rows = pd.DataFrame({"at": range(30), "x": "<b>\x1b[1m"})
    table = hw.run(text, {"s": rows})["q"]
    assert table._repr_html_().count("&lt;b&gt;\\x1b[1m") == 20
    assert repr(table).splitlines()[-1] == '… 10 more: answers["q"].to_pandas() has all'


def test_what_was_there_on_a_dataframe_is_named(answers: hw.Answers) -> None:
    with pytest.raises(
        AttributeError,
        match=r'an AnswerTable has no \'orderBy\': answers\["frost"\]\.df is a DataFrame of Spark\'s',
    ):
        answers["frost"].orderBy("event_time")
    with pytest.raises(TypeError, match=r'answers\["frost"\]\.to_pandas\(\)\[\'station\'\]'):
        answers["frost"]["station"]
    with pytest.raises(AttributeError, match=r'the answers of one query are answers\["frost"\] or'):
        _ = answers.frost
    with pytest.raises(hw.HeadwaterError) as refused:
        _ = answers["frost"].df
    assert refused.value.code == "no-spark-dataframe"
    assert refused.value.advice[0] == "use .to_pandas() or .to_arrow()"


def test_a_query_without_answers_has_its_columns() -> None:
    empty = hw.run(TEXT, {"weather": frame().iloc[:0]})["frost"]
    assert (len(empty), empty.to_arrow().schema.names) == (0, list(empty.columns))
    assert repr(empty) == 'answers["frost"]: 0 rows'
    assert empty.to_pandas().empty


def test_numbers_that_json_cannot_say_are_null() -> None:
    text = "CREATE STREAM s (at TIMESTAMP TIME, x DOUBLE); CREATE QUERY q AS SELECT x * 1e308 AS y FROM s WHERE x > 0;"
    table = hw.run(text, {"s": pd.DataFrame({"at": [0], "x": [1e10]})})["q"]
    assert table.to_arrow()["y"].to_pylist() == [None]


def test_everything_is_written_at_once(answers: hw.Answers, tmp_path: Path) -> None:
    assert answers.write(tmp_path / "out", bad=tmp_path / "bad", late=tmp_path / "late") is None
    lines = (tmp_path / "out" / "answers-00000000.jsonl").read_text().splitlines()
    assert [json.loads(line)["query"] for line in lines] == ["cold", "frost", "cold", "frost"]
    (bad,) = (tmp_path / "bad" / "bad-00000000.jsonl").read_text().splitlines()
    assert json.loads(bad)["line"] == 3
    assert not list((tmp_path / "late").glob("*.jsonl"))
    answers.write(tmp_path / "all.parquet", bad=tmp_path / "bad.csv")
    assert pq.read_table(tmp_path / "all.parquet").num_rows == 4
    assert (tmp_path / "bad.csv").read_text().splitlines()[0] == "stream,file,line,reason,text"
    got: list[tuple[int, int]] = []
    answers.write(lambda batch, number: got.append((number, len(batch["frost"]))))
    assert got == [(0, 2)]


def test_answers_may_be_released_and_stay(answers: hw.Answers) -> None:
    with hw.run(TEXT, {"weather": frame()[COLUMNS]}) as given:
        assert len(given["frost"]) == 2
    assert len(given["frost"]) == 2
