"""Which answers does a line take part in? From the alias that it takes along the joins, to lines that may match.

Rule 1  A search begins with each alias that the line can take, finds lines for the next alias by the grid, and continues only while
        the intervals of all joins so far have a moment in common.
Rule 2  An answer found now is about the time from now on: others have answered for the time before the update that made it.
        Only lines that cover for others, which extend backwards, have earlier begins.
Rule 3  Answers of one first partner, or of a line alone, are stored together or not at all: where room is missing, for them or for their
        rows, none of them is stored, and the search continues with that partner when there is room.
Rule 4  With zones only the answers of this one are stored (see `zones`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from headwater.compiled import loop
from headwater.kernels.predict import answers as answer
from headwater.kernels.predict.answer_rows import Scene, emit, has_room, set_due
from headwater.kernels.predict.answers import (
    BEGINS,
    EMITTED,
    ENDS,
    FIRST,
    FLAGS,
    MADE,
    PIECE,
    enlist,
    give_back,
    take,
)
from headwater.kernels.predict.geometry import join_interval, join_may, value_interval
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.line_grid import LineGrid, mixed, near
from headwater.kernels.predict.plain_pair_test import quick_test, whole
from headwater.kernels.predict.plan import (
    AHEAD,
    ALIASES,
    JOINS,
    ONCE,
    PIECES,
    PLAIN,
    SOURCES,
    TENTATIVE,
    ZONE,
    ZONES,
    join_of,
)
from headwater.kernels.predict.zones import owner, zone_of

# Results of a call.
DONE: Final = 0
NO_ROOM: Final = 1  # for answers
NO_ROWS: Final = 2  # no room for what is emitted
NO_CELLS: Final = 3  # no room in the grid
DRAW: Final = 4  # so many lines have been added that the grid is to be examined

# Places in `Search.at`, int64[…].
EVENT: Final = 0  # the event that is next
PHASE: Final = 1  # how far it has come
ALIAS: Final = 2  # the alias that the search begins with
HIT: Final = 3  # the next first partner; -1: they have not been found yet
HITS: Final = 4
SETTLED: Final = 5  # rows up to which time has been advanced
ADDED: Final = 6  # lines added since the grid was examined
PATIENCE: Final = 7  # how many may be added until it is examined again
AGAIN: Final = 8  # whether some of the answers are known
PLACES: Final = 9


class Search(NamedTuple):
    """Where lines are found, and how far a search has come.

    `rank` and `identity` int64[codes]: the keys' order, and hashes of them. `corners` float64[lines, 2, AXES]: the low corner of each
    line's box on each side of the first join, when it came (only for zones). `hits` int64[aliases − 1, lines + 1], `ends` int64[4, aliases]:
    per depth, the partners, how many, which is next, and the interval so far. `chosen` int64[aliases]: the lines taken.
    """

    grid: LineGrid
    rank: Whole
    identity: Whole
    corners: Real
    tile: float
    hears_all: bool
    hits: Whole
    ends: Whole
    chosen: Whole
    at: Whole


@loop(**LOOP)
def search(scene: Scene, look: Search, line: int, when: int, order: int, again: bool) -> int:
    """Find the answers that a line takes part in; `again`: some of them are known."""
    plan, at = scene.plan, look.at
    many = plan.rules[ALIASES]
    if many == 1:
        came = _alone(scene, look, line, when, order, again)
        if came != DONE:
            give_back(scene.table)
        return came
    while at[ALIAS] < (1 if plan.rules[ONCE] == 1 else many):
        alias = at[ALIAS]
        if plan.source[alias] == line % plan.rules[SOURCES]:
            j = plan.steps[alias, 0, 1]
            if at[HIT] < 0:
                side = 0 if plan.joins.left[j] == alias else 1
                at[HITS] = near(look.grid, plan, scene.lines, line, j, side, look.hits[0])
                at[HIT] = 0
            while at[HIT] < at[HITS]:
                came = _with_partner(scene, look, alias, line, look.hits[0, at[HIT]], when, order, again)
                if came != DONE:
                    give_back(scene.table)
                    return came
                at[HIT] += 1
        at[ALIAS] += 1
        at[HIT] = -1
    return DONE


@loop(**LOOP)
def between(
    lines: Lines, left: int, right: int, join: Join, piece: int, is_plain: bool, work: Real
) -> tuple[bool, int, int]:
    """Whether two lines satisfy a join with a piece of it, and from when until when."""
    if is_plain:
        found, begins, ends = whole(lines, left, right, join)
        if found:
            return True, begins, ends
    return join_interval(lines, left, lines, right, join, piece, work)


@loop(**LOOP, inline="always")
def interval_of(scene: Scene, row: int) -> tuple[bool, int, int]:
    """Whether an answer is valid with its lines' present lives, and from when until when."""
    plan, rows = scene.plan, scene.table.rows
    piece, is_plain = rows[row, PIECE], plan.rules[PLAIN] == 1
    found, begins, ends = True, -answer.NEVER, answer.NEVER
    if plan.rules[ALIASES] == 1:
        found, begins, ends = value_interval(scene.lines, rows[row, FIRST], plan.single, piece)
    for j in range(plan.rules[JOINS]):
        if found:
            left, right = rows[row, FIRST + plan.joins.left[j]], rows[row, FIRST + plan.joins.right[j]]
            is_there, first, last = between(
                scene.lines,
                left,
                right,
                join_of(plan.joins, j),
                plan.piece_of[j, piece],
                is_plain,
                scene.work,
            )
            begins, ends = max(begins, first), min(ends, last)
            found = is_there and begins <= ends
    return found, begins, ends


