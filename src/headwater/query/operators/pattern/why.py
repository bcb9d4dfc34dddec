"""Why did a pattern not match? For recorded rows: how far partial matches got, and what stopped the furthest ones.

Rule 1  What is matched and what is not is the kernel's word (`kernels.pattern.trace`). Here it is put in words: a condition
        is taken apart where it is joined by AND, and each part is shown with the values that it saw.
Rule 2  Attempts at rows that AFTER MATCH SKIP passed over were never made: they are counted, not shown.

Memory  All rows, and at most MOST_ATTEMPTS attempts; where that is not all there is, the report says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headwater.kernels.pattern.automaton import ABSENT, AT_END, NEXT, PASSED, RELAXED, STRICT
from headwater.kernels.pattern.trace import (
    MOST_ATTEMPTS,
    MOST_STEPS,
    Attempt,
    Bound,
    EmittedMatch,
    End,
    Ending,
    Numbers,
    Partial,
    Recording,
)
from headwater.model import ColumnType, Instant, Rows, StreamSchema, format_instant, parse_instant
from headwater.query.expressions import ExprType
from headwater.query.language.expression_text import expression_text
from headwater.query.language.words import counted
from headwater.query.operators.pattern.condition_values import ConditionValues, as_node
from headwater.query.operators.pattern.lowering import make_query
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.text import skip_text
from headwater.query.operators.pattern.tree import MatchRecognize, Skip

MOST_SHOWN: Final = 5
"""Attempts described one by one; the others are counted."""

MOST_LISTED: Final = 10
"""Partitions listed; the others are counted."""

MOST_ROWS_SHOWN: Final = 12
"""Rows shown of one attempt; those in the middle are counted."""

MOST_SURVEYED: Final = 1_000
"""Partitions traced to find the one with the furthest partial match."""

MOST_COUNTED: Final = 1_000
"""Rows sampled to say how often a condition holds."""


class Why:
    """One query over recorded rows, which are in the stream's order, WHERE applied."""

    def __init__(
        self, name: str, operator: PatternOperator, written: MatchRecognize, schema: StreamSchema, rows: Rows
    ) -> None:
        self.name = name
        self.operator = operator
        self.written = written
        self.schema = schema
        self.data = Recording(schema, make_query(name, "", 0, None, operator, schema), rows)
        self.emitted_matches = self.data.emitted()
        self.condition_values = ConditionValues(self.data, operator, written, schema)

    def partitions(self, requested: Mapping[str, str]) -> list[int]:
        """The partitions with these values, which are texts."""
        meant = {column: _as_known(text, self.schema.types[column]) for column, text in requested.items()}
        known = {column: self.values(column) for column in requested}
        found = range(self.data.keys.count)
        return [p for p in found if all(known[column][p] == text for column, text in meant.items())]

    def values(self, column: str) -> list[str]:
        """The value that each partition has in a column of PARTITION BY, as people write it."""
        kind = self.schema.types[column]
        return [_text(value, kind) for value in self.data.keys[column].tolist()]

    def survey(self, partitions: Sequence[int], at: Instant | None = None) -> list[TracedPartition]:
        """What came of some partitions, the furthest partial matches first; with `at`, of what was open then."""
        self.data.renew()
        chosen = partitions[:MOST_SURVEYED]
        room = max(MOST_ATTEMPTS // max(len(chosen), 1), 10)
        traced = [self._trace_partition(partition, room, at) for partition in chosen]
        return sorted(traced, key=lambda one: _rank(one.stopped[0]) if one.stopped else _NOWHERE)

    def survey_lines(self, traced: Sequence[TracedPartition], partitions: int) -> list[str]:
        """The first few of them as a table."""
        cells = [
            (", ".join(self.operator.partition), "rows", "attempts", "matched", "furthest that did not match")
        ]
        for one in traced[:MOST_LISTED]:
            rows = int(self.data.high[one.partition] - self.data.low[one.partition])
            matched = len({match.first for match in one.emitted_matches})
            furthest = one.stopped[0].furthest if one.stopped else None
            cells.append(
                (
                    ", ".join(self._key(one.partition).values()),
                    f"{rows:,}",
                    f"{len(one.attempts):,}" + "+" * (not one.whole),
                    f"{matched:,}",
                    _bound_words(furthest) if furthest else "-",
                )
            )
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [f"{counted(partitions, 'partition')}, the furthest partial matches first:"]
        for key, *numbers, words in cells:
            aligned = "  ".join(f"{text:>{width}}" for text, width in zip(numbers, widths[1:4], strict=True))
            lines.append(f"  {key:<{widths[0]}}  {aligned}  {words}")
        if partitions > MOST_LISTED:
            lines.append(f"  and {partitions - MOST_LISTED:,} more")
        if not all(one.whole for one in traced):
            lines.append("  + more began than were examined")
        if partitions > len(traced):
            lines.append(
                f"only {len(traced):,} partitions were examined: select another with --key or --partition"
            )
        return lines

    def report(self, partition: int, at: Instant | None = None, *, most: int = MOST_SHOWN) -> list[str]:
        """What came of one partition, with `most` attempts one by one; with `at`, of the attempts that were open then."""
        self.data.renew()
        traced = self._trace_partition(partition, MOST_ATTEMPTS, at)
        lines = [self._title(partition)]
        if at is None:
            lines += self._counts(traced)
            shown = traced.stopped
            if not traced.attempts:
                lines += self._no_beginning(partition)
        else:
            shown = traced.attempts
            lines += self._counts_at(traced, at)
        for number, attempt in enumerate(shown[:most], start=1):
            lines += ["", *self._attempt(number, attempt, traced)]
        if len(shown) > most:
            lines += ["", f"and {counted(len(shown) - most, 'more attempt')} that got no further"]
        return lines

    # --- which attempts ---------------------------------------------------------------------------------------------

    def _trace_partition(self, partition: int, room: int, at: Instant | None) -> TracedPartition:
        """The attempts of a partition, `room` of them; with `at` those that were open then."""
        emitted_matches = self.emitted_matches.get(partition, [])
        skipped = set[int]() if self.operator.every else _skipped(emitted_matches)
        starts = self.data.starts(partition)
        if at is not None:
            starts = self._starts_before(starts, at)
        tried = [start for start in starts.tolist() if start not in skipped]
        chosen = tried[:room] if at is None else tried[-room:]
        attempts = list(self.data.attempts(partition, chosen, emitted_matches))
        whole = len(chosen) == len(tried) and not self.data.exhausted
        if at is not None:
            attempts = self._open_at(attempts, at)
        return TracedPartition(partition, attempts, emitted_matches, len(starts) - len(tried), whole)

    def _starts_before(self, starts: Numbers, at: Instant) -> Numbers:
        """Rows at which what is open at a time can have begun; where none can, all before it."""
        times = self.data.columns.time[starts]
        early = times <= at
        recent = (
            early & (times >= at - self.operator.within_us) if self.operator.within_us is not None else early
        )
        return starts[recent if recent.any() else early]

    def _open_at(self, attempts: Sequence[Attempt], at: Instant) -> list[Attempt]:
        """The attempts that were open, else those that began last before."""
        found = [one for one in attempts if self._time(one.first) <= at <= self._until(one)]
        if not found and attempts:
            latest = max(self._time(one.first) for one in attempts)
            found = [one for one in attempts if self._time(one.first) == latest]
        return sorted(found, key=_rank)

    def _until(self, attempt: Attempt) -> Instant:
        """When the attempt was over."""
        times = [match.event_time for match in attempt.matches]
        for ending in attempt.furthest.endings if attempt.furthest else ():
            rows = [self._time(ending.row)] if ending.row is not None else [self._time(attempt.until)]
            times.append(min([*rows, *([ending.deadline] if ending.deadline is not None else [])]))
        return max(times, default=self._time(attempt.until))

    def _dropped_by(self, attempt: Attempt, traced: TracedPartition) -> EmittedMatch | None:
        """Under MATCH EVERY, the match of another attempt that ended this one."""
        if not self.operator.every:
            return None
        for match in traced.emitted_matches:
            over = match.bound[-1][0] <= attempt.until if match.bound else False
            if match.first <= attempt.first < match.border and over:
                return match
        return None

    # --- the report -------------------------------------------------------------------------------------------------

    def _title(self, partition: int) -> str:
        low, high = int(self.data.low[partition]), int(self.data.high[partition])
        span = f"from {self._at(low)} to {self._at(high - 1)}" if high > low else ""
        where = f", {self.key_words(partition)}" if self.operator.partition else ""
        return f"query {self.name}{where}: {counted(high - low, 'row')} {span}".rstrip()

    def key_words(self, partition: int) -> str:
        """`station = 's1'`."""
        return ", ".join(f"{name} = {value}" for name, value in self._key(partition).items())

    def _key(self, partition: int) -> dict[str, str]:
        values = self.data.keys.take(slice(partition, partition + 1)).tolist()[0]
        return {name: self._shown(values[name], name) for name in self.operator.partition}

    def _counts(self, traced: TracedPartition) -> list[str]:
        began, matched = len(traced.attempts), len({match.first for match in traced.emitted_matches})
        lines = [f"{counted(began, 'attempt')} began, {matched:,} matched"]
        if traced.inside:
            rows = counted(traced.inside, "row")
            lines.append(
                f"{rows} inside earlier matches began none: {skip_text(self.written.skip or Skip(self.operator.skip))}"
            )
        if not traced.whole:
            lines.append(
                f"these are not all: at most {MOST_ATTEMPTS:,} attempts are examined; use --at TIME for others"
            )
        if self.operator.every and self.operator.limit is not None:
            lines.append("LIMIT is ignored here: it may have given up some of these earlier")
        if traced.stopped:
            lines.append("the furthest attempts without a match:")
        elif began:
            lines.append("every attempt matched")
        return lines

    def _counts_at(self, traced: TracedPartition, at: Instant) -> list[str]:
        instant = _moment(at)
        lines = [
            f"{instant} lies inside the match from {self._at(match.first)} to {self._at(match.bound[-1][0])}"
            for match in traced.emitted_matches
            if match.bound and self._time(match.first) <= at <= self._time(match.bound[-1][0])
        ]
        if not traced.attempts:
            return [*lines, f"no attempt began at or before {instant}"]
        open_then = sum(self._until(one) >= at for one in traced.attempts)
        if not open_then:
            return [*lines, f"at {instant} no attempt was open; the last before it:"]
        were = "attempt was" if open_then == 1 else "attempts were"
        return [*lines, f"at {instant} {open_then:,} {were} open:"]

    def _no_beginning(self, partition: int) -> list[str]:
        """How often the conditions hold that a match can begin with."""
        auto = self.data.auto
        low = int(self.data.low[partition])
        high = min(int(self.data.high[partition]), low + MOST_COUNTED)
        lines = ["no row can begin a match:"]
        for state in dict.fromkeys(auto.first.tolist()):
            if state < 0 or auto.kind[state] != 0 or auto.condition[state] < 0:
                continue
            number, variable = int(auto.condition[state]), int(auto.variable[state])
            for part in self.condition_values.parts(number):
                held = sum(
                    self.condition_values.truth(part, variable, (), row, 1) is True
                    for row in range(low, high)
                )
                text = f"{expression_text(part)} holds for {held:,} of {counted(high - low, 'row')}"
                lines.append(f"  {self.operator.variables[variable]}  {text}")
        return lines

    def _attempt(self, number: int, attempt: Attempt, traced: TracedPartition) -> list[str]:
        lead = f"{number}. began at {self._at(attempt.first)}"
        if attempt.first in {match.first for match in traced.emitted_matches}:
            match = next(match for match in traced.emitted_matches if match.first == attempt.first)
            rows = [(row, self.operator.variables[variable]) for row, variable in match.bound]
            return [f"{lead}: matched", *self._table(rows)]
        furthest = attempt.furthest
        if dropped := self._dropped_by(attempt, traced):
            skip = skip_text(self.written.skip or Skip(self.operator.skip))
            match_words = f"the match from {self._at(dropped.first)} to {self._at(dropped.bound[-1][0])}"
            return [f"{lead}: ended by {match_words} ({skip})"]
        if attempt.matches:
            return [f"{lead}: given up before it matched (LIMIT {self.operator.limit} PARTIAL MATCHES)"]
        if furthest is None:
            return [f"{lead}: not examined further, after {MOST_STEPS:,} steps"]
        lines = [f"{lead}: {_bound_words(furthest)}"]
        variables = self.data.auto.variable
        rows = [(row, self.operator.variables[variables[state]]) for row, state in furthest.bound]
        seen = {
            end.row
            for end in furthest.endings
            if end.how in (End.FAILED, End.FORBIDDEN) and end.row is not None
        }
        lines += self._table([*rows, *((row, "-") for row in sorted(seen))])
        shown_blocks: list[list[str]] = []
        match_number = 1 + sum(match.first < attempt.first for match in traced.emitted_matches)
        for ending in furthest.endings:
            block = self._ending(furthest, ending, match_number)
            if block not in shown_blocks:
                shown_blocks.append(block)
        return lines + [f"   {line}" for block in shown_blocks for line in block]

    def _table(self, rows: Sequence[tuple[int, str]]) -> list[str]:
        """Rows with their time, variable and the columns that conditions use."""
        cells = [(self.schema.time, "", *self.condition_values.columns)]
        cut = len(rows) - MOST_ROWS_SHOWN
        half = MOST_ROWS_SHOWN // 2
        for place, (row, variable) in enumerate(rows):
            if cut > 0 and half <= place < half + cut:
                if place == half:
                    cells.append(
                        (f"… {counted(cut, 'row')} more", "", *("" for _ in self.condition_values.columns))
                    )
                continue
            values = self.data.table.rows.take(slice(row, row + 1)).tolist()[0]
            shown = (self._shown(values[column], column) for column in self.condition_values.columns)
            cells.append((self._at(row), variable, *shown))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return [
            "     " + "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in cells
        ]

    # --- endings ----------------------------------------------------------------------------------------------------

    def _ending(self, partial: Partial, ending: Ending, number: int) -> list[str]:
        how = {
            End.FAILED: self._failed,
            End.FORBIDDEN: self._forbidden,
            End.OUT_OF_TIME: self._out_of_time,
            End.NO_MORE_ROWS: self._no_more_rows,
        }.get(ending.how)
        if how is not None:
            return how(partial, ending, number)
        assert ending.row is not None
        if ending.how is End.GIVEN_UP:
            limit = f"LIMIT {self.operator.limit} PARTIAL MATCHES gave it up at {self._at(ending.row)}"
            return [f"{self._waited(ending.state)}: {limit}"]
        return [
            f"{self._waited(ending.state)}: not examined beyond {self._at(ending.row)}, after {MOST_STEPS:,} steps"
        ]

    def _failed(self, partial: Partial, ending: Ending, number: int) -> list[str]:
        assert ending.row is not None
        if self.data.auto.kind[ending.state] == AT_END:
            return [f"{self._waited(ending.state)}: another one came at {self._at(ending.row)}"]
        emitted_matches = f"{self._waited(ending.state)}: the row at {self._at(ending.row)} does not match"
        return [emitted_matches, *self._condition(partial, ending.state, ending.row, number)]

    def _forbidden(self, partial: Partial, ending: Ending, number: int) -> list[str]:
        assert ending.row is not None and ending.veto is not None
        kind, condition, variable = self.data.auto.veto[ending.veto].tolist()
        here = self._at(ending.row)
        if variable < 0:
            emitted_matches = f"UNTIL ended the loop at {here}"
        elif kind == PASSED:
            emitted_matches = f"NOT {self.operator.variables[variable]}, but one came at {here}"
        elif kind == NEXT:
            emitted_matches = (
                f"NOT {self.operator.variables[variable]} next, but the next row, at {here}, is one"
            )
        else:
            emitted_matches = (
                f"{self.operator.variables[variable]}! allows no such row after it, but one came at {here}"
            )
        bound = self._bound(partial)
        return [
            f"{self._waited(ending.state)}: {emitted_matches}",
            *self.condition_values.lines(condition, variable, bound, ending.row, number),
        ]

    def _out_of_time(self, partial: Partial, ending: Ending, number: int) -> list[str]:
        assert ending.row is not None
        passed = f"{self._limit(partial)} passed at {_moment(ending.deadline or 0)}"
        emitted_matches = (
            f"{self._waited(ending.state)}: {passed} (the next row is at {self._at(ending.row)})"
        )
        return [emitted_matches, *self._passed_over(partial, ending, ending.row, number)]

    def _no_more_rows(self, partial: Partial, ending: Ending, number: int) -> list[str]:
        high = int(self.data.high[self.data.table.partition[partial.bound[0][0]]])
        emitted_matches = f"{self._waited(ending.state)}: the input ended"
        return [emitted_matches, *self._passed_over(partial, ending, high, number)]

    def _passed_over(self, partial: Partial, ending: Ending, until: int, number: int) -> list[str]:
        """What the last row that could have been taken looked like."""
        passed = until - partial.bound[-1][0] - 1
        waits = self.data.auto.link[ending.state] != STRICT and self.data.auto.kind[ending.state] != ABSENT
        if not waits or not passed:
            return []
        rows = "1 row was" if passed == 1 else f"{passed:,} rows were"
        lines = [f"  {rows} skipped, the last at {self._at(until - 1)}"]
        return lines + self._condition(partial, ending.state, until - 1, number)

    def _limit(self, partial: Partial) -> str:
        """Which of the two limits came first."""
        within, between = self.operator.within_us, self.operator.between_us
        first, last = self._time(partial.bound[0][0]), self._time(partial.bound[-1][0])
        if between is not None and (within is None or last + between < first + within):
            assert self.written.between_rows is not None
            return f"WITHIN {expression_text(self.written.between_rows)} BETWEEN ROWS"
        assert self.written.within is not None
        return f"WITHIN {expression_text(self.written.within)}"

    def _waited(self, state: int) -> str:
        auto = self.data.auto
        if auto.kind[state] == ABSENT:
            return "waited for its deadline"
        if auto.kind[state] == AT_END:
            return "waited for no row to follow ($)"
        name, link = self.operator.variables[auto.variable[state]], int(auto.link[state])
        if link == STRICT:
            return f"waited for {name} as the next row"
        return f"waited for {'the next' if link == RELAXED else 'any later'} {name}"

    def _condition(self, partial: Partial, state: int, row: int, number: int) -> list[str]:
        auto = self.data.auto
        condition, variable = int(auto.condition[state]), int(auto.variable[state])
        return self.condition_values.lines(condition, variable, self._bound(partial), row, number)

    def _bound(self, partial: Partial) -> Bound:
        return tuple((row, int(self.data.auto.variable[state])) for row, state in partial.bound)

    def _time(self, row: int) -> Instant:
        return int(self.data.columns.time[row])

    def _at(self, row: int) -> str:
        return _moment(self._time(row))

    def _shown(self, value: Any, column: str) -> str:
        return expression_text(as_node(value, ExprType(self.schema.types[column].value)))


@dataclass(frozen=True, slots=True)
class TracedPartition:
    """The attempts of one partition and the matches of the query; `inside` rows were skipped, `whole`: nothing is left out."""

    partition: int
    attempts: list[Attempt]
    emitted_matches: list[EmittedMatch]
    inside: int
    whole: bool

    @property
    def stopped(self) -> list[Attempt]:
        """The attempts that came to nothing, the furthest first."""
        matched = {match.first for match in self.emitted_matches}
        found = [one for one in self.attempts if one.first not in matched]
        return sorted(found, key=_rank)


_NOWHERE: Final = (1 << 40, 0, 0)


def _bound_words(partial: Partial) -> str:
    more = f", {partial.needed:,} more needed" if partial.needed else ""
    return f"{counted(len(partial.bound), 'row')} bound{more}"


def _rank(attempt: Attempt) -> tuple[int, int, int]:
    if attempt.matches:
        return (0, -len(attempt.matches[0].bound), attempt.first)
    if attempt.furthest is None:
        return (1 << 30, 0, attempt.first)
    return (attempt.furthest.needed, -len(attempt.furthest.bound), attempt.first)


def _skipped(emitted_matches: Sequence[EmittedMatch]) -> set[int]:
    """Rows at which no attempt was made, because they lie in a match."""
    return {row for match in emitted_matches for row in range(match.first + 1, match.border)}


def _moment(instant: Instant) -> str:
    """A deadline may be after the last year that can be written."""
    try:
        return format_instant(instant)
    except OverflowError:
        return "a time after the year 9999"


def _text(value: Any, kind: ColumnType) -> str:
    if value is None:
        return "NULL"
    if kind is ColumnType.TIMESTAMP:
        return format_instant(value)
    return str(value).lower() if kind is ColumnType.BOOLEAN else str(value)


def _as_known(text: str, kind: ColumnType) -> str:
    """A value from a text, written as `_text` writes it; a text that is not such a value stays unchanged."""
    if text == "NULL" or kind is ColumnType.STRING:
        return text
    try:
        if kind is ColumnType.TIMESTAMP:
            return format_instant(parse_instant(text))
        return str(float(text)) if kind is ColumnType.DOUBLE else text.lower()
    except ValueError:
        return text
