"""A checkpoint that was moved or copied: Spark writes whole paths into one of its files, and would look at the old place.

Each stateful stage has `state/STAGE/_metadata/v2/BATCH`, which names the file with the layout of its state by its whole path.
All other paths in a checkpoint are names that nobody opens (of inputs) or begin at the checkpoint.

Rule 1  Whoever takes a checkpoint first has these paths point into the folder where it is now.
Rule 2  Whoever only looks at a checkpoint changes nothing in it, and may not be able to.
Rule 3  A file that is damaged is left as it is: Spark's checksums refuse it, and a new checksum would hide it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headwater.hosts.spark.checksums import is_checksum_file, is_intact, replace_checked
from headwater.hosts.temporary_folders import temporary_folder


def settle(spark: Path) -> None:
    """Make Spark's part of a checkpoint name no folder but the one it is in."""
    for path in stage_notes(spark):
        version, _, body = path.read_bytes().partition(b"\n")
        try:
            notes = json.loads(body)
            moved = [_settled(store, spark) for store in notes["stateStoreInfo"]]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
        if any(moved) and is_intact(path) is not False:
            replace_checked(path, version + b"\n" + json.dumps(notes, separators=(",", ":")).encode())


@contextmanager
def settled_view(spark: Path) -> Iterator[Path]:
    """A folder in which Spark can read a checkpoint wherever it is: links to its files, and copies of those that name the folder."""
    with temporary_folder("view") as held:
        view = held.path / "spark"
        _link(spark, view, but="state")
        for stage in (path for path in (spark / "state").iterdir() if path.is_dir()):
            _link(stage, view / "state" / stage.name, but="_metadata")
            shutil.copytree(stage / "_metadata", view / "state" / stage.name / "_metadata")
        settle(view)
        yield view


def _link(folder: Path, view: Path, *, but: str) -> None:
    view.mkdir(parents=True)
    for path in folder.iterdir():
        if path.name != but:
            (view / path.name).symlink_to(path.absolute())


def stage_notes(spark: Path) -> Iterator[Path]:
    """Spark's notes about each stateful stage, of every batch that has some."""
    for path in sorted(spark.glob("state/*/_metadata/v2/*")):
        if not is_checksum_file(path):
            yield path


def _settled(store: dict[str, Any], spark: Path) -> bool:
    """Change the paths of one state store; whether any was another."""
    before = store["stateSchemaFilePaths"]
    store["stateSchemaFilePaths"] = [
        f"file:{os.path.abspath(spark)}/state/{path.rpartition('/state/')[2]}"  # noqa: PTH100 - as Spark has it: links stay
        for path in before
    ]
    return bool(store["stateSchemaFilePaths"] != before)
