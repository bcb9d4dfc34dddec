from __future__ import annotations

import gzip

import pytest

from headwater.hosts.files.csv_files import read_csv
from headwater.hosts.files.file_rows import FileRequest
from tests.unit.hosts.files.made_files import ALL, HEADER, SECOND, SIX, WEATHER, read, reasons, written

GOOD = "s1,2026-01-31T06:00:00Z,7.1,45.8,-1.5,3,true\n"
GOOD_ROW = {"station": "s1", "at": SIX, "lon": 7.1, "lat": 45.8, "temperature": -1.5, "count": 3, "dry": True}


@pytest.mark.parametrize("name", ["w.csv", "w.csv.gz", "W.CSV"])
def test_a_csv_file_gives_typed_rows_and_empty_cells_are_null(tmp_path, name):
    good, bad = read(written(tmp_path, name, HEADER + GOOD + ",2026-01-31 06:00:01.5Z,,,,,\n"))
    assert good == [GOOD_ROW, dict.fromkeys(ALL) | {"at": SIX + 1_500_000}]
    assert bad == []


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_the_delimiter_is_the_one_that_finds_the_columns(tmp_path, delimiter):
    good, bad = read(written(tmp_path, "w.csv", (HEADER + GOOD).replace(",", delimiter)))
    assert (good, bad) == ([GOOD_ROW], [])


def test_only_the_columns_that_are_read_must_exist_and_in_any_order(tmp_path):
    path = written(tmp_path, "w.csv", "x,temperature,at\nnonsense,1,2026-01-31\n")
    assert read(path, ("at", "temperature")) == ([{"at": SIX - 6 * 3600 * SECOND, "temperature": 1.0}], [])


def test_a_repeated_column_matters_only_if_it_is_read(tmp_path):
    path = written(tmp_path, "w.csv", "x,x,at\n1,2,2026-01-31T06:00Z\n")
    assert read(path, ("at",)) == ([{"at": SIX}], [])
    twice = written(tmp_path, "v.csv", "at,at\n1,2\n")
    assert reasons(read(twice, ("at",))[1]) == [(1, "repeated-column: the header has 'at' 2 times")]


def test_quotes_byte_order_mark_and_line_ends(tmp_path):
    text = '\ufeff"station",at\r\n"a,""b""",2026-01-31T06:00:00Z\r\n\r\n"two\nlines",2026-01-31T06:00:01Z\rlast,soon'
    good, bad = read(written(tmp_path, "w.csv", text), ("station", "at"))
    assert good == [{"station": 'a,"b"', "at": SIX}, {"station": "two\nlines", "at": SIX + SECOND}]
    assert bad == [(6, "bad-time: 'soon' is not a timestamp (column 'at')", "last,soon")]


