"""Fences of files and tables: what is good, what is bad, and where that stands."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest

from headwater.hosts.files.fences_reader import FencesReader
from headwater.model import GEOMETRY, ColumnType, DataError, FencesSchema

SCHEMA = FencesSchema("zones", (("name", ColumnType.STRING), ("speed", ColumnType.BIGINT)), "name")
RING = [[0, 0], [4, 0], [4, 4], [0, 0]]
BOW = [[0, 0], [4, 4], [4, 0], [0, 4], [0, 0]]


def feature(ring=RING, **properties) -> dict:
    return {
        "type": "Feature",
        "properties": properties,
        "geometry": {"type": "Polygon", "coordinates": [ring]},
    }


def collection(*features) -> str:
    return json.dumps({"type": "FeatureCollection", "features": features})


def reader(*columns: str) -> FencesReader:
    return FencesReader(SCHEMA, columns or ("name",))


def test_properties_are_columns(tmp_path: Path):
    path = tmp_path / "zones.geojson"
    path.write_text(collection(feature(name="a", speed=30), feature(name="b", more=[1])))
    piece = reader("name", "speed").from_files([str(path)])
    assert piece.rows["name"].tolist() == ["a", "b"]
    assert piece.rows["speed"].tolist() == [30, None]
    assert piece.seen == 2 and piece.bad.count == 0


def test_a_bad_feature_is_reported_with_its_number(tmp_path: Path):
    path = tmp_path / "zones.geojson"
    path.write_text(collection(feature(name="a"), feature(BOW, name="b"), feature(), feature(name="a"), 7))
    piece = reader().from_files([str(path)])
    assert piece.rows["name"].tolist() == ["a"]
    assert [reason.rpartition(": ")[0] for reason in piece.bad["reason"].tolist()] == [
        "crosses-itself: feature 1: its polygon is not simple",
        "missing-id: feature 2",
        "repeated-id: feature 3",
        "no-feature: feature 4",
    ]
    assert piece.bad["line"].tolist() == [0] * 4
    assert "properties" in piece.bad["text"].tolist()[0]


def test_a_packed_file_with_a_byte_order_mark_and_a_single_feature(tmp_path: Path):
    path = tmp_path / "zones.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(feature(name="a")).encode()))
    assert reader().from_files([str(path)]).rows["name"].tolist() == ["a"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "bad-json"),
        (b"{", "bad-json"),
        (b"\xff\xfe", "bad-json"),
        (b"[" * 100_000, "bad-json: nested too deep"),
        (b"[]", "no-features"),
        (b'{"type": "FeatureCollection", "features": {}}', "no-features"),
        (b'{"type": "Polygon", "coordinates": []}', "no-features"),
        (b'{"type": "FeatureCollection", "features": []}', "there is no feature"),
    ],
)
def test_a_file_that_is_not_a_collection_has_no_fences(tmp_path: Path, data: bytes, reason: str):
    path = tmp_path / "zones.geojson"
    path.write_bytes(data)
    with pytest.raises(DataError) as refused:
        reader().from_files([str(path)])
    assert refused.value.code == "no-fences"
    assert reason in str(refused.value) + " ".join(refused.value.advice)


def test_a_table_has_a_column_of_polygons():
    texts = ["POLYGON ((0 0, 4 0, 4 4, 0 0))", json.dumps(feature()["geometry"]), "POINT (1 1)", None]
    piece = reader().from_table(pa.table({"name": ["a", "b", "c", "d"], GEOMETRY: texts}))
    assert piece.rows["name"].tolist() == ["a", "b"]
    assert len(set(piece.rows[GEOMETRY].tolist())) == 1
    assert [
        (line, reason.partition(":")[0])
        for line, reason in zip(piece.bad["line"].tolist(), piece.bad["reason"].tolist(), strict=True)
    ] == [
        (3, "no-polygon"),
        (4, "no-polygon"),
    ]


def test_a_table_without_polygons_is_refused():
    with pytest.raises(DataError) as refused:
        reader().from_table(pa.table({"name": ["a"], "shape": ["POINT (1 1)"]}))
    assert refused.value.code == "fences-table"
