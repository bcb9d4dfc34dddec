"""A standing query whose answers follow from lives: pairs and grid between two steps, and how a step is run on copies of them.

Rule 1  Updates are noted as pairs first (`pairs`), then time catches up with all pairs (`settling`).
Rule 2  Room for pairs, rows told and cells of the grid is doubled when it is missing, and the loop goes on where it was. Room that is not
        used takes no memory until it is: there is plenty from the start.

Memory  See `pairs` and `index`; a step makes a copy of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.kernels.predict import index as indexing
from headwater.kernels.predict import pairs as pairing
from headwater.kernels.predict import search as searching
from headwater.kernels.predict import settling
from headwater.kernels.predict.columns import Said, block
from headwater.kernels.predict.geometry import join_of, workspace
from headwater.kernels.predict.geometry.plain import LAID, UNSETTLED
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.grids import alive_in, drawn, grid_of, no_grid, patience_of, sized, with_cells
from headwater.kernels.predict.index import AXES, Grid
from headwater.kernels.predict.lines.store import LineState
from headwater.kernels.predict.pairs import Ground, Pairs, note_all
from headwater.kernels.predict.plan import plan_of
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.settling import Spoken, search_rest, settle
from headwater.kernels.predict.sources import lines_of, merged
from headwater.kernels.predict.zones import hears_all, tile_of
from headwater.model import Instant, Rows

_ROOM: Final = 256
_EACH: Final = 128
"""Pairs of a line that there is room for from the start."""
_TICKS: Final = 8
"""Rows of a pair with EVERY that there is room for from the start."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A query between two steps. `pairs` int64[pairs, PAIR], `promised` int64[lines] and `corners` float64[lines, 2, AXES] as in `pairs`;
    `patience` int64[2]: lines that have come since the grid was looked at, and may come until it is looked at again."""

    pairs: Whole
    promised: Whole
    grid: Grid
    corners: Real
    patience: Whole

    @property
    def count(self) -> int:
        """How many pairs may not be over."""
        return len(self.pairs)


class PassingStanding:
    """A standing query that follows from lives."""

    def __init__(self, query: PredictQuery, *, index: bool) -> None:
        self.query = query
        self.plan = plan_of(query)
        self.index = index
        self.left, self.right = int(self.plan.joins.left[0]), int(self.plan.joins.right[0])
        join = join_of(query, self.left, self.right)
        self.work = workspace(join)
        self.laid = np.empty((len(join.bound), LAID))
        asked = set(zip(join.left_dimension.tolist(), join.right_dimension.tolist(), strict=True))
        self.asks_twice = len(asked) < len(join.bound)
        self.tile = tile_of(query) if query.share is not None else 0.0
        self.hears_all = query.share is None or hears_all(query)

    def start(self) -> Passing:
        """No pairs."""
        grid = no_grid(1)
        return Passing(
            np.empty((0, pairing.PAIR), np.int64),
            np.empty(0, np.int64),
            grid,
            np.zeros((0, 2, AXES)),
            np.array([0, patience_of(grid)]),
        )

    def step(
        self,
        pending: Passing,
        before: Sequence[LineState],
        after: Sequence[LineState],
        events: Sequence[Whole],
        sensors: Sensors,
        watermark: Instant,
    ) -> tuple[Passing, Rows | None]:
        """Take what happened to the lines of each source; what is told then."""
        happened = merged(events, after, sensors)
        if not len(happened) and not len(pending.pairs):
            return pending, None
        lines, code = lines_of(before, after)
        ground = self._ground(pending, lines, code, sensors)
        pairs = self._pairs(pending, len(happened))
        while (came := note_all(ground, pairs, happened)) != searching.DONE:
            if came == searching.NO_ROOM:
                needed = len(pairs.rows) + 2 * int(ground.grid.at[indexing.ALIVE]) + _ROOM
                pairs = pairs._replace(rows=_longer(pairs.rows, needed))
            elif came == searching.NO_CELLS:
                ground = ground._replace(grid=with_cells(ground.grid))
            else:
                ground = ground._replace(grid=self._drawn(ground.grid, lines))
                ground.at[pairing.ADDED] = 0
                ground.at[pairing.PATIENCE] = patience_of(ground.grid)
        spoken = self._spoken(int(pairs.at[0]))
        while settle(self.plan, lines, ground.promised, pairs, spoken, watermark) != searching.DONE:
            spoken = _with_room(spoken)
        following = Passing(
            pairs.rows[: spoken.at[settling.KEPT]].copy(),
            ground.promised,
            ground.grid,
            ground.corners,
            ground.at[[pairing.ADDED, pairing.PATIENCE]],
        )
        count = int(spoken.at[settling.COUNT])
        if not count:
            return following, None
        if spoken.is_asked and (spoken.chance[:count] == UNSETTLED).any():
            search_rest(self.plan, lines, spoken)
        return following, block(
            self.query, sensors, code, np.ascontiguousarray(lines.t0), self._said(spoken), None
        )

    def save(self, pending: Passing) -> dict[str, Any]:
        """The pairs, the lines that are there, their corners, and the lives that were promised."""
        alive = alive_in(pending.grid)
        known = np.unique(np.concatenate([alive, *_sides(pending.pairs[:, pairing.LINES])]))
        return {
            "pairs": pending.pairs,
            "lines": alive.copy(),
            "corners": pending.corners[alive] if len(pending.corners) else pending.corners,
            "known": known,
            "promised": pending.promised[known],
        }

    def load(self, saved: dict[str, Any], states: Sequence[LineState]) -> Passing:
        """As saved, with a grid drawn anew."""
        lines, _ = lines_of(states, states)
        alive, slots = saved["lines"], len(lines.t0)
        grid = self._drawn(grid_of(alive, 1, slots), lines)
        promised = np.zeros(slots, np.int64)
        promised[saved["known"]] = saved["promised"]
        corners = np.zeros((slots if len(saved["corners"]) else 0, 2, AXES))
        if len(corners):
            corners[alive] = saved["corners"]
        pairs = np.array(saved["pairs"], np.int64).reshape(-1, pairing.PAIR)
        return Passing(pairs, promised, grid, corners, np.array([0, patience_of(grid)]))

    # --- a step's own copies ------------------------------------------------------------------------------------------

    def _ground(self, pending: Passing, lines: Lines, code: Whole, sensors: Sensors) -> Ground:
        slots = len(lines.t0)
        at = np.zeros(pairing.PLACES, np.int64)
        at[pairing.ADDED], at[pairing.PATIENCE] = pending.patience
        return Ground(
            self.plan,
            lines,
            _by_line(pending.promised, slots),
            sensors.rank[code],
            sensors.identity[code],
            _by_line(pending.corners, slots if self.tile > 0.0 else 0),
            self.tile,
            self.hears_all,
            sized(pending.grid, slots),
            np.empty(slots + 1, np.int64),
            at,
        )

    def _pairs(self, pending: Passing, events: int) -> Pairs:
        count = len(pending.pairs)
        rows = np.empty((count + _EACH * events + _ROOM, pairing.PAIR), np.int64)
        rows[:count] = pending.pairs
        return Pairs(rows, np.array([count]))

    def _spoken(self, pairs: int) -> Spoken:
        room = pairs * (_TICKS if self.query.every_us else 1) + 1
        return Spoken(
            np.empty(room, np.int64),
            np.empty(room, np.int64),
            np.empty(room, np.int64),
            np.empty(room if self.query.probability else 0),
            self.query.probability,
            self.asks_twice,
            self.laid,
            self.work,
            np.zeros(settling.PLACES, np.int64),
        )

    def _said(self, spoken: Spoken) -> Said:
        count = int(spoken.at[settling.COUNT])
        left, right = _sides(spoken.who[:count])
        time = spoken.time[:count]
        return Said(
            time,
            spoken.begins[:count],
            time,
            (left, right) if self.left == 0 else (right, left),
            spoken.chance[:count] if spoken.is_asked else None,
        )

    def _drawn(self, grid: Grid, lines: Lines) -> Grid:
        return drawn(grid, self.plan, lines) if self.index else grid


def _with_room(spoken: Spoken) -> Spoken:
    """With twice the room for rows told."""
    room = 2 * len(spoken.time)
    return spoken._replace(
        time=_longer(spoken.time, room),
        who=_longer(spoken.who, room),
        begins=_longer(spoken.begins, room),
        chance=_longer(spoken.chance, room) if spoken.is_asked else spoken.chance,
    )


def _sides(pairs: Whole) -> tuple[Whole, Whole]:
    """The left and the right lines."""
    return pairs >> pairing.SHIFT, pairs & pairing.RIGHT


def _by_line(column: Any, slots: int) -> Any:
    """A copy for so many lines."""
    copy = np.zeros((slots, *column.shape[1:]), column.dtype)
    known = min(slots, len(column))
    copy[:known] = column[:known]
    return copy


def _longer(column: Any, room: int) -> Any:
    """With more room."""
    longer = np.empty((room, *column.shape[1:]), column.dtype)
    longer[: len(column)] = column
    return longer