@loop(**LOOP, inline="always")
def _alone(scene: Scene, look: Search, line: int, when: int, order: int, again: bool) -> int:
    """The answers of a line to a condition on one alias."""
    plan = scene.plan
    look.chosen[0] = line
    if not _is_mine(scene, look):
        return DONE
    for piece in range(plan.rules[PIECES]):
        found, begins, ends = value_interval(scene.lines, line, plan.single, piece)
        if not found or ends < when:
            continue
        if not _take(scene, look, max(begins, when), ends, piece, when, line, again):
            return NO_ROOM
    return _settle(scene, when, order)


@loop(**LOOP, inline="always")
def _with_partner(
    scene: Scene, look: Search, alias: int, line: int, other: int, when: int, order: int, again: bool
) -> int:
    """The answers of a line as one alias, with a partner as the next."""
    plan, lines, chosen = scene.plan, scene.lines, look.chosen
    second, j = plan.steps[alias, 0, 0], plan.steps[alias, 0, 1]
    sources = plan.rules[SOURCES]
    if plan.source[second] != other % sources or (
        line % sources == other % sources and scene.code[line] == scene.code[other]
    ):
        return DONE
    chosen[alias], chosen[second] = line, other
    if plan.rules[ONCE] == 1 and look.rank[scene.code[line]] > look.rank[scene.code[other]]:
        chosen[alias], chosen[second] = other, line
    left, right = chosen[plan.joins.left[j]], chosen[plan.joins.right[j]]
    join = join_of(plan.joins, j)
    if plan.rules[PLAIN] == 1:
        may, _, _ = quick_test(lines, left, right, join, min(lines.end[left], lines.end[right]))
        if not may or not _is_mine(scene, look):
            return DONE
    elif not join_may(lines, left, lines, right, join):
        return DONE
    for piece in range(plan.rules[PIECES]):
        found, begins, ends = between(
            lines, left, right, join, plan.piece_of[j, piece], plan.rules[PLAIN] == 1, scene.work
        )
        if not found or ends < when:
            continue
        if plan.rules[ALIASES] > 2:
            if not _go_on(scene, look, alias, begins, ends, piece, when, line, again):
                return NO_ROOM
        elif _is_mine(scene, look) and not _take(
            scene, look, max(begins, when), ends, piece, when, line, again
        ):
            return NO_ROOM
    return _settle(scene, when, order)


@loop(**LOOP, inline="always")
def _go_on(  # noqa: PLR0913 inlined into the search for pairs
    scene: Scene,
    look: Search,
    alias: int,
    begins: int,
    ends: int,
    piece: int,
    when: int,
    line: int,
    again: bool,
) -> bool:
    """Find lines for the aliases after the second, depth first."""
    plan, state, chosen = scene.plan, look.ends, look.chosen
    last = plan.rules[ALIASES] - 2
    depth = 1
    state[2, 0], state[3, 0] = begins, ends
    state[0, 1] = -1
    while depth > 0:
        next_alias, j, known = (
            plan.steps[alias, depth, 0],
            plan.steps[alias, depth, 1],
            plan.steps[alias, depth, 2],
        )
        if state[0, depth] < 0:
            side = 0 if plan.joins.left[j] == known else 1
            state[0, depth] = near(look.grid, plan, scene.lines, chosen[known], j, side, look.hits[depth])
            state[1, depth] = 0
        if state[1, depth] == state[0, depth]:
            depth -= 1
            continue
        chosen[next_alias] = look.hits[depth, state[1, depth]]
        state[1, depth] += 1
        if not _fits(scene, look, alias, depth, piece) or state[3, depth] < when:
            continue
        if depth < last:
            depth += 1
            state[0, depth] = -1
        elif _is_mine(scene, look):
            first = max(state[2, depth], when)
            if not _take(scene, look, first, state[3, depth], piece, when, line, again):
                return False
    return True


