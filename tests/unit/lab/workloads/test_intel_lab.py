"""Recorded temperatures are read epoch by epoch and refused whole when they are something else."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from headwater.model import format_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.intel_lab import LAB_FILE, LAB_TEXT, MOTES, read_lab

DATA = Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[5] / "shared" / "data"))


def line(first: float) -> str:
    return " ".join(f"{first + number / 100:.2f}" for number in range(52)) + "\n"


def written(folder: Path, text: str) -> Path:
    (folder / "lab.txt").write_text(text)
    return folder / "lab.txt"


def test_one_row_for_each_mote_every_half_minute(tmp_path) -> None:
    rows = read_lab(written(tmp_path, line(18) + line(20) + line(22)), epochs=2)
    assert rows.count == 104
    assert rows["mote"].tolist() == list(MOTES) * 2
    assert (MOTES[3], MOTES[4], MOTES[-1], len(MOTES)) == (4, 6, 54, 52)
    assert [format_instant(rows["at"].tolist()[at]) for at in (0, 51, 52)] == [
        "2004-03-01T00:00:00Z",
        "2004-03-01T00:00:00Z",
        "2004-03-01T00:00:30Z",
    ]
    assert rows["temperature"].tolist()[50:54] == [18.5, 18.51, 20.0, 20.01]


def test_it_may_be_packed(tmp_path) -> None:
    (tmp_path / "lab.txt.gz").write_bytes(gzip.compress(line(18).encode()))
    assert read_lab(tmp_path / "lab.txt.gz").count == 52


def test_rows_are_those_of_the_stream_the_text_says(tmp_path) -> None:
    plan = compile_text(LAB_TEXT + "CREATE QUERY q AS SELECT mote FROM lab;")
    assert dict(plan.streams[0].columns) == read_lab(written(tmp_path, line(18))).types


@pytest.mark.parametrize(
    "wrong", ["18.0 19.0\n", line(18).replace("18.10", "warm"), line(18).replace("18.10", "inf")]
)
def test_a_line_that_is_something_else_is_named(tmp_path, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"lab\.txt, line 2: 52 temperatures are required"):
        read_lab(written(tmp_path, line(18) + wrong))


def test_an_empty_file_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="no temperatures"):
        read_lab(written(tmp_path, ""))


def test_the_recorded_days() -> None:
    if not (DATA / LAB_FILE).is_file():
        pytest.skip("the Intel lab temperatures are not there")
    rows = read_lab(DATA / LAB_FILE)
    assert rows.count == 52 * 14_400
    assert rows["temperature"].tolist()[:2] == [18.61, 19.04]
