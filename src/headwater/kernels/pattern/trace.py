"""How far did partial matches get, and what stopped them? For one query over recorded rows, attempt by attempt.

Rule 1  Every row may begin an attempt, whatever AFTER MATCH SKIP says. An attempt is walked through the same automaton as in
        `preferred_match` and `all_matches`, and the same functions decide about conditions: a trace cannot disagree with a run.
Rule 2  A partial match is further than another if fewer rows are still needed for a match; of equals, the one with more rows.
Rule 3  The same rows may wait for several things at once (another B, or C): what ended each of these waits is emitted.
Rule 4  The matches and answers of the query are read from the kernel itself, over all partitions at once.

Memory  At most MOST_ATTEMPTS attempts, of each one partial match; while one is walked, at most MOST_STEPS steps.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.automaton import (
    ABSENT,
    ACCEPT,
    ANY,
    ANY_ROW,
    AT_END,
    NEXT,
    PASSED,
    RELAXED,
    TAKE,
    TAKEN,
    Automaton,
)
from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.machine import Look, make_stack, remember
from headwater.kernels.pattern.node_runs import NodeQuery
from headwater.kernels.pattern.partitioned_rows import arrange, cut, shape_of_records, touched, whole
from headwater.kernels.pattern.question import PatternQuery
from headwater.kernels.pattern.runs import (
    BOUND,
    EMPTY,
    EVENT_TIME,
    FIRST_ROW,
    KIND,
    MATCH,
    NEVER,
    PARTITION,
    PAST_LAST_ROW,
    TO_FIRST,
    TO_LAST,
    Scratch,
    Segments,
    satisfied,
)
from headwater.kernels.pattern.runs import NEXT_ROW as TO_NEXT_ROW
from headwater.model import END, Instant, Rows, StreamSchema, empty_store, no_records

MOST_ATTEMPTS: Final = 10_000
"""Attempts walked at once; the report says how many are left out."""

MOST_STEPS: Final = 10_000
"""Partial matches moved by a row, in one attempt; beyond that it is not followed further."""

MOST_STEPS_IN_ALL: Final = 400_000
"""The same in all attempts together: a few seconds."""

Numbers = NDArray[np.int64]
Bound = tuple[tuple[int, int], ...]
"""Rows of a match in order: place in the table, and the number of the state (or variable) that took it."""


class End(enum.Enum):
    """What ended a wait."""

    FAILED = "the required row did not satisfy the condition"
    FORBIDDEN = "a forbidden row came"
    OUT_OF_TIME = "the time limit passed"
    NO_MORE_ROWS = "the input ended"
    GIVEN_UP = "LIMIT"
    NOT_FOLLOWED = "too many steps"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wait in a state ended: at which row of the table, by which veto (its place in the automaton), at which deadline."""

    how: End
    state: int
    row: int | None = None
    veto: int | None = None
    deadline: Instant | None = None


