"""Objects meet queries: each object is passed to the queries that may need it, on arrival and once more when it is no longer recent.

Rule 1  A query takes an object on arrival iff it is not farther than its threshold. RA has none. PA: the farthest stored
        candidate, once it stores as many as it may. RAPF: the CUT-th nearest of its *recent* candidates, or a
        little more if they are fewer than CUT.
Rule 2  RAPF: an object stays recent until it is half a window old, or RECENT newer ones have come; then it is passed again,
        and needed iff fewer than k recent candidates are nearer: all of them are newer than it. An object that was deferred
        had k nearer ones, none of them half a window old, and they are in the window until it is passed again: so it was
        never in the set before, and nothing is lost.
Rule 3  Thresholds grow by time alone, when a candidate ceases to be recent, or a candidate of PA expires. A heap gives the
        queries to which this happens next; each has one entry, which may be early and is then put back.
Rule 4  Only queries with the object's cell among their cells of interest are tested, and the wide ones (see `grid`).

A partition is the objects with one value of the PER column. Partitions are independent and are processed one by one.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.nearest.candidates import (
    ALGORITHM,
    BEGIN,
    BY_TIME,
    CUT,
    DIRTY,
    DONE,
    EMISSION,
    EXPIRY,
    FLAGS,
    FULL,
    GROW,
    HALF,
    IN_SET,
    LENGTH,
    LIMIT,
    LOOP,
    NEVER,
    OLDEST,
    OPEN,
    PA,
    RAPF,
    RECENT,
    SEQ,
    SINCE,
    STALE,
    TAKEN,
    TICKS,
    TIES,
    WINDOW,
    CandidateLists,
    K,
    Objects,
    Partition,
    Real,
    Whole,
    begin,
    emit_ticks,
    expire,
    holds,
    prune,
    put,
    settle,
)
from headwater.kernels.nearest.grid import BallGrid, cell_of, mark_of, rough

DRAW: Final = 3
"""There have been so many tests that rebuilding the grid may be worth its cost."""

# Places in `Queries.at`, int64[…]: how far the work has come, and how much there was.
PARTITION: Final = 0
ROW: Final = 1
OLD: Final = 2  # the oldest row that is recent
PHASE: Final = 3
HEAPED: Final = 4
WIDE: Final = 5
TESTED: Final = 6
SPENT: Final = 7  # TESTED when the grid was built
BUDGET: Final = 8
SETTLED: Final = 9
PLACES: Final = 10

PATIENCE: Final = 4
"""Objects that a query of RAPF takes before its thresholds are computed again: until then they are too wide, which is correct too."""

FRESH: Final = 0  # PHASE: the partition has not begun
GOING: Final = 1
ENDING: Final = 2

# Columns of `Queries.tests`, float64[queries, 4 + dimensions]: the greatest distance of an object on arrival, and when it is passed again,
# each with its square, slightly increased, beside it; and the point.
FIRST_TIME: Final = 0
AGAIN: Final = 2
POINT: Final = 4


class Queries(NamedTuple):
    """The queries of a query set, and how far they are with the objects of a partition.

    `heap` is int64[3, queries]: keys and queries of the heap, and whether a query is in it. `wide` is int64[2, queries]: the wide ones,
    and the place of each query among them or -1. `rough` is float32[2, queries]: the thresholds of FIRST_TIME and AGAIN for the rough
    test. `hits` and `hit_scores` are room for the queries that take an object.
    """

    at: Whole
    tests: Real
    weights: Real
    heap: Whole
    wide: Whole
    rough: NDArray[np.float32]
    hits: Whole
    hit_scores: Real


@loop(**LOOP)
def show(
    lists: CandidateLists,
    queries: Queries,
    grid: BallGrid,
    objects: Objects,
    partitions: Whole,
    watermark: int,
) -> int:
    """Pass all new objects of all partitions to the queries and let time pass until `watermark`.

    `partitions[partition]` is where its objects begin, where the new ones begin, where they end, and where its ticks begin and end.
    Returns DONE; or FULL, GROW or DRAW, to be called again when there is room or the grid has been built.
    """
    at = queries.at
    many = len(queries.tests)
    while at[PARTITION] < len(partitions):
        number = at[PARTITION]
        partition = Partition(
            number * many,
            partitions[number, 1],
            partitions[number, 2],
            partitions[number, 3],
            partitions[number, 4],
        )
        if at[PHASE] == FRESH:
            at[ROW], at[OLD], at[PHASE], at[SETTLED] = partition.first, partitions[number, 0], GOING, 0
            at[HEAPED] = at[WIDE] = 0
            border = objects.seqs[at[OLD]] if at[OLD] < partition.stop else NEVER
            for q in range(many):
                queries.wide[1, q] = -1
                queries.heap[2, q] = 0
                _refresh(lists, queries, grid, partition, q, border)
        while at[PHASE] == GOING and at[ROW] < partition.stop:
            came = _show_one(lists, queries, grid, objects, partition, at[ROW])
            if came != DONE:
                return came
            at[ROW] += 1
            if at[TESTED] - at[SPENT] > at[BUDGET]:
                return DRAW
        at[PHASE] = ENDING
        came = _pass_time(lists, queries, grid, objects, partition, watermark)
        if came != DONE:
            return came
        # Recent objects still begin here.
        partitions[number, 0] = at[OLD] if lists.rules[ALGORITHM] == RAPF else partition.stop
        at[PARTITION] = number + 1
        at[PHASE] = FRESH
    return DONE


@loop(**LOOP)
def _show_one(
    lists: CandidateLists, queries: Queries, grid: BallGrid, objects: Objects, partition: Partition, row: int
) -> int:
    """Pass a new object to the queries, and once more those objects that cease to be recent."""
    at, heap, rules, clocks = queries.at, queries.heap, lists.rules, objects.clocks
    clock = objects.last_clocks[row]
    if rules[ALGORITHM] == RAPF:
        while at[OLD] < row and (
            clocks[at[OLD]] + rules[HALF] <= clocks[row] or row - at[OLD] > rules[RECENT]
        ):
            if _grow_old(lists, queries, grid, objects, partition, clock) != DONE:
                return GROW
    elif rules[ALGORITHM] == PA:
        while at[HEAPED] > 0 and heap[0, 0] + rules[WINDOW] <= clock:
            q = heap[1, 0]
            if begin(lists, objects, partition, partition.base + q, objects.times[row], clock) != DONE:
                return FULL
            _pop(queries)
            _refresh(lists, queries, grid, partition, q, 0)
    if clocks[row] + rules[WINDOW] <= clock:
        return DONE  # so many objects come at this instant that this one is never in the window
    border = objects.seqs[at[OLD]]
    count = _wanting(lists, queries, grid, objects, partition, row, objects.seqs[row], FIRST_TIME)
    for hit in range(count):
        came = _take(lists, queries, grid, objects, partition, hit, row, border)
        if came != DONE:
            return came
    return DONE


@loop(**LOOP)
def _pass_time(
    lists: CandidateLists,
    queries: Queries,
    grid: BallGrid,
    objects: Objects,
    partition: Partition,
    watermark: int,
) -> int:
    """All objects of a partition have been passed: what happens until the watermark happens by time alone."""
    at, rules = queries.at, lists.rules
    by_time = rules[BY_TIME] == 1
    if rules[ALGORITHM] == RAPF and by_time:
        while at[OLD] < partition.stop and objects.clocks[at[OLD]] + rules[HALF] < watermark:
            if _grow_old(lists, queries, grid, objects, partition, watermark) != DONE:
                return GROW
    while at[SETTLED] < len(queries.tests):
        b = partition.base + at[SETTLED]
        if not settle(lists, objects, partition, b, watermark):
            return FULL
        if rules[EMISSION] == TICKS and not emit_ticks(lists, objects, partition, b, watermark - 1):
            return FULL
        if by_time or partition.first < partition.stop:
            # Members of the set have left by now: this leaves nothing that will never be read.
            expire(lists, b, watermark, watermark - 1 if by_time else objects.clocks[partition.stop - 1])
        at[SETTLED] += 1
    return DONE


@loop(**LOOP)
def _wanting(
    lists: CandidateLists,
    queries: Queries,
    grid: BallGrid,
    objects: Objects,
    partition: Partition,
    row: int,
    seq: int,
    limit: int,
) -> int:
    """The queries with an object within a limit, unless they have just taken it, and its scores; returns how many."""
    tests, wide, hits = queries.tests, queries.wide, queries.hits
    values, weights = objects.values, queries.weights
    dimensions = values.shape[1]
    by_value = tests.shape[1] == POINT
    members, near = _near(queries, grid, values, row, limit)
    count = 0
    for place in range(near):
        q = hits[place]
        if place < members and wide[1, q] >= 0:
            continue
        score = values[row, 0]
        if not by_value:
            square = 0.0
            for d in range(dimensions):
                gap = values[row, d] - tests[q, POINT + d]
                square += weights[d] * (gap * gap)
            if square > tests[q, limit + 1]:
                continue
            score = np.sqrt(square)
        if score <= tests[q, limit] and lists.table[partition.base + q, TAKEN] != seq:
            hits[count], queries.hit_scores[count] = q, score
            count += 1
    return count


@loop(**LOOP, forceinline=True)
def _near(queries: Queries, grid: BallGrid, values: Real, row: int, limit: int) -> tuple[int, int]:
    """Write the queries into `hits` that a rough test does not rule out: first of the object's cell, then the wide ones; returns how many."""
    at, hits = queries.at, queries.hits
    at[TESTED] += at[WIDE]
    if len(grid.axes) == 0:
        for place in range(at[WIDE]):
            hits[place] = queries.wide[0, place]
        return 0, at[WIDE]
    cell = cell_of(grid, values, row)
    first, stop = grid.starts[cell], grid.starts[cell + 1]
    at[TESTED] += stop - first
    limits, marks = queries.rough[limit >> 1], grid.marks
    x, y = mark_of(grid, values, row, 0), mark_of(grid, values, row, 1)
    z, u = mark_of(grid, values, row, 2), mark_of(grid, values, row, 3)
    # No branches: the result of the test is unpredictable, and a misprediction costs more than the test itself.
    members = 0
    for q in grid.members[first:stop]:
        a, b, c, d = marks[q, 0] - x, marks[q, 1] - y, marks[q, 2] - z, marks[q, 3] - u
        hits[members] = q
        members += not (a * a + b * b) + (c * c + d * d) > limits[q]
    near = members
    for q in queries.wide[0, : at[WIDE]]:
        a, b, c, d = marks[q, 0] - x, marks[q, 1] - y, marks[q, 2] - z, marks[q, 3] - u
        hits[near] = q
        near += not (a * a + b * b) + (c * c + d * d) > limits[q]
    return members, near


