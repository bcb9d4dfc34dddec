"""Can a MATCH_RECOGNIZE be answered: its variables, conditions and measures, its time, its bounds?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from headwater.kernels.pattern.choices import RowsPerMatch, SkipTo
from headwater.model import Span, StreamSchema, format_duration
from headwater.query.checking.answer_columns import RESERVED
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import duration_us, forget_us
from headwater.query.expressions import ExprType
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Call, Expression, Quantity
from headwater.query.operators.pattern.check_modes import check_mode
from headwater.query.operators.pattern.check_shape import (
    beginnings,
    bound_variables,
    check_shape,
    ends_with_not,
    has_no_end,
    variables_of,
)
from headwater.query.operators.pattern.operator import HELD_EVENTS, PatternOperator
from headwater.query.operators.pattern.programs import looks_at_one_row, untranslatable
from headwater.query.operators.pattern.terms import Lowered, Place, Where, lower
from headwater.query.operators.pattern.tree import Column, Exclusion, Loop, MatchRecognize, Variable
from headwater.query.operators.pattern.walk import every_pattern

TIMED_OUT: Final = "timed_out"
"""The column of WITH TIMEOUTS."""


def check_pattern(
    operator: MatchRecognize, schema: StreamSchema | None, complaints: Complaints
) -> PatternOperator | None:
    """The operator with every choice made, or None and complaints; without a schema, what can be checked is."""
    before = len(complaints.errors)
    check_shape(operator.pattern, complaints, operator.span)
    _check_rows(operator, complaints)
    within_us = _duration(operator.within, "WITHIN", complaints)
    between_us = _duration(operator.between_rows, "WITHIN … BETWEEN ROWS", complaints)
    forget_us = _forget_us(operator, [within_us, between_us], complaints)
    _check_bounds(operator, complaints)
    if operator.mode is not None:
        check_mode(operator, operator.mode, complaints)
    checker = _Checker(operator, schema, complaints, variables_of(operator.pattern), _members(operator))
    checker.check_subsets()
    skip_to = checker.skip_to()
    define = checker.define()
    untils = checker.untils()
    measures = checker.measures()
    order = checker.order()
    checker.check_columns()
    if schema is None or len(complaints.errors) > before:
        return None
    mode = operator.mode
    return PatternOperator(
        operator.pattern,
        checker.variables,
        define,
        untils,
        tuple(checker.subsets.items()),
        measures,
        tuple(column.name for column in operator.partition),
        order,
        operator.rows or RowsPerMatch.ONE,
        operator.every,
        mode.mode if mode else None,
        HELD_EVENTS if mode is None or mode.hold is None else mode.hold,
        mode.seed if mode else None,
        _skip(operator),
        skip_to,
        within_us,
        between_us,
        operator.timeouts,
        operator.limit,
        forget_us,
    )


def unbounded(operator: PatternOperator) -> bool:
    """Whether its state has no bound while rows come without end.

    A bound on the gaps bounds waiting, not the number of repetitions.
    """
    if operator.within_us is not None or operator.limit is not None:
        return False
    loops = any(isinstance(part, Loop) and part.most is None for part in every_pattern(operator.pattern))
    return loops or (operator.between_us is None and has_no_end(operator.pattern))


@dataclass(slots=True)
class _Checker:
    """One operator; what its names mean is found once."""

    tree: MatchRecognize
    schema: StreamSchema | None
    complaints: Complaints
    variables: tuple[str, ...]
    subsets: Mapping[str, tuple[str, ...]]

    def check_subsets(self) -> None:
        """Subsets are names of their own, for variables of the pattern."""
        seen: set[str] = set()
        for subset in self.tree.subsets:
            if subset.name in self.variables or subset.name in seen:
                what = "variable" if subset.name in self.variables else "subset"
                self.complaints.refuse(
                    "duplicate-name",
                    f"there is a {what} named '{subset.name}' already",
                    subset.span,
                    "give the subset another name",
                )
            seen.add(subset.name)
            for member in subset.members:
                if member not in self.variables:
                    self._unknown(member, subset.span)

    def skip_to(self) -> tuple[str, ...]:
        """The variables where the search continues; empty if it continues somewhere else."""
        skip = self.tree.skip
        if skip is None or skip.variable is None:
            return ()
        if skip.variable not in self.variables and skip.variable not in self.subsets:
            self._unknown(skip.variable, skip.span, *self.subsets)
            return ()
        found = self.subsets.get(skip.variable, (skip.variable,))
        if not bound_variables(self.tree.pattern) & set(found):
            self.complaints.refuse(
                "unknown-variable",
                f"'{skip.variable}' appears only after NOT, so no row of a match belongs to it",
                skip.span or self.tree.span,
                "skip to a variable that takes a row",
            )
        elif self._goes_nowhere(skip.to, found):
            self.complaints.refuse(
                "skip-to-start",
                f"every match begins with '{skip.variable}', so the search would continue where it began",
                skip.span or self.tree.span,
                "use AFTER MATCH SKIP TO NEXT ROW, or skip to a later variable",
            )
        return tuple(sorted(set(found)))

    def _goes_nowhere(self, to: SkipTo, found: tuple[str, ...]) -> bool:
        """Whether the search would continue where it began; with MATCH EVERY nothing is searched again."""
        same_row = to is SkipTo.FIRST and beginnings(self.tree.pattern) <= set(found)
        return same_row and not self.tree.every

    def define(self) -> tuple[tuple[str, Lowered], ...]:
        """The conditions of the variables that have one."""
        found: dict[str, Lowered] = {}
        seen: set[str] = set()
        for definition in self.tree.define:
            name, span = definition.name, definition.span
            if name not in self.variables:
                subset = "a SUBSET cannot have a condition: define its variables"
                advice = [subset] if name in self.subsets else suggest(name, self.variables, "variables")
                message = f"'{name}' has a condition, but PATTERN does not use it"
                self.complaints.refuse("unused-define", message, span, *advice)
                continue
            if name in seen:
                self.complaints.refuse(
                    "duplicate-name",
                    f"'{name}' is defined twice",
                    span,
                    "join the two conditions with AND or OR",
                )
            seen.add(name)
            place = Place(Where.DEFINE, name, every=self.tree.every)
            if lowered := self._condition(definition.condition, place):
                found[name] = lowered
        return tuple(found.items())

    def untils(self) -> tuple[Lowered, ...]:
        """The conditions that end loops."""
        loops = [part for part in every_pattern(self.tree.pattern) if isinstance(part, Loop)]
        place = Place(Where.UNTIL, every=self.tree.every)
        found = [self._condition(loop.until, place) for loop in loops if loop.until is not None]
        return tuple(lowered for lowered in found if lowered)

    def measures(self) -> tuple[tuple[str, Lowered], ...]:
        """What is emitted of a match."""
        place = Place(Where.MEASURES, all_rows=_all_rows(self.tree), every=self.tree.every)
        found = [(measure.name, self._lowered(measure.expression, place)) for measure in self.tree.measures]
        return tuple((name, lowered) for name, lowered in found if lowered)

    def order(self) -> tuple[str, ...]:
        """The columns after the time in ORDER BY."""
        for columns in (self.tree.partition, self.tree.order):
            self._columns_are_known(columns)
        if not self.tree.order or self.schema is None:
            return ()
        first, *others = self.tree.order
        if first.name != self.schema.time and first.name in self.schema.types:
            self.complaints.refuse(
                "order-not-time",
                f"ORDER BY begins with '{first.name}', but rows come in the order of '{self.schema.time}'",
                first.span,
                f"write ORDER BY {self.schema.time}, {first.name}; or leave ORDER BY out",
            )
        return tuple(column.name for column in others)

    def check_columns(self) -> None:
        """The columns of an answer have different names, none of them reserved."""
        taken = self._columns_before_measures()
        for measure in self.tree.measures:
            if measure.name in RESERVED:
                self.complaints.refuse(
                    "reserved-column",
                    f"every answer already has a column '{measure.name}'",
                    measure.span,
                    "choose another name",
                )
            elif measure.name in taken:
                self.complaints.refuse(
                    "duplicate-name",
                    f"two columns of the answer would be named '{measure.name}'",
                    measure.span,
                    f"{taken[measure.name]} has this name: give the measure another name",
                )
            taken.setdefault(measure.name, "another measure")
        if self.tree.timeouts and TIMED_OUT in taken:
            self.complaints.refuse(
                "duplicate-name",
                f"two columns of the answer would be named '{TIMED_OUT}'",
                self.tree.span,
                "WITH TIMEOUTS adds a column of this name",
            )

    def _columns_before_measures(self) -> dict[str, str]:
        """Who has a name already, by name."""
        names = {} if _all_rows(self.tree) else {column.name: column for column in self.tree.partition}
        for column in names.values():
            if column.name in RESERVED:
                message = f"every answer already has a column '{column.name}'"
                self.complaints.refuse("reserved-column", message, column.span, "PARTITION BY another column")
        if _all_rows(self.tree):
            return dict.fromkeys(self.schema.types if self.schema else (), "a column of the stream")
        return dict.fromkeys(names, "a column of PARTITION BY")

    def _columns_are_known(self, columns: Iterable[Column]) -> None:
        seen: set[str] = set()
        for column in columns:
            if column.name in seen:
                message = f"'{column.name}' appears here twice"
                self.complaints.refuse("duplicate-name", message, column.span, "remove one of them")
            elif self.schema and column.name not in self.schema.types:
                self.complaints.refuse(
                    "unknown-column",
                    f"there is no column named '{column.name}'",
                    column.span,
                    *suggest(column.name, self.schema.types, "columns"),
                )
            seen.add(column.name)

    def _condition(self, condition: Expression, place: Place) -> Lowered | None:
        lowered = self._lowered(condition, place)
        if lowered is not None and lowered.kind is not ExprType.BOOLEAN:
            self.complaints.refuse(
                "type-mismatch",
                f"{place.where.value} needs a condition, but this is {lowered.kind.value}",
                condition.span,
                "compare it with a value, as in temperature > 0",
            )
        if lowered is not None:
            self._can_be_decided(lowered, condition, place)
        return lowered

    def _can_be_decided(self, lowered: Lowered, condition: Expression, place: Place) -> None:
        """Conditions over several rows of a match run inside the scan, which has fewer functions."""
        if self.tree.mode is not None and not looks_at_one_row(lowered):
            self.complaints.refuse(
                "wrong-mode",
                "with MODE, a condition can use the row under test and its neighbours, but not rows taken before",
                condition.span,
                "leave MODE out, or compare with a constant",
            )
        elif part := untranslatable(lowered):
            word = part.function if isinstance(part, Call) else "||"
            self.complaints.refuse(
                "not-in-define",
                f"{word} cannot refer to several rows in {place.where.value}",
                part.span or condition.span,
                "let it refer to one row, or move it into MEASURES",
            )

    def _lowered(self, expression: Expression, place: Place) -> Lowered | None:
        if self.schema is None:
            return None
        return lower(
            expression,
            variables=self.variables,
            subsets=self.subsets,
            columns=self.schema.types,
            place=place,
            complaints=self.complaints,
        )

    def _unknown(self, name: str, span: Span | None, *others: str) -> None:
        self.complaints.refuse(
            "unknown-variable",
            f"there is no pattern variable named '{name}'",
            span or self.tree.span,
            *suggest(name, (*self.variables, *others), "variables"),
        )


def _members(operator: MatchRecognize) -> dict[str, tuple[str, ...]]:
    subsets: dict[str, tuple[str, ...]] = {}
    for subset in operator.subsets:
        subsets.setdefault(subset.name, subset.members)
    return subsets


def _skip(operator: MatchRecognize) -> SkipTo:
    if operator.skip is None:
        return SkipTo.NOWHERE if operator.every else SkipTo.PAST_LAST_ROW
    if operator.skip.to is SkipTo.NOWHERE and not operator.every:
        return SkipTo.NEXT_ROW  # at most one match begins at a row
    return operator.skip.to


def _all_rows(operator: MatchRecognize) -> bool:
    return operator.rows not in (None, RowsPerMatch.ONE)


def _duration(written: Quantity | None, what: str, complaints: Complaints) -> int | None:
    found = None if written is None else duration_us(written, what, complaints)
    if written is not None and found is not None and found < 0:
        complaints.refuse(
            "negative-duration",
            f"{what} is negative",
            written.span,
            "give a time, as in WITHIN 6 SECONDS",
        )
    return found


def _forget_us(operator: MatchRecognize, waits: Iterable[int | None], complaints: Complaints) -> int | None:
    """After how long a partition that is silent ends. What waits for time in it must have been decided by then."""
    span = operator.forget.span if operator.forget else None
    found = forget_us(operator.forget, span, complaints)
    longest = max((wait for wait in waits if wait is not None), default=0)
    if found is not None and 1 <= found < longest:
        complaints.refuse(
            "forget-too-soon",
            "FORGET is shorter than WITHIN, so a partition would be forgotten while a match in it can still be completed",
            span,
            f"use at least FORGET {format_duration(longest)}",
        )
    return found


def _check_bounds(operator: MatchRecognize, complaints: Complaints) -> None:
    if operator.limit is not None and operator.limit < 1:
        complaints.refuse(
            "not-a-count",
            f"LIMIT {operator.limit} leaves no partial match",
            operator.span,
            "use at least LIMIT 1 PARTIAL MATCHES",
        )
    absent = ends_with_not(operator.pattern)
    if absent is not None and operator.within is None and operator.between_rows is None:
        complaints.refuse(
            "absence-without-time",
            f"NOT {absent.name} at the end is decided when its time has passed, but the pattern has no time",
            absent.span or operator.span,
            "give the time to wait: PATTERN (…) WITHIN 1 HOUR",
        )


def _check_rows(operator: MatchRecognize, complaints: Complaints) -> None:
    """What MATCH EVERY and unmatched rows go together with."""
    for part in every_pattern(operator.pattern):
        if isinstance(part, Loop) and part.blocking and not operator.every:
            complaints.refuse(
                "blocking-without-every",
                "'!' makes a loop of MATCH EVERY greedy; without MATCH EVERY every loop is greedy",
                part.span or operator.span,
                "leave it out, or write MATCH EVERY",
            )
        elif isinstance(part, Loop) and part.blocking and not isinstance(part.pattern, Variable):
            complaints.refuse(
                "blocking-group",
                "'!' is allowed after the loop of one variable, not of a group",
                part.span or operator.span,
                "leave it out, or put it after a loop inside the group",
            )
    if operator.rows is not RowsPerMatch.ALL_WITH_UNMATCHED:
        return
    excluded = next((part for part in every_pattern(operator.pattern) if isinstance(part, Exclusion)), None)
    if operator.every or excluded is not None:
        what = "MATCH EVERY" if operator.every else "{- … -}"
        complaints.refuse(
            "unmatched-rows",
            f"WITH UNMATCHED ROWS cannot be combined with {what}",
            (excluded.span if excluded else None) or operator.span,
            "use ALL ROWS PER MATCH SHOW EMPTY MATCHES",
        )
