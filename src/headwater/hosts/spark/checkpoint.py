"""What a checkpoint folder knows about us, beside what Spark keeps in it: for whom it was made, and that one run uses it.

```
DIR/headwater/run.json   format, zones, tasks, the streams, the queries of the last start (see `checkpoint_notes`)
DIR/headwater/lock       held while a run uses the folder
DIR/headwater/files/     which files came in which order (see `file_log`)
DIR/headwater/state.notes   how much state there was, as last noted (see `state_notes`)
DIR/spark/               Spark's own checkpoint
```
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Self

from headwater.hosts.cores import usable_cores
from headwater.hosts.spark.checkpoint_inspection import refuse_damaged
from headwater.hosts.spark.checkpoint_notes import Notes, QueryNote, read_notes, write_notes
from headwater.hosts.spark.checkpoint_relocation import settle
from headwater.hosts.spark.query_changes import Changes, changes_between
from headwater.hosts.spark.state_notes import read_state_notes
from headwater.model import HostError, StreamSchema
from headwater.query.planning.plan import Plan
from headwater.version import __version__


@dataclass(slots=True)
class Checkpoint:
    """A checkpoint folder held by this process until `release`; `changes` since its last start."""

    folder: Path
    notes: Notes
    lock: TextIOWrapper
    changes: Changes

    @property
    def run_id(self) -> str:
        """What tells the runs of this checkpoint from those of others."""
        return self.notes.run

    @property
    def tasks(self) -> int:
        """Over how many tasks its zones are spread."""
        return self.notes.tasks

    @property
    def spark(self) -> Path:
        """Spark's part, by its whole path: Spark writes it down (see `checkpoint_relocation`)."""
        return Path(os.path.abspath(self.folder / "spark"))  # noqa: PTH100 - links stay

    @property
    def files(self) -> Path:
        """The logs of streamed files, by their whole path: processes that stand elsewhere write them, too."""
        return Path(os.path.abspath(self.folder / "headwater" / "files"))  # noqa: PTH100 - links stay

    def release(self) -> None:
        """Let another run use the folder."""
        self.lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def zones_of(folder: Path, otherwise: int) -> int:
    """The number of zones a checkpoint was made with; it never changes."""
    notes = read_notes(folder)
    return otherwise if notes is None else notes.zones


def tasks_of(folder: Path, otherwise: int) -> int:
    """Over how many tasks the zones of a checkpoint are spread, whatever cores there are now: zones find their state by it."""
    notes = read_notes(folder)
    return otherwise if notes is None else notes.tasks


def parts_of(folder: Path) -> dict[str, int]:
    """Over how many zones the points of each query lay at the last start; nothing for a query that has none."""
    notes = read_notes(folder)
    return {} if notes is None else dict(notes.parts)


def parts_in(plan: Plan) -> dict[str, int]:
    """Over how many zones they lie in a plan."""
    return {query.name: query.parts for query in plan.queries if query.scatter == query.name}


def hold(folder: Path, plan: Plan, *, cores: int | None = None) -> Checkpoint:
    """Take a checkpoint folder for a run of `plan`, or say why not.

    A new checkpoint spreads its zones over one task for each of `cores` (default: those of this process), for good.
    """
    lock = lock_folder(folder)
    try:
        earlier = read_notes(folder)
        if earlier is not None:
            _refuse_others(folder, earlier, plan)
        refuse_damaged(folder)
        notes = _noted(plan, earlier, cores or usable_cores())
        try:
            (folder / "spark").mkdir(exist_ok=True)  # notes without it tell that it was deleted
            settle(folder / "spark")
            write_notes(folder, notes)
        except OSError as cause:
            raise _unwritable(folder, cause) from cause
    except HostError:
        lock.close()
        raise
    return Checkpoint(folder, notes, lock, changes_between(earlier, notes, read_state_notes(folder)))