def test_every_kind_of_bad_row_has_its_line_reason_and_text(tmp_path):
    lines = [
        (HEADER.encode(), None),
        (GOOD.encode(), None),
        (b"s1,soon,7,45,1,1,true\n", "bad-time: 'soon' is not a timestamp (column 'at')"),
        (b"s1,,7,45,1,1,true\n", "missing-time: column 'at' is empty"),
        (b"s1,2026-02-30,7,45,1,1,true\n", "bad-time: '2026-02-30' is not a timestamp (column 'at')"),
        (b"s1,2026-01-31,7,45,warm,1,true\n", "bad-number: 'warm' is not a number (column 'temperature')"),
        (b"s1,2026-01-31,7,45,NaN,1,true\n", "not-finite: 'NaN' (column 'temperature')"),
        (b"s1,2026-01-31,7,45,1e400,1,true\n", "not-finite: '1e400' (column 'temperature')"),
        (
            b"s1,2026-01-31,7,45,1,1.5,true\n",
            "bad-number: '1.5' is not a 64-bit integer (column 'count')",
        ),
        (
            b"s1,2026-01-31,7,45,1,9223372036854775808,true\n",
            "bad-number: '9223372036854775808' is not a 64-bit integer (column 'count')",
        ),
        (b"s1,2026-01-31,7,45,1,1,maybe\n", "bad-boolean: 'maybe' is neither true nor false (column 'dry')"),
        (
            b"s1,2026-01-31,181,45,1,1,true\n",
            "place-out-of-range: 181.0 is not within ±180 degrees (column 'lon')",
        ),
        (
            b"s1,2026-01-31,7,-90.5,1,1,true\n",
            "place-out-of-range: -90.5 is not within ±90 degrees (column 'lat')",
        ),
        (b"s1,2026-01-31,7,45\n", "ragged-line: 4 cells, the header has 7"),
        (b"s\xff1,2026-01-31,7,45,1,1,true\n", "broken-utf8: byte 0xff at position 2"),
        (GOOD.encode(), None),
    ]
    path = written(tmp_path, "w.csv", b"".join(line for line, _ in lines))
    good, bad = read(path)
    assert good == [GOOD_ROW, GOOD_ROW]
    expected = [(number, reason) for number, (_, reason) in enumerate(lines, 1) if reason]
    assert reasons(bad) == expected
    assert bad[0][2] == "s1,soon,7,45,1,1,true"
    assert bad[-1][2] == "s\\xff1,2026-01-31,7,45,1,1,true"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", 0, "empty-file: the file is empty, without a header"),
        ("\n\n", 0, "empty-file: the file is empty, without a header"),
        (GOOD, 1, "no-header: the first line has no column of stream 'weather': " + GOOD[:-1]),
        (
            "at|temperature\n",
            1,
            "no-header: columns are separated by '|', but a comma, a semicolon or a tab is expected",
        ),
        (
            '{"at": 1, "temperature": 2}\n',
            1,
            "no-header: the first line is JSON: let the file's name end with .jsonl",
        ),
        ("x" * 99 + "\n", 1, f"no-header: the first line has no column of stream 'weather': {'x' * 60}…"),
        (
            "key,Temperature\n",
            1,
            "no-header: the first line has no column of stream 'weather': key,Temperature",
        ),
        ("at,temprature\n", 1, "missing-column: no column 'temperature'; did you mean 'temprature'?"),
        ("at,x\n", 1, "missing-column: no column 'temperature'; the header has at, x"),
        (
            "station,Temperature\n",
            1,
            "missing-column: no column 'at', nor 'temperature'; the header has station, Temperature",
        ),
        ("at,Temperature\n", 1, "missing-column: no column 'temperature'; did you mean 'Temperature'?"),
        (b"at,\xfftemperature\n", 1, "bad-header: byte 0xff at position 4"),
        (b"PAR1\x15\x04", 0, "other-format: the file is Parquet: let its name end with .parquet"),
        (
            b"\x1f\x8b\x08\x00",
            0,
            "other-format: the file is compressed with gzip: let its name end with .gz, as in .csv.gz",
        ),
        (
            b"PK\x03\x04xl",
            0,
            "other-format: the file is a ZIP archive or a spreadsheet: unpack it, or export it as CSV",
        ),
        ("at,temperature\n".encode("utf-16"), 0, "not-utf8: the file is UTF-16: save it as UTF-8"),
    ],
)
def test_trouble_with_the_whole_file_is_one_bad_entry(tmp_path, content, line, reason):
    assert reasons(read(written(tmp_path, "w.csv", content), ("at", "temperature"))[1]) == [(line, reason)]


def test_a_header_alone_is_a_file_without_rows(tmp_path):
    assert read(written(tmp_path, "w.csv", HEADER)) == ([], [])


@pytest.mark.parametrize(
    ("cell", "instant"),
    [
        ("2026-01-31", SIX - 6 * 3600 * SECOND),
        ("2026-01-31 06", SIX),
        ("2026-01-31T06:00", SIX),
        ("2026-01-31T06:00:00", SIX),
        (" 2026-01-31T06:00:00Z ", SIX),
        ("2026-01-31t06:00:00z", SIX),
        ("2026-01-31T07:30:00+0130", SIX),
        ("2026-01-31T07:30:00 +01:30", SIX),
        ("2026-01-31T04:00:00.25-02", SIX + 250_000),
        ('"2026-01-31T06:00:00,5"', SIX + 500_000),
        ("2026-01-31T06:00:00.123456789Z", SIX + 123_456),
        ("1769839200", SIX),
        ("1769839200.75", SIX + 750_000),
        ("-0.5", -500_000),
        ("0001-01-01", -62_135_596_800 * SECOND),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_800 * SECOND - 1),
    ],
)
def test_an_instant_is_iso_8601_or_seconds_since_1970(tmp_path, cell, instant):
    # Beside a row that Arrow's own reader takes, and beside one that nobody takes: the value is the same.
    for other in ("2026-01-31", "soon"):
        good, _ = read(written(tmp_path, "w.csv", f"at,x\n{cell},1\n{other},1\n"), ("at",))
        assert good[0] == {"at": instant}


