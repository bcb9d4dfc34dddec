"""Response: what is emitted of the matches that were found.

Rule 1  A measure reads the rows of its match up to the present one (RUNNING) or all of them (FINAL). With one row a
        match these are the same.
Rule 2  Everything is computed for all matches of a query at once: each term of a measure is a column with one place for
        each row that is emitted.
Rule 3  `match_id` is computed from the query's name, the time, and for every bound row its content, its place among equal
        rows (which are different rows) and its variable; not from rows that the pattern passes over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import Automaton
from headwater.kernels.pattern.choices import RowsPerMatch
from headwater.kernels.pattern.partitioned_rows import Arranged, at_rows
from headwater.kernels.pattern.question import (
    AggregateTerm,
    ClassifierTerm,
    Measure,
    PatternQuery,
    RowTerm,
    Term,
)
from headwater.kernels.pattern.runs import (
    BOUND,
    EMPTY,
    EVENT_TIME,
    FIRST_ROW,
    KIND,
    MATCH,
    MATCH_NUMBER,
    PARTITION,
    TIMEOUT,
    UNMATCHED,
    Segments,
)
from headwater.model import INTEREST_SERIAL, Column, ColumnType, Rows, coded, content_ids
from headwater.model.identity import content_hash
from headwater.model.rows import Mask, compacted
from headwater.model.splitmix import GOLDEN, MULTIPLIER

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a scan: one line for each thing to emit (see `runs`), and the rows bound in them, one after the other."""

    lines: Numbers
    row: Numbers  # of the table
    state: Numbers

    @property
    def begin(self) -> Numbers:
        """Where the rows of each line begin."""
        ends: Numbers = np.cumsum(self.lines[:, BOUND])
        return ends - self.lines[:, BOUND]


@dataclass(frozen=True, slots=True)
class _AnswerRows:
    """The rows of an answer: their line, the present row, and how many bound rows there are up to it."""

    line: Numbers
    row: Numbers
    upto: Numbers


def respond(
    query: PatternQuery,
    auto: Automaton,
    found: Found,
    table: Arranged,
    keys: Rows,
    segments: Segments,
) -> Rows:
    """The answers, by event time."""
    found = _in_order(found)
    answer_rows = _answer_rows(query, auto, found)
    if not len(answer_rows.line):
        return Rows({}, 0)
    lines = found.lines[answer_rows.line]
    event_time = Column(ColumnType.TIMESTAMP, lines[:, EVENT_TIME])
    name = coded(np.zeros(len(lines), np.int32), np.array([query.name], object))
    partition = segments.partition[lines[:, PARTITION]]
    identity = _identities(query, auto, found, table, answer_rows, keys, segments)
    columns = {"query": name, "event_time": event_time, "match_id": identity}
    if query.rows is RowsPerMatch.ONE:
        columns |= {column: keys[column].take(partition) for column in query.partition}
    else:
        columns |= {column: table.rows[column].take(answer_rows.row) for column in query.row_columns}
    terms = _Terms(query, auto, found, table, answer_rows)
    columns |= {measure.name: terms.measure(measure) for measure in query.measures}
    if query.by_interest:
        columns[INTEREST_SERIAL] = keys[INTEREST_SERIAL].take(partition)
    if query.timeouts:
        columns["timed_out"] = Column(ColumnType.BOOLEAN, lines[:, KIND] == TIMEOUT)
    return Rows(columns, len(lines))


def _in_order(found: Found) -> Found:
    """By event time; equal times keep the order in which they were found."""
    order = np.argsort(found.lines[:, EVENT_TIME], kind="stable")
    if (order == np.arange(len(order))).all():
        return found
    begin, count = found.begin[order], found.lines[order, BOUND]
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    place = np.repeat(begin, count) + within
    return Found(found.lines[order], found.row[place], found.state[place])


