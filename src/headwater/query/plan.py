"""From a text to what hosts run: which rows travel where, which kernels answer, what the answers look like.

Rule 1  A query lives whole in one zone, or each of its partitions does, so its answers never depend on how many zones
        there are.
Rule 2  Queries of one kind that read one source are one group in each of their zones: one kernel, whose state is saved
        under the group's name.
Rule 3  Dropping a row that is not useful, or a column that is not kept, never changes an answer.

Memory  A plan is a value. What is made from it (kernels, routings) is kept beside it for as long as it lives. Pickled, it
        is one compressed block that each process unpacks once, so tasks that are sent the same plan share its kernels.
"""

from __future__ import annotations

import gc
import io
import pickle
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, TypeVar

from headwater.kernels.correlate.subscription import Subscription
from headwater.model import Answers, PointsSchema, QueriesRefused, QueryError, Rows, StreamSchema
from headwater.query.catalogue import Catalogue, CheckedQuery
from headwater.query.check import check
from headwater.query.checks.patterns import unbounded
from headwater.query.fingerprints import fingerprints
from headwater.query.groups import Group, QueryPlan, Wanted, make_group, make_routing
from headwater.query.kept import Demand, kept_columns
from headwater.query.neighbours import given_point, parts_for, points_of
from headwater.query.printer import show
from headwater.query.shapes import Projection, project, shapes
from headwater.query.tree import Expression, Script
from headwater.query.useful import useful_rows
from headwater.query.zones import scattered, spread, zone_keys, zone_of

__all__ = [
    "Group",
    "Plan",
    "Projection",
    "QueryPlan",
    "compile_script",
    "compile_text",
    "make_plan",
    "refuse_unbounded",
]

Made = TypeVar("Made")


def compile_text(text: str, *, zones: int = 1, file: str = "query") -> Plan:
    """The plan of a text; raises QueriesRefused with every error there is."""
    return make_plan(check(text, file=file), text, zones=zones)


def compile_script(script: Script, *, zones: int = 1, file: str = "query") -> Plan:
    """The plan of a script made by builders; its errors show it as text."""
    text = show(script)
    try:
        return make_plan(check(script, text, file), text, zones=zones)
    except QueriesRefused:
        # Nodes made by builders have no place in a text. Read back from text, they have.
        return compile_text(text, zones=zones, file=file)


def refuse_unbounded(plan: Plan, *, file: str = "query") -> None:
    """Before rows come without end: raises QueriesRefused if a pattern would have to keep them without end."""
    errors = [
        QueryError(
            "unbounded-pattern",
            f"nothing bounds what '{query.name}' must keep while rows come without end",
            span=query.recognition.pattern.span,
            advice=[
                "say how long a match may last: PATTERN (…) WITHIN 1 HOUR; or LIMIT 1000 PARTIAL MATCHES"
            ],
        )
        for query in plan.queries
        if query.recognition and unbounded(query.recognition)
    ]
    if errors:
        raise QueriesRefused(errors, plan.text, file)


@dataclass(frozen=True)
class Plan:
    """Streams, queries (each after what it reads) and how they are spread over `zones`.

    `points` are the declared sets: those that some query asks about must be given by `with_points` before rows come.
    """

    text: str
    streams: tuple[StreamSchema, ...]
    queries: tuple[QueryPlan, ...]
    projections: tuple[Projection, ...]
    zones: int = 1
    points: tuple[PointsSchema, ...] = ()
    _made: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def stream(self, name: str) -> StreamSchema:
        """A declared stream, or a query seen as one."""
        return self._once("schemas", self._schemas)[name]

    def query(self, name: str) -> QueryPlan:
        """A query by its name."""
        return self._once("queries", lambda: {query.name: query for query in self.queries})[name]

    def root_stream(self, name: str) -> str:
        """The declared stream that a stream or query goes back to."""
        while name not in self._declared():
            name = self.query(name).reads
        return name

    def kept(self, stream: str) -> tuple[str, ...]:
        """The declared columns that travel: the others make no difference to any query."""
        return self._once(("kept", stream), lambda: kept_columns(self.stream(stream), self._demands(stream)))

    def useful(self, stream: str) -> Expression | None:
        """A condition that is false or NULL for rows that no query can use; None: every row is of use."""
        return self._once(("useful", stream), lambda: useful_rows(self.stream(stream), self._demands(stream)))

    def zone_of(self, query: str) -> int:
        """The zone a query lives in, unless it is spread over all of them."""
        return zone_of(self.query(query).zone_key, self.zones)

    def groups(self, zone: int) -> tuple[Group, ...]:
        """What runs in a zone; a group that reads a query comes after the group that answers it."""
        return self._once(("groups", zone), lambda: self._make_groups(zone))

    def routing(self, stream: str) -> Callable[[Rows], Wanted]:
        """A function from rows of a stream to bool[zones, n]: which zones can use each row."""
        return self._once(
            ("routing", stream), lambda: make_routing(self.stream(stream), self._readers(stream), self.zones)
        )

    def with_points(
        self, given: Mapping[str, Rows], *, parts: Mapping[str, int] | None = None, audit: float = 0.0
    ) -> Plan:
        """The plan with the points of every declared set, by its name, as checked rows.

        `parts` says for some queries over how many zones their points were spread before; `audit` is the share of points
        for which the loss of PROBABLE is measured.
        """
        schemas = {schema.name: schema for schema in self.points}
        found = {
            query.name: points_of(near, schemas[near.points], given[near.points])
            for query in self.queries
            if (near := query.neighbourhood) and near.points
        }
        spread_over = {name: parts_for(len(points), self.zones) for name, points in found.items()}
        spread_over.update({name: n for name, n in (parts or {}).items() if n in (1, self.zones)})
        queries = tuple(
            replace(
                query,
                points=found.get(query.name, query.points),
                parts=spread_over[query.scatter] if query.scatter else 1,
                audit=audit if query.neighbourhood else 0.0,
            )
            for query in self.queries
        )
        return Plan(self.text, self.streams, queries, self.projections, self.zones, self.points)

    def project(self, answers: Answers) -> Rows:
        """A kernel's answers as the user asked for them: query, event_time, match_id, then the SELECT list."""
        return project(self.projections[answers.shape], answers)

    def __reduce__(self) -> tuple[Callable[[bytes], Plan], tuple[bytes]]:
        return _unpack, (self._once("packed", self._pack),)

    def _pack(self) -> bytes:
        written = io.BytesIO()
        parts = (self.text, self.streams, self.queries, self.projections, self.zones, self.points)
        _Packer(written, pickle.HIGHEST_PROTOCOL).dump(parts)
        return zlib.compress(written.getvalue(), 1)

    def _once(self, key: object, make: Callable[[], Made]) -> Made:
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _schemas(self) -> dict[str, StreamSchema]:
        return {s.name: s for s in (*self.streams, *(query.schema for query in self.queries))}

    def _declared(self) -> frozenset[str]:
        return self._once("declared", lambda: frozenset(stream.name for stream in self.streams))

    def _readers(self, source: str) -> list[QueryPlan]:
        return [query for query in self.queries if query.reads == source]

    def _demands(self, source: str) -> list[Demand]:
        return [
            Demand(query.where, query.subscription, query.recognition, query.neighbourhood)
            for query in self._readers(source)
        ]

    def _make_groups(self, zone: int) -> tuple[Group, ...]:
        members: dict[tuple[str, str], list[QueryPlan]] = {}
        for query in self.queries:
            if query.lives_in(zone, self.zones):
                members.setdefault((query.reads, query.kind), []).append(query)
        places = {name: place for place, name in enumerate(self._schemas())}
        ordered = sorted(members, key=lambda member: (places[member[0]], member[1]))
        return tuple(
            make_group(self.stream(reads), kind, members[reads, kind], zone, self._home(reads, zone))
            for reads, kind in ordered
        )

    def _home(self, source: str, zone: int) -> tuple[int, int] | None:
        """The zone, if rows of a source come to it for several reasons."""
        alike = {query.spread for query in self._readers(source)}
        return None if len(alike) == 1 or self.zones == 1 else (zone, self.zones)


