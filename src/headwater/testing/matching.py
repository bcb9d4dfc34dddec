"""Which expected rows came out, and which did not? A table against rows, column by column of its header.

Rule 1  Only the columns of the header are compared, and no order, unless the table says so.
Rule 2  Numbers are equal if they differ by at most a billionth of the larger one, or by 1e-12. `~1.5` is any number that is 1.5
        when it is rounded to as many decimals. `…` is any value, and NULL no value.
Rule 3  Each row answers one expected line. As many lines as possible find a row; of the others, the most similar are shown together.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal

from headwater.model import ColumnType, LimitReached, parse_instant
from headwater.testing.cases import Line, Table
from headwater.testing.reader import ANYTHING

RELATIVE: Final = 1e-9
ABSOLUTE: Final = 1e-12

MOST_PAIRS: Final = 4_000_000
"""Pairs of lines and rows that are compared cell by cell, after those with equal texts, and within those of equal keys."""

MOST_SIMILAR: Final = 250_000
"""Pairs that are compared to find the most similar ones; of more, none is sought."""

Row = Mapping[str, Any]
Kind = ColumnType | Literal["part"]
"""What a column has; of a reason, a table has a part."""

Types = Mapping[str, Kind]

_ABOUT = re.compile(r"~\s*[-+]?\d+(\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Places of lines in a table and of rows that match, and of those that do not; `similar` are pairs of the latter."""

    matched: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    similar: tuple[tuple[int, int], ...]
    out_of_order: bool = False

    @property
    def is_equal(self) -> bool:
        """Whether everything is as expected."""
        return not (self.missing or self.unexpected or self.out_of_order)


def compare(table: Table, rows: Sequence[Row], types: Types) -> Comparison:
    """What of a table came out."""

    def equal(line: int, row: int) -> bool:
        cells = zip(table.header, table.lines[line], strict=True)
        return all(cell_matches(cell, rows[row].get(name), types[name]) for name, cell in cells)

    matched = _assign(table, rows, types, equal)
    lines = [line for line in range(len(table.lines)) if line not in matched]
    taken = set(matched.values())
    left = [row for row in range(len(rows)) if row not in taken]
    similar = _similar(table, rows, types, lines, left)
    wrong_order = table.in_order and not lines and not left and not _in_order(rows, equal)
    unexpected = () if table.more else tuple(left)
    return Comparison(tuple(sorted(matched.items())), tuple(lines), unexpected, similar, wrong_order)


def cell_matches(cell: str, value: Any, kind: Kind) -> bool:
    """Whether a cell of a table stands for a value."""
    if cell in ANYTHING:
        return True
    if value is None or cell == "NULL":
        return value is None and cell in ("NULL", "")
    match kind:
        case "part":
            return cell in str(value)
        case ColumnType.DOUBLE | ColumnType.BIGINT:
            return _number_matches(cell, value)
        case ColumnType.BOOLEAN:
            return cell.lower() == str(value).lower()
        case ColumnType.TIMESTAMP:
            return _instant(cell) == _instant(value)
    return cell == value


def can_be(cell: str, kind: Kind) -> bool:
    """Whether a column can have what a cell stands for."""
    if cell in (*ANYTHING, "NULL", ""):
        return True
    match kind:
        case ColumnType.DOUBLE | ColumnType.BIGINT:
            return bool(_ABOUT.fullmatch(cell)) or _number(cell) is not None
        case ColumnType.BOOLEAN:
            return cell.lower() in ("true", "false")
        case ColumnType.TIMESTAMP:
            return _instant(cell) is not None
    return True


def cells_that_match(table: Table, line: int, row: Row, types: Types) -> list[bool]:
    """Cell by cell."""
    cells = zip(table.header, table.lines[line], strict=True)
    return [cell_matches(cell, row.get(name), types[name]) for name, cell in cells]