def _answer_rows(query: PatternQuery, auto: Automaton, found: Found) -> _AnswerRows:
    lines, count = found.lines, found.lines[:, BOUND]
    if query.rows is RowsPerMatch.ONE:
        every = np.arange(len(lines))
        return _AnswerRows(every, lines[:, FIRST_ROW], count)
    line = np.repeat(np.arange(len(lines)), count)
    upto = np.arange(len(line)) - np.repeat(found.begin, count) + 1
    shown = ~auto.hidden[found.state] if len(line) else np.zeros(0, np.bool_)
    single = lines[:, KIND] == UNMATCHED
    if query.rows is not RowsPerMatch.ALL_OMIT_EMPTY:
        single |= lines[:, KIND] == EMPTY
    alone = np.flatnonzero(single)
    place = auto.place[found.state[shown]] if query.every else np.zeros(int(shown.sum()), np.int64)
    line = np.concatenate([line[shown], alone])
    row = np.concatenate([found.row[shown], lines[alone, FIRST_ROW]])
    upto = np.concatenate([upto[shown], np.zeros(len(alone), np.int64)])
    place = np.concatenate([place, np.zeros(len(alone), np.int64)])
    order = np.lexsort([upto, place, line])
    return _AnswerRows(line[order], row[order], upto[order])


class _Terms:
    """Terms of measures as columns, each computed once."""

    def __init__(
        self, query: PatternQuery, auto: Automaton, found: Found, table: Arranged, answer_rows: _AnswerRows
    ) -> None:
        self.query, self.found, self.table, self.answer_rows = query, found, table, answer_rows
        self.lines = found.lines[answer_rows.line]
        self.variable = auto.variable[found.state] if len(found.state) else found.state
        self.begin = found.begin[answer_rows.line]
        self.unmatched = self.lines[:, KIND] == UNMATCHED
        self._columns: dict[Term, Column] = {}

    def measure(self, measure: Measure) -> Column:
        columns = {f"#{number}": self.column(term) for number, term in enumerate(measure.terms)}
        column = measure.compute(Rows(columns, len(self.lines)))
        return _without(column, self.unmatched)

    def column(self, term: Term) -> Column:
        if term not in self._columns:
            self._columns[term] = self._compute(term)
        return self._columns[term]

    def _compute(self, term: Term) -> Column:
        match term:
            case RowTerm():
                place = self._bound(term.variables, term.first, term.offset, term.final)
                row = np.where(place >= 0, self.found.row[place], -1) if len(self.found.row) else place
                return self._at(self.table.value(term.value), row, term.shift)
            case AggregateTerm():
                return self._aggregate(term)
            case ClassifierTerm():
                return self._classifier(term)
            case _:
                number = self.lines[:, MATCH_NUMBER]
                return _without(Column(ColumnType.BIGINT, number), self.lines[:, KIND] == TIMEOUT)

    def _members(self, variables: tuple[int, ...] | None) -> Mask:
        if variables is None:
            return np.ones(len(self.variable), np.bool_)
        member = np.zeros(len(self.query.variables), np.bool_)
        member[list(variables)] = True
        found: Mask = member[self.variable]
        return found

    def _upto(self, final: bool) -> Numbers:
        return (
            np.ascontiguousarray(self.lines[:, BOUND])
            if final
            else np.ascontiguousarray(self.answer_rows.upto)
        )

    def _bound(self, variables: tuple[int, ...] | None, first: bool, offset: int, final: bool) -> Numbers:
        """The place among the bound rows that a navigation refers to; -1 if there is none."""
        member = self._members(variables)
        return _navigate(member, self.begin, self._upto(final), first, offset)

    def _at(self, column: Column, row: Numbers, shift: int) -> Column:
        """A column at rows of the table (-1: none), `shift` rows away in the same partition."""
        there = row >= 0
        if not self.table.rows.count:
            return Column.nulls(column.type, len(row))
        if shift:
            count = self.table.rows.count
            away = row + shift
            there &= (away >= 0) & (away < count)
            safe = np.clip(away, 0, count - 1)
            there &= self.table.partition[safe] == self.table.partition[np.clip(row, 0, count - 1)]
            row = safe
        return at_rows(column, np.where(there, row, 0), there)

    def _aggregate(self, term: AggregateTerm) -> Column:
        member = self._members(term.variables)
        upto = self._upto(term.final)
        if term.value is None:
            return Column(ColumnType.BIGINT, _running_count(member, self.begin, upto))
        column = self.table.value(term.value).take(self.found.row)
        member &= column.is_valid
        count = _running_count(member, self.begin, upto)
        if term.function == "COUNT":
            return Column(ColumnType.BIGINT, count)
        if term.function in ("MIN", "MAX"):
            values = column.values if column.type is ColumnType.DOUBLE else column.values.astype(np.int64)
            best = _running_extreme(values, member, self.begin, upto, term.function == "MIN")
            return (
                at_rows(column, np.where(best >= 0, best, 0), best >= 0)
                if len(column)
                else Column.nulls(column.type, len(count))
            )
        if column.type is ColumnType.DOUBLE:
            total = _running_sum(column.values, member, self.begin, upto)
            fits = np.isfinite(total)
        else:
            total, fits = _running_whole_sum(column.values.astype(np.int64), member, self.begin, upto)
        valid = fits & (count > 0)
        if term.function == "AVG":
            total = total / np.maximum(count, 1)
        total = np.where(valid, total, 0)
        kind = term.type
        return Column(kind, total.astype(kind.dtype), None if valid.all() else valid)

    def _classifier(self, term: ClassifierTerm) -> Column:
        if not len(self.variable):
            return Column.nulls(ColumnType.STRING, len(self.lines))
        place = self._bound(term.variables, term.first, term.offset, term.final)
        if term.shift:
            # The row so many places away, if it is bound in the same match.
            row = np.where(place >= 0, self.found.row[place] + term.shift, -1)
            place = _place_of_row(self.found.row, self.begin, self._upto(final=True), row)
        there = place >= 0
        names = np.array([*self.query.variables, ""], object)[:-1]
        code = np.where(there, self.variable[place], 0).astype(np.int32)
        return coded(code, names, None if there.all() else there)