def make_plan(catalogue: Catalogue, text: str, *, zones: int = 1) -> Plan:
    """The plan of checked streams and queries."""
    assert zones >= 1
    prints, keys, spreading = fingerprints(catalogue), zone_keys(catalogue), spread(catalogue)
    scattering = scattered(catalogue)
    numbers, projections = shapes(catalogue)
    queries = tuple(
        replace(
            _query_plan(query, _print(query, prints[name], spreading), keys[name], numbers[name]),
            spread=spreading.get(name, ()),
            scatter=scattering.get(name),
        )
        for name, query in catalogue.queries.items()
    )
    return Plan(
        text,
        tuple(stream.schema for stream in catalogue.streams.values()),
        queries,
        projections,
        zones,
        tuple(points.schema for points in catalogue.points.values()),
    )


def _print(query: CheckedQuery, fingerprint: str, spreading: Mapping[str, tuple[str, ...]]) -> str:
    """The fingerprint, other for a query whose partitions no longer live where their state was saved."""
    pattern, near = query.recognition, query.neighbourhood
    apart = (pattern and pattern.partition) or (near and near.per)
    gathered = apart and query.name not in spreading
    return f"{fingerprint}-whole" if gathered else fingerprint


def _query_plan(query: CheckedQuery, fingerprint: str, zone_key: str, shape: int) -> QueryPlan:
    subscription = None
    if asked := query.correlation:
        subscription = Subscription(
            query.name,
            fingerprint,
            shape,
            asked.clauses,
            asked.within_us,
            asked.within_m,
            asked.region,
            asked.sensors,
            asked.distinct_sensors,
            asked.emit,
            asked.limit,
        )
    near = query.neighbourhood
    kind = (
        "correlate" if subscription else "pattern" if query.recognition else "nearest" if near else "select"
    )
    return QueryPlan(
        query.name,
        query.reads,
        kind,
        fingerprint,
        zone_key,
        shape,
        subscription,
        query.recognition,
        query.where,
        query.schema,
        neighbourhood=near,
        points=given_point(near) if near else None,
    )


class _Packer(pickle.Pickler):
    """Writes values as calls of their classes: half the size, and read back five times as fast as their fields.

    Places in a text are left behind: they are keyword-only, and of no use any more.
    """

    def reducer_override(self, value: Any) -> Any:
        if not is_dataclass(value) or isinstance(value, type):
            return NotImplemented
        return type(value), tuple(getattr(value, name) for name in _positional(type(value)))


@cache
def _positional(kind: Any) -> tuple[str, ...]:
    return tuple(part.name for part in fields(kind) if part.init and not part.kw_only)


@lru_cache(maxsize=8)
def _unpack(packed: bytes) -> Plan:
    # Only ever called by unpickling a plan, so what it is given was trusted already. Looking for garbage among
    # thousands of values that are all new would take longer than making them.
    collecting = gc.isenabled()
    gc.disable()
    try:
        plan = Plan(*pickle.loads(zlib.decompress(packed)))
    finally:
        if collecting:
            gc.enable()
    plan._made["packed"] = packed
    return plan
