"""MATCH_RECOGNIZE without MATCH EVERY, the slow way: at each row the match that comes first in preference order.

Two parts. `Search` goes through everything that an attempt
beginning at one row can do, preferred things first, as SEMANTICS' rules 2 to 10 say it (MATCH EVERY uses it too: there every
outcome counts, here only the first). `preferred` lets attempts begin where AFTER MATCH says.

Where the definition leaves a choice, the comment says `Reading:`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from headwater.kernels.pattern.choices import Contiguity, RowsPerMatch, SkipTo
from headwater.query.expressions import ExprType
from headwater.query.language.tree import Expression, Literal
from headwater.query.operators.pattern import tree
from headwater.query.operators.pattern.tree import MatchRecognize
from tests.laws.oracles.expressions import BOOL
from tests.laws.oracles.pattern_sight import Pair, Row, Sight, value

STRICT, RELAXED = Contiguity.STRICT, Contiguity.RELAXED
GIVEN_UP, SKIPPED_NOWHERE = "partial_matches_given_up", "skips_to_no_row"


# --- what an attempt can do ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Binding:
    """A row bound to a variable: where it stands in PATTERN, and whether ALL ROWS PER MATCH shows it."""

    variable: str
    row: int
    place: tuple[int, ...]
    shown: bool


Bindings = tuple[Binding, ...]
Key = tuple[float, ...]  # the decisions taken: of two outcomes of one attempt the lesser key is preferred


@dataclass(frozen=True)
class Complete:
    """The pattern is satisfied: with its last row, or (absence) when the deadline has passed."""

    bound: Bindings
    key: Key
    deadline: int | None


@dataclass(frozen=True)
class Wait:
    """Bound rows that wait for one more, until the row `died` ends the wait; None: until the deadline or the end."""

    bound: Bindings
    key: Key
    died: int | None
    deadline: int | None


@dataclass(frozen=True)
class _Not:
    """A NOT since the last bound row. `left_out`: an element behind it was, so that it is not at the end."""

    name: str
    strict: bool
    left_out: bool = False


@dataclass(frozen=True)
class _Claim:
    """A greedy loop's variable, which no row may satisfy until a row meets one of the UNTILs that govern the loop (rule 5)."""

    name: str
    untils: tuple[Expression, ...]


@dataclass(frozen=True)
class _State:
    start: int
    bound: Bindings = ()
    key: Key = ()
    nots: tuple[_Not, ...] = ()
    claims: tuple[_Claim, ...] = ()  # of greedy loops (`!`) left since the last bound row
    ended: bool = False  # `$` stood behind the last bound row

    @property
    def last(self) -> int:
        return self.bound[-1].row if self.bound else self.start - 1

    def decided(self, decision: float) -> _State:
        return replace(self, key=(*self.key, decision))

    def followed(self) -> _State:
        """Something stands behind the NOTs so far, be it left out."""
        return replace(self, nots=tuple(replace(n, left_out=True) for n in self.nots))

    def taking(self, binding: Binding) -> _State:
        return _State(self.start, (*self.bound, binding), (*self.key, binding.row))


@dataclass(frozen=True)
class _Inside:
    """What governs a part of the pattern from outside."""

    shown: bool = True
    # And how many rows were bound before the first one that it governs the wait for: of a group, the wait for its first row.
    untils: tuple[tuple[Expression, int], ...] = ()
    guards: tuple[_Not, ...] = ()  # the NOTs right behind this part

    def without_guards(self) -> _Inside:
        return replace(self, guards=())


Outcome = Complete | Wait
Then = Callable[[_State], Iterator[Outcome]]


