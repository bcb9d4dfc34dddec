"""Golden files: streams, rows, queries and what must come out, as plain text that a user could write.

The format is described in `tests/golden/README.md`. Here it is read; `hosts.py` runs it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
DAY = "2026-01-01"

_SECTION = re.compile(r"== (queries|rows|points|fences|restart|answers|late|bad|errors|command|says)\b ?(.*)")
_SHORT_TIME = re.compile(r"(\d\d:\d\d:\d\d)(\.\d+)?")
_ERROR = re.compile(r"(?:(\d+):(\d+)|nowhere) ([a-z-]+): (.+)")

Line = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of one input of a stream, or of `points`, fences among them; `number` counts the files of that input from 1."""

    stream: str
    input: str
    number: int
    text: str
    format: str = "csv"
    encoding: str = "utf-8"
    points: bool = False

    @property
    def name(self) -> str:
        """The file's name, as bad rows tell it."""
        parts = [self.stream, self.input, str(self.number)] if self.input else [self.stream, str(self.number)]
        return f"{'-'.join(parts)}.{self.format}"


@dataclass(frozen=True, slots=True)
class Table:
    """A header and lines of cells, every cell in its plain form (see `plain`)."""

    header: Line
    lines: tuple[Line, ...]


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
    about, sections = _sections(path, path.read_text() if text is None else text)
    case = _Reader(path)
    for line, kind, words, body in sections:
        case.take(line, kind, words, body)
    if not about:
        raise NotGolden(f"{path}: says nothing about what it shows")
    return case.made(about)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.starts: list[Start] = []
        self.text: str | None = None
        self.files: list[InputFile] = []
        self.tables: dict[tuple[str, str, str], Table] = {}
        self.bad: tuple[Line, ...] = ()
        self.errors: tuple[ExpectedError, ...] = ()
        self.command: str | None = None
        self.says = ""
        self.exit_code = 0

    def take(self, line: int, kind: str, words: str, body: str) -> None:
        where = f"{self.path}:{line}"
        if kind == "queries":
            if self.text is not None:
                raise NotGolden(f"{where}: a second text, with no restart before it")
            self.text = body.rstrip() + "\n"
        elif kind in ("rows", "points", "fences"):
            self.files.append(self._file(words, body, points=kind != "rows"))
        elif kind == "restart":
            if words or body.strip():
                raise NotGolden(f"{where}: a restart says nothing itself: what is new has sections behind it")
            if self.tables or self.bad:
                raise NotGolden(
                    f"{where}: answers, late and bad rows are those of all starts: they come last"
                )
            self.starts.append(self._start())
            self.text, self.files = None, []
        elif kind in ("answers", "late"):
            name, _, run = words.partition(" when ")
            if run and self.starts:
                raise NotGolden(f"{where}: a run that is restarted is followed: '{name}' without 'when'")
            runs = {"": ("followed", "bounded"), "followed": ("followed",), "bounded": ("bounded",)}.get(run)
            if not name or runs is None or (kind == "late" and run):
                raise NotGolden(
                    f"{where}: '{words}' is not a name, or a name and 'when followed' or 'when bounded'"
                )
            for each in ("followed",) if kind == "late" else runs:
                if (each, kind, name) in self.tables:
                    raise NotGolden(f"{where}: a second table for '{name}'")
                self.tables[each, kind, name] = _table(body, where)
        elif kind == "bad":
            self.bad = _table(body, where).lines
        elif kind == "command":
            self.command = body.strip()
        elif kind == "says":
            self.says, self.exit_code = body.strip(), int(words.removeprefix("and exits with ") or 0)
        else:
            self.errors = tuple(_error(text, where) for text in body.splitlines() if text.strip())

    def _file(self, words: str, body: str, *, points: bool) -> InputFile:
        """Files of rows are counted through all starts; points are given anew, and counted anew."""
        rest, _, form = words.partition(" as ")
        suffix, _, encoding = form.partition(" in ")
        stream, _, source = rest.partition(" from ")
        earlier = [] if points else [file for start in self.starts for file in start.files]
        number = 1 + sum(file.stream == stream and file.input == source for file in [*earlier, *self.files])
        text = body.lstrip("\n") if suffix else _full_times(body)
        return InputFile(stream, source, number, text, suffix or "csv", encoding or "utf-8", points)

    def _start(self) -> Start:
        """What was read since the last restart; what is not said anew is as it was."""
        if not self.starts:
            if self.text is None:
                raise NotGolden(f"{self.path}: has no queries")
            return Start(self.text, tuple(self.files))
        if self.text is None and not self.files:
            raise NotGolden(f"{self.path}: a restart with nothing behind it")
        before = self.starts[-1]
        anew = {file.stream for file in self.files if file.points}
        kept = (file for file in before.files if file.points and file.stream not in anew)
        return Start(before.text if self.text is None else self.text, (*kept, *self.files))

    def made(self, about: str) -> Case:
        if self.starts and (self.errors or self.command):
            raise NotGolden(f"{self.path}: only a run that is followed can be restarted")
        starts = (*self.starts, self._start())
        if self.errors and (self.tables or self.files):
            raise NotGolden(f"{self.path}: a text that is refused has no answers")

        def expected(run: str) -> Expected:
            tables = {(kind, name): table for (r, kind, name), table in self.tables.items() if r == run}
            return Expected(
                {name: table for (kind, name), table in tables.items() if kind == "answers"},
                {name: table for (kind, name), table in tables.items() if kind == "late"},
            )

        return Case(
            self.path,
            about,
            starts,
            expected("followed"),
            expected("bounded"),
            self.bad,
            self.errors,
            self.command,
            self.says,
            self.exit_code,
        )


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
        ", ".join(f"{name}={cell}" for name, cell in zip(table.header, line, strict=True))
        for line in table.lines
    )


