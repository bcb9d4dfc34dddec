"""A checkpoint that was moved or copied: Spark writes whole paths into one of its files, and would look at the old place.

Each stateful stage has `state/STAGE/_metadata/v2/BATCH`, which names the file with the layout of its state by its whole path.
All other paths in a checkpoint are names that nobody opens (of inputs) or begin at the checkpoint.

Rule 1  Whoever takes a checkpoint first has these paths point into the folder where it is now.
Rule 2  A file that is damaged is left as it is: Spark's checksums refuse it, and a new checksum would hide it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headwater.hosts.spark.checksums import is_checksum_file, is_intact, replace_checked


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
