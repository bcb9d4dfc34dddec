"""Objects meet queries: each object is shown to the queries that may want it, when it comes and once more when it grows old.

Rule 1  A query wants an object on arrival iff it is not farther than its threshold. RA has none. PA: the farthest candidate
        it keeps, once it keeps as many as it may. RAPF: the CUT-th nearest of its *recent* candidates, or a
        little more if they are fewer than CUT.
Rule 2  RAPF: an object stays recent until it is half a window old, or RECENT newer ones have come; then it is shown again,
        and wanted iff fewer than k recent candidates are nearer: all of them are newer than it. An object that was put off
        had k nearer ones, none of them half a window old, and they are in the window until it is shown again: so it was
        never in the set before, and nothing is lost.
Rule 3  Thresholds grow by time alone, when a recent candidate is recent no more, or a candidate of PA expires. A heap gives the
        queries to which this happens next; each has one entry, which may be early and is then put back.
Rule 4  Only queries with the object's cell among their cells of interest are asked, and the wide ones (see `grid`).

A lane is the objects with one value of the PER column. Lanes do not know one another and are gone through one by one.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.nearest.bands import (
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
    K,
    Real,
    Span,
    Whole,
    begin,
    expire,
    holds,
    prune,
    put,
    settle,
    tell_ticks,
)
from headwater.kernels.nearest.grid import cell_of

DRAW: Final = 3
"""The queries have been asked so often that drawing the grid anew may be worth its cost."""

# Places in `at`, int64[…]: how far the work has come, and what it was.
LANE: Final = 0
ROW: Final = 1
OLD: Final = 2  # the oldest row that is recent
PHASE: Final = 3
HEAPED: Final = 4
WIDE: Final = 5
TESTED: Final = 6
SPENT: Final = 7  # TESTED when the grid was drawn
BUDGET: Final = 8
SETTLED: Final = 9
PLACES: Final = 10

PATIENCE: Final = 4
"""Objects that a query of RAPF takes before its thresholds are worked out anew: until then they are too wide, which is right too."""

FRESH: Final = 0  # PHASE: the lane has not begun
GOING: Final = 1
ENDING: Final = 2

# Columns of `tests`, float64[queries, 4 + dimensions]: how far an object may be when it comes, and when it is shown again, each
# with its square and a hair more beside it; and the point.
FIRST_TIME: Final = 0
AGAIN: Final = 2
POINT: Final = 4


@njit(**LOOP)
def show(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    at: Whole,
    tests: Real,
    heap: Whole,
    wide: Whole,
    newest: Whole,
    axes: Whole,
    lows: Real,
    per_unit: Real,
    counts: Whole,
    starts: Whole,
    members: NDArray[np.int32],
    radii: Real,
    lanes: Whole,
    values: Real,
    weights: Real,
    times: Whole,
    clocks: Whole,
    last_clocks: Whole,
    seqs: Whole,
    ticks: Whole,
    hits: Whole,
    hit_scores: Real,
    watermark: int,
    gamma: float,
) -> int:
    """Show all new rows of all lanes to the queries and let time pass until `watermark`.

    `lanes[lane]` is where its rows begin, where the new ones begin, where they end, and where its ticks begin and end.
    Returns DONE; or FULL, GROW or DRAW, to be called again when there is room or the grid has been drawn.
    """
    queries = len(tests)
    algorithm = rules[ALGORITHM]
    while at[LANE] < len(lanes):
        lane = at[LANE]
        base = lane * queries
        first, stop = lanes[lane, 1], lanes[lane, 2]
        first_clock = clocks[first] if first < stop else 0
        span = (first, stop, first_clock)
        own_ticks = ticks[lanes[lane, 3] : lanes[lane, 4]]
        if at[PHASE] == FRESH:
            at[ROW], at[OLD], at[PHASE], at[SETTLED] = first, lanes[lane, 0], GOING, 0
            at[HEAPED] = at[WIDE] = 0
            border = seqs[at[OLD]] if at[OLD] < stop else NEVER
            for q in range(queries):
                wide[1, q] = -1
                heap[2, q] = 0
                _refresh(bands, ids, scores, rules, at, tests, heap, wide, radii, base, q, border)
        while at[PHASE] == GOING and at[ROW] < stop:
            row = at[ROW]
            instant, clock = times[row], last_clocks[row]
            if algorithm == RAPF:
                while at[OLD] < row and (
                    clocks[at[OLD]] + rules[HALF] <= clocks[row] or row - at[OLD] > rules[RECENT]
                ):
                    came = _grow_old(
                        bands, ids, scores, rules, room, at, tests, heap, wide, newest, axes, lows,
                        per_unit, counts, starts, members, radii, values, weights, times, clocks, seqs,
                        hits, hit_scores, base, stop, clock, gamma,
                    )  # fmt: skip
                    if came != DONE:
                        return came
            elif algorithm == PA:
                while at[HEAPED] > 0 and heap[0, 0] + rules[WINDOW] <= clock:
                    q = heap[1, 0]
                    came = begin(
                        bands, ids, scores, rules, told, told_scores, room, times, last_clocks, span,
                        own_ticks, base + q, instant, clock,
                    )  # fmt: skip
                    if came != DONE:
                        return came
                    _pop(heap, at)
                    _refresh(bands, ids, scores, rules, at, tests, heap, wide, radii, base, q, 0)
            border = seqs[at[OLD]]
            if clocks[row] + rules[WINDOW] <= clock:
                at[ROW] = row + 1  # so many rows come at this instant that this one is never in the window
                continue
            count = _wanting(
                bands, at, tests, wide, axes, lows, per_unit, counts, starts, members, values, weights, base,
                row, seqs[row], FIRST_TIME, hits, hit_scores,
            )  # fmt: skip
            for hit in range(count):
                came = _take(
                    bands, ids, scores, rules, told, told_scores, room, at, tests, heap, wide, newest,
                    radii, times, last_clocks, span, own_ticks, base, hits[hit], row, hit_scores[hit],
                    seqs[row], clocks[row], border, gamma,
                )  # fmt: skip
                if came != DONE:
                    return came
            at[ROW] = row + 1
            if at[TESTED] - at[SPENT] > at[BUDGET]:
                return DRAW
        at[PHASE] = ENDING
        if algorithm == RAPF and rules[BY_TIME] == 1:
            while at[OLD] < stop and clocks[at[OLD]] + rules[HALF] < watermark:
                came = _grow_old(
                    bands, ids, scores, rules, room, at, tests, heap, wide, newest, axes, lows,
                    per_unit, counts, starts, members, radii, values, weights, times, clocks, seqs,
                    hits, hit_scores, base, stop, watermark, gamma,
                )  # fmt: skip
                if came != DONE:
                    return came
        while at[SETTLED] < queries:
            b = base + at[SETTLED]
            if not settle(
                bands, ids, scores, rules, told, told_scores, room, times, last_clocks, span, own_ticks, b,
                watermark,
            ):  # fmt: skip
                return FULL
            if rules[EMISSION] == TICKS and not tell_ticks(
                bands, ids, scores, rules, told, told_scores, room, own_ticks, b, watermark - 1
            ):
                return FULL
            if rules[BY_TIME] == 1 or first < stop:
                # Members of the set have gone by now: this leaves nothing behind that will never be asked for.
                last = watermark - 1 if rules[BY_TIME] == 1 else clocks[stop - 1]
                expire(bands, ids, scores, rules, told, told_scores, room, b, watermark, last)
            at[SETTLED] += 1
        lanes[lane, 0] = at[OLD] if algorithm == RAPF else stop  # what is recent still begins here
        at[LANE] = lane + 1
        at[PHASE] = FRESH
    return DONE


@njit(**LOOP)
def _wanting(
    bands: Whole,
    at: Whole,
    tests: Real,
    wide: Whole,
    axes: Whole,
    lows: Real,
    per_unit: Real,
    counts: Whole,
    starts: Whole,
    members: NDArray[np.int32],
    values: Real,
    weights: Real,
    base: int,
    row: int,
    seq: int,
    limit: int,
    hits: Whole,
    hit_scores: Real,
) -> int:
    """The queries with an object within a limit, unless they have just taken it, and its scores; says how many they are."""
    dimensions = values.shape[1]
    count = 0
    if len(axes) > 0:
        cell = cell_of(values, row, axes, lows, per_unit, counts)
        at[TESTED] += starts[cell + 1] - starts[cell]
        for place in range(starts[cell], starts[cell + 1]):
            q = members[place]
            square = 0.0
            for d in range(dimensions):
                gap = values[row, d] - tests[q, POINT + d]
                square += weights[d] * (gap * gap)
            if square > tests[q, limit + 1] or wide[1, q] >= 0:
                continue
            score = np.sqrt(square)
            if score <= tests[q, limit] and bands[base + q, TAKEN] != seq:
                hits[count], hit_scores[count] = q, score
                count += 1
    at[TESTED] += at[WIDE]
    by_value = tests.shape[1] == POINT
    for place in range(at[WIDE]):
        q = wide[0, place]
        score = values[row, 0]
        if not by_value:
            square = 0.0
            for d in range(dimensions):
                gap = values[row, d] - tests[q, POINT + d]
                square += weights[d] * (gap * gap)
            if square > tests[q, limit + 1]:
                continue
            score = np.sqrt(square)
        if score <= tests[q, limit] and bands[base + q, TAKEN] != seq:
            hits[count], hit_scores[count] = q, score
            count += 1
    return count


@njit(**LOOP, forceinline=True)
def _take(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    told: Whole,
    told_scores: Real,
    room: Whole,
    at: Whole,
    tests: Real,
    heap: Whole,
    wide: Whole,
    newest: Whole,
    radii: Real,
    times: Whole,
    last_clocks: Whole,
    span: Span,
    ticks: Whole,
    base: int,
    q: int,
    row: int,
    score: float,
    seq: int,
    clock: int,
    border: int,
    gamma: float,
) -> int:
    """A query takes an object that has just come."""
    b = base + q
    if times[row] < bands[b, SINCE]:
        return DONE
    now = last_clocks[row]
    if (
        bands[b, DIRTY] == 0
        and bands[b, EXPIRY] > now
        and bands[b, OLDEST] > now - rules[WINDOW]
        and rules[EMISSION] != TICKS
    ):
        bands[b, OPEN] = times[row]  # nothing to finish, nothing expires
    else:
        came = begin(
            bands, ids, scores, rules, told, told_scores, room, times, last_clocks, span, ticks, b,
            times[row], now,
        )  # fmt: skip
        if came != DONE:
            return came
    came = put(bands, ids, scores, room, b, score, seq, clock)
    if came != DONE:
        return came
    bands[b, TAKEN] = seq
    if rules[ALGORITHM] == PA:
        last = bands[b, BEGIN] + bands[b, LENGTH] - 1
        while bands[b, LENGTH] > bands[b, CUT] and (ids[last, FLAGS] & IN_SET) == 0:
            bands[b, LENGTH] -= 1
            last -= 1
    elif bands[b, LENGTH] > bands[b, LIMIT]:
        prune(bands, ids, scores, rules, newest, b, gamma)
    bands[b, STALE] += 1
    if bands[b, STALE] >= PATIENCE or rules[ALGORITHM] == PA or tests[q, FIRST_TIME] == np.inf:
        _refresh(bands, ids, scores, rules, at, tests, heap, wide, radii, base, q, border)
    return DONE


@njit(**LOOP)
def _grow_old(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    room: Whole,
    at: Whole,
    tests: Real,
    heap: Whole,
    wide: Whole,
    newest: Whole,
    axes: Whole,
    lows: Real,
    per_unit: Real,
    counts: Whole,
    starts: Whole,
    members: NDArray[np.int32],
    radii: Real,
    values: Real,
    weights: Real,
    times: Whole,
    clocks: Whole,
    seqs: Whole,
    hits: Whole,
    hit_scores: Real,
    base: int,
    stop: int,
    clock: int,
    gamma: float,
) -> int:
    """The oldest recent object is recent no more, and is shown again."""
    old = at[OLD]
    border = seqs[old + 1] if old + 1 < stop else NEVER
    while at[HEAPED] > 0 and heap[0, 0] < border:
        q = heap[1, 0]
        _pop(heap, at)
        _refresh(bands, ids, scores, rules, at, tests, heap, wide, radii, base, q, border)
    if rules[BY_TIME] == 1 or clocks[old] + rules[WINDOW] > clock:  # else this very instant takes it out
        count = _wanting(
            bands, at, tests, wide, axes, lows, per_unit, counts, starts, members, values, weights, base,
            old, -2, AGAIN, hits, hit_scores,
        )  # fmt: skip
        for hit in range(count):
            b, score, seq = base + hits[hit], hit_scores[hit], seqs[old]
            if score == tests[hits[hit], AGAIN] and rules[TIES] == 0:
                continue  # the k-th newer one is as near
            if times[old] < bands[b, SINCE] or holds(bands, ids, scores, b, score, seq):
                continue
            if put(bands, ids, scores, room, b, score, seq, clocks[old]) != DONE:
                return GROW
            if bands[b, LENGTH] > bands[b, LIMIT]:
                prune(bands, ids, scores, rules, newest, b, gamma)
    at[OLD] = old + 1
    return DONE


@njit(**LOOP, forceinline=True)
def _refresh(
    bands: Whole,
    ids: Whole,
    scores: Real,
    rules: Whole,
    at: Whole,
    tests: Real,
    heap: Whole,
    wide: Whole,
    radii: Real,
    base: int,
    q: int,
    border: int,
) -> None:
    """Work out a query's thresholds, and when they grow; objects from `border` on are recent."""
    b = base + q
    bands[b, STALE] = 0
    start, length, cut = bands[b, BEGIN], bands[b, LENGTH], bands[b, CUT]
    limit, near, wakes = np.inf, np.inf, NEVER
    if rules[ALGORITHM] == PA:
        if length >= cut:
            limit = scores[start + cut - 1]
        wakes = bands[b, OLDEST]
    elif rules[ALGORITHM] == RAPF:
        k, known, last = bands[b, K], 0, 0.0
        for p in range(start, start + length):
            if ids[p, SEQ] < border:
                continue
            known += 1
            last = scores[p]
            if known <= k:
                wakes = min(wakes, ids[p, SEQ])
            if known == k:
                near = last
            if known == cut:
                break
        if known == cut:
            limit = last
        elif known >= k and tests.shape[1] > POINT:
            # Any limit that k recent ones keep is right: within this one, about as many as are wanted will come.
            limit = last * (1.0 + (cut / known - 1.0) / (tests.shape[1] - POINT))
    tests[q, FIRST_TIME] = limit
    tests[q, FIRST_TIME + 1] = limit * limit * (1 + 1e-12) + 1e-300
    tests[q, AGAIN] = near
    tests[q, AGAIN + 1] = near * near * (1 + 1e-12) + 1e-300
    if limit > radii[q]:
        if wide[1, q] < 0:
            wide[0, at[WIDE]] = q
            wide[1, q] = at[WIDE]
            at[WIDE] += 1
    elif wide[1, q] >= 0:
        place, moved = wide[1, q], wide[0, at[WIDE] - 1]
        wide[0, place] = moved
        wide[1, moved] = place
        wide[1, q] = -1
        at[WIDE] -= 1
    if heap[2, q] == 0 and wakes != NEVER:
        _push(heap, at, wakes, q)


@njit(**LOOP, forceinline=True)
def _push(heap: Whole, at: Whole, key: int, q: int) -> None:
    p = at[HEAPED]
    at[HEAPED] = p + 1
    heap[2, q] = 1
    while p > 0 and heap[0, (p - 1) >> 1] > key:
        heap[0, p] = heap[0, (p - 1) >> 1]
        heap[1, p] = heap[1, (p - 1) >> 1]
        p = (p - 1) >> 1
    heap[0, p] = key
    heap[1, p] = q


@njit(**LOOP, forceinline=True)
def _pop(heap: Whole, at: Whole) -> None:
    """Take the first entry off."""
    heap[2, heap[1, 0]] = 0
    n = at[HEAPED] - 1
    at[HEAPED] = n
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
