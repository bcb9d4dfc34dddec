"""Followed files that change between and during runs, on Spark: every row once."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.spark.test_runs import followed
from tests.spark.valley import STREAM, readings

EVERY = STREAM + "CREATE QUERY every AS SELECT station, at, temperature FROM weather;"
COLUMNS = ("station", "at", "x", "y", "temperature", "humidity", "wind")


def csv(rows: list[dict[str, object]], *, header: bool = False) -> str:
    lines = [",".join("" if row[name] is None else str(row[name]) for name in COLUMNS) for row in rows]
    return "\n".join([",".join(COLUMNS)] * header + lines) + "\n"


def in_order(count: int) -> list[dict[str, object]]:
    return sorted(readings(count, 5), key=lambda row: str(row["at"]))


def times(rows_seen: list[tuple]) -> list[str]:
    return sorted(json.loads(row[3])["at"] for row in rows_seen if row[0] == "answer")


def codes(rows_seen: list[tuple]) -> list[str]:
    return sorted(json.loads(row[3])["reason"].partition(":")[0] for row in rows_seen if row[0] == "bad")


def test_rows_that_are_added_to_a_csv_file_that_was_read_are_read_exactly_once(spark, tmp_path) -> None:
    rows = in_order(90)
    path = tmp_path / "in" / "a.csv"
    path.parent.mkdir()
    path.write_text(csv(rows[:30], header=True))
    inputs = {"weather": [str(path.parent)]}
    rows_seen = followed(spark, EVERY, inputs, tmp_path / "c", once=True)
    with path.open("a") as file:
        file.write(csv(rows[30:60]))
    rows_seen += followed(spark, EVERY, inputs, tmp_path / "c", once=True)
    with path.open("a") as file:
        file.write(csv(rows[60:])[:-1])
    rows_seen += followed(spark, EVERY, inputs, tmp_path / "c", ends=True)
    assert times(rows_seen) == sorted(str(row["at"]) for row in rows)
    assert {row[0] for row in rows_seen} == {"answer"}


def test_an_input_that_was_moved_and_left_out_goes_on_and_lost_notes_are_refused(spark, tmp_path) -> None:
    rows = in_order(120)
    parts = {"north": rows[0::2], "south": rows[1::2]}
    for name, part in parts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text(csv(part[:20], header=True))
    both = [str(tmp_path / name) for name in parts]
    rows_seen = followed(spark, EVERY, {"weather": both}, tmp_path / "c", once=True)
    rows_seen += followed(spark, EVERY, {"weather": both[:1]}, tmp_path / "c", once=True)
    (tmp_path / "south").rename(tmp_path / "moved")
    for name, folder in (("north", "north"), ("south", "moved")):
        with (tmp_path / folder / "a.csv").open("a") as file:
            file.write(csv(parts[name][20:]))
    both = [str(tmp_path / "north"), str(tmp_path / "moved")]
    shutil.copytree(tmp_path / "c", tmp_path / "damaged")
    rows_seen += followed(spark, EVERY, {"weather": both}, tmp_path / "c", ends=True)
    assert times(rows_seen) == sorted(str(row["at"]) for row in rows)

    shutil.rmtree(tmp_path / "damaged" / "headwater" / "files")
    with pytest.raises(Exception, match="lines are missing"):
        followed(spark, EVERY, {"weather": both}, tmp_path / "damaged", ends=True)
