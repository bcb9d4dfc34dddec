"""What is each input of `hw.run`: files, a table in memory, or a DataFrame of Spark's?

| Given | Is |
|---|---|
| a path, a folder, a pattern, or several in a list | files, as `--input` takes them |
| a DataFrame of pandas | a table: NaN is NULL, the index is no column |
| anything with `__arrow_c_stream__`: a table of Arrow, Polars, DuckDB | a table: NaN stays a number that is not finite, a bad row |
| a DataFrame of Spark, static or streaming | itself |

Anything else is refused in words. Only the columns that queries read are looked at. No library is imported to find out what something is:
whoever made it has imported it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import pyarrow as pa

from headwater.model import DataError

EXAMPLE: Final = 'hw.run(text, {"weather": df})'

_KINDS: Final = "a pandas, Arrow, Polars or Spark DataFrame, or the path of a file, folder or pattern"


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """A DataFrame of Spark's."""

    frame: Any


Source: TypeAlias = tuple[str, ...] | pa.Table | SparkFrame
"""Files, a table in memory or a DataFrame of Spark's."""


def is_spark_frame(value: Any) -> bool:
    """Whether it is a DataFrame of Spark's."""
    known = sys.modules.get("pyspark.sql")
    return known is not None and isinstance(value, known.DataFrame)


def check_mapping(inputs: Any, streams: Sequence[str]) -> None:
    """Refuse inputs that have no names; `streams` are the names there are."""
    if not isinstance(inputs, Mapping):
        name = streams[0] if streams else "weather"
        raise DataError(
            "wrong-input",
            f"inputs must be a dict with the names of streams, not {_called(inputs)}",
            advice=[f'name the stream: hw.run(text, {{"{name}": df}})'],
        )


def source_of(name: str, value: Any, columns: Sequence[str], time: str | None) -> Source:
    """What the input `name` is; `columns` of it are read, of which `time` is the time, if it is a stream's."""
    if is_spark_frame(value):
        return SparkFrame(value)
    if isinstance(value, str | os.PathLike):
        return (_path(name, value),)
    if isinstance(value, list | tuple):
        return _paths(name, value)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        return _table_of_pandas(name, value, columns, time)
    if hasattr(value, "__arrow_c_stream__"):
        return _table_of_arrow(name, value)
    raise _refused(name, value)


def _path(name: str, value: Any) -> str:
    path = os.fspath(value)
    if not isinstance(path, str):
        raise _refused(name, value)
    return path


def _paths(name: str, values: Sequence[Any]) -> tuple[str, ...]:
    if not values:
        raise DataError("wrong-input", f"the input of '{name}' is an empty list", advice=[f"pass {_KINDS}"])
    for value in values:
        if not isinstance(value, str | os.PathLike):
            raise DataError(
                "wrong-input",
                f"the input of '{name}' is a list with {_called(value)}: a list may only have paths",
                advice=["join tables first: pandas.concat([…]), or make one: pandas.DataFrame(rows)"],
            )
    return tuple(_path(name, value) for value in values)


def _table_of_pandas(name: str, frame: Any, columns: Sequence[str], time: str | None) -> pa.Table:
    arrays, names = [], []
    labels = list(frame.columns)
    for column in columns:
        found = [place for place, label in enumerate(labels) if label == column]
        _refuse_index(name, frame, column, found, is_time=column == time)
        for place in found:
            names.append(column)
            arrays.append(_array(name, column, frame.iloc[:, place]))
    table = pa.table(arrays, names=names) if arrays else pa.table({})
    # Of columns that are missing, the message names those that are there.
    others = {str(label): pa.nulls(len(frame)) for label in labels if label not in names}
    for other, nothing in others.items():
        table = table.append_column(other, nothing)
    return table


def _array(name: str, column: str, series: Any) -> pa.Array:
    try:
        array = pa.Array.from_pandas(series)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as fault:
        kinds = dict.fromkeys(type(item).__name__ for item in series.dropna().head(10_000))
        raise DataError(
            "column-type",
            f"column '{column}' of the table for '{name}' cannot be read: its values are {', '.join(kinds)}",
            stream=name,
            advice=[f"convert it first: df['{column}'] = pandas.to_numeric(df['{column}'], errors='coerce')"],
        ) from fault
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _refuse_index(name: str, frame: Any, column: str, found: Sequence[int], *, is_time: bool) -> None:
    """Refuse a frame whose index is what should be a column."""
    index = frame.index
    unnamed_time = is_time and list(index.names) == [None] and str(index.dtype).startswith("datetime64")
    if found or not (column in index.names or unnamed_time):
        return
    reset = f"df.reset_index(names='{column}')" if unnamed_time else "df.reset_index()"
    raise DataError(
        "missing-column",
        f"the table for '{name}' has '{column}' as its index, not as a column"
        if not unnamed_time
        else f"the table for '{name}' has no column '{column}': its times are its index",
        stream=name,
        advice=[f"make the index a column: {reset}"],
    )


def _table_of_arrow(name: str, value: Any) -> pa.Table:
    try:
        return value if isinstance(value, pa.Table) else pa.RecordBatchReader.from_stream(value).read_all()
    except (pa.ArrowException, TypeError, ValueError) as fault:
        raise _refused(name, value) from fault


def _refused(name: str, value: Any) -> DataError:
    module = type(value).__module__
    advice = [f"pass {_KINDS}: {EXAMPLE}"]
    if module.startswith("pyspark.pandas"):
        advice = ["make it a DataFrame of Spark's: df.to_spark()"]
    elif module.startswith("polars") and hasattr(value, "collect"):
        advice = ["compute it first: df.collect()"]
    elif type(value).__name__ == "Series":
        advice = ["make it a table: series.reset_index(), or series.to_frame()"]
    elif isinstance(value, Mapping):
        advice = ["make it a table: pandas.DataFrame(…)"]
    elif module.startswith("pyspark"):
        advice = ["make it a DataFrame: spark.createDataFrame(…)"]
    return DataError(
        "wrong-input",
        f"the input of '{name}' is {_called(value)}, which is no table and no path",
        advice=advice,
    )


def _called(value: Any) -> str:
    """A value by its type: 'None', 'a dict', 'a pandas.DataFrame'."""
    if value is None:
        return "None"
    kind = type(value)
    room = kind.__module__.partition(".")[0]
    named = kind.__qualname__ if room == "builtins" else f"{room}.{kind.__qualname__}"
    return f"{'an' if named[0] in 'aeiouAEIOU' else 'a'} {named}"
