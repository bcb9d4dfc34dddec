"""Golden files: streams, rows, queries and what must come out, as plain text that a user could write.

The format is that of users (`headwater.testing`), with some sections more: `tests/golden/README.md` describes them. Here it is
read; `hosts.py` runs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from headwater.model import QueryError
from headwater.testing.cases import Expected, ExpectedError, InputFile, Line, RunKind, Table
from headwater.testing.reader import BAD_COLUMNS, CaseReader
from headwater.testing.sections import Section, split_sections

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Start:
    """What a run is started with: the text, all files of points, and the files of rows that come before it stops."""

    text: str
    files: tuple[InputFile, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One golden file."""

    path: Path
    about: str
    starts: tuple[Start, ...]
    followed: Expected
    bounded: Expected
    bad: tuple[Line, ...]
    errors: tuple[ExpectedError, ...]
    command: str | None = None
    says: str = ""
    exit_code: int = 0
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Folder and name, as a test is called: `correlate/ties`."""
        return str(self.path.relative_to(FOLDER).with_suffix(""))

    @property
    def text(self) -> str:
        """The text of the first start."""
        return self.starts[0].text

    @property
    def files(self) -> tuple[InputFile, ...]:
        """The files of the first start."""
        return self.starts[0].files

    @property
    def is_restarted(self) -> bool:
        """Whether the run stops and goes on, with other queries or points."""
        return len(self.starts) > 1

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that have rows, in the order in which they are given."""
        files = (file for start in self.starts for file in start.files)
        return tuple(dict.fromkeys(file.stream for file in files if not file.points))


class NotGolden(Exception):  # noqa: N818
    """A golden file that is not written as the format asks."""


def all_cases() -> list[Case]:
    """Every golden file, by name."""
    return [read_case(path) for path in sorted(FOLDER.glob("**/*.golden"))]


def read_case(path: Path, text: str | None = None) -> Case:
    """One golden file."""
    about, sections = split_sections(path.read_text() if text is None else text)
    reader = _Reader(path)
    for section in sections:
        reader.take(section)
        reader.check()
    if not about:
        raise NotGolden(f"{path}: says nothing about what it shows")
    return reader.made(about)


class _Reader(CaseReader):
    """Reads what users write, and the sections that only golden files have."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, path.name, [])
        self.starts: list[Start] = []
        self.begun = 0  # how many files earlier starts have
        self.command: str | None = None
        self.says = ""
        self.exit_code = 0
        self.others: dict[str, str] = {}
        self.sections = {
            **self.sections,
            "restart": self._restart,
            "command": self._command,
            "says": self._says,
            "file": self._other,
        }

    def check(self) -> None:
        """A golden file is wrong as soon as a section of it is."""
        if self.errors:
            raise not_golden(self.path, self.errors[0])

    def _restart(self, section: Section) -> None:
        where = f"{self.path}:{section.line}"
        if section.words or not section.is_empty:
            raise NotGolden(f"{where}: a restart says nothing itself: what is new has sections behind it")
        if self.tables or self.bad:
            raise NotGolden(f"{where}: answers, late and bad rows are those of all starts: they come last")
        self.starts.append(self._start())
        # Files of rows are counted through all starts; points are given anew, and counted anew.
        self.files = [file for file in self.files if not file.points]
        self.begun = len(self.files)
        self.queries = None
        self.own.discard("queries")

    def _command(self, section: Section) -> None:
        self.command = section.body.strip()

    def _says(self, section: Section) -> None:
        self.says = section.body.strip()
        self.exit_code = int(section.words.removeprefix("and exits with ") or 0)

    def _other(self, section: Section) -> None:
        """A file of any kind; its lines are indented, so that those that begin with == are no sections."""
        self.others[section.words] = dedent(section.body).strip("\n") + "\n"

    def _start(self) -> Start:
        """What was read since the last restart; what is not said anew is as it was."""
        files = self.files[self.begun :]
        if not self.starts:
            if self.queries is None:
                raise NotGolden(f"{self.path}: has no queries")
            return Start(self.queries.text, tuple(files))
        if self.queries is None and not files:
            raise NotGolden(f"{self.path}: a restart with nothing behind it")
        before = self.starts[-1]
        anew = {file.stream for file in files if file.points}
        kept = (file for file in before.files if file.points and file.stream not in anew)
        return Start(before.text if self.queries is None else self.queries.text, (*kept, *files))

    def made(self, about: str) -> Case:
        if self.starts and (self.expected_errors or self.command):
            raise NotGolden(f"{self.path}: only a run that is followed can be restarted")
        if self.starts and self.expected(RunKind.BOUNDED).answers != self.expected(RunKind.FOLLOWED).answers:
            raise NotGolden(f"{self.path}: a run that is restarted is followed: answers without 'when'")
        starts = (*self.starts, self._start())
        if self.expected_errors and (self.tables or self.files):
            raise NotGolden(f"{self.path}: a text that is refused has no answers")
        if self.bad and self.bad.header not in ((), BAD_COLUMNS):
            raise NotGolden(f"{self.path}: bad rows are told as {', '.join(BAD_COLUMNS)}")
        return Case(
            self.path,
            about,
            starts,
            self.expected(RunKind.FOLLOWED),
            self.expected(RunKind.BOUNDED),
            self.bad.lines if self.bad else (),
            self.expected_errors,
            self.command,
            self.says,
            self.exit_code,
            self.others,
        )


def not_golden(path: Path, error: QueryError) -> NotGolden:
    """A mistake in a golden file, told as a user would be told."""
    return NotGolden(f"{path}:{error.span.line if error.span else 1}: {error.message}")


# --- comparing ------------------------------------------------------------------------------------------------------


def plain(value: Any) -> str:
    """A value as a golden table writes it: NULL, true, 3, 0.5, text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _plain_cell(value)
    return repr(int(value)) if float(value).is_integer() else repr(float(value))


def table_of(rows: Iterable[Mapping[str, Any]], like: Table | None) -> list[str]:
    """Rows as sorted lines of `name=value`, of the columns that an answer has; match_id only if `like` lists it."""
    hidden = {"query"} | (set() if like and "match_id" in like.header else {"match_id"})
    lines = [[f"{name}={plain(value)}" for name, value in row.items() if name not in hidden] for row in rows]
    return sorted(", ".join(line) for line in lines)


def lines_of(table: Table | None) -> list[str]:
    """The expected lines, in the same form and order as `table_of`."""
    if table is None:
        return []
    return sorted(
        ", ".join(f"{name}={_plain_cell(cell)}" for name, cell in zip(table.header, line, strict=True))
        for line in table.lines
    )


def repeated(items: Iterable[str]) -> list[str]:
    """What is there more than once: identities must not be."""
    return [item for item, count in Counter(items).items() if count > 1]


def _plain_cell(cell: str) -> str:
    """Numbers in one form, however they are written: 1.50 and 1.5, 3 and 3.0."""
    for read in (int, float):
        try:
            number = read(cell)
        except ValueError:
            continue
        return plain(number) if number - number == 0 else cell
    return cell
