"""MATCH EVERY, the slow way: everything that any attempt can do, then one pass in row order that tells, drops and gives up.

Each row begins an attempt; `Search` lists its complete matches and its waits (a wait is bound rows that may still get one
more). Two matches, or two partial matches, with the same rows bound to the same variables are one.

The pass goes from instant to instant: before a row all deadlines below its time pass, then the row completes matches, matches
that may be told are told and drop attempts (rule 11), and what is open beyond LIMIT is given up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from headwater.kernels.pattern.choices import SkipTo
from headwater.query.operators.pattern import tree
from tests.laws.oracles.pattern_rows import (
    GIVEN_UP,
    SKIPPED_NOWHERE,
    Bindings,
    Complete,
    Found,
    Key,
    Pair,
    Search,
    Wait,
    pairs,
    skip_rows,
)


@dataclass(frozen=True)
class _Match:
    bound: Bindings
    key: Key
    deadline: int | None

    @property
    def start(self) -> int:
        return self.bound[0].row

    @property
    def last(self) -> int:
        return self.bound[-1].row


@dataclass(frozen=True)
class _Partial:
    """Bound rows and all that they wait for."""

    bound: Bindings
    waits: tuple[Wait, ...]

    @property
    def start(self) -> int:
        return self.bound[0].row

    @property
    def deadline(self) -> int | None:
        return self.waits[0].deadline

    def open_after(self, row: int) -> list[Wait]:
        """What it waits for when that row has been seen, deadlines aside."""
        if self.bound[-1].row > row:
            return []
        return [wait for wait in self.waits if wait.died is None or wait.died > row]


def every(search: Search) -> list[Found]:
    """All that is told of one partition, in the order in which it is."""
    return _Pass(search).run()


def assignments(search: Search) -> list[tuple[Pair, ...]]:
    """Every match there is, whatever is skipped or given up: by start, preferred ones first."""
    return [pairs(match.bound) for match in _every_match(_outcomes(search))]


def _outcomes(search: Search) -> list[Complete | Wait]:
    starts = range(len(search.rows))
    return [outcome for row in starts for outcome in search.outcomes(row) if outcome.bound]


def _every_match(outcomes: Iterable[Complete | Wait]) -> list[_Match]:
    """Reading: the same rows bound to the same variables are one match, completed when they first are."""
    matches: dict[tuple[Pair, ...], _Match] = {}
    for outcome in outcomes:
        if isinstance(outcome, Complete):
            known = matches.get(pairs(outcome.bound))
            if known is None or (known.deadline is not None and outcome.deadline is None):
                matches[pairs(outcome.bound)] = _Match(outcome.bound, outcome.key, outcome.deadline)
    return list(matches.values())


def _every_partial(outcomes: Iterable[Complete | Wait]) -> list[_Partial]:
    partials: dict[tuple[Pair, ...], _Partial] = {}
    for outcome in outcomes:
        if isinstance(outcome, Wait):
            known = partials.get(pairs(outcome.bound), _Partial(outcome.bound, ()))
            partials[pairs(outcome.bound)] = _Partial(known.bound, (*known.waits, outcome))
    return list(partials.values())


class _Pass:
    def __init__(self, search: Search) -> None:
        outcomes = _outcomes(search)
        self.search = search
        self.matches, self.partials = _every_match(outcomes), _every_partial(outcomes)
        self.skip = search.operator.skip or tree.Skip(SkipTo.NOWHERE)
        self.dropped: set[int] = set()  # starts of attempts
        self.given_up: list[tuple[tuple[Pair, ...], int]] = []  # partial matches, and after which row
        self.waiting: list[tuple[int, _Match]] = []  # complete, and since which moment
        self.moment = 0
        self.results: list[Found] = []

    def run(self) -> list[Found]:
        for row, time in enumerate(self.search.times):
            self._pass_deadlines(row - 1, time)
            self.moment += 1
            self._completed(m for m in self.matches if m.deadline is None and m.last == row)
            self._tell(row, time)
            self._give_up(row, time)
            self._tell(row, time)
        self._pass_deadlines(len(self.search.rows) - 1, math.inf)
        self._tell(len(self.search.rows), math.inf)
        return self.results

    def _pass_deadlines(self, row: int, before: float) -> None:
        """Those after `row`, the last row seen, and before the next row's time."""
        seen = [partial for partial in self.partials if partial.bound[-1].row <= row]
        absences = [m for m in self.matches if m.deadline is not None and m.last <= row]
        since = self.search.times[row] if row >= 0 else -math.inf
        deadlines = {p.deadline for p in seen if p.deadline is not None}  # absences wait too
        for deadline in sorted(d for d in deadlines if since <= d < before):
            self.moment += 1
            # Reading: what runs out at an instant has run out, even if a match told at the same instant would drop it.
            self._time_out([p for p in seen if p.deadline == deadline and p.open_after(row)])
            self._completed(m for m in absences if m.deadline == deadline)
            self._tell(row, deadline + 1)

    def _time_out(self, partials: list[_Partial]) -> None:
        if not self.search.operator.timeouts:
            return
        complete = {pairs(match.bound) for match in self.matches}
        late = [p for p in partials if self._lives(p.bound) and pairs(p.bound) not in complete]
        for partial in sorted(late, key=lambda p: (p.start, min(w.key for w in p.waits if w.died is None))):
            assert partial.deadline is not None
            self.results.append(Found("timeout", partial.start, partial.bound, partial.deadline, None))

    def _completed(self, matches: Iterable[_Match]) -> None:
        self.waiting += [
            (self.moment, m) for m in matches if self._lives(m.bound, complete=m.deadline is None)
        ]

    def _lives(self, bound: Bindings, *, complete: bool = False) -> bool:
        """Neither its attempt was dropped nor what it comes from given up."""
        its = pairs(bound)
        if bound[0].row in self.dropped:
            return False
        return not any(
            (its == partial and not complete)
            or (len(its) > len(partial) and its[: len(partial)] == partial and its[len(partial)][1] > row)
            for partial, row in self.given_up
        )

    def _open(self, row: int, now: float) -> list[_Partial]:
        return [
            p
            for p in self.partials
            if p.open_after(row) and (p.deadline is None or p.deadline >= now) and self._lives(p.bound)
        ]

    def _tell(self, row: int, now: float) -> None:
        """Matches that no older attempt holds back. Reading: with NO SKIP nothing is held back."""
        while True:
            older = [p.start for p in self._open(row, now)] if row < len(self.search.rows) else []
            free = [
                (match.start, since, match.key, match)
                for since, match in self.waiting
                if self.skip.to is SkipTo.NOWHERE or not any(start < match.start for start in older)
            ]
            # A complete match that waits with an older start comes first too.
            if not free:
                return
            *_, match = min(free, key=lambda entry: entry[:3])
            self._tell_one(match)

    def _tell_one(self, match: _Match) -> None:
        number = 1 + sum(found.kind == "match" for found in self.results)
        time = self.search.times[match.last] if match.deadline is None else match.deadline
        self.results.append(Found("match", match.start, match.bound, time, number))
        self.dropped |= self._starts_dropped(match)
        self.waiting = [(s, m) for s, m in self.waiting if m != match and m.start not in self.dropped]

    def _starts_dropped(self, match: _Match) -> set[int]:
        match self.skip.to:
            case SkipTo.NOWHERE:
                return set()
            case SkipTo.PAST_LAST_ROW:
                return set(range(match.last + 1))
            case SkipTo.NEXT_ROW:
                return set(range(match.start + 1))
        rows = skip_rows(self.search, self.skip, match.bound)
        if not rows:
            self.search.counts[SKIPPED_NOWHERE] += 1
            return set(range(match.start + 1))
        # Reading: where X's row is the match's first, nothing of its own attempt is dropped.
        return set(range(rows[0] if self.skip.to is SkipTo.FIRST else rows[-1]))

    def _give_up(self, row: int, now: int) -> None:
        limit = self.search.operator.limit
        if limit is None:
            return
        partials = sorted(
            self._open(row, now), key=lambda p: (p.start, min(w.key for w in p.open_after(row)))
        )
        given_up = [(pairs(p.bound), row) for p in partials[: max(0, len(partials) - limit)]]
        self.search.counts[GIVEN_UP] += len(given_up)
        self.given_up += given_up
