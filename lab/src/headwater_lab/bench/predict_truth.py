"""Which answers must there be? Worked out for a few sensors from all updates, pair by pair, with neither kernel nor index.

Rule 1  A line holds on [t, the sensor's next update), at most T. For two lines the pairs of instants at which they match are a
        polygon: the box of their lives, cut by one half-plane after the other. The answer's interval are the least and the greatest
        of the later of the two instants over it; the least is at a corner of one of the halves on either side of t_k = t_l.
Rule 2  Where it depends on the last digits of a number whether there is anything left, either is right: such a pair is tried with bounds
        a little wider and a little tighter, and is left out if they disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import numpy as np

from headwater.model import SECOND, Rows
from headwater_lab.bench.predict_kernel import Floats, Numbers, PredictQuestion, Sent

Point = tuple[float, float]
Pair = tuple[int, int, int, int]
Interval = tuple[float, float]

A_LITTLE: Final = 1e-7
SAME_US: Final = 10


@dataclass(frozen=True, slots=True)
class Lines:
    """Updates with their lives: `key[n]`, `at[n]`, `end[n]` (instants), `values[n, d]`, `slopes[n, d]` (a second)."""

    key: Numbers
    at: Numbers
    end: Numbers
    values: Floats
    slopes: Floats


@dataclass(slots=True)
class Collected:
    """The intervals that were emitted about some sensors, by the two sensors and the times of their updates."""

    sensors: frozenset[int]
    intervals: dict[Pair, Interval]

    @classmethod
    def about(cls, sensors: Sequence[int]) -> Collected:
        """Those of these sensors alone."""
        return cls(frozenset(sensors), {})

    def take(self, rows: Rows) -> None:
        """Look through a block of answers."""
        keys = rows["a_key"].values, rows["b_key"].values
        selected = np.flatnonzero(np.isin(keys[0], list(self.sensors)) | np.isin(keys[1], list(self.sensors)))
        names = ("a_key", "a_time", "b_key", "b_time", "begins", "ends")
        for cells in zip(*(rows[name].values[selected].tolist() for name in names), strict=True):
            self.intervals[cells[0], cells[1], cells[2], cells[3]] = cells[4], cells[5]


@dataclass(slots=True)
class Digest:
    """What some columns say in all rows, in short: two are equal if they saw the same."""

    columns: tuple[str, ...]
    said: str = ""

    @classmethod
    def of(cls, columns: Iterable[str] | None) -> Digest:
        """Of these columns and the time and identity of rows; None: of these two alone."""
        return cls(("event_time", "match_id", *sorted(columns or ())))

    def take(self, rows: Rows) -> None:
        """Look through a block of answers."""
        seen = sha256(self.said.encode())
        for name in self.columns:
            seen.update(np.ascontiguousarray(rows[name].values).tobytes())
        self.said = seen.hexdigest()


def lines_of(sent: Sent) -> Lines:
    """The updates with the ends of their lives; of two updates of one sensor and time the later one lives."""
    rows = sent.rows
    key, at = rows["id"].values, rows["event_time"].values
    order = np.lexsort((np.arange(len(key)), at, key))
    following = np.full(len(key), np.iinfo(np.int64).max)
    same = key[order][1:] == key[order][:-1]
    following[order[:-1][same]] = at[order[1:][same]]
    end = np.minimum(following, at + np.rint(rows["heartbeat"].values * SECOND).astype(np.int64))
    return Lines(key, at, end, _columns(rows, sent.dimensions), _columns(rows, _slopes(sent.dimensions)))


def wrong_sensors(collected: Collected, sent: Sent, question: PredictQuestion) -> list[int]:
    """The sensors about which something else was emitted than follows from the updates."""
    lines = lines_of(sent)
    return [sensor for sensor in sorted(collected.sensors) if not _right(sensor, collected, lines, question)]


def _right(sensor: int, collected: Collected, lines: Lines, question: PredictQuestion) -> bool:
    found = {pair: interval for pair, interval in collected.intervals.items() if sensor in (pair[0], pair[2])}
    for one in np.flatnonzero((lines.key == sensor) & (lines.end > lines.at)).tolist():
        for other in _candidates(lines, one, question).tolist():
            left, right = (one, other) if lines.key[one] < lines.key[other] else (other, one)
            pair = (int(lines.key[left]), int(lines.at[left]), int(lines.key[right]), int(lines.at[right]))
            wide, tight = (
                _interval(lines, left, right, question.bound + more, question.within_us)
                for more in (A_LITTLE, -A_LITTLE)
            )
            interval = found.pop(pair, None)
            if interval is None and tight is not None:
                return False
            if interval is not None and (wide is None or not _same(interval, wide)):
                return False
    return not found


def _same(collected: Interval, must: Interval) -> bool:
    return all(abs(one - other) <= SAME_US for one, other in zip(collected, must, strict=True))


def _candidates(lines: Lines, one: int, question: PredictQuestion) -> Numbers:
    """Lines of others that live at about the same time and come near enough, if each were anywhere on its own way at any time."""
    near = (lines.key != lines.key[one]) & (lines.end > lines.at)
    near &= (lines.at <= lines.end[one] + question.within_us) & (
        lines.at[one] <= lines.end + question.within_us
    )
    chosen = np.flatnonzero(near)
    for place in range(lines.values.shape[1]):
        low, high = _extent(lines, chosen, place)
        mine_low, mine_high = _extent(lines, np.array([one]), place)
        reach = question.bound + 1.0
        met = (low <= mine_high + reach) & (high >= mine_low - reach)
        chosen = chosen[met]
    return chosen


def _extent(lines: Lines, chosen: Numbers, place: int) -> tuple[Floats, Floats]:
    start = lines.values[chosen, place]
    stop = start + lines.slopes[chosen, place] * (lines.end[chosen] - lines.at[chosen]) / SECOND
    return np.minimum(start, stop), np.maximum(start, stop)


def _interval(lines: Lines, left: int, right: int, bound: float, within_us: int) -> Interval | None:
    """When the pair is true, in instants; None: never. Seconds are counted from the later of the two updates."""
    zero = int(max(lines.at[left], lines.at[right]))
    since = [(int(lines.at[line]) - zero) / SECOND for line in (left, right)]
    until = [(int(lines.end[line]) - zero) / SECOND for line in (left, right)]
    corners: list[Point] = [
        (since[0], since[1]), (until[0], since[1]), (until[0], until[1]), (since[0], until[1]),
    ]  # fmt: skip
    within = within_us / SECOND
    planes = [(1.0, -1.0, within), (-1.0, 1.0, within)]
    for place in range(lines.values.shape[1]):
        up, down = float(lines.slopes[left, place]), float(lines.slopes[right, place])
        apart = (
            float(lines.values[left, place] - lines.values[right, place]) - up * since[0] + down * since[1]
        )
        planes += [(up, -down, bound - apart), (-up, down, bound + apart)]
    for plane in planes:
        corners = _cut(corners, *plane)
    if not corners or not all(min(c[side] for c in corners) < until[side] for side in (0, 1)):
        return None
    halves = (_cut(corners, -1.0, 1.0, 0.0), _cut(corners, 1.0, -1.0, 0.0))
    begins = min(corner[side] for side, half in enumerate(halves) for corner in half)
    ends = max(max(corner) for corner in corners)
    return zero + begins * SECOND, zero + ends * SECOND


def _cut(corners: Sequence[Point], a: float, b: float, most: float) -> list[Point]:
    """What is left of a polygon where a·x + b·y <= most."""
    remaining: list[Point] = []
    for number, (x, y) in enumerate(corners):
        before_x, before_y = corners[number - 1]
        here, before = a * x + b * y - most, a * before_x + b * before_y - most
        if (here > 0) != (before > 0):
            share = before / (before - here)
            remaining.append((before_x + share * (x - before_x), before_y + share * (y - before_y)))
        if here <= 0:
            remaining.append((x, y))
    return remaining


def _columns(rows: Rows, names: Sequence[str]) -> Floats:
    return np.column_stack([rows[name].values for name in names])


def _slopes(dimensions: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{name}_slope" for name in dimensions)
