"""Followed files that change between and during runs, on Spark: every row once."""

from __future__ import annotations

import json

from tests.spark.test_runs import followed
from tests.spark.valley import STREAM, readings

EVERY = STREAM + "CREATE QUERY every AS SELECT station, at, temperature FROM weather;"
COLUMNS = ("station", "at", "x", "y", "temperature", "humidity", "wind")


def csv(rows: list[dict[str, object]], *, header: bool = False) -> str:
    lines = [",".join("" if row[name] is None else str(row[name]) for name in COLUMNS) for row in rows]
    return "\n".join([",".join(COLUMNS)] * header + lines) + "\n"


def in_order(count: int) -> list[dict[str, object]]:
    return sorted(readings(count, 5), key=lambda row: str(row["at"]))


def times(told: list[tuple]) -> list[str]:
    return sorted(json.loads(row[3])["at"] for row in told if row[0] == "answer")


def codes(told: list[tuple]) -> list[str]:
    return sorted(json.loads(row[3])["reason"].partition(":")[0] for row in told if row[0] == "bad")


def test_rows_that_are_added_to_a_csv_file_that_was_read_are_read_exactly_once(spark, tmp_path) -> None:
    rows = in_order(90)
    path = tmp_path / "in" / "a.csv"
    path.parent.mkdir()
    path.write_text(csv(rows[:30], header=True))
    inputs = {"weather": [str(path.parent)]}
    told = followed(spark, EVERY, inputs, tmp_path / "c", once=True)
    with path.open("a") as file:
        file.write(csv(rows[30:60]))
    told += followed(spark, EVERY, inputs, tmp_path / "c", once=True)
    with path.open("a") as file:
        file.write(csv(rows[60:])[:-1])
    told += followed(spark, EVERY, inputs, tmp_path / "c", ends=True)
    assert times(told) == sorted(str(row["at"]) for row in rows)
    assert {row[0] for row in told} == {"answer"}
