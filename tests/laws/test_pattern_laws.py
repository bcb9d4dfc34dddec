from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headwater.kernels.pattern import row_blocks
from headwater.kernels.pattern.choices import Contiguity
from headwater.kernels.pattern.kernel import PatternKernel, PatternState
from headwater.kernels.pattern.packed_runs import SLOT, entries, unpacked
from headwater.kernels.pattern.partitioned_rows import Lane
from headwater.kernels.pattern.question import PatternQuery
from headwater.kernels.pattern.runs import HASH, NODE, NODES, THREADS, WAITING, Runs
from headwater.kernels.pattern.shape import has_edges
from headwater.model import BEGINNING, END, SECOND, Instant, QueriesRefused, Rows, StreamSchema
from headwater.query.build import script, stream
from headwater.query.expressions import condition
from headwater.query.language.tree import CreateQuery, Quantity, Select, Unit
from headwater.query.operators.pattern import tree
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.planning.plan import compile_script
from tests.laws.draws import bounded
from tests.laws.kernel_laws import LAWS, between_times, restored
from tests.laws.oracles import pattern as oracle
from tests.laws.pattern_worlds import (
    SCHEMA,
    as_rows,
    event_patterns,
    node_patterns,
    preferred_patterns,
    row_lists,
)

NamedPattern = tuple[str, MatchRecognize]

STREAM = stream(
    SCHEMA.name,
    {name: kind.value for name, kind in SCHEMA.columns},
    time=SCHEMA.time,
    key=SCHEMA.key,
)


