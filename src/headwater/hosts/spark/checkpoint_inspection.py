"""Is a checkpoint whole? Every file that has a checksum is read, and what must be there is looked for. Spark is not needed.

Rule 1  A file is damaged if its bytes are not those that its checksum was made of, or if it is missing and others speak of it.
Rule 2  Files without a checksum are counted: nobody can say whether they are what was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.hosts.spark.checkpoint_notes import read_notes, unusable
from headwater.hosts.spark.checksums import is_checksum_file, is_intact
from headwater.hosts.spark.file_log import FileLog
from headwater.hosts.spark.inputs import NOTES, absent_inputs
from headwater.hosts.spark.state_notes import NOTES as STATE_NOTES
from headwater.hosts.spark.state_notes import are_intact
from headwater.model import HostError

_LOGS: Final = ("offsets", "commits")
_CHANGED: Final = "it was changed after it was written"
_BATCH: Final = re.compile(r"-(\d+)\.jsonl$")


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found in the files of a checkpoint; `damaged` says of each file, by its path in the folder, what is wrong."""

    files: int
    size: int
    checked: int
    damaged: dict[str, str]


def inspect_files(folder: Path) -> Inspection:
    """Read every file of a checkpoint."""
    files, size = measure_files(folder)
    logs = dict(_input_logs(folder))
    damaged = dict(_missing(folder)) | {name: why for name, why in logs.items() if why}
    checked = len(logs)
    for path in files_of(folder):
        name = str(path.relative_to(folder))
        try:
            intact = _is_intact(folder, path)
        except OSError as fault:
            damaged[name] = fault.strerror or str(fault)
            continue
        checked += intact is not None
        if intact is False:
            damaged[name] = _CHANGED
    return Inspection(files, size, checked, damaged)


def measure_files(folder: Path) -> tuple[int, int]:
    """How many files a checkpoint has, and their bytes."""
    sizes = []
    for path in files_of(folder):
        with suppress(OSError):  # Spark took it away meanwhile
            sizes.append(path.stat().st_size)
    return len(sizes), sum(sizes)


def refuse_damaged(folder: Path) -> None:
    """Say so if what Spark reads first is damaged: it is small, and Spark's own words about it help nobody."""
    spark = folder / "spark"
    found = dict(_missing(folder))
    logs = [spark / log / str(number) for log in _LOGS for number in sorted(_numbers(folder, log))[-2:]]
    for path in [spark / "metadata", *logs, *_layouts(spark)]:
        if path.is_file() and is_intact(path) is False:
            found[str(path.relative_to(folder))] = _CHANGED
    for name, why in found.items():
        raise unusable(folder, f"'{name}': {why}")


def refuse_ahead(folder: Path, output: Path, name: str) -> None:
    """Say so if a folder of answers goes on where the checkpoint does not: rows would be answered again, in other batches.

    One batch further is no harm: the next batch replaces its file.
    """
    last = last_batch(folder, "offsets")
    next_one = 0 if last is None else last + 1
    written = [found for path in output.glob(f"{name}-*.jsonl") if (found := _BATCH.search(path.name))]
    ahead = max((int(found[1]) for found in written), default=0)
    if ahead > next_one:
        raise HostError(
            "output-ahead",
            f"the folder '{output}' has batch {ahead}, but the checkpoint '{folder}' continues with batch {next_one}",
            advice=[
                "the checkpoint was restored from an older copy, so rows after that would be answered again",
                f"use a new output folder, or delete the files of batch {next_one} and later from '{output}'",
            ],
        )


def files_of(folder: Path) -> Iterator[Path]:
    """The files of a checkpoint: not its lock, checksums of others, or what was left half written."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / "headwater" / "lock" and not path.name.startswith("."):
            yield path


def last_batch(folder: Path, log: str) -> int | None:
    """The greatest number in a log of batches: `offsets` has those that began, `commits` those that are finished."""
    return max(_numbers(folder, log), default=None)


def taken_files(folder: Path) -> dict[str, int]:
    """How many entries of each streamed input were taken by the last batch that began."""
    last = last_batch(folder, "offsets")
    if last is None:
        return {}
    found: dict[str, int] = {}
    for line in (folder / "spark" / "offsets" / str(last)).read_bytes().splitlines():
        with suppress(ValueError, AttributeError, RecursionError):  # a line of Spark's own, or damaged
            found.update(json.loads(line).get("files", {}))
    return found


def _input_logs(folder: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with the notes on inputs and on each input's files, nothing where all is well."""
    files = folder / "headwater" / "files"
    taken = taken_files(folder)
    try:
        if absent_inputs((), files):
            yield f"headwater/files/{NOTES}", ""
        elif taken:
            yield f"headwater/files/{NOTES}", "it is missing"
    except HostError as fault:
        yield f"headwater/files/{NOTES}", fault.message.rpartition(": ")[2]
    for name, count in taken.items():
        try:
            yield (
                f"notes on the files of '{name}'",
                "lines are missing" * (FileLog(files, name).count < count),
            )
        except HostError as fault:
            yield f"notes on the files of '{name}'", fault.message.rpartition(": ")[2]


