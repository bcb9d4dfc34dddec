"""The kernels of a zone, and which zones a row is wanted in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate import CorrelateKernel
from headwater.kernels.correlate.routing import Routing
from headwater.kernels.correlate.subscription import Subscription
from headwater.kernels.fence.question import Fences
from headwater.kernels.follow.words import Saving
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.kernels.select import Selection, SelectKernel
from headwater.model import Kernel, RowCondition, Rows, StreamSchema
from headwater.model.identity import content_hash
from headwater.query.expressions import condition
from headwater.query.fencings import Reading, make_fence_query
from headwater.query.followings import Behind, events_of, make_follow_query
from headwater.query.merges import merged_name
from headwater.query.neighbours import make_query, share
from headwater.query.operators import (
    AnyOperator,
    CorrelateOperator,
    FenceOperator,
    NearestOperator,
    PatternOperator,
    PredictOperator,
    SuppressOperator,
)
from headwater.query.operators.contract import Demand
from headwater.query.operators.correlate.plan import make_subscription
from headwater.query.operators.views import OperatorViews
from headwater.query.predictions import make_predict_query, make_suppress_query
from headwater.query.tree import Expression
from headwater.query.zones import zone_of

Wanted = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class QueryPlan(OperatorViews):
    """One query, ready to run.

    `fingerprint` changes with the meaning of the query and of all it reads. `schema` is the query's answers
    as a stream. `spread` are the columns by which the query is spread over all zones; without any it lives in one.
    `points` of a NEAREST are None as long as they have not been given. `scatter` names the NEAREST in whose points' zones the
    query lives, in `parts` of them: one, or every one. `audit` is the share of points for which a loss is measured.
    `shared`: it lives in every zone, a PREDICT of pairs with its share of them, any other query as a copy of which one tells.
    `hidden`: nobody asked for its answers but the query it is a link of. `behind` is the FOLLOW for each of whose interests it runs,
    for a FOLLOW itself; and `before_us` how far back from an interest those behind it look, `window_us` how far one of those looks
    itself, `left_off` which savings a FOLLOW does not make. `fences` of a FENCE whose fences stand
    still are None as long as they have not been given.
    """

    name: str
    reads: str
    operator: AnyOperator
    fingerprint: str
    zone_key: str
    shape: int
    where: Expression | None
    schema: StreamSchema
    spread: tuple[str, ...] = ()
    points: Points | None = None
    scatter: str | None = None
    parts: int = 1
    audit: float = 0.0
    shared: bool = False
    hidden: bool = False
    behind: str | None = None
    before_us: int = 0
    window_us: int = 0
    left_off: frozenset[Saving] = frozenset()
    fences: Fences | None = None

    @property
    def kind(self) -> str:
        """Which kernel answers it."""
        return self.operator.kind

    @property
    def is_inside(self) -> bool:
        """Whether it runs inside a FOLLOW, not beside it."""
        return self.behind is not None and self.behind != self.name

    def lives_in(self, zone: int, zones: int) -> bool:
        """Whether a zone answers it."""
        everywhere = self.spread or self.parts > 1 or self.shared
        return bool(everywhere) or zone_of(self.zone_key, zones) == zone


@dataclass(frozen=True, slots=True)
class Group:
    """The queries of one kind that read one source in one zone, and the kernel that answers them.

    State is saved under `name`, which therefore never changes. `looks_at` are sources of events that are kept for it in stores: groups
    without queries, named by `store_of`, whose states its own is given to look at.
    """

    name: str
    reads: str
    queries: tuple[str, ...]
    kernel: Kernel[Any]
    looks_at: tuple[str, ...] = ()


def store_of(source: str) -> str:
    """The name of the group that keeps the events of a source."""
    return f"events:{source}"


def follow_name(focals: str, events: Sequence[str]) -> str:
    """The name of the group of FOLLOW queries of some focal objects and events."""
    return f"follow:{focals} in {merged_name(events)}"


def make_group(
    source: StreamSchema,
    kind: str,
    queries: Sequence[QueryPlan],
    zone: int = 0,
    home: tuple[int, int] | None = None,
    zones: int = 1,
    *,
    apart: bool = False,
    suffix: str = "",
) -> Group:
    """The group of some queries of one kind that read `source`, in one of `zones`.

    `home`, the zone and how many there are, when rows come to the zone that are not for all of the queries: those that are
    spread then look at the rows of their own partitions only. `apart`: rows come with APART, which not every kind can take. `suffix`
    tells groups apart that would have one name.
    """
    conditions = _Conditions()
    kernel: Kernel[Any]
    if kind == "correlate":
        kernel = CorrelateKernel(source, _subscriptions(queries, conditions), conditions.listed)
    elif kind == "pattern":
        # Its loops take a moment to load, which scripts without patterns need not wait for.
        from headwater.kernels.pattern import PatternKernel
        from headwater.query.patterns.lowering import make_query

        asked = [
            make_query(
                query.name,
                query.fingerprint,
                query.shape,
                conditions.place(query.where, query.spread, home),
                query.operator,
                source,
                apart=apart,
            )
            for query in queries
            if isinstance(query.operator, PatternOperator)
        ]
        kernel = PatternKernel(source, asked, conditions.listed)
    elif kind == "nearest":
        from headwater.kernels.nearest import NearestKernel

        near = [_nearest(query, conditions, zone, home) for query in queries]
        kernel = NearestKernel(source, [query for query in near if len(query.points)], conditions.listed)
    elif kind == "suppress":
        from headwater.kernels.suppress import SuppressKernel

        kernel = SuppressKernel(
            source,
            [
                make_suppress_query(
                    query.operator,
                    name=query.name,
                    fingerprint=query.fingerprint,
                    shape=query.shape,
                    where=conditions.place(query.where, query.spread, home),
                )
                for query in queries
                if isinstance(query.operator, SuppressOperator)
            ],
            conditions.listed,
        )
    elif kind == "predict":
        from headwater.kernels.predict import PredictKernel

        kernel = PredictKernel(
            source,
            [
                make_predict_query(
                    query.operator,
                    name=query.name,
                    fingerprint=query.fingerprint,
                    shape=query.shape,
                    where=conditions.place(query.where, query.spread, home),
                    share=(zone, zones) if query.shared and query.operator.pairs and zones > 1 else None,
                )
                for query in queries
                if isinstance(query.operator, PredictOperator)
            ],
            conditions.listed,
        )
    else:
        selections = [
            Selection(query.name, query.fingerprint, query.shape, conditions.place(query.where))
            for query in queries
        ]
        kernel = SelectKernel(source, selections, conditions.listed, apart=apart)
    return Group(f"{kind}:{source.name}{suffix}", source.name, tuple(query.name for query in queries), kernel)


def make_follow_group(
    queries: Sequence[QueryPlan],
    focals: StreamSchema,
    events: Sequence[StreamSchema],
    behind: Sequence[tuple[Behind | None, Sequence[str]]],
    zone: int,
    zones: int,
) -> Group:
    """The group of some FOLLOW queries of the same focal objects and events, each with what stands behind it, and the names of that."""
    from headwater.kernels.follow import FollowKernel

    asked = [
        make_follow_query(
            query,
            focals,
            events_of(query, events),
            share=_share(query, zone, zones),
            operators=operators,
        )
        for query, (operators, _) in zip(queries, behind, strict=True)
    ]
    names = [
        name for query, (_, inside) in zip(queries, behind, strict=True) for name in (query.name, *inside)
    ]
    sources = tuple(source.name for source in events)
    return Group(
        follow_name(focals.name, sources),
        focals.name,
        tuple(names),
        FollowKernel(focals, asked),
        sources,
    )


def make_store(
    source: StreamSchema,
    queries: Sequence[tuple[QueryPlan, Sequence[StreamSchema]]],
    zone: int,
    zones: int,
) -> Group:
    """The group that keeps the events of a source for FOLLOW queries, each given with all its sources."""
    from headwater.kernels.follow import StoreKernel
    from headwater.kernels.follow.store import Looker

    lookers = [
        Looker(query.name, events_of(query, events), counts=_share(query, zone, zones) in (None, (0, zones)))
        for query, events in queries
    ]
    return Group(store_of(source.name), source.name, (), StoreKernel(source, lookers))


def _share(query: QueryPlan, zone: int, zones: int) -> tuple[int, int] | None:
    """Which of the objects that a query follows live in a zone, if not all do."""
    return (zone, zones) if query.shared and zones > 1 else None


def make_fence_group(
    queries: Sequence[QueryPlan],
    source: StreamSchema,
    readings: Sequence[Reading],
    zone: int,
    home: tuple[int, int] | None,
    zones: int,
) -> Group:
    """The group of some FENCE queries that read `source`, each with its reading."""
    from headwater.kernels.fence import FenceKernel

    conditions = _Conditions()
    asked = [
        make_fence_query(
            query,
            reading,
            where=conditions.place(query.where, query.spread, home),
            fence_where=conditions.place(query.operator.where) if query.operator.moving else None,
            share=(zone, zones) if query.shared and query.operator.moving and zones > 1 else None,
        )
        for query, reading in zip(queries, readings, strict=True)
        if isinstance(query.operator, FenceOperator)
    ]
    kernel = FenceKernel(source, asked, conditions.listed)
    return Group(f"fence:{source.name}", source.name, tuple(query.name for query in queries), kernel)


def make_routing(
    source: StreamSchema, asking: Sequence[tuple[QueryPlan, Sequence[Demand]]], zones: int
) -> Callable[[Rows], Wanted]:
    """A function from rows of `source` to bool[zones, n]: which zones can use each row, given all queries and what they ask of it."""
    correlating = [query for query, demands in asking if any(demand.readings for demand in demands)]
    conditions = _Conditions()
    subscriptions = _subscriptions(correlating, conditions)
    homes = [zone_of(query.zone_key, zones) for query in correlating]
    routing = Routing(source, subscriptions, homes, zones, conditions.listed) if correlating else None
    others = [
        (query, demand.condition) for query, demands in asking for demand in demands if not demand.readings
    ]
    plain = {
        (zone, repr(useful)): condition(useful) if useful else None
        for query, useful in others
        for zone in range(zones)
        if not query.spread and query.lives_in(zone, zones)
    }
    spread = {
        (query.spread, repr(useful)): condition(useful) if useful else None
        for query, useful in others
        if query.spread
    }

    def wanted(rows: Rows) -> Wanted:
        found = routing.wanted(rows) if routing else np.zeros((zones, rows.count), np.bool_)
        for (zone, _), holds in plain.items():
            found[zone] |= holds(rows) if holds else True
        homes = {columns: _zone_of_rows(rows, columns, zones) for columns, _ in spread}
        for (columns, _), holds in spread.items():
            chosen = np.flatnonzero(holds(rows)) if holds else np.arange(rows.count)
            found[homes[columns][chosen], chosen] = True
        return found

    return wanted


def _nearest(
    query: QueryPlan, conditions: _Conditions, zone: int, home: tuple[int, int] | None
) -> NearestQuery:
    """A NEAREST with those of its points that live in a zone."""
    assert isinstance(query.operator, NearestOperator)
    assert query.points is not None, "the points have not been given"
    return make_query(
        query.operator,
        share(query.points, query.parts, zone),
        name=query.name,
        fingerprint=query.fingerprint,
        shape=query.shape,
        where=conditions.place(query.where, query.spread, home),
        audit=query.audit,
        counts_rows=query.parts == 1 or zone == 0,
    )


def _zone_of_rows(rows: Rows, columns: Sequence[str], zones: int) -> NDArray[np.int64]:
    """The zone in which each row's partition lives: the same in every process."""
    hashes = content_hash([rows[column] for column in columns])[0]
    return (hashes % np.uint64(zones)).astype(np.int64)