def _without(column: Column, missing: Mask) -> Column:
    """NULL where something is missing."""
    if not missing.any():
        return column
    valid = column.is_valid & ~missing
    return Column(
        column.type, np.where(valid, column.values, column.values.dtype.type()), valid, column.names
    )


def _identities(
    query: PatternQuery,
    auto: Automaton,
    found: Found,
    table: Arranged,
    answer_rows: _AnswerRows,
    keys: Rows,
    segments: Segments,
) -> Column:
    """One for each line; rows of a match share it."""
    lines = found.lines
    single = (lines[:, KIND] == UNMATCHED) | (lines[:, KIND] == EMPTY)
    rows = np.concatenate([found.row, lines[single, FIRST_ROW]])
    content = content_hash([compacted(table.rows[column].take(rows)) for column in query.identity])[0]
    hashes = content + _place_among_equals(query, table, rows).astype(np.uint64)
    bound = (
        _fold(hashes[: len(found.row)], auto.variable[found.state], lines[:, BOUND])
        if len(found.row)
        else (np.zeros(len(lines), np.uint64))
    )
    bound[single] = hashes[len(found.row) :]
    name = coded(np.zeros(len(lines), np.int32), np.array([query.name], object))
    event_time = Column(ColumnType.TIMESTAMP, lines[:, EVENT_TIME])
    partition = segments.partition[lines[:, PARTITION]]
    identity = content_ids(
        [
            name,
            event_time,
            Column(ColumnType.BIGINT, bound.view(np.int64)),
            Column(ColumnType.BIGINT, np.where(lines[:, KIND] == EMPTY, MATCH, lines[:, KIND])),
            *(compacted(keys[column].take(partition)) for column in query.partition),
        ],
        keys[INTEREST_SERIAL].values[partition] if query.by_interest else None,
    )
    return identity.take(answer_rows.line)


def _place_among_equals(query: PatternQuery, table: Arranged, rows: Numbers) -> Numbers:
    """How many rows that are equal to this query, and of the same time, come before each row in its partition."""
    alike = np.zeros(table.rows.count + 1, np.bool_)  # as early as the row before it
    alike[1:-1] = (table.time[1:] == table.time[:-1]) & (table.partition[1:] == table.partition[:-1])
    if not alike[rows].any():
        return np.zeros(len(rows), np.int64)
    tied = np.flatnonzero(alike[:-1] | alike[1:])
    hashes = content_hash([compacted(table.rows[column].take(tied)) for column in query.identity])[0]
    place = np.zeros(table.rows.count, np.int64)
    place[tied] = _equals_before(hashes, alike[tied])
    return place[rows]


