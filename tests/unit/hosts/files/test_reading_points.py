"""Points from files and tables: what is a point, and what becomes of the rows that are none."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwater.hosts.files.file_rows import FileRows
from headwater.hosts.files.points_reader import PointsReader
from headwater.model import ColumnType, DataError, LimitReached, PointsSchema

D = ColumnType.DOUBLE
PROFILES = PointsSchema("profiles", (("id", ColumnType.STRING), ("solar", D), ("volts", D)), "id")
PORTS = PointsSchema("ports", (("port", ColumnType.BIGINT), ("lon", D), ("lat", D)), "port")


def read(*paths: Path) -> FileRows:
    return PointsReader(PROFILES, ("id", "solar", "volts")).from_files([str(path) for path in paths])


def bad_rows(piece: FileRows) -> list[tuple[str, int, str]]:
    names = (Path(file).name for file in piece.bad["file"].tolist())
    return list(zip(names, piece.bad["line"].tolist(), piece.bad["reason"].tolist(), strict=True))


def test_points_of_several_files_of_every_kind_in_their_order(tmp_path):
    (tmp_path / "a.csv").write_text("note;volts;id;solar\nx;2;a;1\n")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write('{"id": "b", "solar": 3, "volts": 4.5}\n')
    pq.write_table(
        pa.table({"id": ["c"], "solar": pa.array([5], pa.int32()), "volts": [6.0]}), tmp_path / "c.parquet"
    )
    piece = read(tmp_path / "a.csv", tmp_path / "b.jsonl.gz", tmp_path / "c.parquet")
    assert {name: column.tolist() for name, column in piece.rows.columns.items()} == {
        "id": ["a", "b", "c"],
        "solar": [1.0, 3.0, 5.0],
        "volts": [2.0, 4.5, 6.0],
    }
    assert bad_rows(piece) == []


def test_of_one_id_the_first_row_that_is_a_point_counts_whatever_file_it_is_in(tmp_path):
    (tmp_path / "a.csv").write_text("id,solar,volts\na,1,\na,2,2\nb,1,1\na,3,3\n")
    (tmp_path / "b.csv").write_text("id,solar,volts\nb,9,9\nc,1,1\n")
    piece = read(tmp_path / "a.csv", tmp_path / "b.csv")
    assert list(zip(piece.rows["id"].tolist(), piece.rows["solar"].tolist(), strict=True)) == [
        ("a", 2),
        ("b", 1),
        ("c", 1),
    ]
    assert bad_rows(piece) == [
        ("a.csv", 2, "missing-value: column 'volts' is empty"),
        ("a.csv", 5, "repeated-id: 'a' is the id of an earlier point"),
        ("b.csv", 2, "repeated-id: 'b' is the id of an earlier point"),
    ]
    assert piece.seen == 6


def test_a_place_on_the_globe_is_a_longitude_and_a_latitude(tmp_path):
    (tmp_path / "a.csv").write_text("port,lon,lat\n1,180,-90\n2,180.5,0\n3,0,91\n-4,0,0\n")
    reader = PointsReader(PORTS, ("port", "lon", "lat"), places=[("lon", "lat")])
    piece = reader.from_files([str(tmp_path / "a.csv")])
    assert piece.rows["port"].tolist() == [1, -4]
    assert bad_rows(piece) == [
        ("a.csv", 3, "place-out-of-range: 180.5 is not within ±180 degrees (column 'lon')"),
        ("a.csv", 4, "place-out-of-range: 91.0 is not within ±90 degrees (column 'lat')"),
    ]


def test_columns_that_no_query_reads_may_be_missing_or_wrong(tmp_path):
    (tmp_path / "a.csv").write_text("id,solar\na,1\n")
    piece = PointsReader(PROFILES, ("id", "solar")).from_files([str(tmp_path / "a.csv")])
    assert list(piece.rows.columns) == ["id", "solar"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,solar,volts\n", "there is no row"),
        ("id,solar,volts\n,1,1\nb,x,1\n", "2 bad rows\n  the first: {}:2: missing-id: column 'id' is empty"),
        (
            "a,1,1\n",
            "1 unusable file\n  the first: {}:1: no-header: the first line has no column of points 'profiles'",
        ),
        ("", "1 unusable file\n  the first: {}: empty-file"),
    ],
)
def test_points_of_which_none_can_be_used_are_refused(tmp_path, text: str, words: str):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(DataError) as refused:
        read(path)
    assert refused.value.code == "no-points"
    assert words.format(path) in str(refused.value)


def test_reading_stops_when_there_is_no_room_for_more(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text(
            "id,solar,volts\n" + "".join(f"p{number}-{n},0,0\n" for n in range(10))
        )
    counts: list[int] = []

    def fits(count: int) -> None:
        counts.append(count)
        if count > 15:
            raise LimitReached("ROOM", 15, "no room")

    reader = PointsReader(PROFILES, ("id", "solar", "volts"), fits=fits)
    with pytest.raises(LimitReached):
        reader.from_files([str(tmp_path)])
    assert counts == [10, 20]


class TestTables:
    def test_a_table_is_read_as_a_file_is(self):
        table = pa.table({"id": ["a", "b", None, "a"], "solar": [1, 2, 3, 4], "volts": [1.0, None, 3.0, 4.0]})
        piece = PointsReader(PROFILES, ("id", "solar", "volts")).from_table(table)
        assert piece.rows["id"].tolist() == ["a"]
        assert bad_rows(piece) == [
            ("", 2, "missing-value: column 'volts' is empty"),
            ("", 3, "missing-id: column 'id' is empty"),
            ("", 4, "repeated-id: 'a' is the id of an earlier point"),
        ]
        assert piece.bad["text"].tolist()[0] == '{"id": "b", "solar": 2, "volts": null}'

    @pytest.mark.parametrize(
        ("table", "words"),
        [
            ({"id": ["a"], "solar": [1.0]}, "no column 'volts'; the table has id, solar"),
            (
                {"id": ["a"], "solar": [[1.0]], "volts": [1]},
                "column 'solar' is list<item: double>, the points declare DOUBLE",
            ),
        ],
    )
    def test_a_table_that_does_not_fit_is_refused(self, table: dict, words: str):
        with pytest.raises(DataError) as refused:
            PointsReader(PROFILES, ("id", "solar", "volts")).from_table(pa.table(table))
        assert refused.value.code == "points-table"
        assert words in refused.value.message
