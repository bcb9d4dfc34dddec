"""Checksums as Hadoop's local file system writes them, and the one file of Spark's with a path in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headwater.hosts.spark.checkpoint_relocation import settle
from headwater.hosts.spark.checksums import checksum_file, is_intact, replace_checked


def test_a_file_is_what_its_checksums_say(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 1500)
    assert is_intact(path) is None
    replace_checked(path, b"y" * 1500)
    assert path.read_bytes() == b"y" * 1500
    assert checksum_file(path).name == ".file.crc"
    assert len(checksum_file(path).read_bytes()) == 8 + 3 * 4
    assert is_intact(path) is True
    path.write_bytes(b"y" * 1499 + b"x")
    assert is_intact(path) is False
    path.write_bytes(b"y" * 1400)
    assert is_intact(path) is False


@pytest.mark.parametrize(
    "checksums", [b"", b"crc", b"crc\0\0\0\0\0", b"crd\0\0\0\2\0", b"crc\0\x7f\xff\xff\xff"]
)
def test_checksums_that_are_none_are_damage(tmp_path: Path, checksums: bytes) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / ".file.crc").write_bytes(checksums)
    assert is_intact(tmp_path / "file") is False


def stage(spark: Path, place: str) -> Path:
    path = spark / "state" / "0" / "_metadata" / "v2" / "0"
    path.parent.mkdir(parents=True)
    names = [f"{place}/state/0/_stateSchema/default/0_a"]
    replace_checked(
        path, b"v2\n" + json.dumps({"stateStoreInfo": [{"stateSchemaFilePaths": names}]}).encode()
    )
    return path


def test_paths_of_a_moved_checkpoint_name_its_new_folder(tmp_path: Path) -> None:
    path = stage(tmp_path / "spark", "file:/some/state/where/spark")
    settle(tmp_path / "spark")
    version, notes = path.read_text().split("\n")
    assert version == "v2"
    assert json.loads(notes)["stateStoreInfo"][0]["stateSchemaFilePaths"] == [
        f"file:{tmp_path}/spark/state/0/_stateSchema/default/0_a"
    ]
    assert is_intact(path) is True
    before = path.stat()
    settle(tmp_path / "spark")
    assert path.stat() == before


def test_damaged_notes_of_sparks_are_left_as_they_are(tmp_path: Path) -> None:
    path = stage(tmp_path / "spark", "file:/elsewhere")
    for damaged in (path.read_bytes().replace(b"elsewhere", b"elsewhera"), b"v2\nnothing", b""):
        path.write_bytes(damaged)
        settle(tmp_path / "spark")
        assert path.read_bytes() == damaged
        assert is_intact(path) is False
