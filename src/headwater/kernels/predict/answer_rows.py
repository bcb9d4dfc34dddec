"""When is a row of an answer emitted, and what does it contain?

Rule 1  VALIDATED: one row once time is past `ends`, at `ends`. EVERY p: also one at each tick within the answer, up to that tick.
Rule 2  TENTATIVE: one row when the answer is made; one whenever an update changes it; one with `withdrawn` when an update leaves
        nothing of it. AHEAD t: the first of them only t before the answer begins, if it is still valid then.
Rule 3  Time is advanced before anything about an answer changes: `advance` emits what was due before an update, with the
        lines as they were then. So what is emitted does not depend on how the updates were cut into steps.
Rule 4  If two rows have one time, changes by updates come in the order of the updates, what time alone emits comes after
        them, and keys, update times and piece decide the rest.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict import answers as answer
from headwater.kernels.predict.answers import BEGINS, EMITTED, ENDS, FIRST, FLAGS, MADE, PIECE, Table, forget
from headwater.kernels.predict.geometry import join_probability, value_probability
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.plain_pair_test import is_sure
from headwater.kernels.predict.plan import (
    AHEAD,
    ALIASES,
    EVERY,
    JOINS,
    PLAIN,
    TENTATIVE,
    Plan,
    join_of,
)

# Columns of `AnswerOutput.rows`, int64[…, PARTS + EACH · aliases].
TIME: Final = 0
ORDER: Final = 1  # the event that caused the row, 0: time alone
FROM: Final = 2
TO: Final = 3
WHICH: Final = 4  # the piece
WITHDRAWN: Final = 5
PARTS: Final = 6  # then, per alias: the line, and its life's start and end at that moment
EACH: Final = 3

MOST_TICKS: Final = 1_000_000
_FAR_APART: Final = 2**42
"""Ticks at which one answer is emitted; after them only its end is."""

BY_TIME: Final = answer.NEVER  # ORDER


class AnswerOutput(NamedTuple):
    """What is emitted: `rows` int64[room, …]; `at` int64[1]: how many there are."""

    rows: Whole
    at: Whole


class Scene(NamedTuple):
    """What emitting rows needs: the question, the lines with the code of each one's key, the answers, and what is emitted."""

    plan: Plan
    lines: Lines
    code: Whole
    table: Table
    output: AnswerOutput
    work: Real


@loop(**LOOP, forceinline=True)
def has_room(scene: Scene, many: int) -> bool:
    """Whether there is room for so many rows."""
    return scene.output.at[0] + many <= len(scene.output.rows)


@loop(**LOOP, forceinline=True)
def advance(scene: Scene, row: int, until: int) -> bool:
    """Emit the rows of an answer that are due before `until` by time alone, and drop it if it is over. False: no room, to be called again."""
    rules, table = scene.plan.rules, scene.table
    rows, due = table.rows, table.due
    while due[row] < until:
        if rules[TENTATIVE] == 1 and (rules[AHEAD] < 0 or rows[row, FLAGS] & EMITTED):
            forget(table, row, rules[ALIASES])
            return True
        if not has_room(scene, 1):
            return False
        now, ends = due[row], rows[row, ENDS]
        if rules[TENTATIVE] == 1:
            emit(scene, row, now, BY_TIME)
            rows[row, FLAGS] |= EMITTED
            due[row] = ends
        elif now < ends:
            emit(scene, row, now, 0)
            scene.output.rows[scene.output.at[0] - 1, TO] = now
            due[row] = tick_after(now, rows[row, BEGINS], ends, rules[EVERY])
        else:
            emit(scene, row, ends, 0)
            forget(table, row, rules[ALIASES])
    return True


