"""Whatever a file holds: no exception, every row good or bad, and the same rows however it is cut into blocks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.hosts.files import json_files, read_file_rows
from headwater.hosts.files.csv_files import read_csv
from headwater.hosts.files.file_rows import FILE_REASONS, FileRequest
from headwater.hosts.files.json_files import read_json_lines
from tests.unit.hosts.files.made_files import ALL, HEADER, WEATHER

CSV_WORDS = [
    b",", b"\n", b"\r\n", b"\r", b'"', b'""', b"1", b"-1.5e3", b"2026-01-31", b"2026-01-31T06:00:00Z", b"x", b"\xff", b"\xc3\xa9",
    b"\xef\xbb\xbf", b" ", b";", b"nan", b"0x1F", b"true", b"s1,2026-01-31T06:00:00Z,1,2,3,4,true\n", HEADER.encode(),
]  # fmt: skip
JSON_WORDS = [
    b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\n", b" ", b"null", b"true", b"NaN", b"Inf", b"1", b"-", b'"at"', b'"count"',
    b'"2026-01-31"', b"\xff", b"\\ud800", b'{"at": 1}\n', b'{"at": null}\n', b'{"station": "a", "at": "2026-01-31", "lon": 1.5}\n', b"null\n",
]  # fmt: skip


def content(words: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(words) | st.binary(max_size=3), max_size=40).map(b"".join)


def everything(pieces):
    good, bad = [], []
    for piece in pieces:
        assert piece.seen == piece.rows.count + sum(
            reason.partition(":")[0] not in FILE_REASONS for reason in piece.bad["reason"].tolist()
        )
        good += piece.rows.tolist()
        bad += piece.bad.tolist()
    return good, bad


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("any")


@settings(max_examples=150, deadline=None)
@given(data=content(CSV_WORDS), header=st.booleans(), limit=st.sampled_from([16, 60, 1 << 20]))
def test_any_bytes_as_csv(folder, data, header, limit):
    path = folder / "any.csv"
    path.write_bytes((HEADER.encode() if header else b"") + data)
    request = FileRequest(str(path), WEATHER, ALL)
    whole = everything(read_csv(request, piece_rows=1000, limit=limit))
    assert everything(read_csv(request, piece_rows=1, limit=limit)) == whole
    assert everything(read_csv(request, piece_rows=3, block_bytes=16, limit=limit)) == whole


@settings(max_examples=150, deadline=None)
@given(data=content(JSON_WORDS), limit=st.sampled_from([16, 60, 1 << 20]))
def test_any_bytes_as_json_lines(folder, data, limit):
    path = folder / "any.jsonl"
    path.write_bytes(data)
    request = FileRequest(str(path), WEATHER, ALL)
    whole = everything(read_json_lines(request, piece_rows=1000, limit=limit))
    assert everything(read_json_lines(request, piece_rows=3, block_bytes=16, limit=limit)) == whole
    before = json_files.ONE_BY_ONE
    try:
        json_files.ONE_BY_ONE = 1  # Arrow's reader wherever it may be used
        assert everything(read_json_lines(request, piece_rows=1000, limit=limit)) == whole
    finally:
        json_files.ONE_BY_ONE = before


@settings(max_examples=50, deadline=None)
@given(
    data=st.binary(max_size=200), ending=st.sampled_from(["csv", "csv.gz", "jsonl", "jsonl.gz", "parquet"])
)
def test_any_bytes_at_all(folder, data, ending):
    path = folder / f"random.{ending}"
    path.write_bytes(data)
    everything(read_file_rows(str(path), WEATHER, ALL))


CELLS = st.text("0123456789+-.eExXTZ: naifty\t", max_size=12) | st.sampled_from(
    [
        "2026-01-31T06:00:00Z",
        "2026-01-31 06:00",
        "2026-01-31T06:00:00+0130",
        "1e400",
        "-0",
        "inf",
        "-nan",
        "0x1F",
        "true",
        "9" * 19,
    ]
)


@settings(max_examples=300, deadline=None)
@given(cells=st.tuples(CELLS, CELLS, CELLS, CELLS))
def test_a_row_is_judged_alone_as_beside_a_bad_one(folder, cells):
    """Arrow's typed reader takes nothing that the language of cells does not take, and gives the same values."""
    names = ("at", "temperature", "count", "dry")
    line = ",".join(cells) + "\n"
    results = []
    for more in ("", "soon,warm,many,maybe\n"):
        path = folder / "cells.csv"
        path.write_text(",".join(names) + "\n" + line + more)
        results.append(everything(read_file_rows(str(path), WEATHER, names)))
    (good, bad), (good_beside, bad_beside) = results
    assert good == good_beside
    assert bad == [entry for entry in bad_beside if entry["text"] != "soon,warm,many,maybe"]
