"""What do pairs tell that time has caught up with? See `pairs` for how they were noted.

Rule 1  A pair goes through its lives: both as promised, then one of them cut, then both. What it tells is what it said of the last lives
        before its end: if it ends before a cut, the cut does not matter. So nothing depends on when it is worked out.
Rule 2  VALIDATED: one row once time is past `ends`, at `ends`. EVERY p: also one at each tick within the answer, up to that tick. What a
        step tells of a pair is noted once, however many rows it is: ticks follow one another. An end that is the next tick is one.
Rule 3  The probability of a row is the best between its begin and its end: lives go as far as the row does. What was sure up to a
        tick is sure up to the next.
Rule 4  Whatever has been told to its end is taken out; the others move up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from numba import njit

from headwater.kernels.predict.answers import NEVER
from headwater.kernels.predict.geometry import join_probability
from headwater.kernels.predict.geometry.borders import instant
from headwater.kernels.predict.geometry.chances import ordered
from headwater.kernels.predict.geometry.plain import UNSETTLED, lay_out, plain_chance, plain_interval
from headwater.kernels.predict.geometry.ranges import MUST
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.glances import is_sure, whole
from headwater.kernels.predict.pairs import (
    BEGINS,
    DUE,
    ENDS,
    LINES,
    LIVES,
    PAIR,
    RIGHT,
    SHIFT,
    SURE,
    VAGUE,
    Pairs,
)
from headwater.kernels.predict.plan import EVERY, Plan, join_of
from headwater.kernels.predict.search import DONE, NOT_TOLD
from headwater.kernels.predict.telling import MOST_TICKS, tick_after

# Columns of `Spoken.rows`, int64[…, ONCE or, with EVERY, SAID].
WHO: Final = 0  # as `pairs.LINES`
SINCE: Final = 1  # when the pair begins
LAST: Final = 2  # its end, where that is told and is none of the ticks; else NEVER
ONCE: Final = 3
FIRST: Final = 3  # the number of its first tick of the step
TICKS: Final = 4  # how many follow one another from there
CHANCE: Final = 5  # where the probabilities of its rows begin, if they are asked for
SAID: Final = 6

# Places in `Spoken.at`, int64[…].
COUNT: Final = 0  # pairs told of
NEXT: Final = 1  # the pair that is next
KEPT: Final = 2  # pairs that stay
CHANCES: Final = 3  # probabilities told, if they are asked for: one for each row
PLACES: Final = 4


class Spoken(NamedTuple):
    """What is told: `rows` int64[room, SAID]; `chance` float64[room], the probabilities of their rows one after the other, if it `is_asked`.
    `laid` float64[differences, LAID] and `work` are for the geometry; `asks_twice`: two conditions are on one difference."""

    rows: Whole
    chance: Real
    is_asked: bool
    asks_twice: bool
    laid: Real
    work: Real
    at: Whole


@njit(**LOOP)
def settle(plan: Plan, lines: Lines, promised: Whole, pairs: Pairs, spoken: Spoken, until: int) -> int:
    """Let time pass until `until` for all pairs. Not DONE: to be called again when there is room."""
    rows, at, every = pairs.rows, spoken.at, plan.rules[EVERY]
    join = join_of(plan.joins, 0)
    while at[NEXT] < pairs.at[0]:
        row = at[NEXT]
        left, right = rows[row, LINES] >> SHIFT, rows[row, LINES] & RIGHT
        lives = lines.end[left] + lines.end[right]
        first = rows[row, DUE]
        if rows[row, LIVES] != lives:
            first = min(first, min(lines.end[left], lines.end[right]))
        is_left = True
        if first < until:
            if rows[row, LIVES] != lives:
                is_left = _work_out(lines, promised, left, right, join, rows, row, spoken)
                if is_left:
                    rows[row, DUE] = _due(rows, row, every)
            if is_left and rows[row, DUE] < until:
                if not _tell(lines, left, right, join, rows, row, spoken, every, until):
                    return NOT_TOLD
                is_left = rows[row, DUE] < NEVER
        if is_left:
            for column in range(PAIR):
                rows[at[KEPT], column] = rows[row, column]
            at[KEPT] += 1
        at[NEXT] += 1
    return DONE


@njit(**LOOP)
def search_rest(plan: Plan, lines: Lines, spoken: Spoken) -> None:
    """Search for the probabilities that are not settled: few, and a lot of code, so it stands apart."""
    join, every, told = join_of(plan.joins, 0), plan.rules[EVERY], 0
    for place in range(spoken.at[COUNT]):
        row = spoken.rows[place]
        left, right = row[WHO] >> SHIFT, row[WHO] & RIGHT
        ticks = row[TICKS] if every > 0 else 0
        for tick in range(ticks + (row[LAST] < NEVER)):
            if spoken.chance[told] == UNSETTLED:
                now = (row[FIRST] + tick) * every if tick < ticks else row[LAST]
                ends = lines.end[left], lines.end[right]
                lines.end[left], lines.end[right] = min(ends[0], now + 1), min(ends[1], now + 1)
                spoken.chance[told] = join_probability(lines, left, lines, right, join, 0, spoken.work)
                lines.end[left], lines.end[right] = ends
            told += 1


@njit(**LOOP, inline="always")
def _due(rows: Whole, row: int, every: int) -> int:
    """When a pair tells something next, now that it is known when it begins and ends."""
    begins, ends = rows[row, BEGINS], rows[row, ENDS]
    if every == 0:
        return ends
    tick = -(-max(begins, rows[row, DUE]) // every) * every
    return tick_after(tick - every, begins, ends, every)


@njit(**LOOP, inline="always")
def _work_out(
    lines: Lines, promised: Whole, left: int, right: int, join: Join, rows: Whole, row: int, spoken: Spoken
) -> bool:
    """Find out when a pair begins and ends with the lives as they are; says whether it answers at all."""
    one, other, w = lines.end[left], lines.end[right], join.within_us
    lives = rows[row, LIVES]
    is_new = lives == VAGUE or lives == promised[left] + promised[right]
    cut = min(one if one < promised[left] else NEVER, other if other < promised[right] else NEVER)
    if not is_new:
        cut = max(one, other)  # that was the former of two
    if lives != VAGUE and rows[row, ENDS] < cut:
        return True
    if rows[row, BEGINS] > min(one, other) + w:
        return False
    found, begins, ends = whole(lines, left, right, join)
    if found:
        rows[row, BEGINS], rows[row, ENDS], rows[row, LIVES] = begins, ends, one + other
        return True
    if not lay_out(lines, left, right, join, spoken.laid):
        return False
    zero = instant(lines, left, lines, right)
    return _live_through(
        spoken.laid,
        len(join.bound),
        zero,
        (lines.t0[left], lines.t0[right]),
        (lines.start[left], lines.start[right]),
        (one, other),
        (promised[left], promised[right]),
        is_new,
        w,
        rows,
        row,
        spoken.work,
    )


@njit(**LOOP)
def _live_through(
    laid: Real,
    differences: int,
    zero: int,
    t0: tuple[int, int],
    start: tuple[int, int],
    end: tuple[int, int],
    promised: tuple[int, int],
    is_new: bool,
    w: int,
    rows: Whole,
    row: int,
    work: Real,
) -> bool:
    """Go through the lives of a pair from those that it knows until those before its end; says whether it answers at all.

    `is_new`: it does not know of a cut yet. A cut later than w after the other one does not matter.
    """
    left_cut = end[0] if end[0] < promised[0] else NEVER
    right_cut = end[1] if end[1] < promised[1] else NEVER
    cut, last = min(left_cut, right_cut), max(left_cut, right_cut)
    known = rows[row, LIVES] != VAGUE
    begins, ends, lives = rows[row, BEGINS], rows[row, ENDS], rows[row, LIVES]
    now = cut
    # 0: as promised, 1: one is cut, 2: as they are.
    for turn in range(3):
        one, other = promised
        if turn == 0 and (not is_new or known or (cut < NEVER and ends >= cut)):
            continue
        if turn == 1:
            if not is_new or last in (NEVER, cut) or last > cut + w:
                continue
            one, other = (end[0], promised[1]) if left_cut < right_cut else (promised[0], end[1])
        if turn == 2:
            one, other = end
            now = last if not is_new or (known and lives != promised[0] + promised[1]) else cut
        found, first, until = _between(laid, differences, zero, t0, start, (one, other), w, work)
        if not found:
            return False
        if not (known and begins < now):
            begins = max(first, now) if known else first
        ends, lives, known = until, one + other, True
        if ends < begins:
            return False
        if (turn == 0 and ends < cut) or (turn == 1 and ends < last):
            break
    rows[row, BEGINS], rows[row, ENDS], rows[row, LIVES] = begins, ends, lives
    return True


@njit(**LOOP)
def _between(
    laid: Real,
    differences: int,
    zero: int,
    t0: tuple[int, int],
    start: tuple[int, int],
    end: tuple[int, int],
    w: int,
    work: Real,
) -> tuple[bool, int, int]:
    """Whether a pair answers with lives that end then, and from when until when."""
    times = (start[0] - zero, end[0] - zero, start[1] - zero, end[1] - zero)
    found, begins, ends = plain_interval(laid, differences, zero - t0[0], zero - t0[1], times, w, work)
    return found, zero + begins, zero + ends


@njit(**LOOP, inline="always")
def _tell(
    lines: Lines,
    left: int,
    right: int,
    join: Join,
    rows: Whole,
    row: int,
    spoken: Spoken,
    every: int,
    until: int,
) -> bool:
    """Tell what a pair has to tell before `until`; it is due NEVER again if it is over. False: no room, to be called again."""
    at, begins, ends = spoken.at, rows[row, BEGINS], rows[row, ENDS]
    first, ticks, due = rows[row, DUE], 0, rows[row, DUE]
    if first < ends:
        last = ends
        if (ends - begins) // every >= MOST_TICKS:
            last = begins + MOST_TICKS * every
        ticks = (min(last, until) - first - 1) // every + 1
        due = tick_after(first + (ticks - 1) * every, begins, ends, every)
    is_over = due < until
    # Two rows at most: one for ticks and one for an end that is a later tick.
    if at[COUNT] + 2 > len(spoken.rows) or (spoken.is_asked and at[CHANCES] + ticks + 1 > len(spoken.chance)):
        return False
    rows[row, DUE], chance = NEVER if is_over else due, at[CHANCES]
    if spoken.is_asked:
        for tick in range(ticks):
            _tell_chance(lines, left, right, join, rows, row, spoken, first + tick * every)
        if is_over:
            _tell_chance(lines, left, right, join, rows, row, spoken, ends)
    if every == 0:
        _note(spoken, rows[row, LINES], begins, ends)
        return True
    number = first // every
    if is_over and ends % every == 0:
        if ticks > 0 and number + ticks < ends // every:
            _note(spoken, rows[row, LINES], begins, NEVER)
            _note_ticks(spoken, number, ticks, chance)
            number, ticks, chance = ends // every, 0, chance + ticks
        ticks, is_over = ticks + 1, False
    _note(spoken, rows[row, LINES], begins, ends if is_over else NEVER)
    _note_ticks(spoken, number, ticks, chance)
    return True


@njit(**LOOP, inline="always")
def _note(spoken: Spoken, who: int, begins: int, last: int) -> None:
    """Note that a pair tells something; there is room for it."""
    row = spoken.rows[spoken.at[COUNT]]
    row[WHO], row[SINCE], row[LAST] = who, begins, last
    spoken.at[COUNT] += 1


@njit(**LOOP, inline="always")
def _note_ticks(spoken: Spoken, first: int, ticks: int, chance: int) -> None:
    """Note the ticks of the pair that was noted last."""
    row = spoken.rows[spoken.at[COUNT] - 1]
    row[FIRST], row[TICKS], row[CHANCE] = first, ticks, chance


@njit(**LOOP, inline="always")
def _tell_chance(
    lines: Lines, left: int, right: int, join: Join, rows: Whole, row: int, spoken: Spoken, now: int
) -> None:
    """Tell the probability of a pair up to now; there is room for it."""
    place = spoken.at[CHANCES]
    spoken.at[CHANCES] = place + 1
    if rows[row, SURE] == 1:
        spoken.chance[place] = 1.0
        return
    ends = lines.end[left], lines.end[right]
    lines.end[left], lines.end[right] = min(ends[0], now + 1), min(ends[1], now + 1)
    spoken.chance[place] = _chance(lines, left, right, join, spoken)
    lines.end[left], lines.end[right] = ends
    rows[row, SURE] = spoken.chance[place] == 1.0


@njit(**LOOP, inline="always")
def _chance(lines: Lines, left: int, right: int, join: Join, spoken: Spoken) -> float:
    """The probability of a pair at its best instant with the lives as they are, or UNSETTLED."""
    both = lines.tolerance[left] + lines.tolerance[right]
    if join.certainty == MUST or both == 0.0 or is_sure(lines, left, right, join):
        return 1.0
    chance = UNSETTLED
    if not spoken.asks_twice:
        lay_out(lines, left, right, join, spoken.laid)
        zero = instant(lines, left, lines, right)
        times = (
            lines.start[left] - zero,
            lines.end[left] - zero,
            lines.start[right] - zero,
            lines.end[right] - zero,
        )
        wide, narrow = ordered(lines.tolerance[left], lines.tolerance[right])
        chance = plain_chance(
            spoken.laid,
            len(join.bound),
            zero - lines.t0[left],
            zero - lines.t0[right],
            times,
            join.within_us,
            wide,
            narrow,
            both,
            spoken.work,
        )
    return chance