class _Conditions:
    """The different WHERE conditions of some queries, each once."""

    def __init__(self) -> None:
        self.listed: list[RowCondition] = []
        self._places: dict[str, int] = {}

    def place(
        self, where: Expression | None, spread: tuple[str, ...] = (), home: tuple[int, int] | None = None
    ) -> int | None:
        """The place of a condition in the list; None if there is none."""
        if not spread:
            home = None
        if where is None and home is None:
            return None
        # By its written form: as values, 1, 1.0 and TRUE would be equal.
        place = self._places.setdefault(repr((where, home and spread)), len(self.listed))
        if place == len(self.listed):
            self.listed.append(condition(where) if home is None and where else _at_home(where, spread, home))
        return place


def _at_home(where: Expression | None, spread: tuple[str, ...], home: tuple[int, int] | None) -> RowCondition:
    """The rows for which a condition holds and whose partition lives in a zone."""
    assert home is not None
    zone, zones = home
    holds = condition(where) if where else None

    def wanted(rows: Rows) -> NDArray[np.bool_]:
        here = _zone_of_rows(rows, spread, zones) == zone
        return here & holds(rows) if holds else here

    return wanted


def _subscriptions(queries: Sequence[QueryPlan], conditions: _Conditions) -> list[Subscription]:
    return [
        make_subscription(
            query.operator,
            name=query.name,
            fingerprint=query.fingerprint,
            shape=query.shape,
            where=conditions.place(query.where),
        )
        for query in queries
        if isinstance(query.operator, CorrelateOperator)
    ]
