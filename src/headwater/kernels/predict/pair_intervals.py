"""Which rows do pairs emit up to a time? See `pairs` for how they were noted.

Rule 1  A pair passes through its lives: both as promised, then one of them cut, then both. What it emits is the result with the last lives
        before its end: if it ends before a cut, the cut does not matter. So nothing depends on when it is computed.
Rule 2  VALIDATED: one row once time is past `ends`, at `ends`. EVERY p: also one at each tick within the answer, up to that tick. A step
        notes a pair once, whatever its number of rows: ticks are consecutive. An end at the next tick is a tick.
Rule 3  The probability of a row is the best between its begin and its end: lives extend as far as the row. What was sure up to a
        tick is sure up to the next.
Rule 4  A pair that has been emitted to its end is removed; the others move up.
Rule 5  For groups of new pairs, bounds (see `geometry.bounds`) nearly always determine begin and end with their last lives, and
        the result is the same. Only the rest pass through their lives.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from headwater.compiled import loop
from headwater.kernels.predict.answer_rows import span_of_ticks, tick_after
from headwater.kernels.predict.answers import NEVER
from headwater.kernels.predict.geometry import bounds, join_probability
from headwater.kernels.predict.geometry.borders import instant
from headwater.kernels.predict.geometry.chances import ordered
from headwater.kernels.predict.geometry.plain import UNSETTLED, lay_out, plain_chance, plain_interval
from headwater.kernels.predict.geometry.ranges import MUST
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Pair, Real, Whole
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
from headwater.kernels.predict.plain_pair_test import is_sure
from headwater.kernels.predict.plan import EVERY, Plan, join_of
from headwater.kernels.predict.search import DONE, NO_ROWS

# Columns of `PairOutput.rows`, int64[…, …]: as many of them as are needed.
LEFT: Final = 0  # the two lines
OTHER: Final = 1
SINCE: Final = 2  # when the pair begins
LAST: Final = 3  # its end, if it is emitted and is not one of the ticks; else NEVER
ONCE: Final = 4
FIRST: Final = 4  # with EVERY: the number of its first tick of the step
TICKS: Final = 5  # how many consecutive ticks from there
CERTAIN: Final = 6
CHANCE: Final = 6  # where the probabilities of its rows begin
SAID: Final = 7

# Places in `PairOutput.at`, int64[…].
COUNT: Final = 0  # pairs with rows
NEXT: Final = 1  # the next pair
STAYING: Final = 2  # pairs that stay
CHANCES: Final = 3  # probabilities emitted, if they are needed: one for each row
SEEN: Final = 4  # pairs that bounds have been computed for
PLACES: Final = 5

GONE: Final = VAGUE + 1
"""The mark of a pair without an answer, until it is removed."""


class PairOutput(NamedTuple):
    """Emitted pairs: `rows` int64[room, ONCE, CERTAIN or SAID]; `chance` float64[room], the probabilities of their rows one after the other, if it `with_chance`.
    `laid` float64[differences, LAID], `sheet` (see `bounds`), `sheet_rows` int64[SOME] and `work` are for the geometry; `tests_one_difference_twice`: two
    conditions are on one difference."""

    rows: Whole
    chance: Real
    with_chance: bool
    tests_one_difference_twice: bool
    laid: Real
    sheet: Real
    sheet_rows: Whole
    work: Real
    at: Whole


@loop(**LOOP)
def settle(plan: Plan, lines: Lines, promised: Whole, pairs: Pairs, output: PairOutput, until: int) -> int:
    """Let time pass until `until` for the pairs from NEXT on. Not DONE: to be called again when there is room."""
    rows, at, every = pairs.rows, output.at, plan.rules[EVERY]
    join = join_of(plan.joins, 0)
    while at[NEXT] < pairs.at[0]:
        row = at[NEXT]
        if row >= at[SEEN]:
            at[SEEN] = min(row + bounds.SOME, pairs.at[0])
            _bound_new_pairs(lines, promised, join, rows, row, at[SEEN], output, every, until)
        if rows[row, LIVES] == GONE:
            at[NEXT] += 1
            continue
        left, right = rows[row, LINES] >> SHIFT, rows[row, LINES] & RIGHT
        lives = lines.end[left] + lines.end[right]
        first = rows[row, DUE]
        if rows[row, LIVES] != lives:
            first = min(first, min(lines.end[left], lines.end[right]))
        is_left = True
        if first < until:
            if rows[row, LIVES] != lives:
                is_left = _work_out(lines, promised, left, right, join, rows, row, output)
                if is_left:
                    rows[row, DUE] = _due(rows, row, every)
            if is_left and rows[row, DUE] < until:
                if not _emit(lines, left, right, join, rows, row, output, every, until):
                    return NO_ROWS
                is_left = rows[row, DUE] < NEVER
        if is_left:
            for column in range(PAIR):
                rows[at[STAYING], column] = rows[row, column]
            at[STAYING] += 1
        at[NEXT] += 1
    return DONE


@loop(**LOOP)
def search_rest(plan: Plan, lines: Lines, output: PairOutput) -> None:
    """Search for the probabilities that are not settled: few, and a lot of code, so it is a function of its own."""
    join, every, place = join_of(plan.joins, 0), plan.rules[EVERY], 0
    for emitted in range(output.at[COUNT]):
        row = output.rows[emitted]
        left, right = row[LEFT], row[OTHER]
        ticks = row[TICKS] if every > 0 else 0
        for tick in range(ticks + (row[LAST] < NEVER)):
            if output.chance[place] == UNSETTLED:
                now = (row[FIRST] + tick) * every if tick < ticks else row[LAST]
                ends = lines.end[left], lines.end[right]
                lines.end[left], lines.end[right] = min(ends[0], now + 1), min(ends[1], now + 1)
                output.chance[place] = join_probability(lines, left, lines, right, join, 0, output.work)
                lines.end[left], lines.end[right] = ends
            place += 1


@loop(**LOOP)
def _bound_new_pairs(  # noqa: PLR0913 runs for every few pairs
    lines: Lines,
    promised: Whole,
    join: Join,
    rows: Whole,
    start: int,
    stop: int,
    output: PairOutput,
    every: int,
    until: int,
) -> None:
    """Find out when some new pairs begin and end, or that they are GONE, if bounds are enough for that."""
    sheet, sheet_rows, count = output.sheet, output.sheet_rows, 0
    for row in range(start, stop):
        left, right = rows[row, LINES] >> SHIFT, rows[row, LINES] & RIGHT
        first = min(lines.end[left], lines.end[right])
        if rows[row, LIVES] != VAGUE or min(first, rows[row, DUE]) >= until:
            continue
        if rows[row, BEGINS] > first + join.within_us:
            rows[row, LIVES] = GONE
            continue
        bounds.write_down(sheet, count, lines, left, right, join, promised)
        sheet_rows[count] = row
        count += 1
    bounds.find_bounds(sheet, join, count)
    for place in range(count):
        row, came = sheet_rows[place], sheet[bounds.CAME * bounds.SOME + place]
        if came == bounds.NEVER_NEAR:
            rows[row, LIVES] = GONE
        elif came == bounds.NEAR:
            left, right = rows[row, LINES] >> SHIFT, rows[row, LINES] & RIGHT
            zero = instant(Pair(lines, left, lines, right))
            rows[row, BEGINS] = zero + int(sheet[bounds.BEGINS * bounds.SOME + place])
            rows[row, ENDS] = zero + int(sheet[bounds.ENDS * bounds.SOME + place])
            rows[row, LIVES] = lines.end[left] + lines.end[right]
            rows[row, DUE] = _due(rows, row, every)


@loop(**LOOP, inline="always")
def _due(rows: Whole, row: int, every: int) -> int:
    """When a pair is next due, after its begin and end have become known."""
    begins, ends = rows[row, BEGINS], rows[row, ENDS]
    if every == 0:
        return ends
    tick = _ticks_in(max(begins, rows[row, DUE]) - 1, every) * every
    return tick_after(tick, begins, ends, every)


@loop(**LOOP, forceinline=True)
def _ticks_in(time: int, every: int) -> int:
    """How often one number goes into the other, rounded down. Correcting a floating-point quotient costs less than an integer division."""
    number = math.floor(time / every)
    rest = time - number * every
    while rest < 0:
        number, rest = number - 1, rest + every
    while rest >= every:
        number, rest = number + 1, rest - every
    return number


@loop(**LOOP, inline="always")
def _work_out(
    lines: Lines,
    promised: Whole,
    left: int,
    right: int,
    join: Join,
    rows: Whole,
    row: int,
    output: PairOutput,
) -> bool:
    """Find out when a pair begins and ends with its present lives; returns whether it has an answer at all."""
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
    if not lay_out(lines, left, right, join, output.laid):
        return False
    zero = instant(Pair(lines, left, lines, right))
    return _live_through(
        output.laid,
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
        output.work,
    )


@loop(**LOOP)
def _live_through(  # noqa: PLR0913 runs for every pair
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
    """Pass through the lives of a pair from its known ones to those before its end; returns whether it has an answer at all.

    `is_new`: it does not know of a cut yet. A cut later than w after the other one does not matter.
    """
    left_cut = end[0] if end[0] < promised[0] else NEVER
    right_cut = end[1] if end[1] < promised[1] else NEVER
    cut, last = min(left_cut, right_cut), max(left_cut, right_cut)
    known = rows[row, LIVES] != VAGUE
    begins, ends, lives = rows[row, BEGINS], rows[row, ENDS], rows[row, LIVES]
    now = cut
    # 0: as promised, 1: one is cut, 2: as they are now.
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


@loop(**LOOP)
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
    """Whether a pair has an answer with lives that end then, and from when until when."""
    times = (start[0] - zero, end[0] - zero, start[1] - zero, end[1] - zero)
    found, begins, ends = plain_interval(laid, differences, zero - t0[0], zero - t0[1], times, w, work)
    return found, zero + begins, zero + ends


@loop(**LOOP, inline="always")
def _emit(  # noqa: PLR0913 inlined into the loop over pairs
    lines: Lines,
    left: int,
    right: int,
    join: Join,
    rows: Whole,
    row: int,
    output: PairOutput,
    every: int,
    until: int,
) -> bool:
    """Emit the rows of a pair before `until`; its due time becomes NEVER if it is over. False: no room, to be called again."""
    at, begins, ends = output.at, rows[row, BEGINS], rows[row, ENDS]
    first, ticks, due = rows[row, DUE], 0, rows[row, DUE]
    if first < ends:
        last = ends
        if ends - begins >= span_of_ticks(every):
            last = begins + span_of_ticks(every)
        ticks = _ticks_in(min(last, until) - first - 1, every) + 1
        due = tick_after(first + (ticks - 1) * every, begins, ends, every)
    is_over = due < until
    # Two rows at most: one for ticks and one for an end that is a later tick.
    if at[COUNT] + 2 > len(output.rows) or (
        output.with_chance and at[CHANCES] + ticks + 1 > len(output.chance)
    ):
        return False
    rows[row, DUE], chance = NEVER if is_over else due, at[CHANCES]
    if output.with_chance:
        for tick in range(ticks):
            _emit_chance(lines, left, right, join, rows, row, output, first + tick * every)
        if is_over:
            _emit_chance(lines, left, right, join, rows, row, output, ends)
    if every == 0:
        _note(output, left, right, begins, ends)
        return True
    number = _ticks_in(first, every)
    if is_over:
        at_end = _ticks_in(ends, every) if first < ends else number
        if at_end * every == ends:
            if ticks > 0 and number + ticks < at_end:
                _note(output, left, right, begins, NEVER)
                _note_ticks(output, number, ticks, chance)
                number, ticks, chance = at_end, 0, chance + ticks
            ticks, is_over = ticks + 1, False
    _note(output, left, right, begins, ends if is_over else NEVER)
    _note_ticks(output, number, ticks, chance)
    return True


@loop(**LOOP, inline="always")
def _note(output: PairOutput, left: int, right: int, begins: int, last: int) -> None:
    """Note that a pair has rows; there is room for it."""
    row = output.rows[output.at[COUNT]]
    row[LEFT], row[OTHER], row[SINCE], row[LAST] = left, right, begins, last
    output.at[COUNT] += 1


@loop(**LOOP, inline="always")
def _note_ticks(output: PairOutput, first: int, ticks: int, chance: int) -> None:
    """Note the ticks of the pair that was noted last."""
    row = output.rows[output.at[COUNT] - 1]
    row[FIRST], row[TICKS] = first, ticks
    if output.with_chance:
        row[CHANCE] = chance


@loop(**LOOP, inline="always")
def _emit_chance(
    lines: Lines, left: int, right: int, join: Join, rows: Whole, row: int, output: PairOutput, now: int
) -> None:
    """Emit the probability of a pair up to now; there is room for it."""
    place = output.at[CHANCES]
    output.at[CHANCES] = place + 1
    if rows[row, SURE] == 1:
        output.chance[place] = 1.0
        return
    ends = lines.end[left], lines.end[right]
    lines.end[left], lines.end[right] = min(ends[0], now + 1), min(ends[1], now + 1)
    output.chance[place] = _chance(lines, left, right, join, output)
    lines.end[left], lines.end[right] = ends
    rows[row, SURE] = output.chance[place] == 1.0


@loop(**LOOP, inline="always")
def _chance(lines: Lines, left: int, right: int, join: Join, output: PairOutput) -> float:
    """The probability of a pair at its best instant with its present lives, or UNSETTLED."""
    both = lines.tolerance[left] + lines.tolerance[right]
    if join.certainty == MUST or both == 0.0 or is_sure(lines, left, right, join):
        return 1.0
    chance = UNSETTLED
    if not output.tests_one_difference_twice:
        lay_out(lines, left, right, join, output.laid)
        zero = instant(Pair(lines, left, lines, right))
        times = (
            lines.start[left] - zero,
            lines.end[left] - zero,
            lines.start[right] - zero,
            lines.end[right] - zero,
        )
        wide, narrow = ordered(lines.tolerance[left], lines.tolerance[right])
        chance = plain_chance(
            output.laid,
            len(join.bound),
            zero - lines.t0[left],
            zero - lines.t0[right],
            times,
            join.within_us,
            wide,
            narrow,
            both,
            output.work,
        )
    return chance
