"""Answers into a folder, each exactly once, for any program that reads it.

One file a micro-batch, named by the batch, written aside and renamed when it is whole: a batch that is run again after a
crash replaces its own file with the same lines. Hidden files are never answers.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.spark.checkpoint import replace_file
from headwater.model import HostError

_OWNER = ".headwater.json"


class FolderSink:
    """A folder that belongs to one checkpoint: `NAME-00000017.jsonl` holds the lines of batch 17."""

    def __init__(self, folder: Path, name: str, kinds: tuple[str, ...], run_id: str) -> None:
        self.folder = folder
        self.name = name
        self.kinds = kinds
        folder.mkdir(parents=True, exist_ok=True)
        owner = folder / _OWNER
        if owner.exists():
            if json.loads(owner.read_text()).get("run") != run_id:
                raise HostError(
                    "output-of-another-run",
                    f"the folder '{folder}' holds the output of a run with another checkpoint",
                    advice=["give a new --output folder, or start with the checkpoint it was written with"],
                )
        else:
            replace_file(owner, json.dumps({"run": run_id}).encode())
        for left in folder.glob(f".{name}-*"):  # from a crash in the middle of writing
            left.unlink()

    def write(self, table: pa.Table, batch: int) -> None:
        """The lines of one batch; nothing is written when there are none."""
        bodies = table.filter(pc.is_in(table["kind"], pa.array(self.kinds)))
        path = self.folder / f"{self.name}-{batch:08d}.jsonl"
        if not bodies.num_rows:
            path.unlink(missing_ok=True)
            return
        order = pc.sort_indices(
            bodies, sort_keys=[("event_time", "ascending"), ("name", "ascending"), ("match_id", "ascending")]
        )
        lines = bodies["body"].take(order).to_pylist()
        replace_file(path, ("\n".join(lines) + "\n").encode())
