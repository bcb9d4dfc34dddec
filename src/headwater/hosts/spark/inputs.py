"""What `--input` gives, under names that a restart finds again.

An input is named by the path it had at first, and its state, its offset and its log go by that name. Which names there are is noted in
the checkpoint, in `files/inputs.notes`:

Rule 1  A folder or file that was moved is known by its identity (device and inode), if its old path leads elsewhere now.
Rule 2  Otherwise an input is known by its path: a restored copy has another identity.
Rule 3  A copy at another path is known by what it holds, if the original is not an input: most of the last files that were read are there.
Rule 4  Anything else is a new input.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from headwater.hosts.files.folder_watch import Watch
from headwater.hosts.spark.atomic_files import replace_file
from headwater.hosts.spark.changed_file import opened
from headwater.hosts.spark.checked_lines import ChangedLine, from_lines, to_line
from headwater.hosts.spark.file_log import FileLog
from headwater.model import HostError

NOTES: Final = "inputs.notes"
COMPARED: Final = 20


@dataclass(frozen=True, slots=True)
class Input:
    """One `--input`: its name, the stream and the file or folder."""

    name: str
    stream: str
    path: str


@dataclass(frozen=True, slots=True)
class _Note:
    """An input as it was at its last start."""

    name: str
    stream: str
    path: str
    device: int
    inode: int
    pattern: str

    @property
    def identity(self) -> tuple[int, int, str]:
        return self.device, self.inode, self.pattern


def name_inputs(paths: Mapping[str, Sequence[str]]) -> tuple[Input, ...]:
    """The inputs of a run, named by what they read: a restart finds them again, however they are spelled or ordered."""
    return tuple(
        Input(f"{stream}={path}", stream, path)
        for stream, listed in paths.items()
        for path in dict.fromkeys(str(Path(path).resolve()) for path in listed)
    )


def inputs_by_stream(inputs: Sequence[Input]) -> dict[str, tuple[str, ...]]:
    """The names of every stream's inputs."""
    return {
        s: tuple(i.name for i in inputs if i.stream == s) for s in dict.fromkeys(i.stream for i in inputs)
    }


def recognise_inputs(inputs: Sequence[Input], folder: Path) -> tuple[Input, ...]:
    """The same inputs with the names they have in a checkpoint, whose notes about files are in `folder`."""
    before = _read(folder)
    seen = [_Note(each.name, each.stream, each.path, *_identity(each.path)) for each in inputs]
    names: dict[str, str] = {}
    free = dict(before)
    for alike in (_in_place, _moved, _same_path, _copied_from(folder, [each.path for each in inputs])):
        for now in seen:
            then = next(
                (note for note in free.values() if note.stream == now.stream and alike(note, now)), None
            )
            if now.path not in names and then is not None:
                names[now.path] = free.pop(then.name).name
    after = dict(before)
    for now in seen:
        name = names.get(now.path) or _unused(now.name, after)
        after[name] = replace(now, name=name)
        names[now.path] = name
    if after != before:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / NOTES, b"".join(to_line(asdict(note)) for note in after.values()))
    return tuple(replace(each, name=names[each.path]) for each in inputs)


def absent_inputs(inputs: Sequence[Input], folder: Path) -> tuple[Input, ...]:
    """The inputs that a checkpoint knows and this run does not have, where they were last."""
    names = {each.name for each in inputs}
    return tuple(
        Input(note.name, note.stream, note.path) for note in _read(folder).values() if note.name not in names
    )


def _in_place(then: _Note, now: _Note) -> bool:
    return then.path == now.path and then.identity == now.identity


def _moved(then: _Note, now: _Note) -> bool:
    return bool(now.inode) and then.identity == now.identity and _identity(then.path) != then.identity


def _same_path(then: _Note, now: _Note) -> bool:
    return then.path == now.path


def _copied_from(folder: Path, current: Iterable[str]) -> Callable[[_Note, _Note], bool]:
    paths = set(current)

    def copied(then: _Note, now: _Note) -> bool:
        if then.path in paths or then.pattern != now.pattern:
            return False
        entries = [entry for entry in FileLog(folder, then.name).entries.values() if entry.stop]
        root = Watch(now.path).root
        fits = [
            entry.fingerprint.fits(file)
            for entry in entries[-COMPARED:]
            for file in _readable(os.path.join(root, entry.path))  # noqa: PTH118 - names that are no UTF-8
        ]
        return sum(fits) > len(fits) / 2

    return copied


def _readable(path: str) -> Iterable[int]:
    try:
        with opened(path) as file:
            yield file
    except OSError:
        return


def _identity(path: str) -> tuple[int, int, str]:
    """Device and inode of a file or folder, or of the folder of a pattern, and the pattern; zeros if it is not there."""
    place, pattern = Path(path), ""
    if not place.exists() and glob.has_magic(path):
        watch = Watch(path)
        place, pattern = Path(watch.root), str(place.relative_to(watch.root))
    try:
        status = place.stat()
    except OSError:
        return 0, 0, pattern
    return status.st_dev, status.st_ino, pattern


def _unused(name: str, names: Mapping[str, object]) -> str:
    return next(
        each for n in range(1, len(names) + 2) if (each := f"{name}#{n}" if n > 1 else name) not in names
    )


def _read(folder: Path) -> dict[str, _Note]:
    try:
        data = (folder / NOTES).read_bytes()
    except FileNotFoundError as fault:
        if any(folder.glob("*.jsonl")):
            raise _unusable(folder, "they are missing") from fault
        return {}
    if not data.endswith(b"\n"):
        raise _unusable(folder, "they are cut off")
    try:
        return {fields["name"]: _Note(**fields) for fields in from_lines(data)}
    except ChangedLine as fault:
        raise _unusable(folder, str(fault)) from fault


def _unusable(folder: Path, why: str) -> HostError:
    return HostError(
        "state-unreadable",
        f"the checkpoint's notes on its inputs cannot be used: {why}",
        advice=[
            f"the notes: {folder / NOTES}",
            "restore the checkpoint from a copy, or start with a new --checkpoint folder: "
            "without the notes, rows would be lost or read twice",
        ],
    )
