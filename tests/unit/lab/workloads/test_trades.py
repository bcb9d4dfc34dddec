"""Recorded trades are read as they stand, in New York's time, and refused whole when they are something else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from headwater.model import format_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.trades import TRADES_TEXT, read_trades

LINES = "34200000,1815200,100,N,1,0\n34200000,1815100,200,P,1,0\n34200007,1815150,1,D,20000020,1\n"


def zipped(folder: Path, text: str, name: str = "abc_20131007_trade.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w") as file:
        file.writestr("20131007_abc_Trade_Tick.csv", text)
    return folder / name


def test_a_day_of_trades(tmp_path) -> None:
    rows = read_trades(zipped(tmp_path, LINES))
    assert rows["symbol"].tolist() == ["ABC"] * 3
    assert [format_instant(at) for at in rows["at"].tolist()] == [
        "2013-10-07T13:30:00Z",
        "2013-10-07T13:30:00Z",
        "2013-10-07T13:30:00.007000Z",
    ]
    assert rows["number"].tolist() == [1, 2, 3]
    assert rows["price"].tolist() == [181.52, 181.51, 181.515]
    assert rows["size"].tolist() == [100, 200, 1]
    assert rows["exchange"].tolist() == ["N", "P", "D"]
    assert rows["condition"].tolist() == ["1", "1", "20000020"]
    assert rows["suspicious"].tolist() == [False, False, True]


def test_in_winter_new_york_is_five_hours_behind(tmp_path) -> None:
    rows = read_trades(zipped(tmp_path, LINES, "abc_20131209_trade.zip"))
    assert format_instant(rows["at"].tolist()[0]) == "2013-12-09T14:30:00Z"


def test_a_day_without_trades_has_no_rows(tmp_path) -> None:
    rows = read_trades(zipped(tmp_path, ""))
    assert rows.count == 0
    assert rows.types == read_trades(zipped(tmp_path, LINES)).types


def test_rows_are_those_of_the_stream_the_text_says(tmp_path) -> None:
    plan = compile_text(TRADES_TEXT + "CREATE QUERY q AS SELECT symbol FROM trades;")
    assert dict(plan.streams[0].columns) == read_trades(zipped(tmp_path, LINES)).types


@pytest.mark.parametrize(
    "line",
    ["34200000,1815200,100,N,1", "34200000,1815200,,N,1,0", "34200000,-5,100,N,1,0", "34200000,5,100,N,1,2"],
)
def test_a_line_that_is_not_a_trade_is_named(tmp_path, line) -> None:
    with pytest.raises(ValueError, match=r"abc_20131007_trade\.zip, line 4: .* are required"):
        read_trades(zipped(tmp_path, LINES + line + "\n"))


def test_a_file_whose_name_does_not_say_symbol_and_day_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="a name like"):
        read_trades(zipped(tmp_path, LINES, "trades.zip"))


def test_a_zip_holds_one_file(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "abc_20131007_trade.zip", "w"):
        pass
    with pytest.raises(ValueError, match="one CSV is required in it, not 0 files"):
        read_trades(tmp_path / "abc_20131007_trade.zip")