@loop(**LOOP, forceinline=True)
def _take(
    lists: CandidateLists,
    queries: Queries,
    grid: BallGrid,
    objects: Objects,
    partition: Partition,
    hit: int,
    row: int,
    border: int,
) -> int:
    """The query of a hit takes an object on arrival."""
    table, rules = lists.table, lists.rules
    q, score = queries.hits[hit], queries.hit_scores[hit]
    b, instant, now = partition.base + q, objects.times[row], objects.last_clocks[row]
    if instant < table[b, SINCE]:
        return DONE
    if (
        table[b, DIRTY] == 0
        and table[b, EXPIRY] > now
        and table[b, OLDEST] > now - rules[WINDOW]
        and rules[EMISSION] != TICKS
    ):
        table[b, OPEN] = instant  # nothing to finish, nothing expires
    elif begin(lists, objects, partition, b, instant, now) != DONE:
        return FULL
    if put(lists, b, score, objects.seqs[row], objects.clocks[row]) != DONE:
        return GROW
    table[b, TAKEN] = objects.seqs[row]
    if rules[ALGORITHM] == PA:
        last = table[b, BEGIN] + table[b, LENGTH] - 1
        while table[b, LENGTH] > table[b, CUT] and (lists.ids[FLAGS, last] & IN_SET) == 0:
            table[b, LENGTH] -= 1
            last -= 1
    elif table[b, LENGTH] > table[b, LIMIT]:
        prune(lists, b)
    table[b, STALE] += 1
    if table[b, STALE] >= PATIENCE or rules[ALGORITHM] == PA or queries.tests[q, FIRST_TIME] == np.inf:
        _refresh(lists, queries, grid, partition, q, border)
    return DONE


