"""FENCE, straight from its definition: instant by instant, every pair, every word. Geometry in fractions.

Positions and fences are taken in the order of their streams. Fences that stand still are there from the beginning and have no updates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

from headwater.model import EARTH_RADIUS_M, Instant
from tests.laws.oracles.correlate import distance

Row = dict[str, Any]
Place = tuple[float, float]
Ring = Sequence[Place]  # its last corner is its first one again
HOUR_US = 3_600_000_000


@dataclass(frozen=True)
class Circle:
    """All places at most so far away."""

    centre: Place
    radius_m: float
    geographic: bool = False

    def contains(self, place: Place) -> bool:
        """On its border, too."""
        return distance(self.geographic, self.centre, place) <= self.radius_m

    def meets(self, one: Place, other: Place) -> bool:
        """Whether a line meets it that neither begins nor ends in it."""
        x, y = self._metres(other[0] - one[0], other[1] - one[1])
        to_x, to_y = self._metres(self.centre[0] - one[0], self.centre[1] - one[1])
        length, ahead = x * x + y * y, to_x * x + to_y * y
        return 0 < ahead < length and (x * to_y - y * to_x) ** 2 <= Fraction(self.radius_m) ** 2 * length

    def _metres(self, x: float, y: float) -> tuple[Fraction, Fraction]:
        """A way, at the scale of the centre."""
        if not self.geographic:
            return Fraction(x), Fraction(y)
        a_degree = math.radians(1) * EARTH_RADIUS_M
        x = x - 360 if x > 180 else x + 360 if x < -180 else x
        return Fraction(x * math.cos(math.radians(self.centre[1])) * a_degree), Fraction(y * a_degree)


@dataclass(frozen=True)
class Rings:
    """Polygons with holes."""

    rings: Sequence[Ring]
    geographic: bool = False

    def contains(self, place: Place) -> bool:
        """By the number of edges above a place, or because it lies on one."""
        if any(_touch(edge, (place, place)) for edge in self._edges()):
            return True
        above = 0
        for (ax, ay), (bx, by) in self._edges():
            if (ax <= place[0]) != (bx <= place[0]):
                high = Fraction(ay) + (Fraction(by) - Fraction(ay)) * (Fraction(place[0]) - Fraction(ax)) / (
                    Fraction(bx) - Fraction(ax)
                )
                above += high > place[1]
        return above % 2 == 1

    def meets(self, one: Place, other: Place) -> bool:
        """Whether a line meets them that neither begins nor ends in them; it goes the shorter way around the Earth."""
        lines = [(one, other)]
        if self.geographic and abs(other[0] - one[0]) > 180:
            around = 360.0 if other[0] < one[0] else -360.0
            lines = [(one, (other[0] + around, other[1])), ((one[0] - around, one[1]), other)]
        return any(_touch(edge, line) for edge in self._edges() for line in lines)

    def _edges(self) -> Iterator[tuple[Place, Place]]:
        for ring in self.rings:
            yield from pairwise(ring)


Shape = Circle | Rings


def _touch(one: tuple[Place, Place], other: tuple[Place, Place]) -> bool:
    """Whether two lines have a place in common; a line may be a place."""
    for axis in (0, 1):
        low, high = sorted(place[axis] for place in one)
        if max(place[axis] for place in other) < low or min(place[axis] for place in other) > high:
            return False
    apart = [_turn(*one, other[0]) * _turn(*one, other[1]), _turn(*other, one[0]) * _turn(*other, one[1])]
    return all(product <= 0 for product in apart)


def _turn(a: Place, b: Place, c: Place) -> int:
    (ax, ay), (bx, by), (cx, cy) = ((Fraction(x), Fraction(y)) for x, y in (a, b, c))
    found = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    return (found > 0) - (found < 0)


@dataclass(frozen=True)
class Update:
    """A row that satisfies its WHERE: a position, or a fence with its shape. Without a key or a place (or a shape) it is none."""

    time: Instant
    key: Any
    place: Place | None
    shape: Shape | None = None


@dataclass(frozen=True)
class Fencing:
    """What is asked. `same`: fences are of the stream of positions; `roaming`: and each of its pairs counts once."""

    detect: frozenset[str] = frozenset({"enter", "exit"})
    forget_us: int = HOUR_US
    same: bool = False
    roaming: bool = False


@dataclass
class _World:
    """What holds at an instant."""

    fencing: Fencing
    places: dict[Any, Place] = field(default_factory=dict)
    shapes: dict[Any, Shape] = field(default_factory=dict)
    standing: Mapping[Any, Shape] = field(default_factory=dict)
    heard: dict[tuple[str, Any], Instant] = field(default_factory=dict)
    inside: set[tuple[Any, Any]] = field(default_factory=set)
    emitted: list[Row] = field(default_factory=list)

    def fences(self) -> dict[Any, Shape]:
        return {**self.standing, **self.shapes}

    def tell(self, change: str, time: Instant, one: Any, fence: Any) -> None:
        if change in self.fencing.detect:
            x, y = self.places[one]
            self.emitted.append(
                {"event_time": time, "change": change, "object": one, "fence": fence, "x": x, "y": y}
            )

    def is_pair(self, one: Any, fence: Any) -> bool:
        if self.fencing.roaming:
            return one < fence
        return not (self.fencing.same and one == fence)

    def forget_before(self, until: Instant, *, and_at: bool = False) -> None:
        """Those who are silent for too long by then, one instant after the other."""
        while True:
            due = {who: at + self.fencing.forget_us + 1 for who, at in self.heard.items()}
            due = {who: at for who, at in due.items() if at < until or (and_at and at == until)}
            if not due:
                return
            now = min(due.values())
            gone = [who for who, at in due.items() if at == now]
            for one, fence in sorted(self.inside, key=repr):
                if ("object", one) in gone or ("fence", fence) in gone:
                    self.tell("exit", now, one, fence)
                    self.inside.discard((one, fence))
            for side, key in gone:
                del self.heard[side, key]
                del (self.places if side == "object" else self.shapes)[key]

    def update(self, now: Instant, moved: Mapping[Any, Place], drawn: Mapping[Any, Shape]) -> None:
        """All that is said at an instant."""
        self.forget_before(now, and_at=True)
        before = dict(self.places)
        self.places.update(moved)
        self.shapes.update(drawn)
        self.heard.update({("object", key): now for key in moved} | {("fence", key): now for key in drawn})
        for one, place in self.places.items():
            for fence, shape in self.fences().items():
                if self.is_pair(one, fence) and (one in moved or fence in drawn):
                    self._look(now, one, place, fence, shape, before.get(one) if one in moved else None)
        for one in moved:
            is_in = any(a == one or (self.fencing.roaming and b == one) for a, b in self.inside)
            for a, fence in self.inside:
                if a == one:
                    self.tell("inside", now, one, fence)
            if not is_in:
                self.tell("outside", now, one, None)

    def _look(
        self, now: Instant, one: Any, place: Place, fence: Any, shape: Shape, before: Place | None
    ) -> None:
        is_in, was_in = shape.contains(place), (one, fence) in self.inside
        if is_in and not was_in:
            self.inside.add((one, fence))
            self.tell("enter", now, one, fence)
        if was_in and not is_in:
            self.inside.discard((one, fence))
            self.tell("exit", now, one, fence)
        if before is None or is_in or shape.contains(before) or before == place:
            return
        if shape.meets(before, place):
            self.tell("cross", now, one, fence)


def changes(
    fencing: Fencing,
    positions: Sequence[Update],
    fences: Sequence[Update] = (),
    *,
    standing: Mapping[Any, Shape] | None = None,
    until: Instant,
) -> list[Row]:
    """Everything that is told before `until`, by time."""
    world = _World(fencing, standing=standing or {})
    moved = _by_time(positions, lambda update: update.place)
    drawn = _by_time(fences, lambda update: update.shape)
    for now in sorted({*moved, *drawn}):
        world.update(now, moved.get(now, {}), drawn.get(now, {}))
    world.forget_before(until)
    return sorted(world.emitted, key=lambda row: row["event_time"])


def is_update(update: Update) -> bool:
    """Whether there is somebody, and somewhere."""
    return update.key is not None and update.place is not None


def _by_time(updates: Sequence[Update], said: Callable[[Update], Any]) -> dict[Instant, dict[Hashable, Any]]:
    """What is said at every instant, of several of one key the last."""
    found: dict[Instant, dict[Hashable, Any]] = {}
    for update in updates:
        if is_update(update) and said(update) is not None:
            found.setdefault(update.time, {})[update.key] = said(update)
    return found
