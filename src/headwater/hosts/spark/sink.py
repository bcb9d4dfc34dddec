"""Answers into a folder, each exactly once, for any program that reads it.

One file a micro-batch, named by the batch, written aside and renamed when it is whole: a batch that is run again after a
crash replaces its own file with the same lines. Hidden files are never answers. Older files are merged, and removed if somebody asks
for it: see `output_files`.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.spark.atomic_files import replace_file
from headwater.hosts.spark.output_files import OutputFiles, Retention
from headwater.model import HostError

_OWNER: Final = ".headwater.json"
_FULL: Final = (
    "free some space and start it again: it continues where it stopped, and no line is lost or written twice",
)
_ADVICE: Final = {errno.ENOSPC: _FULL, errno.EDQUOT: _FULL}


class FolderSink:
    """A folder that belongs to one checkpoint: `NAME-00000017.jsonl` holds the lines of batch 17."""

    def __init__(
        self, folder: Path, name: str, kinds: tuple[str, ...], run_id: str, retention: Retention | None = None
    ) -> None:
        self.folder = folder
        self.kinds = kinds
        retention = retention or Retention(merge_at=0)
        with _trouble(folder):
            folder.mkdir(parents=True, exist_ok=True)
            owner = folder / _OWNER
            if owner.exists() and _note_in(owner).run != run_id:
                raise HostError(
                    "output-of-another-run",
                    f"the folder '{folder}' has the output of a run with another checkpoint",
                    advice=[
                        "use a new --output folder, or start with the checkpoint with which the folder was written"
                    ],
                )
            replace_file(owner, json.dumps({"run": run_id, "merge_at": retention.merge_at}).encode())
            self.files = OutputFiles.found(folder, name, retention)

    def write(self, table: pa.Table, batch: int) -> None:
        """The lines of one batch; nothing is written when there are none."""
        bodies = table.filter(pc.is_in(table["kind"], pa.array(self.kinds)))
        order = pc.sort_indices(
            bodies, sort_keys=[("event_time", "ascending"), ("name", "ascending"), ("match_id", "ascending")]
        )
        lines = bodies["body"].take(order).to_pylist()
        with _trouble(self.folder):
            self.files.replace(batch, "".join(f"{line}\n" for line in lines).encode())
            self.files.tidy(batch)


def merges_at(folder: Path) -> int:
    """The number of small files at which the run that writes to a folder merges them; 0: it merges none, or no run writes there."""
    owner = folder / _OWNER
    return _note_in(owner).merge_at if owner.exists() else 0


class _Note(NamedTuple):
    run: str
    merge_at: int


def _note_in(owner: Path) -> _Note:
    """What stands in the note of a folder about the run that it belongs to."""
    try:
        noted = json.loads(owner.read_text())
        note = _Note(noted["run"], noted.get("merge_at", 0))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as cause:
        raise _damaged(owner) from cause
    if not isinstance(note.run, str) or not isinstance(note.merge_at, int):
        raise _damaged(owner)
    return note


def _damaged(owner: Path) -> HostError:
    return HostError(
        "output-of-another-run",
        f"it is not known which run the folder '{owner.parent}' belongs to: '{owner.name}' in it is damaged",
        advice=["use a new --output folder"],
    )


@contextmanager
def _trouble(folder: Path) -> Iterator[None]:
    """A full disk, a folder that must not be written: said in words."""
    try:
        yield
    except OSError as fault:
        raise HostError(
            "cannot-write",
            f"cannot write to '{folder}': {fault.strerror or fault}",
            advice=_ADVICE.get(fault.errno or 0, ()),
        ) from fault
