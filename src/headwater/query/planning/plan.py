"""From a text to what hosts run: which rows are sent where, which kernels answer, what the answers look like.

Rule 1  A query lives whole in one zone, or each of its partitions does, so its answers never depend on how many zones
        there are.
Rule 2  Queries of one kind that read one source are one group in each of their zones: one kernel, whose state is saved
        under the group's name. The stored events of FOLLOW queries are a group for each source.
Rule 3  Dropping a row that no query can use, or a column that no query needs, never changes an answer.

Memory  A plan is a value. What is made from it (kernels, routings) is cached in it for as long as it lives. Pickled, it
        is one compressed block that each process unpacks once, so tasks that are sent the same plan share its kernels.
"""

from __future__ import annotations

import gc
import io
import pickle
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, lru_cache
from typing import Any, TypeVar

from headwater.model import (
    Answers,
    Column,
    ColumnType,
    FencesSchema,
    PointsSchema,
    QueriesRefused,
    QueryError,
    Rows,
    StreamSchema,
)
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.check import check
from headwater.query.checking.history_limit import MOST_HISTORY_US
from headwater.query.checking.lookback import downstream_windows_us, window_us
from headwater.query.checking.merges import Merge, merge, merged_name
from headwater.query.language.printer import show
from headwater.query.language.tree import Expression, Script
from headwater.query.operators.contract import BadRows, Demand, KernelPlace, ZoneMask
from headwater.query.planning.bad_rows import bad_rows_of
from headwater.query.planning.chosen_queries import choose, unread_views
from headwater.query.planning.fingerprints import fingerprints
from headwater.query.planning.groups import (
    Group,
    make_group,
    make_group_on_stores,
    make_routing,
    make_store,
    store_of,
)
from headwater.query.planning.interest_plan import InterestPlan, answers_by_interest, plan_interests
from headwater.query.planning.needed_columns import columns_read
from headwater.query.planning.needs import inside_groups
from headwater.query.planning.projections import Projection, project, shapes
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.useful_rows import useful_rows
from headwater.query.planning.zones import scattered, shared, spread, zone_keys, zone_of

__all__ = [
    "Group",
    "Plan",
    "Projection",
    "compile_script",
    "compile_text",
    "make_plan",
    "refuse_silent",
    "refuse_unbounded",
]

Made = TypeVar("Made")


def compile_text(
    text: str, *, zones: int = 1, file: str = "query", most_history_us: int = MOST_HISTORY_US
) -> Plan:
    """The plan of a text; raises QueriesRefused with every error there is."""
    return make_plan(check(text, file=file, most_history_us=most_history_us), text, zones=zones)


def compile_script(
    script: Script, *, zones: int = 1, file: str = "query", most_history_us: int = MOST_HISTORY_US
) -> Plan:
    """The plan of a script made by builders; its errors show it as text."""
    text = show(script)
    try:
        return make_plan(check(script, text, file, most_history_us=most_history_us), text, zones=zones)
    except QueriesRefused:
        # Nodes made by builders have no place in a text. Read back from text, they have.
        return compile_text(text, zones=zones, file=file, most_history_us=most_history_us)


def refuse_silent(plan: Plan, *, file: str = "query") -> None:
    """Before a run: raises QueriesRefused if no query would emit anything, because there are only views."""
    if not plan.public_queries:
        error = QueryError(
            "empty-script",
            "there is no query to answer: a view emits nothing",
            span=None,
            advice=["add CREATE QUERY name AS SELECT …, or run a view as a query: --query NAME"],
        )
        raise QueriesRefused([error], plan.text, file)


def refuse_unbounded(plan: Plan, *, file: str = "query") -> None:
    """Before rows come without end: raises QueriesRefused if a query would have to keep them without end."""
    errors = [error for query in plan.queries if (error := query.operator.refuse_endless(query.name))]
    if errors:
        raise QueriesRefused(errors, plan.text, file)