@loop(**LOOP, inline="always")
def _fits(scene: Scene, look: Search, alias: int, depth: int, piece: int) -> bool:
    """Whether the line chosen last satisfies its joins with those before it; records the interval."""
    plan, lines, chosen, state = scene.plan, scene.lines, look.chosen, look.ends
    sources = plan.rules[SOURCES]
    last = plan.steps[alias, depth, 0]
    line = chosen[last]
    if plan.source[last] != line % sources:
        return False
    for before in range(depth + 1):
        other = chosen[alias if before == 0 else plan.steps[alias, before - 1, 0]]
        if line % sources == other % sources and scene.code[line] == scene.code[other]:
            return False
    begins, ends = state[2, depth - 1], state[3, depth - 1]
    for j in range(plan.rules[JOINS]):
        left, right = plan.joins.left[j], plan.joins.right[j]
        if left != last and right != last:
            continue
        far = right if left == last else left
        is_known = far == alias
        for before in range(depth):
            is_known = is_known or far == plan.steps[alias, before, 0]
        if not is_known:
            continue
        join = join_of(plan.joins, j)
        if not join_may(lines, chosen[left], lines, chosen[right], join):
            return False
        # Three aliases are never plain; but a constant here would compile all of `between` a second time.
        is_plain = plan.rules[PLAIN] == 1
        found, first, until = between(
            lines, chosen[left], chosen[right], join, plan.piece_of[j, piece], is_plain, scene.work
        )
        begins, ends = max(begins, first), min(ends, until)
        if not found or begins > ends:
            return False
    state[2, depth], state[3, depth] = begins, ends
    return True


@loop(**LOOP, forceinline=True)
def _take(
    scene: Scene,
    look: Search,
    begins: int,
    ends: int,
    piece: int,
    when: int,
    line: int,
    again: bool,
) -> bool:
    """Store an answer of the lines chosen, unless it is known. False: no room."""
    many = scene.plan.rules[ALIASES]
    if again and _is_known(scene, look, line, piece):
        return True
    row = take(scene.table)
    if row < 0:
        return False
    rows = scene.table.rows
    rows[row, BEGINS], rows[row, ENDS], rows[row, MADE] = begins, ends, when
    rows[row, PIECE], rows[row, FLAGS] = piece, 0
    for alias in range(many):
        rows[row, FIRST + alias] = look.chosen[alias]
    return True


@loop(**LOOP, forceinline=True)
def _settle(scene: Scene, when: int, order: int) -> int:
    """Put the new answers into the lists of their lines, and emit them if that is needed at once."""
    rules, table = scene.plan.rules, scene.table
    fresh = table.at[answer.FRESH]
    at_once = rules[TENTATIVE] == 1 and rules[AHEAD] < 0
    if at_once and not has_room(scene, fresh):
        return NO_ROWS
    for place in range(fresh):
        row = table.fresh[place]
        enlist(table, row, rules[ALIASES])
        if at_once:
            emit(scene, row, when, order)
            table.rows[row, FLAGS] |= EMITTED
        set_due(scene, row, when)
    table.at[answer.FRESH] = 0
    return DONE


@loop(**LOOP)
def _is_known(scene: Scene, look: Search, line: int, piece: int) -> bool:
    """Whether there is an answer of the lines chosen."""
    many, rows = scene.plan.rules[ALIASES], scene.table.rows
    place = scene.table.heads[line]
    while place >= 0:
        row = place // many
        is_same = rows[row, PIECE] == piece
        for alias in range(many):
            is_same = is_same and rows[row, FIRST + alias] == look.chosen[alias]
        if is_same:
            return True
        place = rows[row, FIRST + many + place % many]
    return False


@loop(**LOOP, forceinline=True)
def _is_mine(scene: Scene, look: Search) -> bool:
    """Whether the answer of the lines chosen belongs to this zone."""
    plan = scene.plan
    zones = plan.rules[ZONES]
    if zones == 0:
        return True
    if look.tile > 0.0:
        left, right = look.chosen[plan.joins.left[0]], look.chosen[plan.joins.right[0]]
        x = max(look.corners[left, 0, 0], look.corners[right, 1, 0])
        y = max(look.corners[left, 0, 1], look.corners[right, 1, 1])
        return owner(x, y, look.tile, zones) == plan.rules[ZONE]
    name = 0
    for alias in range(plan.rules[ALIASES]):
        line = look.chosen[alias]
        name = mixed(mixed(name ^ look.identity[scene.code[line]]) ^ scene.lines.t0[line])
    return zone_of(name, zones) == plan.rules[ZONE]
