"""Answers into a folder, each exactly once, for any program that reads it.

One file a micro-batch, named by the batch, written aside and renamed when it is whole: a batch that is run again after a
crash replaces its own file with the same lines. Hidden files are never answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.spark.replacing import replace_file
from headwater.model import HostError

_OWNER = ".headwater.json"


class FolderSink:
    """A folder that belongs to one checkpoint: `NAME-00000017.jsonl` holds the lines of batch 17."""

    def __init__(self, folder: Path, name: str, kinds: tuple[str, ...], run_id: str) -> None:
        self.folder = folder
        self.name = name
        self.kinds = kinds
        with _trouble(folder):
            folder.mkdir(parents=True, exist_ok=True)
            owner = folder / _OWNER
            if not owner.exists():
                replace_file(owner, json.dumps({"run": run_id}).encode())
            elif _written_by(owner) != run_id:
                raise HostError(
                    "output-of-another-run",
                    f"the folder '{folder}' holds the output of a run with another checkpoint",
                    advice=["give a new --output folder, or start with the checkpoint it was written with"],
                )
            for left in folder.glob(f".{name}-*"):  # from a crash in the middle of writing
                left.unlink()

    def write(self, table: pa.Table, batch: int) -> None:
        """The lines of one batch; nothing is written when there are none."""
        bodies = table.filter(pc.is_in(table["kind"], pa.array(self.kinds)))
        path = self.folder / f"{self.name}-{batch:08d}.jsonl"
        if not bodies.num_rows:
            with _trouble(self.folder):
                path.unlink(missing_ok=True)
            return
        order = pc.sort_indices(
            bodies, sort_keys=[("event_time", "ascending"), ("name", "ascending"), ("match_id", "ascending")]
        )
        lines = bodies["body"].take(order).to_pylist()
        with _trouble(self.folder):
            replace_file(path, ("\n".join(lines) + "\n").encode())


def _written_by(owner: Path) -> str:
    """The run that a folder belongs to, by the note in it."""
    try:
        run = json.loads(owner.read_text())["run"]
    except (ValueError, LookupError, TypeError, RecursionError) as cause:
        raise _damaged(owner) from cause
    if not isinstance(run, str):
        raise _damaged(owner)
    return run


def _damaged(owner: Path) -> HostError:
    return HostError(
        "output-of-another-run",
        f"cannot tell which run the folder '{owner.parent}' belongs to: '{owner.name}' in it is damaged",
        advice=["give a new --output folder"],
    )


@contextmanager
def _trouble(folder: Path) -> Iterator[None]:
    """A full disk, a folder that must not be written: said in words."""
    try:
        yield
    except OSError as fault:
        raise HostError("cannot-write", f"cannot write to '{folder}': {fault.strerror or fault}") from fault