@dataclass(frozen=True, slots=True)
class Partial:
    """Rows bound (with the states that took them), how many more a match needs at least, and how its waits ended."""

    bound: Bound
    needed: int
    endings: tuple[Ending, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """Rows bound (with their variables), and the event time."""

    bound: Bound
    event_time: Instant


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of the attempt that begins at a row; `until` is the last row processed, `cut`: it was not followed to its end."""

    first: int
    matches: tuple[Match, ...]
    furthest: Partial | None
    until: int
    cut: bool


@dataclass(frozen=True, slots=True)
class EmittedMatch:
    """A match that the query emitted; the search continued at `border`: earlier rows begin no further attempt."""

    first: int
    bound: Bound
    event_time: Instant
    border: int


class Recording:
    """The rows of one query, partition by partition, and what the kernel matched in them."""

    def __init__(self, schema: StreamSchema, query: PatternQuery, rows: Rows) -> None:
        kernel = PatternKernel(schema, [query])
        self.query = query
        columns, none = query.partition_columns, no_records()
        store = empty_store(shape_of_records({name: rows.types[name] for name in columns}, {}))
        found = touched(store, rows, columns, none.ids)
        others = rows.select([name for name in rows.columns if name not in columns])
        table = arrange(others, found.of_row, 0, found.keys, query.order, schema.time)
        pieces = whole(table, found, is_over=True)
        if query.forget_us is not None:
            table, pieces = cut(table, found, query.forget_us, END)
        self.table, self.keys = table, found.keys.take(pieces.partition)
        self.low: Numbers = pieces.segments.low
        self.high: Numbers = pieces.segments.high
        compiled = kernel.compiled[0]
        assert not isinstance(compiled, NodeQuery), "node modes bind rows by other rules"
        self._compiled = compiled
        self.auto: Automaton = self._compiled.auto
        self.rules = self._compiled.rules
        self.programs, self.columns = self._compiled.columns_of(self.table)
        self.stack = make_stack()
        self.needed = _needed(self.auto)
        self._steps_left = MOST_STEPS_IN_ALL

    @property
    def exhausted(self) -> bool:
        """Whether no more attempts are walked."""
        return self._steps_left <= 0

    def renew(self) -> None:
        """Continue with as many further steps."""
        self._steps_left = MOST_STEPS_IN_ALL

    def emitted(self) -> dict[int, list[EmittedMatch]]:
        """What the query emits, by partition, in the order of its matches."""
        zeros = np.zeros(self.keys.count, np.int64)
        segments = Segments(np.arange(self.keys.count), self.low, self.high, zeros, zeros)
        found, _, _ = self._compiled.run(self.table, segments, self._compiled.none(), END)
        matches: dict[int, list[EmittedMatch]] = {}
        begin = 0
        for line in found.lines.tolist():
            bound = [
                (int(found.row[at]), int(self.auto.variable[found.state[at]]))
                for at in range(begin, begin + line[BOUND])
            ]
            begin += line[BOUND]
            if line[KIND] in (MATCH, EMPTY):
                border = self._border(line[FIRST_ROW], bound)
                emitted = EmittedMatch(line[FIRST_ROW], tuple(bound), line[EVENT_TIME], border)
                matches.setdefault(line[PARTITION], []).append(emitted)
        return matches

    def starts(self, partition: int) -> Numbers:
        """The rows of a partition at which an attempt can begin."""
        low, high = int(self.low[partition]), int(self.high[partition])
        found: Numbers = np.flatnonzero(self._compiled.may_begin(self.columns)[low:high]) + low
        return found

    def attempts(
        self, partition: int, starts: Iterable[int], emitted: Iterable[EmittedMatch]
    ) -> Iterator[Attempt]:
        """The attempts that begin at some rows of the table, in order; those that bind no row are left out."""
        firsts = sorted(match.first for match in emitted)
        for start in starts:
            if self.exhausted:
                return
            number = int(np.searchsorted(firsts, start)) + 1
            walk = _Walk(self, int(self.low[partition]), int(self.high[partition]), start, number)
            attempt = walk.every() if self.query.every else walk.preferred()
            self._steps_left -= walk.steps
            if attempt.matches or attempt.furthest or attempt.cut:
                yield attempt

    def _border(self, first: int, bound: list[tuple[int, int]]) -> int:
        """Where the search continues, as in `preferred_match` and `all_matches`."""
        if not bound or self.rules.skip == TO_NEXT_ROW:
            return first + 1
        if self.rules.skip == PAST_LAST_ROW:
            return bound[-1][0] + 1
        if self.rules.skip in (TO_FIRST, TO_LAST):
            rows = [row for row, variable in bound if self.rules.skip_to[variable]]
            if rows:
                row = rows[0] if self.rules.skip == TO_FIRST else rows[-1]
                return row if self.query.every else max(row, first + 1)
            return first + 1
        return first


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A bound row, and those before it."""

    row: int
    state: int
    before: _Node | None
    length: int


@dataclass(frozen=True, slots=True)
class _Thread:
    """A partial match: what it waits for, what it has bound, what it remembers."""

    state: int
    node: _Node | None
    whole: Numbers
    double: NDArray[np.float64]


@dataclass(slots=True)
class _Walk:
    """One attempt; `number` is the value of MATCH_NUMBER() in it."""

    data: Recording
    low: int
    high: int
    start: int
    number: int
    steps: int = 0
    cut: bool = False
    threads: list[_Thread] = field(default_factory=list)
    matches: dict[Bound, Instant] = field(default_factory=dict)  # when the same rows are first complete
    ended: dict[int, tuple[_Node, list[Ending]]] = field(default_factory=dict)

    # --- the two families -----------------------------------------------------------------------------------------

    def preferred(self) -> Attempt:
        """As in `preferred_match`: the partial matches are in the order of preference, and a match drops those after it."""
        auto, rules = self.data.auto, self.data.rules
        best: Match | None = None
        for thread in self._beginnings():
            if thread is None:
                best = Match((), self._time(self.start))
                break
            self.threads.append(thread)
        at = until = self.start
        while self.threads and at < self.high:
            until = at
            completed = self._expire(self._time(at), at, only_first=True)
            best = completed[0] if completed else best
            if self.threads and at - self.start + 1 > rules.limit:
                self._end_all(End.GIVEN_UP, at)
            if not self.threads or self._too_many(at):
                break
            fresh: dict[object, _Thread] = {}
            for thread in self.threads:
                node, stays = self._moved(thread, at)
                if node is not None:
                    targets = self._follow(thread.state)
                    accepted = targets.index(ACCEPT) if ACCEPT in targets else len(targets)
                    for target in targets[:accepted]:
                        self._add(fresh, self._after(thread, node, target))
                    if accepted < len(targets):
                        best = Match(self._variables(node), self._time(at))
                        break
                if stays:
                    self._add(fresh, thread)
            self.threads = list(fresh.values())
            at += 1
        for thread in self.threads:  # the end of the input is after every deadline
            kind, deadline = int(auto.kind[thread.state]), self._deadline(thread)
            if thread.node is not None and kind == ABSENT and deadline != NEVER:
                best = Match(self._variables(thread.node), deadline)
                break
            if thread.node is not None and kind == AT_END:
                best = Match(self._variables(thread.node), self._time(thread.node.row))
                break
            self._end(thread, Ending(End.NO_MORE_ROWS, thread.state, deadline=_known(deadline)))
        return self._attempt([best] if best else [], until)

    def every(self) -> Attempt:
        """As in `all_matches`, without LIMIT and without what other attempts' matches drop."""
        self.threads = [thread for thread in self._beginnings() if thread is not None]
        at = until = self.start
        while self.threads and at < self.high:
            until = at
            for match in self._expire(self._time(at), at, only_first=False):
                self.matches.setdefault(match.bound, match.event_time)
            if not self.threads or self._too_many(at):
                break
            fresh: dict[object, _Thread] = {}
            for waiting in self.threads:
                thread = self._without_ended_claims(waiting, at)
                node, stays = self._moved(thread, at)
                for target in self._follow(thread.state) if node is not None else ():
                    assert node is not None
                    if target == ACCEPT:
                        self.matches.setdefault(self._variables(node), self._time(at))
                    else:
                        after = self._after(thread, node, target)
                        fresh.setdefault((target, self._variables(node)), after)
                if stays:
                    fresh.setdefault((thread.state, id(thread.node)), thread)
            self.threads = list(fresh.values())
            at += 1
        for thread in self.threads:
            assert thread.node is not None or self.cut
            kind, deadline = int(self.data.auto.kind[thread.state]), self._deadline(thread)
            if thread.node is not None and kind == ABSENT and deadline != NEVER:
                self.matches.setdefault(self._variables(thread.node), deadline)
            elif thread.node is not None and kind == AT_END:
                self.matches.setdefault(self._variables(thread.node), self._time(thread.node.row))
            else:
                self._end(thread, Ending(End.NO_MORE_ROWS, thread.state, deadline=_known(deadline)))
        return self._attempt([Match(*match) for match in self.matches.items()], until)

    # --- one step ---------------------------------------------------------------------------------------------------

    def _beginnings(self) -> Iterator[_Thread | None]:
        """How the attempt can begin, in the order of preference; None is the empty match."""
        auto, memory = self.data.auto, self.data.query.recall.memory
        for target, edge in zip(auto.first.tolist(), auto.first_at_edge.tolist(), strict=True):
            if edge and self.start != self.low:
                continue
            if target == ACCEPT:
                yield None
            elif auto.kind[target] == TAKE:
                yield _Thread(target, None, memory.whole.copy(), memory.double.copy())

    def _moved(self, thread: _Thread, at: int) -> tuple[_Node | None, bool]:
        """The effect of a row on a partial match: the node if it is taken, and whether the partial match (also) waits on."""
        self.steps += 1
        auto, state, last = self.data.auto, thread.state, thread.node
        takes = bool(auto.kind[state] == TAKE) and self._holds(
            int(auto.condition[state]), int(auto.variable[state]), thread, at
        )
        veto = self._veto(thread, at, takes=True) if takes else None
        taken = takes and veto is None
        link = int(auto.link[state])
        stays = last is not None and (link == ANY or (link == RELAXED and not takes))
        if stays:
            waiting_veto = self._veto(thread, at, takes=False)
            stays = waiting_veto is None
            veto = veto if veto is not None else waiting_veto
        if not taken and not stays:
            how = End.FAILED if veto is None else End.FORBIDDEN
            self._end(thread, Ending(how, state, at, veto))
        return (_Node(at, state, last, last.length + 1 if last else 1) if taken else None), stays

    def _holds(self, condition: int, variable: int, thread: _Thread, at: int) -> bool:
        if condition < 0:
            return True
        data = self.data
        if data.programs.bit[condition] >= 0:  # as `satisfied` begins; calling it takes longer than this test
            return bool(data.columns.bits[data.programs.bit[condition], at])
        memory = data.query.recall.memory
        look = Look(at, self.low, self.high, self.low, self.number)
        scratch = Scratch(thread.whole, thread.double, thread.whole.copy(), thread.double.copy(), data.stack)
        return bool(satisfied(data.programs, memory, condition, variable, data.columns, look, scratch))

    def _without_ended_claims(self, thread: _Thread, at: int) -> _Thread:
        """As `runs.without_ended_claims`; only MATCH EVERY has greedy loops."""
        auto = self.data.auto
        place = int(auto.ends_from[thread.state])
        while place < auto.ends_from[thread.state + 1]:
            condition, state = auto.ends[place].tolist()
            if self._holds(condition, -1, thread, at):
                thread = replace(thread, state=state)
                place = int(auto.ends_from[state])
            else:
                place += 1
        return thread

    def _veto(self, thread: _Thread, at: int, *, takes: bool) -> int | None:
        """The first veto that a row meets, as `runs.vetoed` tests them."""
        auto = self.data.auto
        is_next = thread.node is not None and thread.node.row + 1 == at
        for place in range(int(auto.veto_from[thread.state]), int(auto.veto_from[thread.state + 1])):
            kind, condition, variable = auto.veto[place].tolist()
            applies = (
                kind == ANY_ROW
                or (kind == NEXT and is_next)
                or (kind == PASSED and not takes)
                or (kind == TAKEN and takes)
            )
            if applies and self._holds(condition, variable, thread, at):
                return place
        return None

    def _after(self, thread: _Thread, node: _Node, target: int) -> _Thread:
        data = self.data
        whole, double = thread.whole, thread.double
        if len(whole) or len(double):
            whole, double = whole.copy(), double.copy()
            variable = int(data.auto.variable[node.state])
            number = node.row - self.low
            remember(
                data.query.recall.memory, data.columns, variable, node.row, number, self.low, whole, double
            )
        return _Thread(target, node, whole, double)

    def _add(self, threads: dict[object, _Thread], thread: _Thread) -> None:
        """Two partial matches in one state that remember the same are one: the preferred."""
        last = thread.node.row if self.data.rules.keeps_last and thread.node else None
        threads.setdefault(
            (thread.state, tuple(thread.whole.tolist()), tuple(thread.double.tolist()), last), thread
        )

    # --- time and ends ------------------------------------------------------------------------------------------------

    def _expire(self, time: Instant, at: int, *, only_first: bool) -> list[Match]:
        """End what is out of time before a row; an absence is then complete, and drops what is after it."""
        remaining, completed = [], []
        for thread in self.threads:
            deadline = self._deadline(thread)
            if time <= deadline:
                remaining.append(thread)
            elif self.data.auto.kind[thread.state] == ABSENT and thread.node is not None:
                completed.append(Match(self._variables(thread.node), deadline))
                if only_first:
                    break
            else:
                self._end(thread, Ending(End.OUT_OF_TIME, thread.state, at, deadline=deadline))
        self.threads = remaining
        return completed

    def _deadline(self, thread: _Thread) -> Instant:
        rules = self.data.rules
        if self.data.auto.kind[thread.state] == AT_END:
            return NEVER
        its: Instant = NEVER
        if rules.within_us != NEVER:
            its = self._time(self.start) + rules.within_us
        if rules.between_us != NEVER and thread.node is not None:
            its = min(its, self._time(thread.node.row) + rules.between_us)
        return its

    def _too_many(self, at: int) -> bool:
        if self.steps + len(self.threads) > MOST_STEPS:
            self.cut = True
            self._end_all(End.NOT_FOLLOWED, at)
        return self.cut

    def _end_all(self, how: End, at: int) -> None:
        for thread in self.threads:
            self._end(thread, Ending(how, thread.state, at))
        self.threads = []

    def _end(self, thread: _Thread, ending: Ending) -> None:
        if thread.node is not None:
            self.ended.setdefault(id(thread.node), (thread.node, []))[1].append(ending)

    def _attempt(self, matches: list[Match], until: int) -> Attempt:
        furthest = None
        if self.ended:
            node, endings = min(self.ended.values(), key=lambda end: (self._distance(end[1]), -end[0].length))
            furthest = Partial(_path(node), self._distance(endings), tuple(endings))
        return Attempt(self.start, tuple(matches), furthest, until, self.cut)

    def _distance(self, endings: list[Ending]) -> int:
        return min(self.data.needed[ending.state] for ending in endings)

    def _follow(self, state: int) -> list[int]:
        auto = self.data.auto
        targets: list[int] = auto.follow[auto.follow_from[state] : auto.follow_from[state + 1]].tolist()
        return targets

    def _time(self, row: int) -> Instant:
        return int(self.data.columns.time[row])

    def _variables(self, node: _Node) -> Bound:
        return tuple((row, int(self.data.auto.variable[state])) for row, state in _path(node))


def _path(node: _Node) -> Bound:
    found: list[tuple[int, int]] = []
    at: _Node | None = node
    while at is not None:
        found.append((at.row, at.state))
        at = at.before
    return tuple(reversed(found))


def _known(deadline: Instant) -> Instant | None:
    return None if deadline == NEVER else deadline


def _needed(auto: Automaton) -> list[int]:
    """For every state how many rows a partial match that waits in it needs at least."""
    far = 1 << 30
    needed = [0 if kind != TAKE else far for kind in auto.kind.tolist()]
    changed = True
    while changed:
        changed = False
        for state in range(auto.states - 1, -1, -1):
            for target in auto.follow[auto.follow_from[state] : auto.follow_from[state + 1]].tolist():
                through = 1 + (0 if target == ACCEPT else needed[target])
                if through < needed[state]:
                    needed[state], changed = through, True
    return needed
