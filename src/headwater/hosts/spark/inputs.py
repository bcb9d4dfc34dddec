"""What `--input` gives: names that a restart finds again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Input:
    """One `--input`: its name, the stream and the file or folder."""

    name: str
    stream: str
    path: str


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