@dataclass(frozen=True)
class Plan:
    """Streams, queries (each after what it reads) and how they are spread over `zones`.

    `points` and `fences` are the declared sets: those that some query uses must be added by `with_sets` before rows come.
    `merges` are streams and queries that some query reads together, under one name. `unread` are views that no query reads: they are
    not computed.
    """

    text: str
    streams: tuple[StreamSchema, ...]
    queries: tuple[QueryPlan, ...]
    projections: tuple[Projection, ...]
    zones: int = 1
    points: tuple[PointsSchema, ...] = ()
    merges: tuple[Merge, ...] = ()
    fences: tuple[FencesSchema, ...] = ()
    unread: tuple[str, ...] = ()
    _derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def stream(self, name: str) -> StreamSchema:
        """A declared stream, or a query or several sources seen as one."""
        return self._once("schemas", self._schemas)[name]

    @property
    def public_queries(self) -> tuple[QueryPlan, ...]:
        """The queries whose answers are written out: not views, nor the links of a chain."""
        return tuple(query for query in self.queries if not query.hidden)

    def query(self, name: str) -> QueryPlan:
        """A query by its name."""
        return self._once("queries", lambda: {query.name: query for query in self.queries})[name]

    def selected(self, query: str) -> dict[str, ColumnType]:
        """The columns of a query's answers after the reserved ones."""
        return {name: kind for name, _, kind in self.projections[self.query(query).shape].columns}

    def merge(self, name: str) -> Merge | None:
        """What is read together under a name; None for a stream or a query."""
        return self._once("merges", lambda: {together.name: together for together in self.merges}).get(name)

    def sources(self, name: str) -> tuple[str, ...]:
        """The streams and queries that a query reads under one name: one, or those that are read together."""
        together = self.merge(name)
        return tuple(member.name for member in together.members) if together else (name,)

    def root_streams(self, name: str) -> tuple[str, ...]:
        """The declared streams that a stream, a query or a merge goes back to, each once."""
        roots: dict[str, None] = {}
        seen: set[str] = set()
        ahead = [name]
        while ahead:
            reached = ahead.pop()
            if reached in self._declared():
                roots[reached] = None
            elif reached not in seen:
                seen.add(reached)
                above = self.sources(reached) if self.merge(reached) else (self.query(reached).reads,)
                ahead += reversed(above)
        return tuple(roots)

    def meaning(self, source: str) -> str:
        """What changes when the rows of a source come to mean something else."""
        return source if source in self._declared() else self.query(source).fingerprint

    def columns_read(self, stream: str) -> tuple[str, ...]:
        """The declared columns that travel: the others make no difference to any query."""
        return self._once(
            ("columns read", stream), lambda: columns_read(self.stream(stream), self._demands(stream))
        )

    def useful_rows(self, stream: str) -> Expression | None:
        """A condition that is false or NULL for rows that no query can use; None: every row is of use."""
        return self._once(("useful", stream), lambda: useful_rows(self.stream(stream), self._demands(stream)))

    def bad_rows(self, stream: str) -> tuple[BadRows, ...]:
        """Which rows of a declared stream are bad to its queries, beside those with values that cannot be read."""
        return self._once(("bad", stream), lambda: bad_rows_of(self._readers(stream)))

    def zone_of(self, query: str) -> int:
        """The zone a query lives in, unless it is spread over all of them."""
        return zone_of(self.query(query).zone_key, self.zones)

    def groups(self, zone: int) -> tuple[Group, ...]:
        """What runs in a zone; a group that reads a query comes after the group that answers it."""
        return self._once(("groups", zone), lambda: self._make_groups(zone))

    def routing(self, stream: str) -> Callable[[Rows], ZoneMask]:
        """A function from rows of a stream to bool[zones, n]: which zones can use each row."""
        return self._once(("routing", stream), lambda: self._make_routing(stream))

    def with_only(self, queries: Collection[str]) -> Plan:
        """The plan of some queries and of what they read."""
        names = set(queries)
        for query in reversed(self.queries):
            if query.name in names:
                names.update(self.sources(query.reads), filter(None, [query.operator.reads_beside]))
        return replace(self, queries=tuple(query for query in self.queries if query.name in names))

    def without_savings(self, *savings: str, queries: Collection[str] | None = None) -> Plan:
        """The same plan without some savings of FOLLOW, for some of its queries or all: more is streamed, and no answer is another."""
        return replace(
            self,
            queries=tuple(
                replace(query, left_off=query.left_off.union(map(str, savings)))
                if query.downstream_of == query.name and (queries is None or query.name in queries)
                else query
                for query in self.queries
            ),
        )

    def with_sets(
        self, rows: Mapping[str, Rows], *, parts: Mapping[str, int] | None = None, audit: float = 0.0
    ) -> Plan:
        """The plan with the points, or the fences, of every declared set, by its name, as checked rows.

        `parts` says for some queries over how many zones their points were spread before; `audit` is the share of points
        for which the loss of PROBABLE is measured.
        """
        sets: dict[str, PointsSchema | FencesSchema] = {}
        sets.update({points.name: points for points in self.points})
        sets.update({fences.name: fences for fences in self.fences})
        opened = {
            query.name: query.operator.open_set(sets[name], rows[name], geographic=self._is_geographic(query))
            for query in self.queries
            if (name := query.operator.declared_set)
        }
        spread_over = {
            name: self.query(name).operator.parts_for_set(len(opened[name]), self.zones)
            for name in {query.scatter for query in self.queries}
            if name
        }
        spread_over.update({name: n for name, n in (parts or {}).items() if n in (1, self.zones)})
        queries = tuple(
            replace(
                query,
                opened_set=opened.get(query.name, query.opened_set),
                parts=spread_over[query.scatter] if query.scatter else 1,
                audit=audit if query.operator.may_lose else 0.0,
            )
            for query in self.queries
        )
        return replace(self, queries=queries)

    def with_placeholders(self, points: int = 0) -> Plan:
        """The plan as if every declared set of points had so many without values, and every set of fences none: for questions about the
        plan before its sets have been read.
        """
        rows = {schema.name: Rows.empty(schema.types) for schema in self.fences}
        for schema in self.points:
            nulls = {name: Column.nulls(kind, points) for name, kind in schema.types.items()}
            rows[schema.name] = Rows(nulls, points)
        return self.with_sets(rows)

    def project(self, answers: Answers) -> Rows:
        """A kernel's answers with the columns of the query: query, event_time, match_id, then the SELECT list."""
        return project(self.projections[answers.shape], answers)

    def __reduce__(self) -> tuple[Callable[[bytes], Plan], tuple[bytes]]:
        return _unpack, (self._once("packed", self._pack),)

    def _pack(self) -> bytes:
        written = io.BytesIO()
        parts = (
            self.text,
            self.streams,
            self.queries,
            self.projections,
            self.zones,
            self.points,
            self.merges,
            self.fences,
            self.unread,
        )
        _Packer(written, pickle.HIGHEST_PROTOCOL).dump(parts)
        return zlib.compress(written.getvalue(), 1)

    def _once(self, key: object, make: Callable[[], Made]) -> Made:
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def _schemas(self) -> dict[str, StreamSchema]:
        """Every schema by its name, each after those it is made of."""
        found = {stream.name: stream for stream in self.streams}
        for query in self.queries:
            if together := self.merge(query.reads):
                found.setdefault(together.name, together.schema)
            found[query.name] = query.schema
        return found

    def _is_geographic(self, query: QueryPlan) -> bool:
        place = self.stream(query.reads).place
        return place is not None and place.geographic

    def _declared(self) -> frozenset[str]:
        return self._once("declared", lambda: frozenset(stream.name for stream in self.streams))

    def _readers(self, source: str) -> list[QueryPlan]:
        return [query for query in self.queries if source in self.sources(query.reads)]

    def _demands(self, source: str) -> list[Demand]:
        return [demand for query in self._readers(source) for demand in self._demands_of(query, source)]

    def _demands_of(self, query: QueryPlan, source: str) -> Iterator[Demand]:
        return query.operator.demands(self.stream(source), self.sources(query.reads), query.where)

    def _make_routing(self, stream: str) -> Callable[[Rows], ZoneMask]:
        asking = [(query, list(self._demands_of(query, stream))) for query in self._readers(stream)]
        return make_routing(self.stream(stream), asking, self.zones)

    def _make_groups(self, zone: int) -> tuple[Group, ...]:
        here = [query for query in self.queries if query.lives_in(zone, self.zones) and not query.is_inside]
        made: dict[str, Group] = {}
        for (reads, _), members in self._by_source(here):
            for group in self._groups_of(reads, members, zone):
                for source in group.reads_stores:
                    if store_of(source) not in made:
                        made[store_of(source)] = self._store(source, here, zone)
                made[group.name] = group
        return tuple(made.values())

    def _groups_of(self, reads: str, members: Sequence[QueryPlan], zone: int) -> Iterator[Group]:
        home = self._home(reads, zone)
        alike: dict[str, list[QueryPlan]] = {}
        for query in members:
            alike.setdefault(query.operator.group_name(reads), []).append(query)
        for queries in alike.values():
            operator = queries[0].operator
            if operator.stored_sources and operator.reads_beside:
                place = self._kernel_place(operator.reads_beside, zone=zone, zones=self.zones)
                yield self._group_on_stores(queries, place, operator.stored_sources)
            else:
                yield make_group(queries, self._kernel_place(reads, zone=zone, zones=self.zones, home=home))

    def _store(self, source: str, here: Iterable[QueryPlan], zone: int) -> Group:
        """The group that stores the events of a source for all FOLLOW queries of a zone that read them."""
        readers = [
            (query, [self.stream(name) for name in query.operator.stored_sources])
            for query in here
            if source in query.operator.stored_sources
        ]
        return make_store(readers, self._kernel_place(source, zone=zone, zones=self.zones))

    def _kernel_place(
        self,
        reads: str,
        *,
        zone: int = 0,
        zones: int = 1,
        home: tuple[int, int] | None = None,
        by_interest: bool = False,
    ) -> KernelPlace:
        """Where a kernel runs, for queries that read a stream, a query or several together; by default the only one of its kind."""
        schemas = {name: self.stream(name) for name in self.sources(reads)}
        return KernelPlace(self.stream(reads), schemas, self.merge(reads), zone, zones, home, by_interest)

    def _by_source(self, queries: Iterable[QueryPlan]) -> list[tuple[tuple[str, str], list[QueryPlan]]]:
        """Queries by what they read and their kind, each after what it reads."""
        members: dict[tuple[str, str], list[QueryPlan]] = {}
        for query in queries:
            members.setdefault((query.reads, query.kind), []).append(query)
        places = {name: place for place, name in enumerate(self._schemas())}
        return sorted(members.items(), key=lambda item: (places[item[0][0]], item[0][1]))

    def _group_on_stores(
        self, queries: Sequence[QueryPlan], place: KernelPlace, sources: Sequence[str]
    ) -> Group:
        """Queries that read the same stored events, with all that runs downstream of them."""
        downstream: dict[str, InterestPlan] = {}
        names: list[str] = []
        for query in queries:
            inside = [
                other for other in self.queries if other.downstream_of == query.name and other.is_inside
            ]
            names += [query.name, *(other.name for other in inside)]
            if inside:
                downstream[query.name] = self._plan_interests(query, inside)
        return make_group_on_stores(
            queries, place, [self.stream(name) for name in sources], downstream, names
        )

    def _plan_interests(self, follow: QueryPlan, inside: Sequence[QueryPlan]) -> InterestPlan:
        """What runs on the events of each interest of a query."""
        by_interest = answers_by_interest(inside)
        groups = [
            make_group(some, self._kernel_place(reads, by_interest=by_interest), suffix=suffix)
            for (reads, _), members in self._by_source(inside)
            for suffix, some in inside_groups(members)
        ]
        return plan_interests(
            follow,
            self.projections[follow.shape],
            groups,
            {other.name: other for other in inside},
            self._once("schemas", self._schemas),
            {together.name: together for together in self.merges},
            self.project,
            by_interest=by_interest,
        )

    def _home(self, source: str, zone: int) -> tuple[int, int] | None:
        """The zone, if rows of a source come to it for several reasons."""
        alike = {query.spread for query in self._readers(source)}
        return None if len(alike) == 1 or self.zones == 1 else (zone, self.zones)


