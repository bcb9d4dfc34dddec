"""Writes what came out into the tables of a test file, and changes nothing else of it.

Lines that are as expected stay as they are written. A missing line takes the values of the row that is most similar, in its place;
without such a row it goes away. Other rows come at the end of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO

from headwater.model import DataError
from headwater.testing.cases import CaseFile, Table
from headwater.testing.differences import aligned, row_cells, short
from headwater.testing.matching import Comparison, Row, Types, cells_that_match
from headwater.testing.outcomes import Failure, Outcome
from headwater.testing.sections import split_sections


@dataclass(frozen=True, slots=True)
class Update:
    """What happened to one file: sections written, and outcomes of which something is left that cannot be written."""

    sections: int
    left: tuple[Outcome, ...]


def update(file: CaseFile, outcomes: Iterable[Outcome]) -> Update:
    """Write the tables of failed cases; raises DataError if the file cannot be written."""
    changes: dict[int, Failure] = {}
    left = []
    for outcome in outcomes:
        fit = [failure for failure in outcome.failures if can_update(outcome, failure)]
        changes.update({failure.table.section_line: failure for failure in fit if failure.table})
        if len(fit) < len(outcome.failures):
            left.append(outcome)
    if changes:
        _write(file, changes)
    return Update(len(changes), tuple(left))


def can_update(outcome: Outcome, failure: Failure) -> bool:
    """Whether a failure is a table of the file that can be written: not if it is also that of a run with other rows."""
    if failure.table is None or failure.comparison is None:
        return False
    case, place = outcome.case, failure.table.section_line
    of_runs = [
        run
        for run in case.runs
        for table in (*case.expected[run].answers.values(), *case.expected[run].late.values())
        if table.section_line == place
    ]
    return failure.run is None or of_runs == [failure.run]


def new_lines(text: str, failure: Failure) -> list[str]:
    """The lines below the heading of a section, without the blank ones at its end."""
    table, comparison = failure.table, failure.comparison
    assert table is not None and comparison is not None
    _, sections = split_sections(text)
    lines = list(next(one for one in sections if one.line == table.section_line).lines)
    while lines and not lines[-1].strip():
        lines.pop()
    writer = _Writer(table, lines[table.header_line - table.section_line - 1] if table.header_line else None)
    if comparison.out_of_order:
        return _put_in_order(table, comparison, failure.rows, lines)
    similar = dict(comparison.similar)
    for line in comparison.missing:
        place = table.numbers[line] - table.section_line - 1
        row = similar.get(line)
        lines[place] = "" if row is None else writer.changed(line, failure.rows[row], failure.types)
    gone = {
        table.numbers[line] - table.section_line - 1 for line in comparison.missing if line not in similar
    }
    lines = [line for place, line in enumerate(lines) if place not in gone]
    paired = set(similar.values())
    added = [failure.rows[row] for row in comparison.unexpected if row not in paired]
    return [*lines, *writer.all([row_cells(row, table.header) for row in added])]


class _Writer:
    """Writes lines as those of a table are written: in columns, or with commas alone."""

    def __init__(self, table: Table, header: str | None) -> None:
        self.table = table
        self.has_header = header is not None
        self.in_columns = header is None or ", " in header
        shown = [table.header, *([short(cell) for cell in line] for line in table.lines)]
        self.widths = [max(map(len, column)) for column in zip(*shown, strict=True)]

    def changed(self, line: int, row: Row, types: Types) -> str:
        """An expected line with the values of a row, where they differ."""
        same = cells_that_match(self.table, line, row, types)
        old = [short(cell) for cell in self.table.lines[line]]
        new = row_cells(row, self.table.header)
        return self._line([a if is_same else b for a, b, is_same in zip(old, new, same, strict=True)])

    def all(self, cells: Sequence[Sequence[str]]) -> list[str]:
        """New lines, below a header if there was none."""
        whole = [list(self.table.header), *cells] if cells and not self.has_header else list(cells)
        if not self.has_header and whole:
            self.widths = [max(map(len, column)) for column in zip(*whole, strict=True)]
        return [self._line(line) for line in whole]

    def _line(self, cells: Sequence[str]) -> str:
        return aligned(cells, self.widths) if self.in_columns else ",".join(cells)


def _put_in_order(
    table: Table, comparison: Comparison, rows: Sequence[Row], lines: Sequence[str]
) -> list[str]:
    """The same lines in order of event time."""
    matched = sorted(comparison.matched, key=lambda pair: str(rows[pair[1]].get("event_time")))
    texts = [lines[table.numbers[line] - table.section_line - 1] for line, _ in matched]
    new = list(lines)
    for number, text in zip(sorted(table.numbers), texts, strict=True):
        new[number - table.section_line - 1] = text
    return new


def _write(file: CaseFile, changes: dict[int, Failure]) -> None:
    try:
        data = file.path.read_bytes()
        ending = b"\r\n" if b"\r\n" in data else b"\n"
        lines = BytesIO(data).readlines()
        for place in sorted(changes, reverse=True):
            old = _section_end(file.text, place)
            new = [line.encode() + ending for line in new_lines(file.text, changes[place])]
            if place == len(lines) and not lines[-1].endswith(b"\n"):
                lines[-1] += ending
            lines[place:old] = new
        file.path.write_bytes(b"".join(lines))
    except OSError as fault:
        raise DataError("cannot-write", f"cannot write '{file.shown}': {fault.strerror or fault}") from fault


def _section_end(text: str, place: int) -> int:
    """The last line of a section that is not blank."""
    _, sections = split_sections(text)
    section = next(one for one in sections if one.line == place)
    numbered = section.numbered()
    return numbered[-1][0] if numbered else place
