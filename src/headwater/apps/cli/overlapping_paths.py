"""Outputs that would destroy what is read, or one another, refused before any work is done."""

from __future__ import annotations

import argparse
import glob
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from headwater.apps.cli.arguments import UsageError

_FLAGS: Final = {"--output": "output", "--late-output": "late_output", "--bad-output": "bad_output"}


def refuse_overlaps(arguments: argparse.Namespace) -> None:
    """Every output is a place of its own, and none of them is, or lies in, an input."""
    outputs = {flag: path_text for flag, name in _FLAGS.items() if (path_text := getattr(arguments, name))}
    inputs = [path for item in arguments.input if (path := item.partition("=")[2])]
    taken: dict[Path, str] = {}
    for flag, path_text in outputs.items():
        place = Path(path_text).resolve()
        if place in taken:
            raise UsageError("usage", f"{taken[place]} and {flag} are both '{path_text}'")
        taken[place] = flag
        if not arguments.streaming and _is_folder(place):
            raise UsageError(
                "usage", f"{flag} '{path_text}' is a folder; without --follow an output is a file"
            )
        for path in inputs:
            _refuse_input(flag, path_text, path, streaming=arguments.streaming)


def _refuse_input(flag: str, path_text: str, path: str, *, streaming: bool) -> None:
    place, read = Path(path_text).resolve(), Path(path).resolve()
    if place == read:
        raise UsageError("usage", f"{flag} '{path_text}' is also an input")
    if _is_folder(read) and place.is_relative_to(read):
        raise UsageError(
            "usage", f"{flag} '{path_text}' lies in the input folder '{path}'", advice=_ELSEWHERE
        )
    if glob.has_magic(path):
        # What a streaming run writes into its folder must not be found either.
        written = place / "answers-00000000.jsonl" if streaming else place
        if fnmatchcase(str(written), str(Path(path).absolute())):
            raise UsageError("usage", f"{flag} '{path_text}' is among the inputs '{path}'", advice=_ELSEWHERE)


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a name that is too long, say: whoever opens it reports it
        return False


_ELSEWHERE: Final = ("write to another place, or the next run would read the answers as readings",)
