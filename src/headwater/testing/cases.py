"""What a test case holds: queries, files of rows, and the answers, late rows, bad rows or errors that are expected.

These are values that `reader.py` makes from text. Cells of expected tables stay as they are written, with short times in full:
what they match is decided in `matching.py`, where the types of columns are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

Line = tuple[str, ...]


class RunKind(StrEnum):
    """A bounded run reads all rows and no row is late; a followed run reads one file after the other."""

    BOUNDED = "bounded"
    FOLLOWED = "followed"


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of one input of a stream, or of `points`, fences among them; `number` counts the files of that input from 1.

    With a `path` it is a file that exists, and has no text here. `as_written`: nothing of the text is a short form.
    """

    stream: str
    input: str
    number: int
    text: str
    format: str = "csv"
    encoding: str = "utf-8"
    points: bool = False
    path: Path | None = None
    as_written: bool = False

    @property
    def name(self) -> str:
        """The file's name, as bad rows report it."""
        if self.path is not None:
            return self.path.name
        parts = [self.stream, self.input, str(self.number)] if self.input else [self.stream, str(self.number)]
        return f"{'-'.join(parts)}.{self.format}"


@dataclass(frozen=True, slots=True)
class Table:
    """Expected rows: a header and lines of cells, and where in the file they are.

    `more`: other rows may be there too (a line `…`). `in_order`: the lines are in order of event time. An empty table has no header.
    """

    header: Line
    lines: tuple[Line, ...]
    section_line: int = 0
    header_line: int = 0
    numbers: tuple[int, ...] = ()
    more: bool = False
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """A line of an `errors` section: place (None: the whole text), code, and a part of the message."""

    place: tuple[int, int] | None
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Expected:
    """What one kind of run must give: answers by query, late rows by stream."""

    answers: Mapping[str, Table] = field(default_factory=dict)
    late: Mapping[str, Table] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Queries:
    """A text of queries, and the name that errors give it."""

    text: str
    file: str


@dataclass(frozen=True, slots=True)
class Case:
    """One test case; `line` is where it begins. `inputs` are kind, name and line of every section of rows, points and fences."""

    name: str
    line: int
    queries: Queries
    files: tuple[InputFile, ...]
    expected: Mapping[RunKind, Expected]
    bad: Table | None
    errors: tuple[ExpectedError, ...]
    inputs: tuple[tuple[str, str, int], ...] = ()
    in_several_files: bool = False

    @property
    def runs(self) -> tuple[RunKind, ...]:
        """How the case is run: followed as well if rows can be late, or if the two runs differ."""
        bounded, followed = self.expected[RunKind.BOUNDED], self.expected[RunKind.FOLLOWED]
        if self.in_several_files or bounded.answers != followed.answers or followed.late:
            return (RunKind.BOUNDED, RunKind.FOLLOWED)
        return (RunKind.BOUNDED,)


@dataclass(frozen=True, slots=True)
class CaseFile:
    """One test file and its cases; `shown` is its name in messages."""

    path: Path
    shown: str
    text: str
    cases: tuple[Case, ...]
