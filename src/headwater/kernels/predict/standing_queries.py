"""One standing PREDICT query: its answers and its grid between two steps, and how a step is run on copies of them.

Rule 1  Queries whose answers follow from lives are in `pair_queries`.
Rule 2  Room for answers, emitted rows and cells of the grid is doubled when it is missing, and the loop continues where it was.

Memory  See `answers` and `line_grid`; a step makes a copy of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.kernels.predict import answers as answer
from headwater.kernels.predict import search as searching
from headwater.kernels.predict.answer_rows import (
    EACH,
    FROM,
    ORDER,
    PARTS,
    TIME,
    TO,
    WHICH,
    WITHDRAWN,
    AnswerOutput,
    Scene,
    chances,
)
from headwater.kernels.predict.answers import NEVER, Table, enlist_all
from headwater.kernels.predict.columns import PROBABILITY, Said, Speech, blocks
from headwater.kernels.predict.engine import run
from headwater.kernels.predict.geometry import join_of, join_polygon, workspace
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.grids import alive_in, drawn, grid_of, no_grid, patience_of, sized, with_cells
from headwater.kernels.predict.line_grid import AXES, LineGrid
from headwater.kernels.predict.lines.store import LineState
from headwater.kernels.predict.plan import plan_of
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.search import Search
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.sources import lines_of, lines_without_gaps, merged
from headwater.kernels.predict.zones import hears_all, tile_of
from headwater.model import Instant, Rows

_ROOM: Final = 256


@dataclass(frozen=True, slots=True)
class Pending:
    """A query between two steps. `patience` int64[2]: lines added since the grid was examined, and how many may be added until it is
    examined again. `corners` float64[lines, 2, AXES] only for zones with tiles."""

    table: Table
    grid: LineGrid
    corners: Real
    patience: Whole

    @property
    def count(self) -> int:
        """How many answers are not over."""
        return int(self.table.at[answer.COUNT])


class Standing:
    """A standing query."""

    def __init__(self, query: PredictQuery, *, index: bool) -> None:
        self.query = query
        self.plan = plan_of(query)
        self.many = len(query.aliases)
        self.index = index
        sides = zip(self.plan.joins.left.tolist(), self.plan.joins.right.tolist(), strict=True)
        self.joins = [join_of(query, left, right) for left, right in sides]
        self.work = max(map(workspace, self.joins), key=np.size, default=np.empty((1, 1)))
        self.tile = tile_of(query) if query.share is not None else 0.0
        self.hears_all = query.share is None or hears_all(query)

    def start(self) -> Pending:
        """No answers."""
        grid = no_grid(len(self.joins))
        return Pending(
            _table(0, 0, self.many), grid, np.zeros((0, 2, AXES)), np.array([0, patience_of(grid)])
        )

    def step(
        self,
        pending: Pending,
        before: Sequence[LineState],
        after: Sequence[LineState],
        events: Sequence[Whole],
        sensors: Sensors,
        watermark: Instant,
    ) -> tuple[Pending, list[Rows]]:
        """Take the events of the lines of each source; returns what is emitted."""
        happened = merged(events, after, sensors)
        if not len(happened) and not (pending.table.due < watermark).any():
            return pending, []
        lines, code = lines_of(before, after)
        scene, look = self._opened(pending, lines, code, sensors)
        while (came := run(scene, look, happened, watermark)) != searching.DONE:
            if came == searching.NO_ROOM:
                scene = scene._replace(table=_grown(scene.table, self.many))
            elif came == searching.NO_ROWS:
                scene = scene._replace(output=self._more(scene.output))
            elif came == searching.NO_CELLS:
                look = look._replace(grid=with_cells(look.grid))
            else:
                look = look._replace(grid=self._drawn(look.grid, lines))
                look.at[searching.ADDED] = 0
                look.at[searching.PATIENCE] = patience_of(look.grid)
        next_pending = Pending(
            scene.table,
            look.grid,
            look.corners,
            look.at[[searching.ADDED, searching.PATIENCE]],
        )
        count = int(scene.output.at[0])
        if not count:
            return next_pending, []
        rows, chance = scene.output.rows[:count], np.empty(0)
        if self.query.is_read(PROBABILITY):
            chance = np.empty(count)
            chances(self.plan, lines, rows, self.work, chance)
        polygons = self._polygons(lines, rows) if self.query.polygon else None
        speech = Speech(rows, self._said, chance)
        return next_pending, blocks(
            self.query, sensors, code, np.ascontiguousarray(lines.t0), speech, polygons
        )

    def save(self, pending: Pending, states: Sequence[LineState]) -> dict[str, Any]:
        """The answers, the present lines, and their corners; lines by their numbers after loading."""
        table, place = pending.table, lines_without_gaps(states)
        used = np.flatnonzero(table.due[: table.at[answer.USED]] != NEVER)
        rows = table.rows[used, : answer.FIRST + self.many]
        rows[:, answer.FIRST :] = place[rows[:, answer.FIRST :]]
        alive = alive_in(pending.grid)
        return {
            "rows": rows,
            "due": table.due[used],
            "lines": place[alive],
            "corners": pending.corners[alive] if len(pending.corners) else pending.corners,
        }

    def load(self, saved: dict[str, Any], states: Sequence[LineState]) -> Pending:
        """The saved state, with a rebuilt grid."""
        lines, _ = lines_of(states, states)
        many, slots = len(saved["due"]), len(lines.t0)
        table = _table(many, slots, self.many)
        table.rows[:many, : answer.FIRST + self.many] = saved["rows"]
        table.due[:many] = saved["due"]
        table.at[answer.USED] = many
        enlist_all(table, self.many)
        alive = saved["lines"]
        grid = self._drawn(grid_of(alive, len(self.joins), slots), lines)
        corners = np.zeros((slots if len(saved["corners"]) else 0, 2, AXES))
        if len(corners):
            corners[alive] = saved["corners"]
        return Pending(table, grid, corners, np.array([0, patience_of(grid)]))

    def _said(self, columns: Whole) -> Said:
        return Said(
            columns[FROM],
            tuple(columns[PARTS + EACH * alias] for alias in range(self.many)),
            columns[TIME],
            columns[TO],
            columns[ORDER],
            columns[WHICH],
            columns[WITHDRAWN],
        )

    def _polygons(self, lines: Lines, rows: Whole) -> list[Real]:
        """The corners of the emitted polygons: one by one, since their readers take them one by one too."""
        plan, join, found = self.plan, self.joins[0], []
        for row in rows:
            parts = row[PARTS:].reshape(-1, EACH)
            lines.start[parts[:, 0]], lines.end[parts[:, 0]] = parts[:, 1], parts[:, 2]
            left, right = parts[plan.joins.left[0], 0], parts[plan.joins.right[0], 0]
            piece = plan.piece_of[0, row[WHICH]]
            corners = join_polygon(lines, left, lines, right, join, piece, self.work)
            found.append(corners if plan.joins.left[0] == 0 else _turned(corners))
        return found

    # --- a step's own copies ------------------------------------------------------------------------------------------

    def _opened(self, pending: Pending, lines: Lines, code: Whole, sensors: Sensors) -> tuple[Scene, Search]:
        slots = len(lines.t0)
        table = _copied(pending.table, slots, self.many)
        grid = sized(pending.grid, slots)
        corners = np.zeros((slots if self.tile > 0.0 else 0, 2, AXES))
        known = min(len(corners), len(pending.corners))
        corners[:known] = pending.corners[:known]
        at = np.zeros(searching.PLACES, np.int64)
        at[searching.HIT] = -1
        at[searching.ADDED], at[searching.PATIENCE] = pending.patience
        look = Search(
            grid,
            sensors.rank,
            sensors.identity,
            corners,
            self.tile,
            self.hears_all,
            np.empty((max(self.many - 1, 1), slots + 1), np.int64),
            np.empty((4, self.many + 1), np.int64),
            np.zeros(self.many, np.int64),
            at,
        )
        return Scene(self.plan, lines, code, table, self._output(_ROOM), self.work), look

    def _output(self, room: int) -> AnswerOutput:
        return AnswerOutput(np.empty((room, PARTS + EACH * self.many), np.int64), np.zeros(1, np.int64))

    def _more(self, output: AnswerOutput) -> AnswerOutput:
        many = len(output.rows)
        more = self._output(2 * many)
        for to, column in zip(more, output, strict=True):
            to[: len(column)] = column
        return more

    def _drawn(self, grid: LineGrid, lines: Lines) -> LineGrid:
        return drawn(grid, self.plan, lines) if self.index and self.many > 1 else grid


def _turned(corners: Real) -> Real:
    """The same polygon with its axes swapped: still counter-clockwise, from the least corner on."""
    turned = corners[::-1, ::-1]
    if not len(turned):
        return turned
    first = int(np.lexsort([turned[:, 1], turned[:, 0]])[0])
    return np.roll(turned, -first, axis=0)


def _table(room: int, slots: int, many: int) -> Table:
    """No answers, and room for some."""
    at = np.zeros(answer.PLACES, np.int64)
    at[answer.FREE] = -1
    return Table(
        np.zeros((room, answer.FIRST + 3 * many), np.int64),
        np.full(room, NEVER),
        np.full(slots, -1),
        np.empty(room, np.int64),
        at,
    )


def _copied(table: Table, slots: int, many: int) -> Table:
    """A copy for so many lines; lines that lose their place have no answers."""
    known = min(slots, len(table.heads))
    heads = np.full(slots, -1)
    heads[:known] = table.heads[:known]
    used, at = int(table.at[answer.USED]), table.at.copy()
    copy = Table(
        np.empty_like(table.rows), np.full_like(table.due, NEVER), heads, np.empty_like(table.due), at
    )
    copy.rows[:used], copy.due[:used] = table.rows[:used], table.due[:used]
    return copy


def _grown(table: Table, many: int) -> Table:
    """Twice the room for answers."""
    old = len(table.due)
    more = _table(max(2 * old, _ROOM), 0, many)
    more.rows[:old], more.due[:old] = table.rows, table.due
    return more._replace(heads=table.heads, at=table.at)