class Search:
    """All that attempts over the rows of one partition can do."""

    def __init__(
        self, operator: MatchRecognize, types: Mapping[str, ExprType], time: str, rows: Sequence[Row]
    ) -> None:
        self.operator, self.rows, self.types = operator, rows, types
        self.times: list[int] = [row[time] for row in rows]
        self.defined = {definition.name: definition.condition for definition in operator.define}
        self.subsets = {subset.name: subset.members for subset in operator.subsets}
        self.counts: Counter[str] = Counter()  # what was given up, and skips to a row that is not there

    def outcomes(self, start: int, *, number: int | None = None, cut: int | None = None) -> Iterator[Outcome]:
        """Of the attempt that begins at row `start`, preferred ones first; what is open at row `cut` is given up."""
        self.number, self.cut = number, len(self.rows) if cut is None else cut
        return self._walk(self.operator.pattern, (), _State(start), STRICT, _Inside(), self._complete)

    def sight(self, bound: Sequence[Pair], row: int | None) -> Sight:
        return Sight(self.types, self.rows, self.subsets, bound, bound, row, self.number)

    def holds(self, variable: str, row: int, bound: Sequence[Pair]) -> bool:
        """Whether a row satisfies a variable's condition: it is looked at as if it were bound already."""
        condition = self.defined.get(variable, Literal(True))
        return value(condition, self.sight((*bound, (variable, row)), row)) == (BOOL, True)

    def deadline(self, bound: Bindings) -> int | None:
        times = []
        if self.operator.within is not None:
            times.append(self.times[bound[0].row] + self.operator.within.micros)
        if self.operator.between_rows is not None:
            times.append(self.times[bound[-1].row] + self.operator.between_rows.micros)
        return min(times) if times else None

    # Each part of a pattern goes on with `then` for every state in which it can be left.

    def _walk(
        self,
        node: tree.Pattern,
        place: tuple[int, ...],
        state: _State,
        link: Contiguity,
        inside: _Inside,
        then: Then,
    ) -> Iterator[Outcome]:
        match node:
            case tree.Variable(name):
                return self._wait(name, place, state, link, inside, then)
            case tree.Never(name):
                return then(replace(state, nots=(*state.nots, _Not(name, strict=link is STRICT))))
            case tree.Empty():
                return then(state)
            case tree.Edge(end):
                # Reading: the place right after the last bound row (before the first: where the attempt begins).
                there = state.last == (len(self.rows) - 1 if end else -1)
                return then(replace(state, ended=state.ended or end)) if there else iter(())
            case tree.Exclusion(pattern):
                return self._walk(pattern, (*place, 0), state, link, replace(inside, shown=False), then)
            case tree.Sequence(parts, links):
                return self._sequence(_flat(parts, (None, *links), place), state, link, inside, then)
            case tree.Choice(choices):
                return itertools.chain.from_iterable(
                    self._walk(choice, (*place, n), state.decided(n), link, inside, then)
                    for n, choice in enumerate(choices)
                )
            case tree.Permutation(parts):
                orders = itertools.permutations(((*place, n), part) for n, part in enumerate(parts))
                return itertools.chain.from_iterable(
                    self._sequence([one for at, part in order for one in _flat((part,), (STRICT,), at)], state.decided(which), link, inside, then)
                    for which, order in enumerate(orders)
                )  # fmt: skip
            case tree.Loop():
                return self._loop(node, place, state, link, inside, then)
        raise AssertionError(node)

    def _sequence(
        self,
        parts: Sequence[_Part],
        state: _State,
        link: Contiguity,
        inside: _Inside,
        then: Then,
    ) -> Iterator[Outcome]:
        """The first part is reached by the link before the whole sequence, the others by their own."""
        if not parts:
            return then(state)
        (place, part, _), *rest = parts
        nots = tuple(itertools.takewhile(lambda one: isinstance(one[1], tree.Never), rest))
        guards = tuple(_Not(never.name, by is STRICT) for _, never, by in nots)  # type: ignore[union-attr]
        # Right behind the part stand the NOTs here and, if nothing else does, those behind the whole sequence.
        its = replace(inside, guards=guards + inside.guards if len(nots) == len(rest) else guards)

        def after(later: _State) -> Iterator[Outcome]:
            onward = rest[0][2] if rest else None
            return self._sequence(rest, later, onward or link, inside, then)

        if _stands_for_something(part):
            state = state.followed()  # if the part binds a row, the NOTs are over
        return self._walk(part, place, state, link, its, after)

    def _loop(
        self,
        loop: tree.Loop,
        place: tuple[int, ...],
        entry: _State,
        link: Contiguity,
        inside: _Inside,
        then: Then,
    ) -> Iterator[Outcome]:
        # Rule 7: behind a group a NOT looks between its rounds, not into them; an optional loop is watched like the loop.
        within = inside if loop.most == 1 and _is_loop(loop.pattern) else inside.without_guards()
        if loop.until is not None:
            since = len(entry.bound) + 1 if _is_over_one_variable(loop) else 0
            within = replace(within, untils=(*within.untils, (loop.until, since)))

        def again(state: _State, count: int, decision: int) -> Iterator[Outcome]:
            if loop.most is not None and count >= loop.most:
                return

            def after(later: _State) -> Iterator[Outcome]:
                # Rule 10: an empty round may fill the minimum; the one that reaches it, and every one beyond it, ends the
                # loop. Reading: one beyond it leaves nothing behind, it is as though the loop had been left before it.
                if len(later.bound) > len(before.bound) or count + 1 < loop.least:
                    yield from rounds(later, count + 1)
                elif count < loop.least:
                    yield from leave(later, count + 1, 0)
                else:
                    yield from leave(replace(before, key=later.key), count, 0)

            before = state
            begun = len(state.bound) > len(entry.bound)
            if begun:
                # NOT behind a loop: a relaxed one between all repetitions, a strict one from the minimum on.
                guards = tuple(n for n in inside.guards if not n.strict or count >= loop.least)
                state = replace(state, nots=(*state.nots, *guards)).followed()
            onward = loop.contiguity if begun else link
            yield from self._walk(loop.pattern, (*place, 0), state.decided(decision), onward, within, after)

        def leave(state: _State, count: int, decision: int) -> Iterator[Outcome]:
            if count < loop.least:
                return
            state = state.decided(decision)
            if loop.blocking and loop.least != loop.most:
                assert isinstance(loop.pattern, tree.Variable), "`!` is for one variable"
                claim = _Claim(loop.pattern.name, tuple(until for until, _ in within.untils))
                state = replace(state, claims=(*state.claims, claim))
            yield from then(state)

        def rounds(state: _State, count: int) -> Iterator[Outcome]:
            if loop.reluctant:
                yield from leave(state, count, 0)
                yield from again(state, count, 1)
            else:
                yield from again(state, count, 0)
                yield from leave(state, count, 1)

        return rounds(entry, 0)

    def _wait(
        self,
        name: str,
        place: tuple[int, ...],
        state: _State,
        link: Contiguity,
        inside: _Inside,
        then: Then,
    ) -> Iterator[Outcome]:
        """For a row that can be bound: it is the attempt's first, or lies behind rows that may be passed over."""
        first = not state.bound
        bound = pairs(state.bound)
        deadline = None if first else self.deadline(state.bound)
        died = None
        claims = state.claims
        for row in range(state.last + 1, len(self.rows)):
            if deadline is not None and self.times[row] > deadline:
                break
            if row >= self.cut or (not first and self._next_row_forbidden(state, row)):
                died = row
                break
            satisfied = self.holds(name, row, bound)
            claims = tuple(c for c in claims if not any(self._met(u, row, bound) for u in c.untils))
            blocked = any(self.holds(claim.name, row, bound) for claim in claims)
            stopped = [since for until, since in inside.untils if self._met(until, row, bound)]
            if satisfied and not blocked and not stopped:
                binding = Binding(name, row, place, inside.shown)
                yield from then(state.taking(binding))
            # Rule 6: a row that meets UNTIL is never taken. Reading: while the first repetition of a loop over one variable is
            # waited for, it may be passed over like any other row, so with `~>` only if it fails the condition of DEFINE (rule 2).
            if (
                first
                or link is STRICT
                or (link is RELAXED and satisfied)
                or blocked
                or any(since <= len(bound) for since in stopped)
                or any(self.holds(n.name, row, bound) for n in state.nots if not n.strict)
            ):
                died = row
                break
        if not first:
            yield Wait(state.bound, (*state.key, math.inf), died, deadline)

    def _complete(self, state: _State) -> Iterator[Outcome]:
        if state.ended or all(n.left_out for n in state.nots):
            yield Complete(state.bound, state.key, None)
        elif state.bound:
            yield from self._absence(state)

    def _absence(self, state: _State) -> Iterator[Outcome]:
        """A NOT at the end: no such row came by the deadline, nor one of a NOT before it (rule 7)."""
        bound = pairs(state.bound)
        deadline = self.deadline(state.bound)
        assert deadline is not None, "a NOT at the end needs a time"
        forbidden = [n.name for n in state.nots if not n.strict]
        died = None
        for row in range(state.last + 1, len(self.rows)):
            if self.times[row] > deadline:
                break
            if (
                row >= self.cut
                or self._next_row_forbidden(state, row)
                or any(self.holds(name, row, bound) for name in forbidden)
            ):
                died = row
                break
        if died is None:
            yield Complete(state.bound, state.key, deadline)
        yield Wait(state.bound, (*state.key, math.inf), died, deadline)

    def _next_row_forbidden(self, state: _State, row: int) -> bool:
        bound = pairs(state.bound)
        return row == state.last + 1 and any(self.holds(n.name, row, bound) for n in state.nots if n.strict)

    def _met(self, until: Expression, row: int, bound: Sequence[Pair]) -> bool:
        return value(until, self.sight(bound, row)) == (BOOL, True)


