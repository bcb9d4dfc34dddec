"""Everything that holds a table is taken, with the same answers; anything else is refused in words, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headwater as hw
from tests.unit.hosts.api.frost import BAD, FROST, ROWS, TEXT, frame


class Streamed:
    """A table of some library: all that is known of it is Arrow's interface."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def as_polars_has_it() -> Streamed:
    """Texts as views and as categories, as Polars gives them."""
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    station = pa.chunked_array([table["station"].combine_chunks().cast(pa.string_view())])
    return Streamed(table.set_column(0, "station", station))


TABLES: dict[str, Callable[[], Any]] = {
    "pandas": frame,
    "pandas with texts for times": lambda: pd.DataFrame(ROWS, columns=list(frame().columns)),
    "pandas with another index": lambda: frame().set_index(pd.Index([5, 5, 1, 9, 7])),
    "pandas with categories": lambda: frame().astype({"station": "category"}),
    "pandas on Arrow": lambda: frame().convert_dtypes(dtype_backend="pyarrow"),
    "pandas with further columns": lambda: frame().assign(mixed=[1, "a", None, [], {}], **{"a b": 1}),
    "an Arrow table": lambda: pa.Table.from_pandas(frame()),
    "a record batch": lambda: pa.RecordBatch.from_pandas(frame()),
    "a reader": lambda: pa.Table.from_pandas(frame()).to_reader(max_chunksize=2),
    "anything with Arrow's interface": as_polars_has_it,
}


@pytest.mark.parametrize("name", TABLES)
def test_every_table_gives_the_same_answers_and_the_same_bad_row(name: str) -> None:
    answers = hw.run(TEXT, {"weather": TABLES[name]()})
    assert [(row.station, row.temperature, row.humidity) for row in answers["frost"]] == FROST
    (bad,) = (dict(row) for row in answers.bad)
    assert {**bad, "text": None} == {**BAD, "text": None}


@pytest.mark.parametrize("how", ["a path", "a text", "a list", "a folder", "a pattern"])
def test_files_are_taken_as_on_the_command_line(how: str, tmp_path: Path) -> None:
    frame().iloc[:2].to_csv(tmp_path / "1.csv", index=False)
    frame().iloc[2:].to_parquet(tmp_path / "2.parquet", index=False)
    both = [tmp_path / "1.csv", tmp_path / "2.parquet"]
    given: Any = {
        "a path": tmp_path,
        "a text": str(tmp_path),
        "a list": both,
        "a folder": [tmp_path],
        "a pattern": f"{tmp_path}/*.*",
    }[how]
    answers = hw.run(TEXT, {"weather": given})
    assert [(row.station, row.temperature, row.humidity) for row in answers["frost"]] == FROST
    assert [(row.file, row.line) for row in answers.bad] == [(str(tmp_path / "2.parquet"), 1)]


def test_nan_of_pandas_is_null_and_nan_of_arrow_is_a_bad_row() -> None:
    text = "CREATE STREAM s (at TIMESTAMP TIME, x DOUBLE); CREATE QUERY q AS SELECT x FROM s WHERE x IS NULL OR x > 0;"
    times = pd.to_datetime(["2026-01-01", "2026-01-02"])
    of_pandas = hw.run(text, {"s": pd.DataFrame({"at": times, "x": [np.nan, 1.0]})})
    assert [row.x for row in of_pandas["q"]] == [None, 1.0]
    assert len(of_pandas.bad) == 0
    of_arrow = hw.run(text, {"s": pa.table({"at": pa.array(times), "x": pa.array([np.nan, 1.0])})})
    assert [row.x for row in of_arrow["q"]] == [1.0]
    assert [(row.line, row.reason) for row in of_arrow.bad] == [(1, "not-finite: 'nan' (column 'x')")]


def test_times_are_cut_to_microseconds_and_are_utc_without_a_zone() -> None:
    text = "CREATE STREAM s (at TIMESTAMP TIME, x DOUBLE); CREATE QUERY q AS SELECT at FROM s WHERE x > 0;"
    naive = pd.DataFrame({"at": pd.to_datetime(["2026-01-01T00:00:00.123456789"]), "x": [1.0]})
    zoned = naive.assign(at=pd.to_datetime(["2026-01-01T02:00:00.123456789+02:00"]))
    for given in (naive, zoned):
        (at,) = hw.run(text, {"s": given})["q"].to_arrow()["at"]
        assert at.value == pd.Timestamp("2026-01-01T00:00:00.123456Z").value // 1000


def test_points_and_fences_may_be_tables_and_files(tmp_path: Path) -> None:
    text = """
    CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
    CREATE FENCES yards (name STRING KEY);
    CREATE QUERY visits AS SELECT fence FROM cars FENCE (yards DETECT ENTER);
    """
    cars = pd.DataFrame(
        {"id": ["a", "a"], "at": ["2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"], "x": [9, 1], "y": [1, 1]}
    )
    yards = pd.DataFrame({"name": ["home"], "geometry": ["POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))"]})
    yards.to_csv(tmp_path / "yards.csv", index=False)
    for given in (yards, tmp_path / "yards.csv"):
        assert [row.fence for row in hw.run(text, {"cars": cars, "yards": given})["visits"]] == ["home"]
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(text, {"cars": cars, "yards": yards.rename(columns={"geometry": "shape"})})
    assert refused.value.code == "fences-table"
    bad = pd.concat([yards, yards.assign(geometry="POINT (0 0)", name="dot")])
    answers = hw.run(text, {"cars": cars, "yards": bad})
    assert [(row.stream, row.file, row.line, row.reason.partition(":")[0]) for row in answers.bad] == [
        ("yards", None, 2, "no-polygon")
    ]