@loop(**LOOP)
def _grow_old(
    lists: CandidateLists,
    queries: Queries,
    grid: BallGrid,
    objects: Objects,
    partition: Partition,
    clock: int,
) -> int:
    """The oldest recent object ceases to be recent, and is passed again."""
    at, table = queries.at, lists.table
    old = at[OLD]
    border = objects.seqs[old + 1] if old + 1 < partition.stop else NEVER
    while at[HEAPED] > 0 and queries.heap[0, 0] < border:
        q = queries.heap[1, 0]
        _pop(queries)
        _refresh(lists, queries, grid, partition, q, border)
    is_in = lists.rules[BY_TIME] == 1 or objects.clocks[old] + lists.rules[WINDOW] > clock
    count = 0
    if is_in:  # else it leaves the window at this very instant
        count = _wanting(lists, queries, grid, objects, partition, old, -2, AGAIN)
    for hit in range(count):
        q, score, seq = queries.hits[hit], queries.hit_scores[hit], objects.seqs[old]
        b = partition.base + q
        if score == queries.tests[q, AGAIN] and lists.rules[TIES] == 0:
            continue  # the k-th newer one is as near
        if objects.times[old] < table[b, SINCE] or holds(lists, b, score, seq):
            continue
        if put(lists, b, score, seq, objects.clocks[old]) != DONE:
            return GROW
        if table[b, LENGTH] > table[b, LIMIT]:
            prune(lists, b)
    at[OLD] = old + 1
    return DONE


