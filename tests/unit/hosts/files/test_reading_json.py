from __future__ import annotations

import json

import pytest

from headwater.hosts.files import json_files
from headwater.hosts.files.file_rows import FileRequest
from headwater.hosts.files.json_files import read_json_lines
from tests.unit.hosts.files.made_files import ALL, SECOND, SIX, WEATHER, read, reasons, written

GOOD = '{"station": "s1", "at": "2026-01-31T06:00:00Z", "lon": 7.1, "lat": 45.8, "temperature": -1.5, "count": 3, "dry": true}\n'
GOOD_ROW = {"station": "s1", "at": SIX, "lon": 7.1, "lat": 45.8, "temperature": -1.5, "count": 3, "dry": True}


@pytest.mark.parametrize("name", ["w.jsonl", "w.ndjson", "w.json", "w.jsonl.gz", "w.json.gz"])
def test_json_lines_give_typed_rows_and_missing_fields_are_null(tmp_path, name):
    text = GOOD + '\r\n  {"at": 1769839201.5, "station": null, "more": [1, {"x": null}]}\r\n'
    good, bad = read(written(tmp_path, name, text))
    assert good == [GOOD_ROW, dict.fromkeys(ALL) | {"at": SIX + 1_500_000}]
    assert bad == []


BAD_LINES = [
    ("null", "bad-json: 'null' is not an object"),
    ("5", "bad-json: '5' is not an object"),
    ('{"at": 1} {"at": 2}', "bad-json: extra data"),
    ('{"at": 1', "bad-json: expecting ',' delimiter"),
    ('{"at": "soon"}', "bad-time: 'soon' is not a timestamp (column 'at')"),
    ('{"at": true}', "bad-time: 'true' is not a timestamp (column 'at')"),
    ('{"at": 1769839200000}', "bad-time: '1769839200000' is not a timestamp (column 'at')"),
    ('{"temperature": 1}', "missing-time: column 'at' is empty"),
    ('{"at": 1, "temperature": "1.5"}', """bad-number: '"1.5"' is not a number (column 'temperature')"""),
    ('{"at": 1, "temperature": true}', "bad-number: 'true' is not a number (column 'temperature')"),
    ('{"at": 1, "temperature": NaN}', "not-finite: 'nan' (column 'temperature')"),
    ('{"at": 1, "temperature": -Infinity}', "not-finite: '-inf' (column 'temperature')"),
    ('{"at": 1, "temperature": 1e400}', "not-finite: 'inf' (column 'temperature')"),
    ('{"at": 1, "count": 5.0}', "bad-number: '5.0' is not a 64-bit integer (column 'count')"),
    (
        '{"at": 1, "count": 9223372036854775808}',
        "bad-number: '9223372036854775808' is not a 64-bit integer (column 'count')",
    ),
    ('{"at": 1, "dry": 1}', "bad-boolean: '1' is neither true nor false (column 'dry')"),
    ('{"at": 1, "station": 5}', "bad-string: '5' is not a string (column 'station')"),
    ('{"at": 1, "lat": 91}', "place-out-of-range: 91.0 is not within ±90 degrees (column 'lat')"),
]


def test_every_kind_of_bad_line_has_its_place_reason_and_text(tmp_path):
    # Enough good lines around that Arrow reads them many at a time.
    lines = []
    for bad, _ in BAD_LINES:
        lines += [GOOD.strip()] * 100 + [bad]
    good, bad = read(written(tmp_path, "w.jsonl", "\n".join(lines)))
    assert good == [GOOD_ROW] * 100 * len(BAD_LINES)
    assert bad == [(101 * number, reason, text) for number, (text, reason) in enumerate(BAD_LINES, 1)]


def test_half_a_surrogate_pair_is_bad_only_in_a_column_that_is_read(tmp_path):
    path = written(tmp_path, "w.jsonl", '{"at": 1, "station": "\\ud800"}\n')
    assert read(path, ("at",)) == ([{"at": SECOND}], [])
    assert reasons(read(path)[1]) == [
        (1, """broken-utf8: '"\\ud800"' contains half of a surrogate pair (column 'station')""")
    ]


def test_broken_utf8_and_deep_nesting_are_bad_lines(tmp_path):
    data = (
        b'{"at": 1, "x": "\xff"}\n'
        + b'{"at": 2, "x": '
        + b"[" * 50_000
        + b"]" * 50_000
        + b"}\n"
        + b'{"at": 3}'
    )
    good, bad = read(written(tmp_path, "w.jsonl", data), ("at",))
    assert good == [{"at": 3 * SECOND}]
    assert reasons(bad) == [(1, "broken-utf8: byte 0xff at position 17"), (2, "bad-json: nested too deep")]


def test_of_two_fields_of_one_name_the_last_counts(tmp_path, monkeypatch):
    path = written(tmp_path, "w.jsonl", '{"at": 1, "at": 2}\n' * 3)
    for most in (1, 100):
        monkeypatch.setattr(json_files, "ONE_BY_ONE", most)
        assert read(path, ("at",)) == ([{"at": 2 * SECOND}] * 3, [])


@pytest.mark.parametrize("content", ["", " \n\n\t\n"])
def test_an_empty_file_is_one_bad_entry(tmp_path, content):
    assert reasons(read(written(tmp_path, "w.jsonl", content))[1]) == [(0, "empty-file: the file is empty")]


def test_a_json_array_is_refused_as_a_whole(tmp_path):
    text = json.dumps([{"at": 1}, {"at": 2}], indent=1)
    assert reasons(read(written(tmp_path, "w.json", text))[1]) == [
        (1, "json-array: the file is one JSON array; write one object per line")
    ]


def test_a_line_longer_than_the_limit_costs_one_line(tmp_path):
    path = written(tmp_path, "w.jsonl", '{"at": 1}\n{"at": 2, "x": "' + "y" * 300 + '"}\n{"at": 3}\n')
    request = FileRequest(path, WEATHER, ("at",))
    for block_bytes in (16, 64, 10_000):
        pieces = list(read_json_lines(request, piece_rows=10, block_bytes=block_bytes, limit=100))
        assert [time for piece in pieces for time in piece.rows["at"].tolist()] == [SECOND, 3 * SECOND]
        assert [line for piece in pieces for line in piece.bad["line"].tolist()] == [2]
