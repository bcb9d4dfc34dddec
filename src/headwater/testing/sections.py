"""Which sections does a test file have? A line that begins with `==` opens one, and what follows is its body.

Nothing here knows what a section means: `reader.py` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from headwater.model import Span

_HEADING = re.compile(r"==\s*([A-Za-z]*)\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Section:
    """`== kind words` in line `line`, and the lines below it."""

    line: int
    heading: str
    kind: str
    words: str
    lines: tuple[str, ...]

    @property
    def span(self) -> Span:
        """The place of the heading."""
        return Span(self.line, 1, len(self.heading.rstrip()))

    @property
    def body(self) -> str:
        """The lines below the heading as one text."""
        return "\n".join(self.lines)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but blank lines follows the heading."""
        return not self.body.strip()

    def place(self, words: str) -> Span:
        """Where some words are in the heading."""
        return Span(self.line, max(self.heading.find(words), 0) + 1, max(len(words), 1))

    def numbered(self) -> list[tuple[int, str]]:
        """The lines that are not blank, with their numbers in the file."""
        lines = enumerate(self.lines, self.line + 1)
        return [(number, line) for number, line in lines if line.strip()]


def split_sections(text: str) -> tuple[str, list[Section]]:
    """What is written before the first section, and the sections."""
    lines = text.removesuffix("\n").split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("==")]
    ends = [*starts[1:], len(lines)] if starts else []
    about = "\n".join(lines[: starts[0]] if starts else lines).strip()
    sections = [_section(lines[start:end], start + 1) for start, end in zip(starts, ends, strict=True)]
    return about, sections


def _section(lines: Sequence[str], number: int) -> Section:
    heading = _HEADING.fullmatch(lines[0])
    assert heading is not None, "every line that begins with == is a heading"
    return Section(number, lines[0], heading[1], heading[2], tuple(lines[1:]))
