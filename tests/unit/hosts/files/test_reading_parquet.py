from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.hosts.files import read_file_rows
from tests.unit.hosts.files.made_files import ALL, SECOND, SIX, WEATHER, read, reasons

MOMENT = datetime(2026, 1, 31, 6)


def parquet(folder, columns):
    path = str(folder / "w.parquet")
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet_gives_typed_rows(tmp_path):
    path = parquet(
        tmp_path,
        {
            "station": pa.array(["s2", "s1", None]),
            "at": pa.array([MOMENT] * 3, pa.timestamp("ms")),
            "lon": pa.array([1, 2, None], pa.int32()),
            "lat": pa.array([1.5, 2.5, None], pa.float32()),
            "temperature": pa.array([Decimal("1.25"), None, None], pa.decimal128(5, 2)),
            "count": pa.array([1, 2, 3], pa.uint8()),
            "dry": pa.array([True, False, None]),
            "more": pa.array([[1], [2], [3]]),
        },
    )
    assert read(path) == (
        [
            {
                "station": "s2",
                "at": SIX,
                "lon": 1.0,
                "lat": 1.5,
                "temperature": 1.25,
                "count": 1,
                "dry": True,
            },
            {
                "station": "s1",
                "at": SIX,
                "lon": 2.0,
                "lat": 2.5,
                "temperature": None,
                "count": 2,
                "dry": False,
            },
            dict.fromkeys(ALL) | {"at": SIX, "count": 3},
        ],
        [],
    )


@pytest.mark.parametrize(
    "times",
    [
        pa.array([MOMENT], pa.timestamp("s")),
        pa.array([MOMENT], pa.timestamp("us", "UTC")),
        pa.array([MOMENT], pa.timestamp("us")).cast(pa.timestamp("us", "Europe/Rome")),
        pa.array([SIX * 1000 + 999], pa.timestamp("ns")),
        pa.array([SIX // SECOND], pa.int64()),
        pa.array([SIX / SECOND], pa.float64()),
        pa.array(["2026-01-31T07:00:00+01:00"]),
    ],
)
def test_instants_of_every_kind(tmp_path, times):
    assert read(parquet(tmp_path, {"at": times}), ("at",)) == ([{"at": SIX}], [])


def test_dates_are_midnights(tmp_path):
    for kind in (pa.date32(), pa.date64()):
        path = parquet(tmp_path, {"at": pa.array([date(2026, 1, 31)], kind)})
        assert read(path, ("at",)) == ([{"at": SIX - 6 * 3600 * SECOND}], [])


def test_bad_values_are_bad_rows_with_their_number(tmp_path):
    path = parquet(
        tmp_path,
        {
            "at": pa.array([SIX, None, SIX, 2**62, SIX, SIX], pa.timestamp("us")),
            "temperature": [1.0, 2.0, float("nan"), 4.0, 5.0, 6.0],
            "count": pa.array([1, 2, 3, 4, 2**63, 6], pa.uint64()),
        },
    )
    good, bad = read(path, ("at", "temperature", "count"))
    assert [row["count"] for row in good] == [1, 6]
    assert [line for line, _, _ in bad] == [2, 3, 4, 5]
    assert bad[0] == (2, "missing-time: column 'at' is empty", '{"at": null, "temperature": 2.0, "count": 2}')
    assert bad[1][1] == "not-finite: 'nan' (column 'temperature')"
    assert bad[2][1].startswith("bad-time: ")
    assert bad[3][1] == ("bad-number: '9223372036854775808' is not a 64-bit integer (column 'count')")


def test_broken_utf8_in_a_string_column_is_a_bad_row(tmp_path):
    texts = pa.array([b"a", b"\xff", b"b"]).cast(pa.binary())
    broken = pa.StringArray.from_buffers(3, *texts.buffers()[1:])
    path = parquet(tmp_path, {"at": pa.array([1, 2, 3]), "station": broken})
    good, bad = read(path, ("at", "station"))
    assert [row["station"] for row in good] == ["a", "b"]
    assert reasons(bad) == [(2, "broken-utf8: in column 'station'")]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (
            {"at": [1], "temprature": [1.0]},
            "missing-column: no column 'temperature'; did you mean 'temprature'?",
        ),
        (
            {"at": [1], "temperature": [[1.0]]},
            "wrong-type: column 'temperature' is list<element: double>, the stream declares DOUBLE",
        ),
        (
            {"at": [True], "temperature": [1.0]},
            "wrong-type: column 'at' is bool, the stream declares TIMESTAMP",
        ),
    ],
)
def test_a_column_missing_or_of_another_kind_is_one_bad_entry(tmp_path, columns, reason):
    assert reasons(read(parquet(tmp_path, columns), ("at", "temperature"))[1]) == [(1, reason)]


def test_a_file_that_is_not_parquet_is_one_bad_entry(tmp_path):
    path = tmp_path / "w.parquet"
    path.write_bytes(b"")
    assert reasons(read(str(path))[1]) == [(0, "empty-file: the file is empty")]
    path.write_bytes(b"PAR1 but not really PAR1")
    ((line, reason),) = reasons(read(str(path))[1])
    assert (line, reason.split(":")[0]) == (0, "unreadable-file")
    path.write_bytes(b"at,temperature\n")
    assert reasons(read(str(path))[1]) == [
        (0, "other-format: the file is not Parquet, although its name says so")
    ]


def test_row_numbers_go_on_from_piece_to_piece(tmp_path):
    times = [1] * 25
    times[12] = times[24] = None
    path = parquet(tmp_path, {"at": pa.array(times)})
    pieces = list(read_file_rows(path, WEATHER, ("at",), piece_rows=10))
    assert [piece.seen for piece in pieces] == [10, 10, 5]
    assert [line for piece in pieces for line in piece.bad["line"].tolist()] == [13, 25]
