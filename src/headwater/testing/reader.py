"""Reads test files: text that a user writes becomes cases, and every mistake in it is reported, with its place.

`docs/how-to/test-queries.md` describes the format. The golden files of Headwater's own tests are read by the same `CaseReader`.

Rule 1  All mistakes of a file are collected and raised together, as `QueriesRefused`.
Rule 2  Whether a query, stream or column exists is not decided here: `names.py` compares a case with its compiled queries.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from headwater.hosts.query_texts import read_query_text
from headwater.model import DataError, QueriesRefused, QueryError, Span
from headwater.query.language.suggestions import suggest
from headwater.testing.cases import (
    Case,
    CaseFile,
    Expected,
    ExpectedError,
    InputFile,
    Line,
    Queries,
    RunKind,
    Table,
)
from headwater.testing.sections import Section, split_sections

DAY: Final = "2026-01-01"
"""The day of a time that is written without one."""

ANYTHING: Final = ("…", "...")
"""A cell that matches any value, or a line for any further rows."""

SUFFIX: Final = ".hwtest"

_SHORT_TIME = re.compile(r"(\d\d:\d\d:\d\d)(\.\d+)?")
_ERROR = re.compile(r"(?:(\d+):(\d+)|nowhere) ([a-z-]+)(?:: (.+))?")
_FILE = re.compile(r"(.+?)(?: from (.+?))?(?: as ([\w.]+)(?: in (\S+))?)?")
_EXPECTED = re.compile(r"(.+?)(?: when (\S+))?( in order)?")
BAD_COLUMNS: Final = ("stream", "file", "line", "reason")

_NAMES: Final = {"answers": "answers", "late": "late rows"}
_SHARED = ("queries", "rows", "points", "fences")
_FORMS: Final[Mapping[str, str]] = {
    "queries": "== queries, or == queries from FILE",
    "rows": "== rows STREAM [from INPUT | from FILE] [as FORMAT [in ENCODING]]",
    "points": "== points NAME [from FILE] [as FORMAT [in ENCODING]]",
    "fences": "== fences NAME as geojson, or == fences NAME from FILE",
    "answers": "== answers QUERY [when followed | when bounded] [in order]",
    "late": "== late STREAM",
    "bad": "== bad",
    "errors": "== errors",
}


def read_test_file(path: Path, shown: str | None = None) -> CaseFile:
    """The cases of a file; raises DataError if it cannot be read, and QueriesRefused with every mistake in it."""
    shown = shown or str(path)
    return read_tests(_read_text(path, shown), path, shown)


def read_tests(text: str, path: Path, shown: str) -> CaseFile:
    """The same from its text; `path` is where files are relative to."""
    errors: list[QueryError] = []
    _, sections = split_sections(text)
    start = next((place for place, one in enumerate(sections) if one.kind == "case"), len(sections))
    if start == len(sections):
        cases = [_only_case(sections, path, shown, errors)]
    else:
        shared = _shared_sections(sections[:start], errors)
        cases = _named_cases(shared, sections[start:], path, shown, errors)
    if errors:
        unique = {
            (error.span, error.message): error for error in errors
        }  # a shared section is read for every case
        ordered = sorted(
            unique.values(), key=lambda error: (error.span.line, error.span.column) if error.span else (0, 0)
        )
        raise QueriesRefused(ordered, text, shown)
    return CaseFile(path, shown, text, tuple(case for case in cases if case is not None))


def _read_text(path: Path, shown: str) -> str:
    return read_query_text(path, shown).replace("\r\n", "\n")


def full_time(cell: str) -> str:
    """`06:00:00` as that time on the day of short times; any other cell unchanged."""
    found = _SHORT_TIME.fullmatch(cell)
    if found is None:
        return cell
    fraction = f".{found[2][1:]:0<6}" if found[2] else ""
    return f"{DAY}T{found[1]}{fraction}Z"


# --- cases ----------------------------------------------------------------------------------------------------------


def _only_case(sections: Sequence[Section], path: Path, shown: str, errors: list[QueryError]) -> Case | None:
    reader = CaseReader(path, shown, errors)
    for section in sections:
        reader.take(section)
    return reader.case(path.stem, sections[0].span if sections else Span(1, 1))


def _shared_sections(sections: Sequence[Section], errors: list[QueryError]) -> list[Section]:
    for section in sections:
        if section.kind in _FORMS and section.kind not in _SHARED:
            errors.append(
                QueryError(
                    "wrong-section",
                    f"'== {section.kind}' must come after the first '== case'",
                    span=section.span,
                    advice=[
                        "before the first case, only queries, rows, points and fences are shared by all cases"
                    ],
                )
            )
    return [section for section in sections if section.kind in _SHARED or section.kind not in _FORMS]


def _named_cases(
    shared: Sequence[Section], sections: Sequence[Section], path: Path, shown: str, errors: list[QueryError]
) -> list[Case | None]:
    starts = [place for place, section in enumerate(sections) if section.kind == "case"]
    cases, names = [], dict[str, int]()
    for start, end in zip(starts, [*starts[1:], len(sections)], strict=True):
        heading, reader = sections[start], CaseReader(path, shown, errors)
        if not heading.words:
            reader.refuse("wrong-section", "a case has a name", heading.span, "write '== case NAME'")
        elif heading.words in names:
            message = f"there is a case named '{heading.words}' in line {names[heading.words]} already"
            reader.refuse("duplicate-name", message, heading.span)
        names.setdefault(heading.words, heading.line)
        for section in shared:
            reader.take(section, shared=True)
        for section in sections[start + 1 : end]:
            reader.take(section)
        cases.append(reader.case(heading.words, heading.span))
    return cases


class CaseReader:
    """Takes the sections of one case, one after the other, and collects what is wrong with them in `errors`."""

    def __init__(self, path: Path, shown: str, errors: list[QueryError]) -> None:
        self.path = path
        self.shown = shown
        self.errors = errors
        self.queries: Queries | None = None
        self.files: list[InputFile] = []
        self.tables: dict[tuple[RunKind, str, str], Table] = {}
        self.bad: Table | None = None
        self.expected_errors: tuple[ExpectedError, ...] = ()
        self.inputs: list[tuple[str, str, int]] = []
        self.own: set[str] = set()  # the kinds of sections read, but for those shared with other cases
        self.taken: set[str] = set()
        self.sections: Mapping[str, Callable[[Section], None]] = {
            "queries": self._queries,
            "rows": self._file,
            "points": self._file,
            "fences": self._file,
            "answers": self._table,
            "late": self._table,
            "bad": self._bad,
            "errors": self._errors,
        }

    def refuse(self, code: str, message: str, span: Span, *advice: str) -> None:
        """A mistake in the file."""
        self.errors.append(QueryError(code, message, span=span, advice=advice))

    def take(self, section: Section, *, shared: bool = False) -> None:
        """One more section of the case."""
        reads = self.sections.get(section.kind)
        if reads is None:
            advice = suggest(section.kind, [*self.sections, "case"], "sections")
            message = f"'{section.heading.strip()}' is not a section of a test file"
            self.refuse("wrong-section", message, section.span, *advice)
            self.taken.update(self.sections)  # whatever it was meant to be, the case does not lack it
            return
        self.taken.add(section.kind)
        reads(section)
        if not shared:
            self.own.add(section.kind)

    def case(self, name: str, span: Span) -> Case | None:
        """The case, if it is complete."""
        if "queries" not in self.taken:
            advice = "write '== queries from FILE', or '== queries' with the text below it"
            self.refuse("incomplete-case", f"the case '{name}' has no queries", span, advice)
        if not self.taken & {"answers", "late", "bad", "errors"}:
            self.refuse(
                "incomplete-case",
                f"the case '{name}' expects nothing",
                span,
                "write '== answers QUERY' with the expected rows below it, or with nothing below it if there are none",
            )
        if self.expected_errors and (self.tables or self.bad or self.own & {"rows", "points", "fences"}):
            message = "queries that are refused have no rows and no answers"
            self.refuse(
                "wrong-section",
                message,
                span,
                "leave out '== errors', or every section but the queries and it",
            )
        if self.queries is None:
            return None
        several = any(file.number > 1 and not file.points for file in self.files)
        expected = {run: self.expected(run) for run in RunKind}
        return Case(
            name,
            span.line,
            self.queries,
            tuple(self.files),
            expected,
            self.bad,
            self.expected_errors,
            tuple(self.inputs),
            several,
        )

    def expected(self, run: RunKind) -> Expected:
        """What one kind of run must give."""
        tables = {(kind, name): table for (r, kind, name), table in self.tables.items() if r is run}
        return Expected(
            {name: table for (kind, name), table in tables.items() if kind == "answers"},
            {name: table for (kind, name), table in tables.items() if kind == "late"},
        )

    # --- sections ---------------------------------------------------------------------------------------------------

    def _queries(self, section: Section) -> None:
        if "queries" in self.own:
            self.refuse("wrong-section", "the case has queries already", section.span)
        elif not section.words:
            text = section.body.rstrip() + "\n"
            self.queries = Queries(
                text, f"{self.shown} (queries)"
            )  # places are those in the text, as in 'errors'
        elif not section.words.startswith("from "):
            self._wrong_form(section)
        else:
            self._no_lines(section)
            file = section.words.removeprefix("from ").strip()
            try:
                text = _read_text(self.path.parent / file, file)
            except DataError as fault:
                self.refuse(fault.code, fault.message, section.place(file), *fault.advice)
            else:
                self.queries = Queries(text, _beside(self.shown, file))

    def _file(self, section: Section) -> None:
        """Files of rows are counted, and so are those of points."""
        form = _FILE.fullmatch(section.words)
        if form is None:
            self._wrong_form(section)
            return
        stream, source, suffix, encoding = form.groups("")
        self.inputs.append((section.kind, stream, section.line))
        points = section.kind != "rows"
        try:
            section.body.encode(encoding or "utf-8")
        except LookupError:
            self.refuse("wrong-section", f"there is no encoding '{encoding}'", section.place(encoding))
            return
        except UnicodeEncodeError as fault:
            message = f"{encoding} has no character '{section.body[fault.start]}'"
            self.refuse("wrong-section", message, section.place(encoding))
            return
        if "." in source or "/" in source:
            self._existing_file(section, stream, source, points=points)
            return
        number = 1 + sum(
            (file.stream, file.input, file.points) == (stream, source, points) for file in self.files
        )
        text = section.body.lstrip("\n") if suffix else _full_times(section.body)
        form_of_file = (suffix or "csv", encoding or "utf-8")
        self.files.append(
            InputFile(stream, source, number, text, *form_of_file, points=points, as_written=bool(suffix))
        )

    def _existing_file(self, section: Section, stream: str, file: str, *, points: bool) -> None:
        self._no_lines(section)
        path = self.path.parent / file
        if not path.is_file():
            self.refuse(
                "no-files",
                f"there is no file '{file}'",
                section.place(file),
                "a path is relative to the test file",
            )
            return
        number = 1 + sum((other.stream, other.points) == (stream, points) for other in self.files)
        self.files.append(InputFile(stream, file, number, "", points=points, path=path, as_written=True))

    def _table(self, section: Section) -> None:
        """A table of answers or late rows."""
        form = _EXPECTED.fullmatch(section.words)
        runs = {None: tuple(RunKind), "followed": (RunKind.FOLLOWED,), "bounded": (RunKind.BOUNDED,)}
        if form is None or form[2] not in runs or (section.kind == "late" and (form[2] or form[3])):
            self._wrong_form(section)
            return
        table = self._read_table(section, in_order=bool(form[3]))
        for run in (RunKind.FOLLOWED,) if section.kind == "late" else runs[form[2]]:
            key = (run, section.kind, form[1])
            if key in self.tables:
                line = self.tables[key].section_line
                message = f"'{form[1]}' has {_NAMES[section.kind]} in line {line} already"
                self.refuse("wrong-section", message, section.span, "put all rows into one table")
            elif table is not None:
                self.tables[key] = table

    def _bad(self, section: Section) -> None:
        if section.words:
            self._wrong_form(section)
            return
        table = self._read_table(section)
        for name in table.header if table else ():
            if name not in BAD_COLUMNS:
                span = Span(section.line + 1, 1)
                advice = suggest(name, BAD_COLUMNS, "columns")
                self.refuse("unknown-column", f"bad rows have no column named '{name}'", span, *advice)
        self.bad = table

    def _errors(self, section: Section) -> None:
        if section.words:
            self._wrong_form(section)
            return
        found = []
        for number, line in section.numbered():
            error = _ERROR.fullmatch(line.strip())
            if error is None:
                message = f"'{line.strip()}' is not 'line:column code: part of the message'"
                advice = "write 'nowhere code' for an error that has no place; the message may be left out"
                self.refuse("wrong-table", message, Span(number, 1, len(line)), advice)
                continue
            place = (int(error[1]), int(error[2])) if error[1] else None
            found.append(ExpectedError(place, error[3], error[4] or ""))
        if section.is_empty:
            self.refuse("wrong-table", "there is no error below '== errors'", section.span)
        self.expected_errors += tuple(found)

    def _read_table(self, section: Section, *, in_order: bool = False) -> Table | None:
        """Header and lines; None if it is refused. Without any line the table is empty."""
        lines = section.numbered()
        more = [number for number, line in lines if line.strip() in ANYTHING]
        lines = [(number, line) for number, line in lines if number not in more]
        if not lines:
            return Table((), (), section.line, more=bool(more), in_order=in_order)
        cells = [(number, _cells(line)) for number, line in lines]
        (header_line, header), rows = cells[0], cells[1:]
        errors = len(self.errors)
        for name in {name for name in header if header.count(name) > 1}:
            self.refuse(
                "wrong-table", f"two columns are named '{name}'", Span(header_line, 1, len(lines[0][1]))
            )
        for (number, line), (_, row) in zip(lines[1:], rows, strict=True):
            if len(row) != len(header):
                message = f"the line has {_counted(row)}, and the header {_counted(header)}"
                advice = "write NULL where there is no value, … for any value, and quotes around a text with a comma"
                self.refuse("wrong-table", message, Span(number, 1, len(line)), advice)
        if more and in_order:
            self.refuse("wrong-table", "a table in order has all its rows, and no line '…'", Span(more[0], 1))
        if len(self.errors) > errors:
            return None
        return Table(
            header,
            tuple(row for _, row in rows),
            section.line,
            header_line,
            tuple(number for number, _ in rows),
            more=bool(more),
            in_order=in_order,
        )

    def _wrong_form(self, section: Section) -> None:
        message = f"'{section.heading.strip()}' is not written as this section is"
        self.refuse("wrong-section", message, section.span, f"write {_FORMS[section.kind]}")

    def _no_lines(self, section: Section) -> None:
        if not section.is_empty:
            number, line = section.numbered()[0]
            message = "the section names a file, so there is nothing below it"
            self.refuse("wrong-section", message, Span(number, 1, len(line)))


# --- lines ----------------------------------------------------------------------------------------------------------


def _full_times(body: str) -> str:
    """The rows of a file, with `06:00:00` cells written out; blank lines are left out, other cells are unchanged."""
    lines = [line for line in body.splitlines() if line.strip()]
    full = [",".join(full_time(cell) for cell in line.split(",")) for line in lines]
    return "".join(f"{line}\n" for line in full)


def _cells(line: str) -> Line:
    cells = next(csv.reader([line], skipinitialspace=True))
    return tuple(full_time(cell.strip()) for cell in cells)


def _counted(cells: Sequence[str]) -> str:
    return f"{len(cells)} cell{'s' * (len(cells) != 1)}"


def _beside(shown: str, file: str) -> str:
    """A file as errors name it: relative to where the test file is shown."""
    return str(Path(shown).parent / file)