# --- loops over the bound rows: `begin[i]` is the first row of an answer's match, `upto[i]` how many of them it sees ----


@loop
def _navigate(member: Mask, begin: Numbers, upto: Numbers, first: bool, offset: int) -> Numbers:
    place = np.full(len(begin), -1, np.int64)
    for answer in range(len(begin)):
        left = offset
        for step in range(upto[answer]):
            at = begin[answer] + (step if first else upto[answer] - 1 - step)
            if member[at]:
                if left == 0:
                    place[answer] = at
                    break
                left -= 1
    return place


@loop
def _running_count(member: Mask, begin: Numbers, upto: Numbers) -> Numbers:
    sums = np.zeros(len(member) + 1, np.int64)
    for at in range(len(member)):
        sums[at + 1] = sums[at] + member[at]
    count = np.zeros(len(begin), np.int64)
    for answer in range(len(begin)):
        count[answer] = sums[begin[answer] + upto[answer]] - sums[begin[answer]]
    return count


@loop
def _running_sum(
    values: NDArray[np.float64], member: Mask, begin: Numbers, upto: Numbers
) -> NDArray[np.float64]:
    total = np.zeros(len(begin), np.float64)
    for answer in range(len(begin)):
        same = answer > 0 and begin[answer] == begin[answer - 1] and upto[answer] >= upto[answer - 1]
        at = begin[answer] + (upto[answer - 1] if same else 0)
        found = total[answer - 1] if same else 0.0
        for place in range(at, begin[answer] + upto[answer]):
            if member[place]:
                found += values[place]
        total[answer] = found
    return total


@loop
def _running_whole_sum(values: Numbers, member: Mask, begin: Numbers, upto: Numbers) -> tuple[Numbers, Mask]:
    total = np.zeros(len(begin), np.int64)
    fits = np.ones(len(begin), np.bool_)
    for answer in range(len(begin)):
        found = rounds = 0  # how many times the sum overflowed, up or down
        for place in range(begin[answer], begin[answer] + upto[answer]):
            if member[place]:
                added = values[place]
                after = found + added
                if ((found ^ after) & (added ^ after)) < 0:
                    rounds += 1 if added > 0 else -1
                found = after
        total[answer], fits[answer] = found, rounds == 0
    return total, fits


@loop
def _running_extreme(
    values: NDArray[np.float64],
    member: Mask,
    begin: Numbers,
    upto: Numbers,
    least: bool,
) -> Numbers:
    """The place of the least or the greatest value; -1 where there is none."""
    best = np.full(len(begin), -1, np.int64)
    for answer in range(len(begin)):
        for place in range(begin[answer], begin[answer] + upto[answer]):
            if member[place]:
                known = best[answer]
                if known < 0 or (values[place] < values[known] if least else values[place] > values[known]):
                    best[answer] = place
    return best


@loop
def _place_of_row(rows: Numbers, begin: Numbers, upto: Numbers, row_numbers: Numbers) -> Numbers:
    place = np.full(len(begin), -1, np.int64)
    for answer in range(len(begin)):
        for at in range(begin[answer], begin[answer] + upto[answer]):
            if rows[at] == row_numbers[answer]:
                place[answer] = at
    return place


@loop
def _equals_before(hashes: NDArray[np.uint64], goes_on: Mask) -> Numbers:
    """For rows in runs of one time (`goes_on`: a run goes on), how many equal ones of its run come before each."""
    place = np.zeros(len(hashes), np.int64)
    for row in range(len(hashes)):
        at = row
        while goes_on[at]:
            at -= 1
            if hashes[at] == hashes[row]:
                place[row] = place[at] + 1
                break
    return place


@loop
def _fold(hashes: NDArray[np.uint64], variable: Numbers, bound: Numbers) -> NDArray[np.uint64]:
    """One hash for the rows of each match, in their order."""
    folded = np.zeros(len(bound), np.uint64)
    at = 0
    for line in range(len(bound)):
        found = GOLDEN
        for _ in range(bound[line]):
            found ^= hashes[at] + np.uint64(variable[at])
            found *= MULTIPLIER
            found ^= found >> np.uint64(29)
            at += 1
        folded[line] = found
    return folded
