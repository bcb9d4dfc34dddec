"""A standing query whose answers follow from lives: pairs and lines between two steps, and how a step is run on copies of them.

Rule 1  Time is advanced for the existing pairs, then for those noted for updates (`pairs`, `pair_intervals`): some thousand at a
        time, in one buffer, so that a pair is noted, computed and emitted while it is in the cache, however many there are.
Rule 2  Room for emitted rows is doubled when it is missing, and the loop continues where it was. Unused room takes no
        memory: there is plenty from the start.

Memory  See `pairs`, and a number for each line; a step makes a copy of both, and see `batch_neighbours`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.kernels.predict import pair_intervals
from headwater.kernels.predict import pairs as pairing
from headwater.kernels.predict import search as searching
from headwater.kernels.predict.batch_neighbours import batch_for
from headwater.kernels.predict.columns import PROBABILITY, Said, Speech, blocks
from headwater.kernels.predict.geometry import join_of, workspace
from headwater.kernels.predict.geometry.bounds import SOME, sheet_for
from headwater.kernels.predict.geometry.plain import LAID, UNSETTLED
from headwater.kernels.predict.geometry.shapes import Lines, Real, Whole
from headwater.kernels.predict.line_grid import AXES
from headwater.kernels.predict.lines.events import ADD, END, LINE, PURGE, WHAT
from headwater.kernels.predict.lines.store import LineState
from headwater.kernels.predict.pair_intervals import PairOutput, search_rest, settle
from headwater.kernels.predict.pairs import Ground, Pairs, keep_ours, note_some
from headwater.kernels.predict.plan import ONCE, plan_of
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.sources import lines_of, lines_without_gaps, merged
from headwater.kernels.predict.ticks import Ticks
from headwater.kernels.predict.zones import hears_all, tile_of
from headwater.model import Instant, Rows

_EACH: Final = 128
"""Room from the start for so many pairs of a line."""
_TICKS: Final = 8
"""Room from the start for so many probabilities of a pair with EVERY."""
_SPARE: Final = 2
"""Room for so many more emitted pairs than there are pairs."""
_DESK: Final = 16_384
"""Pairs that are processed together, so that they stay in the cache."""


@dataclass(frozen=True, slots=True)
class PendingPairs:
    """A query between two steps. `pairs` int64[…, PAIR], one block after the other; `promised` int64[lines], `there` int64[…] and `corners`
    float64[lines, 2, AXES] as in `pairs`."""

    pairs: tuple[Whole, ...]
    promised: Whole
    there: Whole
    corners: Real

    @property
    def count(self) -> int:
        """How many pairs may not be over."""
        return sum(map(len, self.pairs))


class PairStanding:
    """A standing query that follows from lives."""

    def __init__(self, query: PredictQuery, *, index: bool) -> None:
        self.query = query
        self.plan = plan_of(query)
        self.index = index
        self.left, self.right = int(self.plan.joins.left[0]), int(self.plan.joins.right[0])
        join = join_of(query, self.left, self.right)
        self.work = workspace(join)
        self.laid = np.empty((len(join.bound), LAID))
        self.sheet = sheet_for(len(join.bound))
        differences = set(zip(join.left_dimension.tolist(), join.right_dimension.tolist(), strict=True))
        self.tests_one_difference_twice = len(differences) < len(join.bound)
        self.tile = tile_of(query) if query.share is not None else 0.0
        self.hears_all = query.share is None or hears_all(query)

    def start(self) -> PendingPairs:
        """No pairs."""
        none = np.empty(0, np.int64)
        return PendingPairs((), none, none, np.zeros((0, 2, AXES)))

    def step(
        self,
        pending: PendingPairs,
        before: Sequence[LineState],
        after: Sequence[LineState],
        events: Sequence[Whole],
        sensors: Sensors,
        watermark: Instant,
    ) -> tuple[PendingPairs, list[Rows]]:
        """Take the events of the lines of each source; returns what is emitted. The lives of lines `before` do not matter here."""
        happened = merged(events, after, sensors)
        if not len(happened) and not pending.pairs:
            return pending, []
        lines, code = lines_of(after, after)
        adds = happened[happened[:, WHAT] == ADD]
        ground = self._ground(pending, lines, code, sensors, len(adds))
        ground.promised[adds[:, LINE]] = adds[:, END]
        came = adds[lines.start[adds[:, LINE]] < lines.end[adds[:, LINE]], LINE]
        if self.query.share is not None:
            came = came[: keep_ours(ground, came)]
        desk = _Desk(ground, self._output(pending.count + _EACH * len(came)), watermark)
        for block in pending.pairs:
            desk.take(block)
        desk.note(came)
        next_pending = PendingPairs(
            desk.remaining(),
            ground.promised,
            _without(ground.there[: ground.at[pairing.THERE]], happened[happened[:, WHAT] == PURGE, LINE]),
            ground.corners,
        )
        spoken = desk.output
        if not spoken.at[pair_intervals.COUNT]:
            return next_pending, []
        chance = spoken.chance[: spoken.at[pair_intervals.CHANCES]]
        if (chance == UNSETTLED).any():
            search_rest(self.plan, lines, spoken)
        speech = Speech(spoken.rows[: spoken.at[pair_intervals.COUNT]], self._said, chance)
        return next_pending, blocks(self.query, sensors, code, np.ascontiguousarray(lines.t0), speech, None)

    def save(self, pending: PendingPairs, states: Sequence[LineState]) -> dict[str, Any]:
        """The pairs, the present lines, their corners, and the promised lives; lines by their numbers after loading."""
        there, place = pending.there, lines_without_gaps(states)
        pairs = np.concatenate([np.empty((0, pairing.PAIR), np.int64), *pending.pairs])
        left, right = _sides(pairs[:, pairing.LINES])
        known = np.unique(np.concatenate([there, left, right]))
        pairs[:, pairing.LINES] = (place[left] << pairing.SHIFT) | place[right]
        return {
            "pairs": pairs,
            "lines": place[there],
            "corners": pending.corners[there] if len(pending.corners) else pending.corners,
            "known": place[known],
            "promised": pending.promised[known],
        }

    def load(self, saved: dict[str, Any], states: Sequence[LineState]) -> PendingPairs:
        """The saved state."""
        lines, _ = lines_of(states, states)
        there, slots = np.array(saved["lines"], np.int64), len(lines.t0)
        promised = np.zeros(slots, np.int64)
        promised[saved["known"]] = saved["promised"]
        corners = np.zeros((slots if len(saved["corners"]) else 0, 2, AXES))
        if len(corners):
            corners[there] = saved["corners"]
        pairs = np.array(saved["pairs"], np.int64).reshape(-1, pairing.PAIR)
        return PendingPairs((pairs,) if len(pairs) else (), promised, there, corners)

    # --- a step's own copies ------------------------------------------------------------------------------------------

    def _ground(
        self, pending: PendingPairs, lines: Lines, code: Whole, sensors: Sensors, adds: int
    ) -> Ground:
        slots, known = len(lines.t0), len(pending.there)
        there = np.empty(known + adds, np.int64)
        there[:known] = pending.there
        at = np.zeros(pairing.PLACES, np.int64)
        at[pairing.THERE] = known
        left = batch_for(len(there))
        return Ground(
            self.plan,
            lines,
            _by_line(pending.promised, slots),
            sensors.rank[code],
            sensors.identity[code],
            _by_line(pending.corners, slots if self.tile > 0.0 else 0),
            self.tile,
            self.hears_all,
            there,
            (left, left if self.plan.rules[ONCE] == 1 else batch_for(len(there))),
            self.index,
            np.empty(len(there) + 1, np.int64),
            at,
        )

    def _output(self, pairs: int) -> PairOutput:
        room = pairs * (_TICKS if self.query.every_us else 1) + 1
        with_chance = self.query.is_read(PROBABILITY)
        width = pair_intervals.SAID if with_chance else pair_intervals.CERTAIN
        return PairOutput(
            np.empty((pairs + _SPARE, width if self.query.every_us else pair_intervals.ONCE), np.int64),
            np.empty(room if with_chance else 0),
            with_chance,
            self.tests_one_difference_twice,
            self.laid,
            self.sheet,
            np.empty(SOME, np.int64),
            self.work,
            np.zeros(pair_intervals.PLACES, np.int64),
        )

    def _said(self, columns: Whole) -> Said:
        left, right = columns[pair_intervals.LEFT], columns[pair_intervals.OTHER]
        when: Ticks | Whole = columns[pair_intervals.LAST]
        if self.query.every_us:
            when = Ticks(
                columns[pair_intervals.FIRST],
                columns[pair_intervals.TICKS],
                columns[pair_intervals.LAST],
                columns[-1],  # if a query reads them
                self.query.every_us,
            )
        # A pair is emitted only if the left line has the smaller key, on whichever side of the difference its alias is written.
        in_order = self.left == 0 or self.plan.rules[ONCE] == 1
        return Said(columns[pair_intervals.SINCE], (left, right) if in_order else (right, left), when)


class _Desk:
    """Where pairs are noted and settled, some at a time; `output`: what they have emitted so far."""

    def __init__(self, ground: Ground, spoken: PairOutput, watermark: Instant) -> None:
        self.ground = ground
        self.output = spoken
        self.watermark = watermark
        self.pairs = Pairs(np.empty((_DESK, pairing.PAIR), np.int64), np.zeros(1, np.int64))
        self._blocks: list[Whole] = []

    def take(self, block: Whole) -> None:
        """Advance time for the existing pairs."""
        start = 0
        while start < len(block):
            count = int(self.pairs.at[0])
            some = block[start : start + len(self.pairs.rows) - count]
            self.pairs.rows[count : count + len(some)] = some
            self.pairs.at[0] += len(some)
            start += len(some)
            self._settle()

    def note(self, came: Whole) -> None:
        """Find the pairs of new lines, and advance time for them."""
        before = -1
        while note_some(self.ground, self.pairs, came) != searching.DONE:
            if self.pairs.at[0] == before:  # one line alone has more pairs than there is room for
                self.pairs = self.pairs._replace(rows=_longer(self.pairs.rows, 2 * len(self.pairs.rows)))
            self._settle()
            before = int(self.pairs.at[0])
        self._settle()

    def remaining(self) -> tuple[Whole, ...]:
        """The pairs that are not over yet."""
        self._clear()
        return tuple(self._blocks)

    def _settle(self) -> None:
        """Advance time for the pairs after those that are settled already."""
        pairs, at, ground = self.pairs, self.output.at, self.ground
        at[pair_intervals.NEXT] = at[pair_intervals.SEEN] = at[pair_intervals.STAYING]
        while (
            settle(ground.plan, ground.lines, ground.promised, pairs, self.output, self.watermark)
            != searching.DONE
        ):
            self.output = _with_room(self.output)
        pairs.at[0] = at[pair_intervals.STAYING]
        if 2 * pairs.at[0] > len(pairs.rows):
            self._clear()

    def _clear(self) -> None:
        """Store the pairs that are left."""
        if self.pairs.at[0]:
            self._blocks.append(self.pairs.rows[: self.pairs.at[0]].copy())
            self.pairs.at[0] = self.output.at[pair_intervals.STAYING] = 0


def _with_room(spoken: PairOutput) -> PairOutput:
    """Twice the room for what is emitted."""
    return spoken._replace(
        rows=_longer(spoken.rows, 2 * len(spoken.rows)), chance=_longer(spoken.chance, 2 * len(spoken.chance))
    )


def _sides(pairs: Whole) -> tuple[Whole, Whole]:
    """The left and the right lines."""
    return pairs >> pairing.SHIFT, pairs & pairing.RIGHT


def _without(there: Whole, gone: Whole) -> Whole:
    """The present lines, without removed ones."""
    return there[~np.isin(there, gone)]


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
