"""Which zones must receive an update, and which of them answers for a pair?

Rule 1  The values that the first join compares are cut into square tiles, TILES times as wide as the greatest of its upper bounds; a hash
        of a tile gives its zone. An update goes to the zones of all tiles that its box meets: where it can be over its
        whole possible life, from its own content alone.
Rule 2  A pair belongs to the tile with the greater of the two boxes' low corners, along each axis. If the lines match, the boxes
        meet, and both meet that tile. So some zone has both, and one zone answers.
Rule 3  Without an upper bound, with one that is 0, or with one alias there are no tiles: every zone receives everything, and a hash of
        keys and update times decides which answers. With three and more aliases every zone receives everything, and the first join's
        tiles decide. The same holds with a buffer: what is given up depends on all updates.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from headwater.compiled import loop
from headwater.kernels.predict.choices import Comparator
from headwater.kernels.predict.geometry import reach
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Lines, Real, Whole
from headwater.kernels.predict.line_grid import AXES, mixed
from headwater.kernels.predict.plan import SOURCES, ZONE, ZONES, Plan
from headwater.kernels.predict.plan import join_of as joined
from headwater.kernels.predict.question import Difference, Distance, PredictQuery

TILES: Final = 32
MOST_TILES: Final = 256
"""An update that meets more tiles than this goes to all zones."""

_FARTHEST: Final = 2.0**62


def tile_of(query: PredictQuery) -> float:
    """The width of a query's tiles; 0: it has none."""
    bounds = [0.0]
    if len(query.aliases) > 1:
        joins = [c for c in query.conditions if isinstance(c, Difference | Distance)]
        pair = {joins[0].left, joins[0].right}
        bounds += [c.bound for c in joins if {c.left, c.right} == pair and _is_bounded(c)]
    widest = TILES * max(bounds)
    return widest if widest < np.inf else 0.0


def hears_all(query: PredictQuery) -> bool:
    """Whether every zone must receive every update."""
    return len(query.aliases) != 2 or query.buffer is not None or tile_of(query) == 0.0


def _is_bounded(condition: Difference | Distance) -> bool:
    if isinstance(condition, Distance):
        return True
    return condition.comparator in (Comparator.LESS_EQUAL, Comparator.LESS)


@loop(**LOOP)
def meets(lines: Lines, line: int, join: Join, side: int, tile: float, zone: int, zones: int) -> bool:
    """Whether a line on a side of a join meets a tile of a zone."""
    x, x_last = _span(lines, line, join, side, 0, tile)
    y, y_last = _span(lines, line, join, side, 1, tile)
    if (x_last - x + 1.0) * (y_last - y + 1.0) > MOST_TILES:
        return True
    for a in range(int(x_last - x) + 1):
        for b in range(int(y_last - y) + 1):
            if zone_of(mixed(mixed(np.int64(x + a)) ^ np.int64(y + b)), zones) == zone:
                return True
    return False


@loop(**LOOP)
def is_here(plan: Plan, lines: Lines, line: int, tile: float, hears_all: bool, corners: Real) -> bool:
    """Whether a line is for this zone; writes the corners of its box."""
    if tile <= 0.0:
        return True
    join = joined(plan.joins, 0)
    here = hears_all
    for side in range(2):
        alias = plan.joins.left[0] if side == 0 else plan.joins.right[0]
        if plan.source[alias] != line % plan.rules[SOURCES]:
            continue
        for axis in range(AXES):
            corners[line, side, axis] = corner(lines, line, join, side, axis)
        here = here or meets(lines, line, join, side, tile, plan.rules[ZONE], plan.rules[ZONES])
    return here


@loop(**LOOP)
def is_ours(
    plan: Plan, t0: Whole, identity: Whole, corners: Real, tile: float, left: int, right: int
) -> bool:
    """Whether a pair belongs to this zone; the aliases are those of the only join. `identity` by line."""
    zones = plan.rules[ZONES]
    if tile > 0.0:
        x = max(corners[left, 0, 0], corners[right, 1, 0])
        y = max(corners[left, 0, 1], corners[right, 1, 1])
        return owner(x, y, tile, zones) == plan.rules[ZONE]
    one, other = (left, right) if plan.joins.left[0] == 0 else (right, left)
    name = mixed(mixed(identity[one]) ^ t0[one])
    name = mixed(mixed(name ^ identity[other]) ^ t0[other])
    return zone_of(name, zones) == plan.rules[ZONE]


@loop(**LOOP)
def owner(low_x: float, low_y: float, tile: float, zones: int) -> int:
    """The zone that answers for a pair, by the greater of the low corners of its boxes."""
    return zone_of(mixed(mixed(np.int64(_place(low_x, tile))) ^ np.int64(_place(low_y, tile))), zones)


@loop(**LOOP)
def corner(lines: Lines, line: int, join: Join, side: int, axis: int) -> float:
    """The low end of a line's box along an axis; 0 where it has none."""
    low, _ = reach(lines, line, join, side, axis)
    return low if low > -np.inf else 0.0


@loop(**LOOP)
def zone_of(name: Any, zones: int) -> int:
    """The zone of a hash."""
    return int(np.uint64(name) % np.uint64(zones))


@loop(**LOOP)
def _place(value: float, tile: float) -> float:
    return min(max(np.floor(value / tile), -_FARTHEST), _FARTHEST)


@loop(**LOOP)
def _span(lines: Lines, line: int, join: Join, side: int, axis: int, tile: float) -> tuple[float, float]:
    low, high = reach(lines, line, join, side, axis)
    if low == -np.inf and high == np.inf:
        return 0.0, 0.0  # no such axis
    return _place(low, tile), _place(high, tile)