@loop(**LOOP, forceinline=True)
def _refresh(
    lists: CandidateLists, queries: Queries, grid: BallGrid, partition: Partition, q: int, border: int
) -> None:
    """Compute a query's thresholds, and when they grow; objects from `border` on are recent."""
    table, ids, scores, tests = lists.table, lists.ids, lists.scores, queries.tests
    b = partition.base + q
    table[b, STALE] = 0
    start, length, cut = table[b, BEGIN], table[b, LENGTH], table[b, CUT]
    limit, near, wakes = np.inf, np.inf, NEVER
    if lists.rules[ALGORITHM] == PA:
        if length >= cut:
            limit = scores[start + cut - 1]
        wakes = table[b, OLDEST]
    elif lists.rules[ALGORITHM] == RAPF:
        k, known, last = table[b, K], 0, 0.0
        for p in range(start, start + length):
            seq, score = ids[SEQ, p], scores[p]
            is_recent = seq >= border
            known += is_recent
            last = score if is_recent else last
            wakes = min(wakes, seq if is_recent and known <= k else NEVER)
            near = last if known == k else near
            if known == cut:
                break
        if known == cut:
            limit = last
        elif known >= k and tests.shape[1] > POINT:
            # Any limit with k recent candidates within it is correct: within this one, about as many as are needed will come.
            limit = last * (1.0 + (cut / known - 1.0) / (tests.shape[1] - POINT))
    tests[q, FIRST_TIME] = limit
    tests[q, FIRST_TIME + 1] = limit * limit * (1 + 1e-12) + 1e-300
    tests[q, AGAIN] = near
    tests[q, AGAIN + 1] = near * near * (1 + 1e-12) + 1e-300
    _fit(queries, grid, q)
    if queries.heap[2, q] == 0 and wakes != NEVER:
        _push(queries, wakes, q)


@loop(**LOOP)
def fit(queries: Queries, grid: BallGrid) -> None:
    """Update what depends on the grid, which has been rebuilt."""
    for q in range(len(queries.tests)):
        _fit(queries, grid, q)


@loop(**LOOP, forceinline=True)
def _fit(queries: Queries, grid: BallGrid, q: int) -> None:
    queries.rough[0, q] = rough(grid, queries.tests[q, FIRST_TIME])
    queries.rough[1, q] = rough(grid, queries.tests[q, AGAIN])
    _set_wide(queries, q, queries.tests[q, FIRST_TIME] > grid.radii[q])


@loop(**LOOP, forceinline=True)
def _set_wide(queries: Queries, q: int, is_wide: bool) -> None:
    at, wide = queries.at, queries.wide
    if is_wide and wide[1, q] < 0:
        wide[0, at[WIDE]] = q
        wide[1, q] = at[WIDE]
        at[WIDE] += 1
    elif not is_wide and wide[1, q] >= 0:
        place, moved = wide[1, q], wide[0, at[WIDE] - 1]
        wide[0, place] = moved
        wide[1, moved] = place
        wide[1, q] = -1
        at[WIDE] -= 1


@loop(**LOOP, forceinline=True)
def _push(queries: Queries, key: int, q: int) -> None:
    heap = queries.heap
    p = queries.at[HEAPED]
    queries.at[HEAPED] = p + 1
    heap[2, q] = 1
    while p > 0 and heap[0, (p - 1) >> 1] > key:
        heap[0, p] = heap[0, (p - 1) >> 1]
        heap[1, p] = heap[1, (p - 1) >> 1]
        p = (p - 1) >> 1
    heap[0, p] = key
    heap[1, p] = q


@loop(**LOOP, forceinline=True)
def _pop(queries: Queries) -> None:
    """Take the first entry off."""
    heap = queries.heap
    heap[2, heap[1, 0]] = 0
    n = queries.at[HEAPED] - 1
    queries.at[HEAPED] = n
    key, q = heap[0, n], heap[1, n]
    p = 0
    while True:
        child = 2 * p + 1
        if child >= n:
            break
        if child + 1 < n and heap[0, child + 1] < heap[0, child]:
            child += 1
        if heap[0, child] >= key:
            break
        heap[0, p] = heap[0, child]
        heap[1, p] = heap[1, child]
        p = child
    heap[0, p] = key
    heap[1, p] = q
