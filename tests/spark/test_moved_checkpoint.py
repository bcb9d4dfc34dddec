"""A checkpoint that was moved, or restored from a copy, goes on with its state."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from headwater.hosts.spark.checkpoint import hold
from headwater.hosts.spark.checksums import is_checksum_file, is_intact
from headwater.hosts.spark.file_runs import run_streaming
from headwater.hosts.spark.streaming import StreamingOptions
from headwater.hosts.spark.zone_report import table_of
from headwater.query.planning.plan import compile_text
from tests.spark.test_other_cores import KEYS, TEXT, first_rows, second_rows


def followed(spark, folder: Path, checkpoint: Path, **how) -> list[str]:
    """The keys that a run answers about."""
    bodies: list[str] = []

    def each(zones, _) -> None:
        bodies.extend(body for body in table_of(zones)["body"].to_pylist() if body)

    plan = compile_text(TEXT, zones=4)
    with hold(checkpoint, plan) as held:
        run_streaming(
            spark, plan, {"s": [str(folder)]}, each, checkpoint=held, options=StreamingOptions(**how)
        ).awaitTermination()
    return sorted(json.loads(body)["id"] for body in bodies)


def test_a_moved_checkpoint_goes_on_with_its_state(spark, tmp_path) -> None:
    folder = first_rows(tmp_path / "in")
    assert followed(spark, folder, tmp_path / "c", once=True) == []
    moved = tmp_path / "else where" / "d"
    shutil.copytree(tmp_path / "c", moved)
    shutil.rmtree(tmp_path / "c")
    second_rows(folder)
    assert followed(spark, folder, moved, ends=True) == sorted(f"k{n}" for n in range(KEYS))
    assert not (tmp_path / "c").exists()
    paths = [path for path in moved.glob("spark/**/*") if path.is_file() and not is_checksum_file(path)]
    assert paths
    assert all(is_intact(path) for path in paths)
    assert not [path for path in paths if f"file:{tmp_path / 'c'}".encode() in path.read_bytes()]
