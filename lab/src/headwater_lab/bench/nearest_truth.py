"""Which objects must be emitted? Worked out from the distances of all objects to one point, with neither kernel nor Spark.

An object is emitted when it is first among the k nearest of the window. The window at instant T holds the objects with
t <= T < t + w; of equally near ones the newer is first; arrivals and expiries of one instant apply together.

Rule 1  At every instant at which something comes or goes, the objects of the window are in a sorted list and the first k
        of them are emitted, unless they were before. With a limit (PA) the list is cut to so many after every instant.
Rule 2  Without a limit, objects that can never be emitted need not come into the list. Until the first window is full, it holds
        all that came before; once the last object has come, all that came after what has expired. In between it holds at
        least one whole half window, counted from the first object: who has k nearer ones in each of those around is out.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from heapq import heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from headwater.model import Rows
from headwater_lab.bench.nearest_objects import Floats, Numbers, Objects


@dataclass(frozen=True, slots=True)
class Enters:
    """What is emitted: number of the point, number of the object and the instant of its entering, each [m]."""

    point: Numbers
    number: Numbers
    at: Numbers

    def __len__(self) -> int:
        return len(self.at)

    def before(self, instant: int) -> Enters:
        """Those up to an instant, which itself is out."""
        return self._chosen(self.at < instant)

    def since(self, instant: int) -> Enters:
        """Those from an instant on."""
        return self._chosen(self.at >= instant)

    def of(self, points: Sequence[int]) -> Enters:
        """Those of some of the points."""
        return self._chosen(np.isin(self.point, points))

    def digest(self) -> str:
        """One digest of all, the same in whatever order they are."""
        parts = self._parts()
        return blake2b(np.ascontiguousarray(parts[np.lexsort(parts.T)]).tobytes(), digest_size=16).hexdigest()

    def share_in(self, other: Enters) -> float:
        """The share of these pairs of point and object that the other ones have too, at whatever instant."""
        if not len(self):
            return 1.0
        mine, theirs = self._parts()[:, :2], other._parts()[:, :2]
        both = set(map(tuple, mine.tolist())) & set(map(tuple, theirs.tolist()))
        return len(both) / len(self)

    def _chosen(self, mask: NDArray[np.bool_]) -> Enters:
        return Enters(self.point[mask], self.number[mask], self.at[mask])

    def _parts(self) -> Numbers:
        return np.stack([self.point, self.number, self.at], axis=1).astype("<i8")


def together(parts: Sequence[Enters]) -> Enters:
    """Several lists as one."""
    none = np.empty(0, np.int64)
    fields = ("point", "number", "at")
    return Enters(*(np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in fields))


def emitted(blocks: Iterable[Rows]) -> Enters:
    """The contents of answers in blocks."""
    columns = ("point", "key", "event_time")
    return together([Enters(*(block[name].values for name in columns)) for block in blocks])


def distances(objects: Objects, point: Floats) -> Floats:
    """Euclidean distance of every object, added up attribute by attribute."""
    total = np.zeros(len(objects))
    for place, coordinate in enumerate(point.tolist()):
        total += (objects.values[:, place] - coordinate) ** 2
    return np.sqrt(total)


def expected(
    objects: Objects,
    points: Floats,
    chosen: Sequence[int],
    *,
    k: int,
    window_us: int,
    limit: int | None = None,
) -> Enters:
    """What must be emitted for some of the points; with a limit, where no more than so many objects are stored."""
    parts = []
    for point in chosen:
        distance = distances(objects, points[point])
        rows = np.arange(len(objects)) if limit else contenders(objects.at, distance, k, window_us)
        number, at = _entering(objects.at[rows].tolist(), distance[rows].tolist(), k, window_us, limit)
        parts.append(Enters(np.full(len(number), point), rows[number], at))
    return together(parts)


def contenders(at: Numbers, distance: Floats, k: int, window_us: int) -> Numbers:
    """The rows that may ever be among the k nearest, and not many others."""
    if not len(at):
        return np.empty(0, np.int64)
    start = np.searchsorted(at, at[0] + window_us)
    stop = np.searchsorted(at, at[-1] - window_us, "right")
    retained = np.zeros(len(at), np.bool_)
    retained[:start] |= _near_so_far(distance[:start], k)
    retained[stop:] |= _near_so_far(distance[stop:][::-1], k)[::-1]
    retained |= distance <= _reach_near(at, distance, k, window_us // 2)
    return np.flatnonzero(retained)


def _near_so_far(distance: Floats, k: int) -> NDArray[np.bool_]:
    """Which have fewer than k nearer ones before them."""
    nearest: list[float] = []
    retained = np.zeros(len(distance), np.bool_)
    for row, value in enumerate(distance.tolist()):
        if len(nearest) < k:
            heappush(nearest, -value)
            retained[row] = True
        elif value <= -nearest[0]:
            heapreplace(nearest, -value)
            retained[row] = True
    return retained


def _reach_near(at: Numbers, distance: Floats, k: int, span_us: int) -> Floats:
    """For each row, the greatest k-th distance of the whole spans up to two before and after its own; -1: there are none."""
    span = (at - at[0]) // span_us
    whole = int(span[-1])
    kth = np.full(whole, np.inf)
    for number in range(whole):
        low, high = np.searchsorted(span, [number, number + 1])
        if high - low >= k:
            kth[number] = np.partition(distance[low:high], k - 1)[k - 1]
    reach = np.array([kth[max(0, number - 2) : number + 3].max(initial=-1.0) for number in range(whole + 1)])
    return reach[span]


def _entering(
    at: list[int], distance: list[float], k: int, window_us: int, limit: int | None
) -> tuple[Numbers, Numbers]:
    """The rows that are emitted and when, instant by instant."""
    inside: list[tuple[float, int]] = []
    by_age: deque[int] = deque()
    gone = [False] * len(at)
    known = [False] * len(at)
    found: list[tuple[int, int]] = []

    def settle(instant: int) -> None:
        """Drop what expires, cut, and emit."""
        while by_age and (gone[by_age[0]] or at[by_age[0]] + window_us <= instant):
            row = by_age.popleft()
            if not gone[row]:
                del inside[bisect_left(inside, (distance[row], -row))]
        while limit is not None and len(inside) > limit:
            gone[-inside.pop()[1]] = True
        for _, minus in inside[:k]:
            if not known[-minus]:
                known[-minus] = True
                found.append((-minus, instant))

    row = 0
    while row < len(at):
        instant = at[row]
        while by_age and at[by_age[0]] + window_us < instant:
            settle(at[by_age[0]] + window_us)
        expires = changes = bool(by_age) and at[by_age[0]] + window_us == instant
        while row < len(at) and at[row] == instant:
            if limit is None or expires or len(inside) < limit or distance[row] <= inside[-1][0]:
                insort(inside, (distance[row], -row))
                by_age.append(row)
                changes = True
            row += 1
        if changes:
            settle(instant)
    while by_age:
        settle(at[by_age[0]] + window_us)
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
