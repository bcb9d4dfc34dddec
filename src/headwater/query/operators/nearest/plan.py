"""From a checked NEAREST to the queries of its kernel: which algorithm, which points, and which of them in which zone.

Rule 1  Without USING … ALGORITHM the engine chooses: PA where a loss is allowed, else RAPF; RA if the window is so short
        that hardly any object could be deferred.
Rule 2  The points of one query live in `parts` zones, each point in one, by its place alone, so that it stays
        where its state is when other points are added or removed. All of these zones need every object: the distance up to which a query
        needs objects is known only where it lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.nearest.audit import audited
from headwater.kernels.nearest.candidate_limits import r_star, skyband_size
from headwater.kernels.nearest.choices import Algorithm
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import Column, ColumnType, FencesSchema, PointsSchema, Rows
from headwater.model.identity import content_hash
from headwater.query.operators.contract import KernelPlace
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.planning.row_conditions import RowConditions

if TYPE_CHECKING:
    from headwater.kernels.nearest.kernel import NearestKernel
    from headwater.query.planning.query_plan import QueryPlan

POINTS_A_ZONE: Final = 1000
"""Points that one zone answers; more are spread over all zones."""

ASSUMED_ROWS: Final = 100_000
"""An assumed number of objects in a window of time, while it is not known."""

PRUNE: Final = 0.2
"""γ: how much longer than a strict k-skyband the candidates of a query may become."""

ROWS_TO_PUT_OFF: Final = 8
"""A window of fewer rows than so many for each of the k is too short for RAPF."""

_CELL_BITS: Final = (
    42  # of the 52 binary digits after the point are left out: cells of a thousandth of the value
)


def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> NearestKernel:
    """The kernel of some NEAREST queries, each with those of its points that live in the zone."""
    from headwater.kernels.nearest.kernel import NearestKernel

    conditions = RowConditions()
    kernel_queries = []
    for query in queries:
        operator = query.operator
        assert isinstance(operator, NearestOperator)
        assert isinstance(query.opened_set, Points), "the points have not been given"
        one = make_query(
            operator,
            share(query.opened_set, query.parts, place.zone),
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=conditions.place(query.where, query.spread, place.home),
            audit=query.audit,
            counts_rows=query.parts == 1 or place.zone == 0,
        )
        kernel_queries.append(one)
    return NearestKernel(place.source, [one for one in kernel_queries if len(one.points)], conditions.listed)


def choose_algorithm(operator: NearestOperator) -> Algorithm:
    """The algorithm that answers a query."""
    if operator.algorithm is not None:
        return operator.algorithm
    if operator.sigma is not None:
        return Algorithm.PA
    if operator.window_rows is not None and operator.window_rows < ROWS_TO_PUT_OFF * operator.k:
        return Algorithm.RA
    return Algorithm.RAPF


def expected_candidates(operator: NearestOperator, rows: int) -> float:
    """How many objects a query keeps as candidates while its window holds so many, in random order."""
    algorithm = choose_algorithm(operator)
    if algorithm is Algorithm.PA:
        assert operator.sigma is not None
        return min(rows, r_star(operator.k, operator.sigma))
    if algorithm is Algorithm.RA:
        return (1 + PRUNE) * skyband_size(operator.k, rows)
    # Half of the window is recent and shared by all queries: what a query keeps of it is what it took at once.
    return min((1 + PRUNE) * skyband_size(operator.k, rows), 3.0 * operator.k + 10)


def expected_bytes(operator: NearestOperator, points: int) -> int:
    """Memory for the candidates of so many points: a rough figure, by which the impossible is refused."""
    rows = operator.window_rows or ASSUMED_ROWS
    each = 900 + 32 * len(operator.attributes) + 80 * expected_candidates(operator, rows)
    return int(points * each)


def written_point(operator: NearestOperator) -> Points | None:
    """The points in the text; None: they are loaded."""
    if operator.points is not None:
        return None
    return Points(np.array([operator.point or (0.0,)], np.float64))


def points_of(operator: NearestOperator, schema: PointsSchema | FencesSchema, rows: Rows) -> Points:
    """The points of a table that has been checked."""
    return Points(
        np.column_stack([rows[name].values.astype(np.float64) for name in operator.attributes]),
        rows[schema.key],
    )


def parts_for(points: int, zones: int) -> int:
    """Over how many zones so many points are spread."""
    return 1 if points <= POINTS_A_ZONE else zones


def share(points: Points, parts: int, part: int) -> Points:
    """The points that live in one of the parts."""
    if parts == 1:
        return points
    chosen = np.flatnonzero(_part_of(points.coordinates, parts) == part)
    ids = None if points.ids is None else points.ids.take(chosen)
    return Points(points.coordinates[chosen], ids)


def audited_points(operator: NearestOperator, query: QueryPlan) -> int:
    """For how many of its points the loss of a query is measured, over all zones."""
    assert isinstance(query.opened_set, Points), "the points have not been given"
    found = 0
    for part in range(query.parts):
        if not len(here := share(query.opened_set, query.parts, part)):
            continue
        nearest_query = make_query(
            operator,
            here,
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=None,
            audit=query.audit,
            counts_rows=False,
        )
        twins = audited(nearest_query)
        found += len(twins[0].points) if twins else 0
    return found


def make_query(
    operator: NearestOperator,
    points: Points,
    *,
    name: str,
    fingerprint: str,
    shape: int,
    where: int | None,
    audit: float,
    counts_rows: bool,
) -> NearestQuery:
    """The query of the kernel."""
    return NearestQuery(
        name,
        fingerprint,
        shape,
        where,
        operator.k,
        operator.metric,
        operator.attributes,
        operator.weights,
        points,
        operator.window_us,
        operator.window_rows,
        operator.per,
        operator.ties,
        choose_algorithm(operator),
        operator.sigma,
        operator.emission,
        operator.every_us,
        operator.columns_carried,
        audit,
        counts_rows,
        operator.forget_us,
    )


def _part_of(coordinates: NDArray[np.float64], parts: int) -> NDArray[np.int64]:
    """The part of every point: points that lie close together are in one."""
    cells = (coordinates + 0.0).view(np.int64) >> _CELL_BITS
    hashes = content_hash([Column(ColumnType.BIGINT, axis) for axis in np.ascontiguousarray(cells.T)])[0]
    return (hashes % np.uint64(parts)).astype(np.int64)