@dataclass(frozen=True)
class PatternWorld:
    """Patterns over rows, and others that take their place."""

    listed: Sequence[dict[str, Any]]
    watermarks: Sequence[Instant]
    before: tuple[NamedPattern, ...]
    after: tuple[NamedPattern, ...]
    seed: int
    schema: StreamSchema = SCHEMA
    holds_back: bool = True
    shares_ids: bool = True

    @property
    def rows(self) -> Rows:
        return as_rows(self.listed)

    @property
    def queries(self) -> list[str]:
        return [name for name, _ in self.before]

    @property
    def changed(self) -> list[str]:
        return [name for name, _ in self.after]

    @property
    def replaced(self) -> list[str]:
        old = dict(self.before)
        return [name for name, operator in self.after if name in old and operator != old[name]]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> PatternKernel:
        named = self.after if after_change else self.before
        queries = [CreateQuery(name, Select(None, SCHEMA.name, None, operator)) for name, operator in named]
        plan = compile_script(script(STREAM, *queries))
        (group,) = plan.groups(0)
        assert isinstance(group.kernel, PatternKernel)
        return group.kernel if fast else group.kernel.without_shortcuts()

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[dict[str, Any]]]:
        steps: dict[str, list[dict[str, Any]]] = {name: [] for name in {*self.queries, *self.changed}}
        rows = [row for row in self.listed if row["at"] >= since]
        for name, operator in self.after if after_change else self.before:
            steps[name] = [{"query": name, **answer} for answer in oracle.answers(operator, SCHEMA, rows)]
        return steps

    def oracle_counts(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter()
        for _, operator in self.before:
            counted.update(oracle.counts(operator, SCHEMA, self.listed))
        return {name: count for name, count in counted.items() if count}

    def stored(self, state: PatternState) -> int:
        return sum(int(kept_rows(lane).sum()) for lane in state.lanes)

    def bound(self, watermark: Instant) -> int:
        seen = [row for row in self.listed if row["at"] < watermark]
        return sum(_bound_of_lane(named, seen, watermark) for named in self._lanes)

    @cached_property
    def _lanes(self) -> list[list[tuple[PatternQuery, MatchRecognize]]]:
        lanes: dict[object, list[tuple[PatternQuery, MatchRecognize]]] = {}
        for query, (_, operator) in zip(self.kernel().queries, self.before, strict=True):
            lanes.setdefault((query.partition, query.order, query.forget_us), []).append((query, operator))
        return list(lanes.values())


def kept_rows(lane: Lane) -> NDArray[np.int64]:
    """How many rows each record of a lane holds."""
    if not len(lane.store):
        return np.zeros(0, np.int64)
    table = lane.store.everything().table
    return table["count"] - table["first"]


def open_runs(kernel: PatternKernel, lane: Lane) -> list[Runs]:
    """What is open of each query in the records of a lane."""
    if not len(lane.store):
        return [kernel.compiled[place].none() for place in lane.queries]
    records = lane.store.everything()
    open_ = records.lists["open"]
    words = open_.lines["words"]
    listed, ends = entries(words, open_.offsets), records.table["count"]
    return [
        unpacked(words, listed[listed[:, SLOT] == slot], ends, kernel.compiled[place].none())
        for place, slot in zip(lane.queries, lane.slots, strict=True)
    ]


def _bound_of_lane(
    named: Sequence[tuple[PatternQuery, MatchRecognize]], seen: Sequence[dict[str, Any]], watermark: Instant
) -> int:
    """Of each partition what the query needs that needs most, and the rows that PREV looks back to."""
    back = max(-query.shifts[0] for query, _ in named)
    partitions: dict[object, list[Instant]] = {}
    for row in sorted(seen, key=lambda row: row["at"]):
        key = tuple(row[name] for name in named[0][0].partition)
        partitions.setdefault(key, []).append(row["at"])
    forget_us = named[0][0].forget_us
    if forget_us is not None:
        partitions = {key: _since_silence(times, forget_us, watermark) for key, times in partitions.items()}
    return sum(
        _with_equals(
            times, back, max(_needed(query, operator, times, watermark) for query, operator in named)
        )
        for times in partitions.values()
    )


def _with_equals(times: Sequence[Instant], back: int, needed: int) -> int:
    """So many of the last rows, those before them for PREV, and those as early as the first of them."""
    as_early = sum(time >= times[-needed] for time in times) if 0 < needed <= len(times) else needed
    return min(len(times), max(needed + back, as_early))


def _since_silence(times: Sequence[Instant], forget_us: int, watermark: Instant) -> list[Instant]:
    """The rows since a partition was silent for too long; none if it is now."""
    rest: list[Instant] = []
    for time in times:
        rest = [*rest, time] if rest and time - rest[-1] <= forget_us else [time]
    return rest if rest[-1] + forget_us >= watermark else []


def _needed(
    query: PatternQuery, operator: MatchRecognize, times: Sequence[Instant], watermark: Instant
) -> int:
    """How many of a partition's rows a query may still need, counted from the last."""
    if watermark >= END:
        return 0
    needed = len(times)
    if query.shifts[1] > 0:  # NEXT waits for rows, not for time
        return needed
    if query.limit is not None and not query.every:
        needed = min(needed, query.limit)
    if query.within_us is not None and not _waits_for_the_end(operator.pattern):
        needed = min(needed, sum(time >= watermark - query.within_us for time in times))
    longest = _longest(operator.pattern)
    if longest is not None and query.node is None:
        needed = min(needed, longest if _waits_for_the_end(operator.pattern) else max(longest - 1, 0))
    return needed


def _waits_for_the_end(node: tree.Pattern) -> bool:
    parts = node.parts if isinstance(node, tree.Sequence) else (node,)
    return any(isinstance(part, tree.Edge) and part.end for part in parts)


def _longest(node: tree.Pattern) -> int | None:
    """How many rows lie between the first and the last of a match, both counted; None: any number."""
    match node:
        case tree.Variable():
            return 1
        case tree.Empty() | tree.Edge():
            return 0
        case tree.Exclusion(pattern):
            return _longest(pattern)
        case tree.Loop(pattern, _, most):
            inside = _longest(pattern)
            if most is None or inside is None or (most > 1 and node.contiguity is not Contiguity.STRICT):
                return None
            return most * inside
        case tree.Sequence(parts, links):
            if isinstance(parts[-1], tree.Never) or any(link is not Contiguity.STRICT for link in links):
                return None
            return _sum([_longest(part) for part in parts if not isinstance(part, tree.Never)])
        case tree.Permutation(parts):
            return _sum([_longest(part) for part in parts])
        case tree.Choice(choices):
            lengths = [_longest(choice) for choice in choices]
            return None if None in lengths else max(length for length in lengths if length is not None)
    raise AssertionError(node)


def _sum(lengths: Sequence[int | None]) -> int | None:
    return None if None in lengths else sum(length for length in lengths if length is not None)


def _is_accepted(operator: MatchRecognize) -> bool:
    """Not every pattern has a variable other than its first to skip to."""
    try:
        compile_script(script(STREAM, CreateQuery("q", Select(None, SCHEMA.name, None, operator))))
    except QueriesRefused as refusal:
        assert {error.code for error in refusal.errors} == {"skip-to-start"}
        return False
    return True


@st.composite
def worlds(draw: st.DrawFn, patterns: st.SearchStrategy[MatchRecognize], most: int) -> PatternWorld:
    patterns = patterns.filter(_is_accepted)
    before = tuple((f"q{n}", draw(patterns)) for n in range(draw(st.integers(1, 2))))
    after = (
        *(old if draw(st.booleans()) else (old[0], draw(patterns)) for old in before),
        ("new", draw(patterns)),
    )
    rows = draw(row_lists(1, most))
    watermarks = sorted(set(draw(st.lists(st.integers(1, 14), max_size=3))))
    return PatternWorld(rows, [w * SECOND for w in watermarks], before, after, draw(st.integers(0, 99)))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(40)
@given(world=worlds(preferred_patterns(), 9))
def test_row_patterns_keep_the_law(law, world: PatternWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(40)
@given(world=worlds(event_patterns(), 7))
def test_event_patterns_keep_the_law(law, world: PatternWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(40)
@given(world=worlds(node_patterns(), 9))
def test_node_modes_keep_the_law(law, world: PatternWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(15)
@given(world=st.one_of(worlds(preferred_patterns(), 9), worlds(event_patterns(), 9)))
def test_rows_in_blocks_keep_the_law(law, world: PatternWorld):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "BLOCK_ROWS", 1 + world.seed % 3)
        law(world)


@bounded(200)
@given(
    operator=st.one_of(event_patterns(), event_patterns(), node_patterns(), preferred_patterns()),
    rows=row_lists(1, 9),
)
def test_rows_that_no_pattern_can_use_make_no_difference(
    operator: MatchRecognize, rows: list[dict[str, Any]]
):
    assume(_is_accepted(operator))
    plan = compile_script(script(STREAM, CreateQuery("q", Select(None, SCHEMA.name, None, operator))))
    useful = plan.useful_rows(SCHEMA.name)
    everything = PatternWorld(rows, [], (("q", operator),), (), 0)
    holds = np.ones(everything.rows.count, np.bool_) if useful is None else condition(useful)(everything.rows)
    kernel = everything.kernel()
    steps = [
        kernel.step(kernel.start(BEGINNING), part, END)
        for part in (everything.rows, everything.rows.take(holds))
    ]
    all_rows, useful_rows = ([block.rows.tolist() for block in step.answers] for step in steps)
    assert all_rows == useful_rows


# --- memory --------------------------------------------------------------------------------------------------------------

LONG = 10_000 * SECOND  # longer than any pattern here waits


def _timed(operator: MatchRecognize) -> MatchRecognize:
    if operator.within:
        return operator
    forget = Quantity(max(4, operator.forget.amount), Unit.SECONDS) if operator.forget else None
    return replace(operator, within=Quantity(4, Unit.SECONDS), forget=forget)


def _limited(operator: MatchRecognize) -> MatchRecognize:
    return operator if operator.limit else replace(operator, limit=3)


FAMILIES = st.sampled_from([preferred_patterns(), event_patterns(), node_patterns()]).flatmap(lambda one: one)


@bounded(120)
@given(world=worlds(FAMILIES.map(_timed), 9))
def test_after_a_long_quiet_time_only_what_the_meaning_needs_is_stored(world: PatternWorld):
    kernel = world.kernel()
    assume(all(query.shifts[1] == 0 for query in kernel.queries))
    assume(not any(_waits_for_the_end(operator.pattern) for _, operator in world.before))
    state, after = kernel.start(BEGINNING), BEGINNING
    for watermark in [*world.watermarks, LONG]:
        step = kernel.step(state, between_times(world, after, watermark), watermark)
        state, after = step.state, watermark
    assert step.complete_until == LONG
    for lane in state.lanes:
        lane_queries = [kernel.queries[place] for place in lane.queries]
        assert all(
            many <= max(-query.shifts[0] for query in lane_queries) for many in kept_rows(lane).tolist()
        )
        for query, runs in zip(lane_queries, open_runs(kernel, lane), strict=True):
            assert not runs.open[:, [THREADS, WAITING]].any()
            assert not len(runs.threads) + len(runs.doubles) + len(runs.waiting)
            assert query.node or not len(runs.nodes)
            assert query.is_numbered or query.node or not len(runs.open)
        if not any(_is_needed_for_ever(query) for query in lane_queries):
            assert not len(lane.store)
    far = kernel.step(restored(kernel, state), between_times(world, LONG, LONG), 2 * LONG)
    assert not far.answers
    assert far.complete_until == 2 * LONG


def _is_needed_for_ever(query: PatternQuery) -> bool:
    """Whether something of a partition stays when nothing is open: rows for PREV, match numbers, whether it has begun."""
    chooses = query.node is not None and query.node.seed is not None
    if query.forget_us is not None:
        return False
    return query.shifts[0] < 0 or query.is_numbered or has_edges(query.shape) or chooses


@bounded(120)
@given(world=worlds(event_patterns().map(_limited), 9))
def test_no_more_partial_matches_than_the_limit_are_open_in_a_partition(world: PatternWorld):
    kernel = world.kernel()
    state, after = kernel.start(BEGINNING), BEGINNING
    for watermark in [*world.watermarks, LONG]:
        state = kernel.step(state, between_times(world, after, watermark), watermark).state
        after = watermark
        for lane in state.lanes:
            for place, runs in zip(lane.queries, open_runs(kernel, lane), strict=True):
                limit = kernel.queries[place].limit
                assert limit is not None
                assert all(different <= limit for different in _different_bindings(runs))


def _different_bindings(runs: Runs) -> list[int]:
    """For each partition, how many partial matches bind different rows: one may wait for several things at once."""
    found, thread, node = [], 0, 0
    for line in runs.open:
        places = runs.threads[thread : thread + line[THREADS], NODE] + node
        found.append(len(set(runs.nodes[places, HASH].tolist())))
        thread, node = thread + line[THREADS], node + line[NODES]
    return found
