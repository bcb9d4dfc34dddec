"""MATCH_RECOGNIZE, the slow way: rows in order, by partition, what is found there, and the answers made of it.

The three families are `pattern_rows` (the preferred match of each row), `pattern_events` (MATCH EVERY) and `pattern_nodes`
(node modes).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from headwater.kernels.pattern.choices import RowsPerMatch
from headwater.model import StreamSchema
from headwater.query.expressions import ExprType
from headwater.query.operators.pattern.tree import MatchRecognize
from tests.laws.oracles.expressions import shown
from tests.laws.oracles.pattern_events import every
from tests.laws.oracles.pattern_nodes import detections
from tests.laws.oracles.pattern_rows import Binding, Found, Search, pairs, preferred
from tests.laws.oracles.pattern_sight import Pair, Sight, value

Row = dict[str, Any]
Raw = tuple[list[Pair], int, str]  # what is bound, event_time, and match | timeout | empty | unmatched


def answers(operator: MatchRecognize, schema: StreamSchema, rows: Iterable[Row]) -> list[Row]:
    """The answers for a bounded input, by event_time, then partition, then in the order of matches."""
    emitted = [
        (found.event_time, part, answer)
        for part, (search, everything) in enumerate(_searched(operator, schema, rows))
        for found in everything
        for answer in _answers(search, schema, found)
    ]
    return [answer for *_, answer in sorted(emitted, key=lambda entry: entry[:2])]


def matches(
    operator: MatchRecognize, schema: StreamSchema, rows: Iterable[Row]
) -> dict[tuple[Any, ...], list[Raw]]:
    """What is found by partition, in order of event_time, then of matches; rows are counted within the partition.

    A row left out of ALL ROWS PER MATCH by `{- -}`, and an empty match that is not shown, are there all the same.
    """
    names = [column.name for column in operator.partition]
    return {
        tuple(search.rows[0][name] for name in names): [
            (list(pairs(found.bound)), found.event_time, found.kind)
            for found in sorted(everything, key=lambda found: found.event_time)
        ]
        for search, everything in _searched(operator, schema, rows)
    }


def counts(operator: MatchRecognize, schema: StreamSchema, rows: Iterable[Row]) -> dict[str, int]:
    """What limits and windows gave up, and skips to a variable that has no row (or the first) in the match."""
    total = sum((search.counts for search, _ in _searched(operator, schema, rows)), Counter())
    return {name: count for name, count in total.items() if count}


def ordered(operator: MatchRecognize, schema: StreamSchema, rows: Iterable[Row]) -> list[Row]:
    """Rows by time, the further ORDER BY columns, key, and the rest as declared."""
    names = list(dict.fromkeys([schema.time, *(column.name for column in operator.order), *schema.order]))
    return sorted(rows, key=lambda row: _rank([row[name] for name in names]))


def _searched(
    operator: MatchRecognize, schema: StreamSchema, rows: Iterable[Row]
) -> list[tuple[Search, list[Found]]]:
    names = [column.name for column in operator.partition]
    partitions: dict[tuple[Any, ...], list[Row]] = {}
    for row in ordered(operator, schema, rows):
        partitions.setdefault(tuple(row[name] for name in names), []).append(row)
    if operator.forget is not None:
        partitions = _pieces(partitions, schema.time, operator.forget.micros)
    types = {name: ExprType(kind.value) for name, kind in schema.columns}
    find = detections if operator.mode else (every if operator.every else preferred)
    searches = [
        Search(operator, types, schema.time, partitions[part]) for part in sorted(partitions, key=_rank)
    ]
    return [(search, find(search)) for search in searches]


def _pieces(
    partitions: dict[tuple[Any, ...], list[Row]], time: str, forget_us: int
) -> dict[tuple[Any, ...], list[Row]]:
    """Each partition cut where it is silent for longer than FORGET says; the time of its first row tells a piece apart."""
    pieces: dict[tuple[Any, ...], list[Row]] = {}
    for part, rows in partitions.items():
        before = None
        for row in rows:
            if before is None or row[time] - before > forget_us:
                piece = pieces.setdefault((*part, row[time]), [])
            piece.append(row)
            before = row[time]
    return pieces


def _rank(values: Sequence[Any]) -> list[tuple[bool, Any]]:
    """To sort by: NULL first."""
    return [(item is not None, 0 if item is None else item) for item in values]


# --- answers of one match --------------------------------------------------------------------------------------------------


def _answers(search: Search, schema: StreamSchema, found: Found) -> list[Row]:
    operator = search.operator
    more = {"timed_out": found.kind == "timeout"} if operator.timeouts else {}
    head = {"event_time": found.event_time}
    if operator.rows in (None, RowsPerMatch.ONE):
        columns = [column.name for column in operator.partition]
        last = found.bound[-1].row if found.bound else None
        return [head | _columns(search, found.row, columns) | _measures(search, found, last) | more]
    names = [name for name, _ in schema.columns if not (name == schema.time == "event_time")]
    if not found.bound:
        if found.kind == "empty" and operator.rows is RowsPerMatch.ALL_OMIT_EMPTY:
            return []
        return [head | _columns(search, found.row, names) | _measures(search, found, None) | more]
    return [
        head | _columns(search, row, names) | _measures(search, found, row) | more
        for row in _rows_emitted(operator, found.bound)
    ]


def _rows_emitted(operator: MatchRecognize, bound: Sequence[Binding]) -> list[int]:
    """In row order; under MATCH EVERY by element as PATTERN is written, then in row order (rule 12)."""
    emitted = [binding for binding in bound if binding.shown]
    return [b.row for b in sorted(emitted, key=lambda b: (b.place if operator.every else (), b.row))]


def _columns(search: Search, row: int, names: Sequence[str]) -> Row:
    return {name: search.rows[row][name] for name in names}


def _measures(search: Search, found: Found, row: int | None) -> Row:
    """As seen from one row of the match. Reading: RUNNING is up to that row in row order, under MATCH EVERY too."""
    operator = search.operator
    if found.kind == "unmatched":
        return {measure.name: None for measure in operator.measures}
    whole = pairs(found.bound)
    bound = [pair for pair in whole if row is not None and pair[1] <= row]
    sight = Sight(search.types, search.rows, search.subsets, bound, whole, row, found.number)
    return {measure.name: shown(value(measure.expression, sight)) for measure in operator.measures}