def test_an_input_that_no_query_reads_is_not_looked_at() -> None:
    text = TEXT + "CREATE STREAM other (at TIMESTAMP TIME, x DOUBLE);"
    assert len(hw.run(text, {"weather": frame(), "other": object()})["frost"]) == 2


REFUSED: dict[str, tuple[Any, str, list[str]]] = {
    "no names": (
        frame(),
        "error[wrong-input]: inputs must be a dict with the names of streams, not a pandas.DataFrame",
        ['name the stream: hw.run(text, {"weather": df})'],
    ),
    "another name": (
        {"wether": frame()},
        "error[unknown-stream]: there is no stream named 'wether'",
        ["known streams: weather", "did you mean 'weather'?"],
    ),
    "nothing": (
        {},
        "error[no-input]: stream 'weather' has no input",
        ['give one: hw.run(text, {"weather": df})'],
    ),
    "a dict": (
        {"weather": {"at": []}},
        "error[wrong-input]: the input of 'weather' is a dict, which is no table and no path",
        ["make it a table: pandas.DataFrame(…)"],
    ),
    "None": (
        {"weather": None},
        "error[wrong-input]: the input of 'weather' is None, which is no table and no path",
        [
            'pass a pandas, Arrow, Polars or Spark DataFrame, or the path of a file, folder or pattern: hw.run(text, {"weather": df})'
        ],
    ),
    "a series": (
        {"weather": frame()["station"]},
        "error[wrong-input]: the input of 'weather' is a pandas.Series, which is no table and no path",
        ["make it a table: series.reset_index(), or series.to_frame()"],
    ),
    "a list of rows": (
        {"weather": [{"at": 1}]},
        "error[wrong-input]: the input of 'weather' is a list with a dict: a list may only have paths",
        ["join tables first: pandas.concat([…]), or make one: pandas.DataFrame(rows)"],
    ),
    "an empty list": (
        {"weather": []},
        "error[wrong-input]: the input of 'weather' is an empty list",
        ["pass a pandas, Arrow, Polars or Spark DataFrame, or the path of a file, folder or pattern"],
    ),
    "the time as index": (
        {"weather": frame().set_index("at")},
        "error[missing-column]: the table for 'weather' has 'at' as its index, not as a column",
        ["make the index a column: df.reset_index()"],
    ),
    "an index without a name": (
        {"weather": frame().drop(columns="at").set_index(frame()["at"].rename(None))},
        "error[missing-column]: the table for 'weather' has no column 'at': its times are its index",
        ["make the index a column: df.reset_index(names='at')"],
    ),
    "a column less": (
        {"weather": frame().rename(columns={"humidity": "humidty"})},
        "error[missing-column]: the table for 'weather' cannot be used: no column 'humidity'; did you mean 'humidty'?",
        ["the queries read its columns station, at, temperature, humidity"],
    ),
    "another type": (
        {"weather": frame().assign(humidity=True)},
        "error[column-type]: the table for 'weather' cannot be used: column 'humidity' is bool, the stream declares DOUBLE",
        ["the queries read its columns station, at, temperature, humidity"],
    ),
    "several types": (
        {"weather": frame().assign(humidity=[1.0, "x", None, 1, 2])},
        "error[column-type]: column 'humidity' of the table for 'weather' cannot be read: its values are float, str, int",
        ["convert it first: df['humidity'] = pandas.to_numeric(df['humidity'], errors='coerce')"],
    ),
    "a column twice": (
        {"weather": pd.concat([frame(), frame()[["humidity"]]], axis=1)},
        "error[repeated-column]: the table for 'weather' cannot be used: the table has 'humidity' 2 times",
        ["the queries read its columns station, at, temperature, humidity"],
    ),
    "no such file": (
        {"weather": "nowhere.csv"},
        "error[missing-input]: there is no file or folder 'nowhere.csv'",
        ["give a file, a folder or a pattern such as 'data/*.csv'"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_anything_else_is_refused_before_anything_runs(case: str) -> None:
    given, message, advice = REFUSED[case]
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(TEXT, given)
    assert str(refused.value).splitlines()[0] == message
    assert list(refused.value.advice) == advice


def test_a_file_that_cannot_be_used_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("station;at\n")
    with pytest.raises(hw.HeadwaterError) as refused:
        hw.run(TEXT, {"weather": tmp_path / "a.csv"})
    assert refused.value.code == "unusable-file"
    (tmp_path / "empty").mkdir()
    with pytest.raises(hw.HeadwaterError) as nothing:
        hw.run(TEXT, {"weather": tmp_path / "empty"})
    assert nothing.value.code == "no-files"