def _number_matches(cell: str, value: float) -> bool:
    if about := _ABOUT.fullmatch(cell):
        half = 0.5 * 10.0 ** -len(about[2] or "")
        return abs(float(cell[1:]) - value) <= half * (1 + RELATIVE)
    number = _number(cell)
    if isinstance(number, int) and isinstance(value, int):
        return number == value
    try:
        return number is not None and math.isclose(number, value, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    except OverflowError:  # more digits than a DOUBLE has
        return False


def _number(cell: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(cell)
        except ValueError:
            continue
    return None


def _instant(text: str) -> int | None:
    try:
        return parse_instant(text)
    except ValueError:
        return None


# --- which line takes which row -------------------------------------------------------------------------------------


def _assign(
    table: Table, rows: Sequence[Row], types: Types, equal: Callable[[int, int], bool]
) -> dict[int, int]:
    """A row for as many lines as possible: first by text, then line by line, moving earlier lines to other rows."""
    matched = _by_text(table, rows)
    lines = [line for line in range(len(table.lines)) if line not in matched]
    taken = set(matched.values())
    left = [row for row in range(len(rows)) if row not in taken]
    possible = _by_key(table, rows, types, lines, left)
    if (pairs := sum(map(len, possible.values()))) > MOST_PAIRS:
        message = f"{pairs:,} pairs of expected and actual rows are too many to compare"
        advice = "add a column with exact values, such as event_time, or expect fewer rows"
        raise LimitReached("MOST_PAIRS", MOST_PAIRS, message, advice=[advice])
    options = {line: [row for row in possible[line] if equal(line, row)] for line in lines}
    owner: dict[int, int] = {}
    for line in sorted(lines, key=lambda one: len(options[one])):
        _find_row(line, options, owner)
    return matched | {line: row for row, line in owner.items()}


def _by_key(
    table: Table, rows: Sequence[Row], types: Types, lines: Sequence[int], left: Sequence[int]
) -> dict[int, list[int]]:
    """For each line the rows that have its values in the columns in which equal values have one form."""
    columns = [
        place
        for place, name in enumerate(table.header)
        if types[name] in _ONE_FORM and not any(table.lines[line][place] in ANYTHING for line in lines)
    ]
    kinds = [(table.header[place], types[table.header[place]]) for place in columns]
    places: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for row in left:
        places[tuple(_one_form(rows[row].get(name), kind) for name, kind in kinds)].append(row)
    keys = {
        line: tuple(
            _one_form(table.lines[line][place], kind) for place, (_, kind) in zip(columns, kinds, strict=True)
        )
        for line in lines
    }
    return {line: places.get(key, []) for line, key in keys.items()}


_ONE_FORM: Final = (ColumnType.STRING, ColumnType.ID, ColumnType.TIMESTAMP)


def _one_form(value: Any, kind: Kind) -> Any:
    """What equal values of a column have in common, in a table and in a row."""
    if value in (None, "", "NULL"):
        return None
    return _instant(value) if kind is ColumnType.TIMESTAMP else value


def _by_text(table: Table, rows: Sequence[Row]) -> dict[int, int]:
    """Lines and rows whose cells are the same text."""
    places: dict[Line, deque[int]] = defaultdict(deque)
    for place, row in enumerate(rows):
        places[tuple(cell_text(row.get(name)) for name in table.header)].append(place)
    return {line: places[cells].popleft() for line, cells in enumerate(table.lines) if places[cells]}


def _find_row(line: int, options: Mapping[int, Sequence[int]], owner: dict[int, int]) -> bool:
    """Give a line one of its rows, breadth first: those that have it already move to another of theirs."""
    came_from: dict[int, int] = {}
    seen, waiting = set[int](), deque([line])
    while waiting:
        asking = waiting.popleft()
        for row in options[asking]:
            if row in seen:
                continue
            seen.add(row)
            came_from[row] = asking
            if row not in owner:
                _hand_over(row, came_from, owner)
                return True
            waiting.append(owner[row])
    return False


def _hand_over(row: int, came_from: Mapping[int, int], owner: dict[int, int]) -> None:
    held = {line: row for row, line in owner.items()}
    freed: int | None = row
    while freed is not None:
        line = came_from[freed]
        owner[freed], freed = line, held.get(line)


def _similar(
    table: Table, rows: Sequence[Row], types: Types, lines: Sequence[int], left: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Lines and rows that nothing matches, the most similar together; those with nothing in common stay apart."""
    if len(lines) * len(left) > MOST_SIMILAR:
        return ()
    scored = [
        (sum(cells_that_match(table, line, rows[row], types)), line, row) for line in lines for row in left
    ]
    pairs: dict[int, int] = {}
    taken = set[int]()
    for score, line, row in sorted(scored, key=lambda one: (-one[0], one[1], one[2])):
        if score and line not in pairs and row not in taken:
            pairs[line] = row
            taken.add(row)
    return tuple(sorted(pairs.items()))


def _in_order(rows: Sequence[Row], equal: Callable[[int, int], bool]) -> bool:
    """Whether lines come as rows do in order of event time; rows of one time may come in any order."""
    order = sorted(range(len(rows)), key=lambda row: _instant(str(rows[row].get("event_time"))) or 0)
    start = 0
    for _, group in groupby(order, key=lambda row: rows[row].get("event_time")):
        places = list(group)
        lines = range(start, start + len(places))
        options = {line: [row for row in places if equal(line, row)] for line in lines}
        owner: dict[int, int] = {}
        if not all(_find_row(line, options, owner) for line in lines):
            return False
        start += len(places)
    return True


def cell_text(value: Any) -> str:
    """A value as a table writes it: NULL, true, 3, 0.5, text."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