def pairs(bound: Bindings) -> tuple[Pair, ...]:
    return tuple((binding.variable, binding.row) for binding in bound)


_Part = tuple[tuple[int, ...], tree.Pattern, Contiguity | None]  # its place, and the link before it


def _flat(
    parts: Sequence[tree.Pattern], links: Sequence[Contiguity | None], place: tuple[int, ...]
) -> list[_Part]:
    """Parts one after the other: parentheses alone change nothing."""
    found: list[_Part] = []
    for number, (part, link) in enumerate(zip(parts, links, strict=True)):
        if isinstance(part, tree.Sequence):
            found += _flat(part.parts, (link, *part.links), (*place, number))
        else:
            found.append(((*place, number), part, link))
    return found


def _is_loop(node: tree.Pattern) -> bool:
    return isinstance(node, tree.Loop) or (isinstance(node, tree.Exclusion) and _is_loop(node.pattern))


def _is_over_one_variable(loop: tree.Loop) -> bool:
    """And not over a group; an optional loop is what the loop is."""
    part = loop.pattern
    while isinstance(part, tree.Exclusion):
        part = part.pattern
    if isinstance(part, tree.Loop) and loop.most == 1:
        return _is_over_one_variable(part)
    return isinstance(part, tree.Variable)


def _stands_for_something(node: tree.Pattern) -> bool:
    """Whether a NOT before it is not at the end."""
    match node:
        case tree.Variable() | tree.Edge():
            return True
        case tree.Sequence(parts) | tree.Choice(parts) | tree.Permutation(parts):
            return any(_stands_for_something(part) for part in parts)
        case tree.Exclusion(pattern) | tree.Loop(pattern):
            return _stands_for_something(pattern)
    return False