def _is_intact(folder: Path, path: Path) -> bool | None:
    ours = path.relative_to(folder).parts[0] == "headwater"
    if not ours:
        return is_intact(path)
    if path.name == "run.json":
        try:
            return read_notes(folder) is not None
        except HostError:
            return False
    return are_intact(path) if path.name == STATE_NOTES else None


def _missing(folder: Path) -> Iterator[tuple[str, str]]:
    """Files that are not there though others speak of them."""
    offsets, commits = _numbers(folder, "offsets"), _numbers(folder, "commits")
    if not (folder / "headwater" / "run.json").exists() and _was_used(folder):
        yield "headwater/run.json", "it is missing"
    yield from ((name, "it is missing") for name in _missing_parts(folder, offsets, commits))
    for log, numbers in (("offsets", offsets), ("commits", commits)):
        for number in range(min(numbers, default=0), max(numbers, default=-1)):
            if number not in numbers:
                yield f"spark/{log}/{number}", "it is missing"
    if commits and max(commits) not in offsets:
        yield f"spark/offsets/{max(commits)}", "it is missing"
    if offsets and max(offsets) > max(commits, default=-1) + 1:
        yield f"spark/commits/{max(offsets) - 1}", "it is missing"
    for path in sorted((folder / "spark").rglob(".*.crc")):
        beside = path.with_name(path.name[1:-4])
        if is_checksum_file(path) and not beside.name.startswith(".") and not beside.exists():
            yield str(beside.relative_to(folder)), "it is missing"


def _missing_parts(folder: Path, offsets: Set[int], commits: Set[int]) -> Iterator[str]:
    """What Spark makes in this order: its folder (which we make before our notes), its metadata, and with the first batch the others.

    The first files of an input are numbered after the metadata is written, so that numbers without it tell of a run.
    """
    spark = folder / "spark"
    if not spark.is_dir():
        if (folder / "headwater" / "run.json").exists():
            yield "spark"
        return
    state = (spark / "state").is_dir()
    if not (spark / "metadata").is_file() and (offsets or commits or state or _has_numbered(folder)):
        yield "spark/metadata"
    if state and not offsets:
        yield "spark/offsets"
    if commits and not state:
        yield "spark/state"
    if commits and state:
        yield from _missing_state(folder)


def _missing_state(folder: Path) -> Iterator[str]:
    """What every stateful stage has once a batch is finished: two notes on its layout, and a folder for each task."""
    stages = sorted(path for path in (folder / "spark" / "state").iterdir() if path.name.isdigit())
    if not stages:
        yield "spark/state/0"
    with suppress(HostError):  # damaged notes are reported as such
        notes = read_notes(folder)
        tasks = notes.tasks if notes else 0
        for stage in stages:
            parts = ("_metadata", "_stateSchema", *map(str, range(tasks)))
            for part in parts:
                if not any(path.is_file() for path in (stage / part).rglob("[!.]*")):
                    yield f"spark/state/{stage.name}/{part}"


def _was_used(folder: Path) -> bool:
    """Whether a run began in a checkpoint: before that it has an empty folder for Spark, at most."""
    spark = folder / "spark"
    return _has_numbered(folder) or (spark.is_dir() and any(spark.iterdir()))


def _has_numbered(folder: Path) -> bool:
    """Whether files of an input were numbered."""
    return any(path.stat().st_size for path in (folder / "headwater" / "files").glob("*.jsonl"))


def _layouts(spark: Path) -> Iterator[Path]:
    """Spark's notes about stateful stages."""
    for pattern in ("state/*/_metadata/**/*", "state/*/_stateSchema/**/*"):
        yield from (path for path in sorted(spark.glob(pattern)) if not is_checksum_file(path))


def _numbers(folder: Path, log: str) -> set[int]:
    found = (folder / "spark" / log).glob("[0-9]*")
    return {int(path.name) for path in found if path.name.isdigit()}
