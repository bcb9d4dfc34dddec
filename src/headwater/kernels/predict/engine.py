"""From events of lines to events of answers: the loop of a step.

Rule 1  ADD      the line is compared with the lines that it may match.
        LIFE     the answers of the line are computed again, unless they begin more than w after its end; if its life has become
                 longer, it is compared with the others again.
        GIVE_UP  what is certain of the line's answers stays, up to now; the line that covers for it answers for the rest.
        PURGE    nothing: every answer of the line is over.
Rule 2  Before any of these, time is advanced for the answers that it touches (see `answer_rows`); at the end of a step, for all.
Rule 3  An update can only change what comes after it: what an answer says of the time before stays.
Rule 4  With zones a line that meets no tile of this zone is ignored.
"""

from __future__ import annotations

from headwater.compiled import loop
from headwater.kernels.predict import answers as answer
from headwater.kernels.predict import line_grid
from headwater.kernels.predict.answer_rows import Scene, advance, emit, has_room, set_due, withdraw
from headwater.kernels.predict.answers import BEGINS, EMITTED, ENDS, FIRST, FLAGS, forget
from headwater.kernels.predict.geometry.shapes import LOOP, Whole
from headwater.kernels.predict.lines.events import ADD, END, GIVE_UP, LIFE, LINE, START, WHAT, WHEN
from headwater.kernels.predict.plan import ALIASES, TENTATIVE, WITHIN, ZONES
from headwater.kernels.predict.search import (
    ADDED,
    AGAIN,
    ALIAS,
    DONE,
    DRAW,
    EVENT,
    HIT,
    NO_CELLS,
    NO_ROWS,
    PATIENCE,
    PHASE,
    SETTLED,
    Search,
    interval_of,
    search,
)
from headwater.kernels.predict.zones import is_here


@loop(**LOOP)
def run(scene: Scene, look: Search, events: Whole, until: int) -> int:
    """Process all events in order, then let time pass until `until`. Not DONE: to be called again when there is room."""
    at, table = look.at, scene.table
    while at[EVENT] < len(events):
        event = events[at[EVENT]]
        line, when, order = event[LINE], event[WHEN], at[EVENT] + 1
        came = DONE
        if at[PHASE] == 0:
            came = _begin(scene, look, event[WHAT], line, event[START], event[END], when, order)
        if came == DONE and at[PHASE] == 1:
            came = search(scene, look, line, when, order, at[AGAIN] == 1)
        if came != DONE:
            return came
        at[EVENT] += 1
        at[PHASE], at[ALIAS], at[HIT] = 0, 0, -1
    due = table.due
    while at[SETTLED] < table.at[answer.USED]:
        row = at[SETTLED]
        if due[row] < until and not advance(scene, row, until):
            return NO_ROWS
        at[SETTLED] = row + 1
    return DONE


@loop(**LOOP, inline="always")
def _begin(
    scene: Scene, look: Search, what: int, line: int, start: int, end: int, when: int, order: int
) -> int:
    """Process an event except for the search, which PHASE requests."""
    if what == ADD:
        return _add(scene, look, line, start, end)
    if look.grid.alive[1, line] < 0:
        return DONE
    if not _catch_up(scene, line, when):
        return NO_ROWS
    if what == LIFE:
        return _live(scene, look, line, start, end, when, order)
    if what == GIVE_UP:
        _give_up(scene, line, when, order)
    line_grid.drop(look.grid, line)
    return DONE


@loop(**LOOP)
def _add(scene: Scene, look: Search, line: int, start: int, end: int) -> int:
    """A line is added."""
    at = look.at
    if at[ADDED] > at[PATIENCE]:
        return DRAW
    if not line_grid.has_cells(look.grid, scene.plan):
        return NO_CELLS
    at[ADDED] += 1
    scene.lines.start[line], scene.lines.end[line] = start, end
    if scene.plan.rules[ZONES] == 0 or is_here(
        scene.plan, scene.lines, line, look.tile, look.hears_all, look.corners
    ):
        line_grid.put(look.grid, scene.plan, scene.lines, line)
        at[PHASE] = 1 if start < end else 0  # else its sensor sent another update at the same time
        at[AGAIN] = 0
    return DONE


