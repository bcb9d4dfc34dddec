"""What a checkpoint folder knows about us, beside what Spark keeps in it: for whom it was made, and that one run uses it.

```
DIR/headwater/run.json   format, zones, tasks, the streams, the queries of the last start and over how many zones their points lie
DIR/headwater/lock       held while a run uses the folder
DIR/headwater/files/     which files came in which order (see `file_log`)
DIR/spark/               Spark's own checkpoint
```
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Self

from headwater.hosts.cores import usable_cores
from headwater.model import HostError, StreamSchema
from headwater.query.plan import Plan

FORMAT = 4


@dataclass(slots=True)
class Checkpoint:
    """A checkpoint folder held by this process until `release`."""

    folder: Path
    zones: int
    tasks: int
    run_id: str
    lock: TextIOWrapper

    @property
    def spark(self) -> Path:
        """Spark's part."""
        return self.folder / "spark"

    @property
    def files(self) -> Path:
        """The logs of followed files."""
        return self.folder / "headwater" / "files"

    def release(self) -> None:
        """Let another run use the folder."""
        self.lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def zones_of(folder: Path, otherwise: int) -> int:
    """The number of zones a checkpoint was made with; it never changes."""
    notes = _notes(folder)
    return otherwise if notes is None else int(notes["zones"])


def tasks_of(folder: Path, otherwise: int) -> int:
    """Over how many tasks the zones of a checkpoint are spread, whatever cores there are now: zones find their state by it."""
    notes = _notes(folder)
    return otherwise if notes is None else int(notes["tasks"])


def parts_of(folder: Path) -> dict[str, int]:
    """Over how many zones the points of each query lay at the last start; nothing for a query that has none."""
    notes = _notes(folder)
    return {} if notes is None else dict(notes.get("parts", {}))


def parts_in(plan: Plan) -> dict[str, int]:
    """Over how many zones they lie in a plan."""
    return {query.name: query.parts for query in plan.queries if query.scatter == query.name}


def hold(folder: Path, plan: Plan, *, cores: int | None = None) -> Checkpoint:
    """Take a checkpoint folder for a run of `plan`, or say why not.

    A new checkpoint spreads its zones over one task for each of `cores` (default: those of this process), for good.
    """
    ours = folder / "headwater"
    _refuse_foreign(folder)
    try:
        ours.mkdir(parents=True, exist_ok=True)
        lock = (ours / "lock").open("w")
    except OSError as cause:
        raise _unwritable(folder, cause) from cause
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as cause:
        lock.close()
        raise HostError(
            "checkpoint-in-use",
            f"another run is using the checkpoint '{folder}'",
            advice=["stop it first, or give this run a --checkpoint of its own"],
        ) from cause
    notes = _notes(folder)
    try:
        if notes is not None:
            _refuse_others(folder, notes, plan)
    except HostError:
        lock.close()
        raise
    run_id = notes["run"] if notes else uuid.uuid4().hex
    earlier = notes["streams"] if notes else {}
    streams = {**earlier, **{stream.name: _definition(stream) for stream in plan.streams}}
    queries = {query.name: query.fingerprint for query in plan.queries}
    tasks = notes["tasks"] if notes else min(plan.zones, cores or usable_cores())
    told = {"format": FORMAT, "run": run_id, "zones": plan.zones, "tasks": tasks, "streams": streams}
    told |= {"queries": queries}
    told |= {"parts": parts} if (parts := parts_in(plan)) else {}
    try:
        replace_file(ours / "run.json", json.dumps(told, indent=1).encode())
    except OSError as cause:
        lock.close()
        raise _unwritable(folder, cause) from cause
    return Checkpoint(folder, plan.zones, tasks, run_id, lock)


def _unwritable(folder: Path, cause: OSError) -> HostError:
    return HostError("checkpoint-unwritable", f"cannot write to '{folder}': {cause.strerror or cause}")


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old one or the whole new one, also after a crash."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _notes(folder: Path) -> Mapping[str, Any] | None:
    path = folder / "headwater" / "run.json"
    if not path.exists():
        return None
    try:
        notes = json.loads(path.read_text())
        known = notes["format"]
    except (ValueError, LookupError, TypeError, RecursionError, OSError) as cause:
        raise _unreadable(folder, "its notes are damaged") from cause
    if type(known) is not int:
        raise _unreadable(folder, "its notes are damaged")
    if known != FORMAT:
        raise _unreadable(folder, f"it has format {known}, this version reads {FORMAT}")
    if not _whole(notes):
        raise _unreadable(folder, "its notes are damaged")
    return notes


def _whole(notes: Mapping[str, Any]) -> bool:
    """Whether notes of our format hold all that is used of them."""
    zones, tasks, streams = notes.get("zones"), notes.get("tasks"), notes.get("streams")
    parts = notes.get("parts", {})
    return (
        isinstance(notes.get("run"), str)
        and type(zones) is int
        and type(tasks) is int
        and 1 <= tasks <= zones
        and isinstance(streams, dict)
        and all(isinstance(definition, str) for definition in streams.values())
        and isinstance(notes.get("queries"), dict)
        and isinstance(parts, dict)
        and all(type(count) is int and count in (1, zones) for count in parts.values())
    )


def _unreadable(folder: Path, why: str) -> HostError:
    return HostError(
        "state-unreadable",
        f"the checkpoint '{folder}' cannot be used: {why}",
        advice=["start with a new --checkpoint folder, or run the version of Headwater that wrote this one"],
    )


def _refuse_foreign(folder: Path) -> None:
    if folder.is_file():
        raise HostError("checkpoint-foreign", f"'{folder}' is a file; a checkpoint is a folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "headwater").is_dir():
        raise HostError(
            "checkpoint-foreign",
            f"the folder '{folder}' holds something that is not a checkpoint of Headwater",
            advice=["give an empty or a new folder as --checkpoint"],
        )


def _refuse_others(folder: Path, notes: Mapping[str, Any], plan: Plan) -> None:
    for stream in plan.streams:
        earlier = notes["streams"].get(stream.name)
        if earlier is not None and earlier != _definition(stream):
            raise HostError(
                "checkpoint-other-streams",
                f"the checkpoint '{folder}' was made for another stream '{stream.name}'",
                advice=[
                    f"then: {earlier}",
                    f"now:  {_definition(stream)}",
                    "start with a new --checkpoint folder, or put the stream back",
                ],
            )
    if not {stream.name for stream in plan.streams} & set(notes["streams"]):
        raise HostError(
            "checkpoint-other-streams",
            f"the checkpoint '{folder}' was made for other streams: {', '.join(notes['streams'])}",
            advice=["start with a new --checkpoint folder"],
        )
    if plan.zones != notes["zones"]:
        raise HostError(
            "checkpoint-other-zones",
            f"the checkpoint '{folder}' has {notes['zones']} zones, this run wants {plan.zones}",
            advice=["the number of zones is fixed when a checkpoint is made"],
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