@loop(**LOOP, forceinline=True)
def set_due(scene: Scene, row: int, now: int) -> None:
    """When an answer is next due by time alone, at `now` or later."""
    rules, rows = scene.plan.rules, scene.table.rows
    begins, due = rows[row, BEGINS], rows[row, ENDS]
    if rules[TENTATIVE] == 1:
        if rules[AHEAD] >= 0 and rows[row, FLAGS] & EMITTED == 0:
            due = max(rows[row, MADE], begins - rules[AHEAD])
    elif rules[EVERY] > 0:
        tick = -(-max(begins, now) // rules[EVERY]) * rules[EVERY]
        due = tick_after(tick - rules[EVERY], begins, due, rules[EVERY])
    scene.table.due[row] = due


@loop(**LOOP, forceinline=True)
def tick_after(time: int, begins: int, ends: int, every: int) -> int:
    """The tick after `time` at which an answer is emitted, its end if no tick is left."""
    tick = time + every
    return tick if tick < ends and tick - begins < span_of_ticks(every) else ends


@loop(**LOOP, forceinline=True)
def span_of_ticks(every: int) -> int:
    """How long after its begin an answer is emitted at ticks; longer than all time if they are far apart."""
    return MOST_TICKS * min(every, _FAR_APART)


@loop(**LOOP, forceinline=True)
def emit(scene: Scene, row: int, time: int, order: int) -> None:
    """Emit a row of an answer; there is room for it."""
    table, rows = scene.table, scene.output.rows
    place = scene.output.at[0]
    scene.output.at[0] = place + 1
    rows[place, TIME] = time
    rows[place, ORDER] = order
    rows[place, FROM] = table.rows[row, BEGINS]
    rows[place, TO] = table.rows[row, ENDS]
    rows[place, WHICH] = table.rows[row, PIECE]
    rows[place, WITHDRAWN] = 0
    for alias in range(scene.plan.rules[ALIASES]):
        line = table.rows[row, FIRST + alias]
        part = PARTS + EACH * alias
        rows[place, part] = line
        rows[place, part + 1] = scene.lines.start[line]
        rows[place, part + 2] = scene.lines.end[line]


@loop(**LOOP)
def withdraw(scene: Scene, row: int, time: int, order: int, line: int, start: int, end: int) -> None:
    """Emit that nothing is left of an answer. Its last row was emitted while a line had its former life."""
    emit(scene, row, time, order)
    rows, place = scene.output.rows, scene.output.at[0] - 1
    rows[place, WITHDRAWN] = 1
    for alias in range(scene.plan.rules[ALIASES]):
        part = PARTS + EACH * alias
        if rows[place, part] == line:
            rows[place, part + 1], rows[place, part + 2] = start, end


@loop(**LOOP)
def chances(plan: Plan, lines: Lines, rows: Whole, work: Real, found: Real) -> None:
    """The probability of every row emitted, at the best instant of the row's interval: of several joins the least.

    Lives are those of the rows, as far as the rows extend.
    """
    many = plan.rules[ALIASES]
    for row in range(len(rows)):
        for alias in range(many):
            part = PARTS + EACH * alias
            line = rows[row, part]
            lines.start[line] = rows[row, part + 1]
            lines.end[line] = min(rows[row, part + 2], rows[row, TO] + 1)
        if many == 1:
            found[row] = value_probability(lines, rows[row, PARTS], plan.single, rows[row, WHICH])
            continue
        found[row] = np.inf
        for j in range(plan.rules[JOINS]):
            left = rows[row, PARTS + EACH * plan.joins.left[j]]
            right = rows[row, PARTS + EACH * plan.joins.right[j]]
            piece = plan.piece_of[j, rows[row, WHICH]]
            join = join_of(plan.joins, j)
            if plan.rules[JOINS] > 1:
                chance = _chance_from(lines, left, right, join, piece, rows[row, FROM], work)
            elif plan.rules[PLAIN] == 1 and is_sure(lines, left, right, join):
                chance = 1.0
            else:
                chance = join_probability(lines, left, lines, right, join, piece, work)
            if not chance >= found[row]:
                found[row] = chance
            if np.isnan(chance):
                break


@loop(**LOOP)
def _chance_from(
    lines: Lines, left: int, right: int, join: Join, piece: int, begins: int, work: Real
) -> float:
    """The probability of one of several joins from `begins` on: the later of its two times is not before."""
    starts = lines.start[left], lines.start[right]
    best = np.nan
    for turn in range(2):
        line = left if turn == 0 else right
        lines.start[line] = max(lines.start[line], min(begins, lines.end[line] - 1))
        if begins <= lines.end[line]:
            chance = join_probability(lines, left, lines, right, join, piece, work)
            if np.isnan(best) or chance > best:
                best = chance
        lines.start[left], lines.start[right] = starts
    return best