@loop(**LOOP, inline="always")
def _live(scene: Scene, look: Search, line: int, start: int, end: int, when: int, order: int) -> int:
    """The life of a line changes."""
    lines, table, many = scene.lines, scene.table, scene.plan.rules[ALIASES]
    within = scene.plan.rules[WITHIN]
    old_start, old_end = lines.start[line], lines.end[line]
    is_longer = start < old_start or end > old_end
    if is_longer and not line_grid.has_cells(look.grid, scene.plan):
        return NO_CELLS
    lines.start[line], lines.end[line] = start, end
    place = table.heads[line]
    while place >= 0:
        row = place // many
        place = table.rows[row, FIRST + many + place % many]
        found, begins, ends = False, 0, 0
        if table.rows[row, BEGINS] <= end + within:
            found, begins, ends = interval_of(scene, row)
        _change(scene, row, found, begins, ends, when, order, line, old_start, old_end)
    if is_longer:
        line_grid.leave(look.grid, line)
        line_grid.put(look.grid, scene.plan, lines, line)
        look.at[PHASE] = look.at[AGAIN] = 1
    return DONE


@loop(**LOOP, inline="always")
def _catch_up(scene: Scene, line: int, when: int) -> bool:
    """Let time pass until `when` for the answers of a line; returns whether there is room for a row of each one left."""
    table, many = scene.table, scene.plan.rules[ALIASES]
    left = 0
    place = table.heads[line]
    while place >= 0:
        row = place // many
        place = table.rows[row, FIRST + many + place % many]
        if table.due[row] < when and not advance(scene, row, when):
            return False
        left += 1
    return has_room(scene, left)


@loop(**LOOP, forceinline=True)
def _change(  # noqa: PLR0913 inlined into the loop over changed lives
    scene: Scene,
    row: int,
    found: bool,
    begins: int,
    ends: int,
    when: int,
    order: int,
    line: int,
    old_start: int,
    old_end: int,
) -> None:
    """An answer is now valid from `begins` until `ends`, or not at all; the life of a line has changed."""
    table, rows = scene.table, scene.table.rows
    is_emitted = rows[row, FLAGS] & EMITTED != 0
    begins = rows[row, BEGINS] if rows[row, BEGINS] < when else max(begins, when)
    if not found or ends < begins:
        if is_emitted:
            withdraw(scene, row, when, order, line, old_start, old_end)
        forget(table, row, scene.plan.rules[ALIASES])
    elif begins != rows[row, BEGINS] or ends != rows[row, ENDS]:
        rows[row, BEGINS], rows[row, ENDS] = begins, ends
        if is_emitted:
            emit(scene, row, when, order)
        set_due(scene, row, when)


@loop(**LOOP)
def _give_up(scene: Scene, line: int, when: int, order: int) -> None:
    """Reduce a line's answers to what is certain."""
    table, rows, rules = scene.table, scene.table.rows, scene.plan.rules
    many = rules[ALIASES]
    place = table.heads[line]
    while place >= 0:
        row = place // many
        place = rows[row, FIRST + many + place % many]
        is_emitted, is_left = rows[row, FLAGS] & EMITTED != 0, rows[row, BEGINS] <= when
        is_cut = rows[row, ENDS] > when
        if is_emitted and not is_left:
            withdraw(scene, row, when, order, line, scene.lines.start[line], scene.lines.end[line])
        elif is_left:
            rows[row, ENDS] = min(rows[row, ENDS], when)
            if rules[TENTATIVE] == 0:
                emit(scene, row, rows[row, ENDS], 0)
            elif is_cut or not is_emitted:
                emit(scene, row, when, order)
        forget(table, row, many)
