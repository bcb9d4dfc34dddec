"""Which keys have lines that may match a line? An index of keys by the boxes of what their lines can reach, so that a step reads few of many keys.

Rule 1  A line is in `cell_index` with a box for each join and side on which it can be: what it can reach over its life, widened so that two lines
        match only if their boxes meet (`geometry.reach`). Joins and sides have layers of their own.
Rule 2  A line that is cut keeps only the pairs that match with the life that is left. So all partners of a line in answers have boxes that
        meet the line's own, before the cut and after it.
Rule 3  Of more than two aliases, one is found from the other along the joins, in as many rounds as there are further aliases.
Rule 4  A query has neighbours if each of its joins has an upper bound on some difference. Others read all lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.cell_index import Boxes, CellIndex
from headwater.kernels.predict.geometry import Join, join_of, reach
from headwater.kernels.predict.geometry.shapes import LOOP, Lines, Real
from headwater.kernels.predict.line_grid import AXES
from headwater.kernels.predict.plan import ONCE, plan_of
from headwater.kernels.predict.question import PredictQuery, bounds_all_joins
from headwater.model import Ids, no_records

_MOST_LAYERS: Final = 64
"""CellIndex of a query: two for each join, of which there are at most as many as pairs of aliases."""


Sources = Sequence[Sequence[int]]


class Owned(NamedTuple):
    """Lines of one source, and the key of each: uint64[n, 2]."""

    lines: Lines
    ids: Ids


class _Side(NamedTuple):
    """A side of a join of a query: which of the query's sources has its lines, its layer, and the layer of its partners."""

    query: int
    join: Join
    side: int
    source: int
    layer: int
    partners: int


class Neighbours:
    """The index of the lines of some queries. Lines are given by source; `sources`: which of these each of a query's own is."""

    def __init__(self, queries: Sequence[PredictQuery]) -> None:
        self._sides = [side for number, query in enumerate(queries) for side in _sides(query, number)]
        self.rounds = max((len(query.aliases) - 1 for query in queries), default=0)

    def boxes(self, owned: Sequence[Owned], sources: Sources) -> Boxes:
        """The boxes of lines."""
        parts = [(side.layer, some.ids, boxes) for side, some, boxes in self._boxes(owned, sources)]
        return Boxes(
            np.concatenate([no_records().ids, *(ids for _, ids, _ in parts)]),
            np.concatenate([np.zeros((0, 2 * AXES)), *(boxes for _, _, boxes in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(np.full(len(ids), layer) for layer, ids, _ in parts)]),
        )

    def of(self, near: CellIndex, owned: Sequence[Owned], sources: Sources) -> Ids | None:
        """The keys of lines that may match these, and some others; None: so many that reading all is better."""
        found = [no_records().ids]
        for side, _, boxes in self._boxes(owned, sources):
            some = near.meeting(boxes, side.partners)
            if some is None:
                return None
            found.append(some)
        return np.concatenate(found)

    def _boxes(self, owned: Sequence[Owned], sources: Sources) -> Iterator[tuple[_Side, Owned, Real]]:
        for side in self._sides:
            some = owned[sources[side.query][side.source]]
            boxes = np.empty((len(some.lines.t0), 2 * AXES))
            _reach_of(Lines(*map(_plain, some.lines)), side.join, side.side, boxes)
            yield side, some, boxes


def has_neighbours(query: PredictQuery) -> bool:
    """Whether a step needs to read only few of many lines."""
    many = len(query.aliases)
    return (
        many > 1
        and query.buffer is None
        and many * (many - 1) <= _MOST_LAYERS
        and bounds_all_joins(query.conditions)
    )


def _sides(query: PredictQuery, number: int) -> Iterator[_Side]:
    plan = plan_of(query)
    aliases = zip(plan.joins.left.tolist(), plan.joins.right.tolist(), strict=True)
    for place, (left, right) in enumerate(aliases):
        join, layer = join_of(query, left, right), number * _MOST_LAYERS + 2 * place
        one, other = int(plan.source[left]), int(plan.source[right])
        if plan.rules[ONCE] == 1:
            yield _Side(number, join, 0, one, layer, layer)
            continue
        yield _Side(number, join, 0, one, layer, layer + 1)
        yield _Side(number, join, 1, other, layer + 1, layer)


@loop(**LOOP)
def _reach_of(lines: Lines, join: Join, side: int, boxes: Real) -> None:
    """Write the boxes of lines; a missing axis is a point."""
    for k in range(len(boxes)):
        for axis in range(AXES):
            low, high = reach(lines, k, join, side, axis)
            has_axis = high - low < np.inf
            boxes[k, axis], boxes[k, AXES + axis] = (low, high) if has_axis else (0.0, 0.0)


def _plain(column: NDArray[Any]) -> NDArray[Any]:
    """The one layout for which the loop is compiled."""
    return np.require(column, requirements=["C", "W"])
