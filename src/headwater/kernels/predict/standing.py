"""One standing PREDICT query: its answers and its grid between two steps, and how a step is run on copies of them.

Rule 1  A line is known by slot · sources + source, so that the lines of all sources of a query are one set.
Rule 2  Of two updates of one sensor at one time the former answers nothing, not even for the moment until the latter is read.
Rule 3  Room for answers, rows told and cells of the grid is doubled when it is missing, and the loop goes on where it was.

Memory  See `answers` and `index`; a step makes a copy of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.kernels.predict import answers as answer
from headwater.kernels.predict import index
from headwater.kernels.predict import search as searching
from headwater.kernels.predict.answers import NEVER, Table, enlist_all
from headwater.kernels.predict.columns import block
from headwater.kernels.predict.engine import run
from headwater.kernels.predict.geometry import join_of, join_polygon, workspace
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.index import AXES, Grid
from headwater.kernels.predict.lines.events import ADD, END, EVENT_COLUMNS, LIFE, LINE, START, WHAT, WHEN
from headwater.kernels.predict.lines.store import LineState
from headwater.kernels.predict.plan import plan_of
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.search import Search
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.telling import EACH, PARTS, WHICH, Scene, Told, chances
from headwater.kernels.predict.zones import hears_all, tile_of
from headwater.model import Instant, Rows

_ROOM: Final = 256
_PATIENCE: Final = 128
_CHANGED: Final = 1.5
"""Boxes are so much wider, or narrower, than they were when the grid was drawn: it is drawn anew."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A query between two steps. `patience` int64[2]: lines that have come since the grid was looked at, and may come until it is
    looked at again. `corners` float64[lines, 2, AXES] only for zones with tiles."""

    table: Table
    grid: Grid
    corners: Real
    patience: Whole


class Standing:
    """A standing query."""

    def __init__(self, query: PredictQuery, *, index: bool) -> None:
        self.query = query
        self.plan = plan_of(query)
        self.many = len(query.aliases)
        self.sources = len(dict.fromkeys(alias.source for alias in query.aliases))
        self.index = index
        sides = zip(self.plan.joins.left.tolist(), self.plan.joins.right.tolist(), strict=True)
        self.joins = [join_of(query, left, right) for left, right in sides]
        self.work = max(map(workspace, self.joins), key=np.size, default=np.empty((1, 1)))
        self.tile = tile_of(query) if query.share is not None else 0.0
        self.hears_all = query.share is None or hears_all(query)

    def start(self) -> Pending:
        """No answers."""
        joins = len(self.plan.joins.left)
        return Pending(
            _table(0, 0, self.many),
            _grid(np.zeros((joins, AXES)), 0, 0),
            np.zeros((0, 2, AXES)),
            np.array([0, _PATIENCE]),
        )

    def step(
        self,
        pending: Pending,
        before: Sequence[LineState],
        after: Sequence[LineState],
        events: Sequence[Whole],
        sensors: Sensors,
        watermark: Instant,
    ) -> tuple[Pending, Rows | None]:
        """Take what happened to the lines of each source; what is told then."""
        merged = self._merged(events, after, sensors)
        if not len(merged) and not (pending.table.due < watermark).any():
            return pending, None
        lines, code = self._lines(before, after)
        scene, look = self._opened(pending, lines, code, sensors)
        while (came := run(scene, look, merged, watermark)) != searching.DONE:
            if came == searching.NO_ROOM:
                scene = scene._replace(table=_grown(scene.table, self.many))
            elif came == searching.NOT_TOLD:
                scene = scene._replace(told=self._more(scene.told))
            elif came == searching.NO_CELLS:
                look = look._replace(grid=_with_cells(look.grid))
            else:
                look = look._replace(grid=self._drawn(look.grid, lines))
                look.at[searching.ADDED] = 0
                look.at[searching.PATIENCE] = max(_PATIENCE, int(look.grid.at[index.ALIVE]))
        following = Pending(
            scene.table,
            look.grid,
            look.corners,
            look.at[[searching.ADDED, searching.PATIENCE]],
        )
        count = int(scene.told.at[0])
        if not count:
            return following, None
        rows, chance = scene.told.rows[:count], np.empty(count)
        chances(self.plan, lines, rows, self.work, chance)
        polygons = self._polygons(lines, rows) if self.query.polygon else None
        return following, block(self.query, sensors, rows, chance, polygons)

    def save(self, pending: Pending) -> dict[str, Any]:
        """The answers, the lines that are there, and their corners."""
        table = pending.table
        used = np.flatnonzero(table.due[: table.at[answer.USED]] != NEVER)
        alive = pending.grid.alive[0, : pending.grid.at[index.ALIVE]]
        return {
            "rows": table.rows[used, : answer.FIRST + self.many],
            "due": table.due[used],
            "lines": alive.copy(),
            "corners": pending.corners[alive] if len(pending.corners) else pending.corners,
        }

    def load(self, saved: dict[str, Any], states: Sequence[LineState]) -> Pending:
        """As saved, with a grid drawn anew."""
        lines, _ = self._lines(states, states)
        many, slots = len(saved["due"]), len(lines.t0)
        table = _table(many, slots, self.many)
        table.rows[:many, : answer.FIRST + self.many] = saved["rows"]
        table.due[:many] = saved["due"]
        table.at[answer.USED] = many
        enlist_all(table, self.many)
        grid = _grid(np.zeros((len(self.plan.joins.left), AXES)), slots, 0)
        alive = saved["lines"]
        grid.alive[0, : len(alive)] = alive
        grid.alive[1, alive] = np.arange(len(alive))
        grid.at[index.ALIVE] = len(alive)
        corners = np.zeros((slots if len(saved["corners"]) else 0, 2, AXES))
        if len(corners):
            corners[alive] = saved["corners"]
        return Pending(table, self._drawn(grid, lines), corners, np.array([0, max(_PATIENCE, len(alive))]))

    # --- lines and events ---------------------------------------------------------------------------------------------

    def _merged(self, events: Sequence[Whole], after: Sequence[LineState], sensors: Sensors) -> Whole:
        """The events of all sources in the order of the stream, with lines known across sources."""
        parts = []
        for source, (happened, state) in enumerate(zip(events, after, strict=True)):
            if not len(happened):
                continue
            part = happened.copy()
            is_empty = (part[:, WHAT] == LIFE) & (part[:, START] == part[:, END])
            if is_empty.any():
                muted = (part[:, WHAT] == ADD) & np.isin(part[:, LINE], part[is_empty, LINE])
                muted &= part[:, START] == part[:, WHEN]
                part[muted, END] = part[muted, START]
            if len(events) == 1:
                return part
            rank = sensors.rank[state.key[part[:, LINE]]]
            # All that an update causes comes with its own line, the last of them.
            adds = np.where(part[:, WHAT] == ADD, np.arange(len(part)), len(part))
            own = np.minimum.accumulate(adds[::-1])[::-1]
            own = np.where(own < len(part), own, np.arange(len(part)))
            rank = np.where(part[own, WHEN] == part[:, WHEN], rank[own], len(sensors.rank))
            part[:, LINE] = part[:, LINE] * self.sources + source
            parts.append((part, rank, np.full(len(part), source)))
        if not parts:
            return np.empty((0, EVENT_COLUMNS), np.int64)
        joined = np.concatenate([part for part, _, _ in parts])
        order = np.lexsort(
            [
                np.concatenate([source for _, _, source in parts]),
                np.concatenate([rank for _, rank, _ in parts]),
                joined[:, WHEN],
            ]
        )
        return joined[order]

    def _lines(self, before: Sequence[LineState], after: Sequence[LineState]) -> tuple[Lines, Whole]:
        """The lines of all sources with the lives that they had before the step, and the codes of their keys."""
        if self.sources == 1:
            lines = after[0].lines
            start, end = np.zeros_like(lines.start), np.zeros_like(lines.end)
            many = min(len(start), len(before[0].lines.start))
            start[:many], end[:many] = before[0].lines.start[:many], before[0].lines.end[:many]
            return lines._replace(start=start, end=end), after[0].key
        slots = max(len(state.key) for state in after)
        dimensions = max(state.lines.values.shape[1] for state in after)
        total = slots * self.sources
        whole = [np.zeros(total, np.int64) for _ in range(4)]
        values, slopes, tolerance = (
            np.zeros((total, dimensions)),
            np.zeros((total, dimensions)),
            np.zeros(total),
        )
        for source, (old, new) in enumerate(zip(before, after, strict=True)):
            many, known = len(new.key), min(len(old.key), len(new.key))
            at = slice(source, source + many * self.sources, self.sources)
            past = slice(source, source + known * self.sources, self.sources)
            whole[0][at], whole[3][at] = new.lines.t0, new.key
            whole[1][past], whole[2][past] = old.lines.start[:known], old.lines.end[:known]
            width = new.lines.values.shape[1]
            values[at, :width], slopes[at, :width] = new.lines.values, new.lines.slopes
            tolerance[at] = new.lines.tolerance
        return Lines(whole[0], whole[1], whole[2], values, slopes, tolerance), whole[3]

    def _polygons(self, lines: Lines, rows: Whole) -> list[Real]:
        """The corners of the polygons told: one by one, for whoever reads them does so too."""
        plan, join, found = self.plan, self.joins[0], []
        for row in rows:
            parts = row[PARTS:].reshape(-1, EACH)
            lines.start[parts[:, 2]], lines.end[parts[:, 2]] = parts[:, 3], parts[:, 4]
            left, right = parts[plan.joins.left[0], 2], parts[plan.joins.right[0], 2]
            piece = plan.piece_of[0, row[WHICH]]
            corners = join_polygon(lines, left, lines, right, join, piece, self.work)
            found.append(corners if plan.joins.left[0] == 0 else _turned(corners))
        return found

    # --- a step's own copies ------------------------------------------------------------------------------------------

    def _opened(self, pending: Pending, lines: Lines, code: Whole, sensors: Sensors) -> tuple[Scene, Search]:
        slots = len(lines.t0)
        table = _copied(pending.table, slots, self.many)
        grid = _sized(pending.grid, slots)
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
            np.empty((max(self.many - 1, 1), slots), np.int64),
            np.empty((4, self.many + 1), np.int64),
            np.zeros(self.many, np.int64),
            at,
        )
        return Scene(self.plan, lines, code, table, self._told(_ROOM), self.work), look

    def _told(self, room: int) -> Told:
        return Told(np.empty((room, PARTS + EACH * self.many), np.int64), np.zeros(1, np.int64))

    def _more(self, told: Told) -> Told:
        many = len(told.rows)
        more = self._told(2 * many)
        for to, column in zip(more, told, strict=True):
            to[: len(column)] = column
        return more

    def _drawn(self, grid: Grid, lines: Lines) -> Grid:
        """The grid, drawn anew if its cells no longer fit what lines reach."""
        if not self.index or self.many == 1:
            return grid
        axes = np.zeros_like(grid.axes)
        alive = grid.alive[0, : grid.at[index.ALIVE]]
        index.widths(self.plan, lines, alive, axes)
        fits = (axes <= grid.axes * _CHANGED) & (grid.axes <= axes * _CHANGED)
        if fits.all() and grid.at[index.USED] <= 2 * len(grid.buckets):
            return grid
        room = 2 * index.MOST_CELLS * len(axes) * (len(alive) + 2)
        fresh = _grid(axes, grid.alive.shape[1], room)
        fresh.alive[:] = grid.alive
        fresh.at[index.ALIVE] = len(alive)
        index.draw(fresh, self.plan, lines)
        return fresh


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
    """A copy for so many lines; what lines lose their place have no answers."""
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
    """With twice the room for answers."""
    old = len(table.due)
    more = _table(max(2 * old, _ROOM), 0, many)
    more.rows[:old], more.due[:old] = table.rows, table.due
    return more._replace(heads=table.heads, at=table.at)


def _grid(axes: Real, slots: int, room: int) -> Grid:
    """An empty grid with room for so many entries."""
    at = np.zeros(index.PLACES, np.int64)
    at[index.FREE] = -1
    buckets = max(16, 1 << max(room // (2 * index.MOST_CELLS), 1).bit_length() + 2)
    alive = np.full((2, slots), -1)
    return Grid(
        axes,
        np.full(buckets, -1),
        np.empty((room, index.ENTRY), np.int64),
        np.full(slots, -1),
        alive,
        np.zeros(slots, np.int64),
        at,
    )


def _sized(grid: Grid, slots: int) -> Grid:
    """A copy for so many lines; those that lose their place were not there."""
    known = min(slots, len(grid.first))
    first, alive = np.full(slots, -1), np.full((2, slots), -1)
    first[:known] = grid.first[:known]
    count = int(grid.at[index.ALIVE])
    alive[0, :count] = grid.alive[0, :count]
    alive[1, :known] = grid.alive[1, :known]
    at = grid.at.copy()
    at[index.SERIAL] = 0
    return Grid(
        grid.axes, grid.buckets.copy(), grid.entries.copy(), first, alive, np.zeros(slots, np.int64), at
    )


def _with_cells(grid: Grid) -> Grid:
    """With twice the room for entries."""
    entries = np.empty((max(2 * len(grid.entries), 64 * index.MOST_CELLS), index.ENTRY), np.int64)
    entries[: len(grid.entries)] = grid.entries
    return grid._replace(entries=entries)