def make_plan(
    catalogue: Catalogue, text: str, *, zones: int = 1, chosen: Collection[str] | None = None
) -> Plan:
    """The plan of checked streams and queries; `chosen`: of these queries and views, and what they read (default: of all queries)."""
    assert zones >= 1
    unread = unread_views(catalogue) if chosen is None else ()
    catalogue = choose(catalogue, chosen)
    prints, keys, spreading = fingerprints(catalogue), zone_keys(catalogue), spread(catalogue)
    scattering, sharing = scattered(catalogue), shared(catalogue)
    numbers, projections = shapes(catalogue)
    queries = tuple(
        replace(
            _query_plan(query, _print(query, prints[name], spreading, sharing), keys[name], numbers[name]),
            spread=spreading.get(name, ()),
            scatter=scattering.get(name),
            shared=name in sharing,
            hidden=query.tree.hidden or query.tree.view,
            view=query.tree.view,
            downstream_of=query.downstream_of,
            before_us=downstream_windows_us(catalogue, name) if query.downstream_of == name else 0,
            window_us=window_us(query, catalogue) if query.downstream_of not in (None, name) else 0,
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
        _merges(catalogue, prints),
        tuple(fences.schema for fences in catalogue.fences.values()),
        unread,
    )


def _merges(catalogue: Catalogue, prints: Mapping[str, str]) -> tuple[Merge, ...]:
    """What some query reads together, each once."""
    schemas = {name: stream.schema for name, stream in catalogue.streams.items()}
    schemas.update({name: query.schema for name, query in catalogue.queries.items()})
    found: dict[tuple[str, ...], Merge] = {}
    for query in catalogue.queries.values():
        sources = (query.reads, *query.further_reads)
        if len(sources) > 1 and sources not in found:
            meaning = " ".join(prints.get(source, source) for source in sources)
            found[sources] = replace(merge([schemas[source] for source in sources]), fingerprint=meaning)
    return tuple(found.values())


def _print(
    query: CheckedQuery, fingerprint: str, spreading: Mapping[str, tuple[str, ...]], sharing: set[str]
) -> str:
    """The fingerprint, other for a query whose partitions no longer live where their state was saved."""
    if query.name in sharing:
        return f"{fingerprint}-shared"
    gathered = query.operator.has_partitions and query.name not in spreading
    return f"{fingerprint}-whole" if gathered else fingerprint


def _query_plan(query: CheckedQuery, fingerprint: str, zone_key: str, shape: int) -> QueryPlan:
    operator = query.operator
    return QueryPlan(
        query.name,
        merged_name((query.reads, *query.further_reads)),
        operator,
        fingerprint,
        zone_key,
        shape,
        query.where,
        query.schema,
        opened_set=operator.written_set,
    )


class _Packer(pickle.Pickler):
    """Writes values as calls of their classes: half the size, and read back five times as fast as their fields.

    Places in a text are left out: they are keyword-only, and not used any more.
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
    plan._derived["packed"] = packed
    return plan
