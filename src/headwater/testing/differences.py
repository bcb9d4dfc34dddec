"""A difference between expected and actual rows, as people read it: lines with - are expected, lines with + came out.

```
event_time, station, temperature
- 06:00:05,   river,   -0.5
+ 06:00:05,   river,   0.5
                       ^^^
```
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from headwater.query.language.words import counted
from headwater.testing.cases import Table
from headwater.testing.matching import Comparison, Row, Types, cell_text, cells_that_match
from headwater.testing.reader import DAY

MOST_SHOWN: Final = 20
"""Lines and rows that are shown of one difference; the others are counted."""

_OF_THE_DAY = re.compile(rf"{DAY}T(\d\d:\d\d:\d\d)(?:\.(\d*?)0*)?Z")


def in_words(comparison: Comparison) -> str:
    """How much is as expected, and how much is not."""
    if comparison.out_of_order:
        return "in another order than that of event time"
    parts = []
    if comparison.missing:
        parts.append(f"{len(comparison.missing):,} missing")
    if comparison.unexpected:
        parts.append(f"{len(comparison.unexpected):,} not expected")
    if comparison.matched:
        parts.append(f"{len(comparison.matched):,} as expected")
    return ", ".join(parts)


def difference_lines(table: Table, rows: Sequence[Row], types: Types, comparison: Comparison) -> list[str]:
    """The lines that are missing and the rows that are not expected, those that are similar one below the other."""
    if comparison.out_of_order:
        return ["expected in this order:", *("  " + ", ".join(line) for line in table.lines[:MOST_SHOWN])]
    pairs = dict(comparison.similar)
    paired = set(pairs.values())
    entries: list[tuple[int | None, int | None]] = [(line, pairs.get(line)) for line in comparison.missing]
    entries += [(None, row) for row in comparison.unexpected if row not in paired]
    shown = entries[:MOST_SHOWN]
    header = list(table.header)
    expected = {line: [short(cell) for cell in table.lines[line]] for line, _ in shown if line is not None}
    actual = {row: row_cells(rows[row], header) for _, row in shown if row is not None}
    widths = [
        max(map(len, column)) for column in zip(header, *expected.values(), *actual.values(), strict=True)
    ]
    lines = [f"  {aligned(header, widths)}"]
    for line, row in shown:
        if line is not None:
            lines.append(f"- {aligned(expected[line], widths)}")
        if row is not None:
            lines.append(f"+ {aligned(actual[row], widths)}")
        if line is not None and row is not None:
            same = cells_that_match(table, line, rows[row], types)
            lines.append(f"  {_marks(same, actual[row], widths)}")
    if len(entries) > len(shown):
        lines.append(f"  and {counted(len(entries) - len(shown), 'more difference')}")
    return lines


def row_cells(row: Row, header: Sequence[str]) -> list[str]:
    """A row as a table writes it."""
    return [short(quoted(cell_text(row.get(name)))) for name in header]


def aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells of one line below those of another."""
    padded = [f"{cell},".ljust(width + 1) for cell, width in zip(cells[:-1], widths[:-1], strict=True)]
    return " ".join([*padded, *cells[-1:]])


def short(cell: str) -> str:
    """A time of the day of short times, without the day."""
    found = _OF_THE_DAY.fullmatch(cell)
    if found is None:
        return cell
    return f"{found[1]}.{found[2]}" if found[2] else found[1]


def quoted(cell: str) -> str:
    """A text that a table could not read otherwise, in quotes."""
    if cell != cell.strip() or set(cell) & set(',"\n'):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _marks(same: Sequence[bool], cells: Sequence[str], widths: Sequence[int]) -> str:
    marks = ["" if is_same else "^" * max(len(cell), 1) for is_same, cell in zip(same, cells, strict=True)]
    return " ".join(mark.ljust(width + 1) for mark, width in zip(marks, widths, strict=True)).rstrip()