def lock_folder(folder: Path) -> TextIOWrapper:
    """Make a checkpoint folder ours until the lock is closed, or say why not."""
    ours = folder / "headwater"
    _refuse_foreign(folder)
    try:
        ours.mkdir(parents=True, exist_ok=True)
        lock = (ours / "lock").open("w")
    except OSError as cause:
        raise _unwritable(folder, cause) from cause
    _lock(folder, lock, fcntl.LOCK_EX)
    return lock


@contextmanager
def lock_for_reading(folder: Path) -> Iterator[None]:
    """Let no run use a checkpoint folder meanwhile, or say that one does. Nothing is written: the folder may be a read-only backup."""
    path = folder / "headwater" / "lock"
    if not path.exists():
        yield
        return
    with path.open() as lock:
        _lock(folder, lock, fcntl.LOCK_SH)
        yield


def _lock(folder: Path, lock: TextIOWrapper, how: int) -> None:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except OSError as cause:
        lock.close()
        raise HostError(
            "checkpoint-in-use",
            f"another run is using the checkpoint '{folder}'",
            advice=["stop it first, or use another --checkpoint for this run"],
        ) from cause


def refuse_absent(folder: Path) -> None:
    """Say so if there is no checkpoint in a folder."""
    if not (folder / "headwater").is_dir():
        raise HostError(
            "checkpoint-not-found",
            f"there is no checkpoint in '{folder}'",
            advice=["name the --checkpoint folder of a run"],
        )


def _noted(plan: Plan, earlier: Notes | None, cores: int) -> Notes:
    """What is noted at the start of a run."""
    streams = {stream.name: _definition(stream) for stream in plan.streams}
    return Notes(
        run=earlier.run if earlier else uuid.uuid4().hex,
        version=__version__,
        zones=plan.zones,
        tasks=earlier.tasks if earlier else min(plan.zones, cores),
        streams={**earlier.streams, **streams} if earlier else streams,
        declared=list(streams),
        queries={
            query.name: QueryNote(query.kind, query.reads, query.fingerprint, query.hidden and not query.view)
            for query in plan.queries
        },
        parts=parts_in(plan),
    )


def _unwritable(folder: Path, cause: OSError) -> HostError:
    return HostError("checkpoint-unwritable", f"cannot write to '{folder}': {cause.strerror or cause}")


def _refuse_foreign(folder: Path) -> None:
    if folder.is_file():
        raise HostError("checkpoint-foreign", f"'{folder}' is a file; a checkpoint is a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "headwater").is_dir():
        raise HostError(
            "checkpoint-foreign",
            f"the folder '{folder}' is not a checkpoint of Headwater",
            advice=["use an empty or new folder as --checkpoint"],
        )


def _refuse_others(folder: Path, notes: Notes, plan: Plan) -> None:
    for stream in plan.streams:
        earlier = notes.streams.get(stream.name)
        if earlier is not None and earlier != _definition(stream):
            raise HostError(
                "checkpoint-other-streams",
                f"the checkpoint '{folder}' was made for another stream '{stream.name}'",
                advice=[
                    f"then: {earlier}",
                    f"now:  {_definition(stream)}",
                    "start with a new --checkpoint folder, or restore the stream",
                ],
            )
    if not {stream.name for stream in plan.streams} & set(notes.streams):
        raise HostError(
            "checkpoint-other-streams",
            f"the checkpoint '{folder}' was made for other streams: {', '.join(notes.streams)}",
            advice=["start with a new --checkpoint folder"],
        )
    if plan.zones != notes.zones:
        raise HostError(
            "checkpoint-other-zones",
            f"the checkpoint '{folder}' has {notes.zones} zones, but this run uses {plan.zones}",
            advice=["the number of zones is fixed when a checkpoint is created"],
        )


def _definition(stream: StreamSchema) -> str:
    """What must not change under a checkpoint: columns, time, key and place. LATE and IDLE may."""
    columns = ", ".join(f"{name} {kind.value}" for name, kind in stream.columns)
    place = (
        f" place {stream.place.x}, {stream.place.y}{' geographic' * stream.place.geographic}"
        if stream.place
        else ""
    )
    return f"{columns}; time {stream.time}; key {stream.key}{place}"