def repeated(items: Iterable[str]) -> list[str]:
    """What is there more than once: identities must not be."""
    return [item for item, count in Counter(items).items() if count > 1]


# --- reading --------------------------------------------------------------------------------------------------------


def _sections(path: Path, text: str) -> tuple[str, list[tuple[int, str, str, str]]]:
    about: list[str] = []
    found: list[tuple[int, str, str, list[str]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("=="):
            heading = _SECTION.fullmatch(line.rstrip())
            if heading is None:
                raise NotGolden(f"{path}:{number}: '{line}' is no section")
            found.append((number, heading[1], heading[2].strip(), []))
        elif found:
            found[-1][3].append(line)
        else:
            about.append(line)
    return "\n".join(about).strip(), [(n, kind, words, "\n".join(body)) for n, kind, words, body in found]


def _full_times(body: str) -> str:
    """The rows of a file, with `06:00:00` cells written out; blank lines are left out, cells are not touched else."""
    lines = [line for line in body.splitlines() if line.strip()]
    full = [",".join(_full_time(cell) for cell in line.split(",")) for line in lines]
    return "".join(f"{line}\n" for line in full)


def _table(body: str, where: str) -> Table:
    lines = [line for line in body.splitlines() if line.strip()]
    if not lines:
        raise NotGolden(f"{where}: an empty table has at least its header")
    cells = [
        tuple(_plain_cell(_full_time(cell.strip())) for cell in line)
        for line in csv.reader(lines, skipinitialspace=True)
    ]
    for number, line in enumerate(cells):
        if len(line) != len(cells[0]):
            raise NotGolden(
                f"{where}: line {number + 1} of the table has {len(line)} cells, not {len(cells[0])}"
            )
    return Table(cells[0], tuple(cells[1:]))


def _error(line: str, where: str) -> ExpectedError:
    found = _ERROR.fullmatch(line.strip())
    if found is None:
        raise NotGolden(f"{where}: '{line}' is not 'line:column code: part of the message'")
    place = (int(found[1]), int(found[2])) if found[1] else None
    return ExpectedError(place, found[3], found[4])


def _full_time(cell: str) -> str:
    found = _SHORT_TIME.fullmatch(cell)
    if found is None:
        return cell
    fraction = f".{found[2][1:]:0<6}" if found[2] else ""
    return f"{DAY}T{found[1]}{fraction}Z"


def _plain_cell(cell: str) -> str:
    """Numbers in one form, however they are written: 1.50 and 1.5, 3 and 3.0."""
    for read in (int, float):
        try:
            number = read(cell)
        except ValueError:
            continue
        return plain(number) if number - number == 0 else cell
    return cell