# --- where attempts begin ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """What is told: `kind` is match, timeout, empty or unmatched; `row` is where it begins."""

    kind: str
    row: int
    bound: Bindings
    event_time: int
    number: int | None


def preferred(search: Search) -> list[Found]:
    """All that is told of one partition, in the order of the search."""
    operator, found = search.operator, []
    row = number = 0
    behind = 0  # the row behind the last row of every match so far
    while row < len(search.rows):
        attempt = _attempt(search, row, number + 1)
        if attempt is None or attempt.kind == "timeout":
            if operator.rows is RowsPerMatch.ALL_WITH_UNMATCHED and row >= behind:
                found.append(Found("unmatched", row, (), search.times[row], None))
            if attempt is not None and operator.timeouts:
                found.append(attempt)
            row += 1
            continue
        number += 1
        found.append(attempt)
        if attempt.kind == "match":
            behind = max(behind, attempt.bound[-1].row + 1)
        row = _next_row(search, attempt)
    return found


def _attempt(search: Search, row: int, number: int) -> Found | None:
    cut = None if search.operator.limit is None else row + search.operator.limit
    waits: list[Wait] = []
    best = None
    for outcome in search.outcomes(row, number=number, cut=cut):
        if isinstance(outcome, Complete):
            best = outcome
            break
        waits.append(outcome)
    # Reading: an attempt counts once, if partial matches preferred to its match are given up; the others were when it was complete.
    if cut is not None:
        search.counts[GIVEN_UP] += any(wait.died == cut for wait in waits)
    if best is None:
        return _out_of_time(search, row, waits)
    if not best.bound:
        return Found("empty", row, (), search.times[row], number)
    time = search.times[best.bound[-1].row] if best.deadline is None else best.deadline
    return Found("match", row, best.bound, time, number)


def _out_of_time(search: Search, row: int, waits: Sequence[Wait]) -> Found | None:
    """Reading: an attempt's time runs out when the deadline of its last open partial matches passes; where a row ended
    the last of them, none did."""
    expiring = [wait for wait in waits if wait.died is None and wait.deadline is not None]
    deadline = max((wait.deadline or 0 for wait in expiring), default=None)
    if deadline is None or any(w.died is not None and search.times[w.died] > deadline for w in waits):
        return None
    then_open = next(wait for wait in expiring if wait.deadline == deadline)
    return Found("timeout", row, then_open.bound, deadline, None)


def _next_row(search: Search, found: Found) -> int:
    skip = search.operator.skip or tree.Skip(SkipTo.PAST_LAST_ROW)
    if found.kind == "empty" or skip.to in (SkipTo.NEXT_ROW, SkipTo.NOWHERE):
        return found.row + 1
    if skip.to is SkipTo.PAST_LAST_ROW:
        return found.bound[-1].row + 1
    rows = skip_rows(search, skip, found.bound)
    row = (rows[0] if skip.to is SkipTo.FIRST else rows[-1]) if rows else found.row
    if row == found.row:
        search.counts[SKIPPED_NOWHERE] += 1
        return found.row + 1
    return row


def skip_rows(search: Search, skip: tree.Skip, bound: Bindings) -> list[int]:
    """The rows of the variable in SKIP TO."""
    return search.sight(pairs(bound), None).rows_of(skip.variable, None)
