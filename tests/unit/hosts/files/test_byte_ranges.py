"""A file that is read as it grows gives the rows of the whole file, with their lines; a read that fails is tried again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.hosts.files import ByteRange, byte_ranges
from headwater.hosts.files.line_ends import complete_csv, complete_json, count_line_ends
from headwater.hosts.files.text_blocks import ANY_LINE_END, LINE_FEED
from headwater.model import HostError
from tests.unit.hosts.files.made_files import WEATHER, read, written

COLUMNS = ("station", "at")
TIME = "2026-01-31T06:00:00Z"
CSV_PARTS = [f"a,{TIME}\n", f'"b ""c""\n d",{TIME}\r\n', f"e,{TIME}\r", "x,soon\n", '"', "\n", "\r", ",", "ü"]
JSON_PARTS = [f'{{"station": "a", "at": "{TIME}"}}\n', "{}\n", '{"at": 1}\r\n', "\n", '"', "{", "}", "ü"]


def grown(path: Path, data: bytes, cuts: Sequence[int]) -> tuple[list, list]:
    """Good rows and bad ones of a file that is looked at when it has grown to each of these sizes, and at last as a whole."""
    csv, start, line = path.suffix == ".csv", 0, 1
    good, bad = [], []
    for size in [*sorted(cuts), len(data)]:
        path.write_bytes(data[:size])
        file = os.open(path, os.O_RDONLY)
        complete = complete_csv(file, start, size, WEATHER.types) if csv else complete_json(file, start, size)
        stop = size if size == len(data) else complete
        if stop > start or size == len(data):
            rows, wrong = read(str(path), COLUMNS, byte_range=ByteRange(start, stop, line))
            good, bad = good + rows, bad + wrong
            line += count_line_ends(file, start, stop, ANY_LINE_END if csv else LINE_FEED)
            start = stop
        os.close(file)
    return good, bad


@pytest.mark.parametrize(
    ("name", "header", "parts"), [("a.csv", "station,at\n", CSV_PARTS), ("a.jsonl", "", JSON_PARTS)]
)
def test_any_growth_gives_the_rows_and_lines_of_the_whole(tmp_path_factory, name, header, parts) -> None:
    folder = tmp_path_factory.mktemp("grown")

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.sampled_from(parts), max_size=12), st.lists(st.floats(0, 1), max_size=4))
    def law(chosen: list[str], places: list[float]) -> None:
        data = (header + f"{parts[0]}" + "".join(chosen)).encode()
        cuts = [round(place * len(data)) for place in places]
        whole = read(written(folder, name, data), COLUMNS)
        assert grown(folder / name, data, cuts) == whole

    law()


def test_a_read_that_fails_for_a_moment_is_made_again(tmp_path, monkeypatch) -> None:
    path = written(tmp_path, "a.csv", f"station,at\na,{TIME}\n")
    really, failures = os.pread, [OSError(5, "Input/output error")] * 3

    def failing(*given: int) -> bytes:
        if failures:
            raise failures.pop()
        return really(*given)

    monkeypatch.setattr(byte_ranges.os, "pread", failing)
    monkeypatch.setattr(byte_ranges.time, "sleep", lambda _: None)
    assert len(read(path, COLUMNS, byte_range=ByteRange(0, 100))[0]) == 1
    assert failures == []


def test_a_file_that_cannot_be_read_ends_the_run_and_loses_nothing(tmp_path, monkeypatch) -> None:
    path = written(tmp_path, "a.csv", f"station,at\na,{TIME}\n")

    def closed(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(byte_ranges.os, "open", closed)
    monkeypatch.setattr(byte_ranges.time, "sleep", lambda _: None)
    with pytest.raises(HostError) as refusal:
        read(path, COLUMNS, byte_range=ByteRange(0, 100))
    assert str(refusal.value).splitlines() == [
        f"error[unreadable-input]: cannot read '{path}': Permission denied",
        "  nothing is lost: the next start with the same --checkpoint reads it again",
        "  if it should not be read at all, move it away first",
    ]