@pytest.mark.parametrize(
    "cell", ["1769839200000", "20260131", "10000-01-01", "0000-12-31", "2026-01-31T25:00", "2026-1-1"]
)
def test_what_is_not_an_instant_is_a_bad_row_and_milliseconds_are_not_guessed(tmp_path, cell):
    good, bad = read(written(tmp_path, "w.csv", f"at,x\n{cell},1\n"), ("at",))
    if cell == "20260131":  # a plain number is seconds, whatever it looks like
        assert (good, bad) == ([{"at": 20_260_131 * SECOND}], [])
    else:
        assert reasons(bad) == [(2, f"bad-time: '{cell}' is not a timestamp (column 'at')")]


def test_a_number_in_hex_is_bad_whatever_stands_beside_it(tmp_path):
    path = written(tmp_path, "w.csv", "at,count\n1,0x10\n2,+7\n")
    good, bad = read(path, ("at", "count"))
    assert good == [{"at": 2 * SECOND, "count": 7}]
    assert reasons(bad) == [(2, "bad-number: '0x10' is not a 64-bit integer (column 'count')")]


def test_a_stray_quote_costs_one_line(tmp_path):
    good, bad = read(written(tmp_path, "w.csv", 'station,at\na,1\n"b,2\nc,3\n'), ("station", "at"))
    assert good == [{"station": "a", "at": SECOND}, {"station": "c", "at": 3 * SECOND}]
    assert bad == [(3, "open-quote: a quoted cell is never closed", '"b,2')]


def test_a_line_without_end_costs_one_line(tmp_path):
    path = written(tmp_path, "w.csv", f"station,at\na,1\n{'x' * 500},2\nc,3\n")
    request = FileRequest(path, WEATHER, ("station", "at"))
    pieces = list(read_csv(request, piece_rows=10, block_bytes=64, limit=100))
    assert [row for piece in pieces for row in piece.rows.tolist()] == [
        {"station": "a", "at": SECOND},
        {"station": "c", "at": 3 * SECOND},
    ]
    bad = [row for piece in pieces for row in piece.bad.tolist()]
    assert [(row["line"], row["reason"], row["text"]) for row in bad] == [
        (3, "line-too-long: a line may have 1,048,576 bytes", "x" * 100)
    ]


def test_lines_are_counted_through_blocks_and_quoted_line_ends(tmp_path):
    rows = [f'"st\n{number}",{number if number % 40 else "soon"}\n' for number in range(1, 200)]
    path = written(tmp_path, "w.csv", "station,at\n" + "".join(rows))
    request = FileRequest(path, WEATHER, ("station", "at"))
    pieces = list(read_csv(request, piece_rows=7, block_bytes=64))
    assert sum(piece.rows.count for piece in pieces) == 195
    assert [line for piece in pieces for line in piece.bad["line"].tolist()] == [
        2 * n for n in (40, 80, 120, 160)
    ]
    assert next(text for piece in pieces for text in piece.bad["text"].tolist()) == '"st\n40",soon'


def test_a_torn_gzip_file_gives_what_came_before_and_says_so(tmp_path):
    whole = gzip.compress(("at,x\n" + "1,1\n" * 400_000).encode(), 0)
    path = tmp_path / "w.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    request = FileRequest(str(path), WEATHER, ("at",))
    pieces = list(read_csv(request, piece_rows=65_536, block_bytes=1 << 16))
    assert sum(piece.rows.count for piece in pieces) > 100_000
    assert pieces[-1].bad["reason"].tolist() == [
        "unreadable-file: Compressed file ended before the end-of-stream marker was reached"
    ]


def test_pieces_are_no_larger_than_requested(tmp_path):
    path = written(tmp_path, "w.csv", "at,x\n" + "1,1\n" * 1000)
    request = FileRequest(path, WEATHER, ("at",))
    assert [piece.seen for piece in read_csv(request, piece_rows=300)] == [250, 250, 250, 250]
