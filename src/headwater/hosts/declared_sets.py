"""The points and fences of a run, before its first row: read, held against the memory there is, and put into the plan.

Rule 1  Every point is a standing query for each NEAREST that asks about it. When those that have come so far can no longer
        be answered in the memory there is, the run is refused at once, and the rest is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import pyarrow as pa

from headwater.hosts.files import BAD_TYPES, FileRows
from headwater.hosts.files.fences_reader import FencesReader
from headwater.hosts.files.points_reader import PointsReader
from headwater.hosts.process_memory import available_bytes
from headwater.model import DataError, FencesSchema, LimitReached, PointsSchema, Rows, join_rows
from headwater.query.language.words import counted, size_in_words
from headwater.query.planning.plan import Plan
from headwater.query.planning.query_plan import QueryPlan

MEMORY_SHARE: Final = 0.5
"""Of the memory there is, what standing queries may take: rows, Spark and the plan's copies need the rest."""


@dataclass(frozen=True, slots=True)
class DeclaredSets:
    """The points, or fences, of every declared set that a query uses, and the bad rows; `fences` are the sets of fences."""

    rows: Mapping[str, Rows] = field(default_factory=dict)
    bad: Rows = field(default_factory=lambda: Rows.empty(BAD_TYPES))
    fences: frozenset[str] = frozenset()


def sets_from_files(
    plan: Plan, inputs: Mapping[str, Sequence[str]], *, memory: int | None = None
) -> DeclaredSets:
    """The points and fences of files by the name of their set; `memory` is how many bytes there are, if the system is not to say."""
    return sets_from_inputs(plan, inputs, memory=memory)


def sets_from_tables(
    plan: Plan, tables: Mapping[str, pa.Table], *, memory: int | None = None
) -> DeclaredSets:
    """The points and fences of tables in memory, in the same way."""
    return sets_from_inputs(plan, tables, memory=memory)


def sets_from_inputs(
    plan: Plan, inputs: Mapping[str, Sequence[str] | pa.Table], *, memory: int | None = None
) -> DeclaredSets:
    """The points and fences of files, or of a table in memory, by the name of their set."""

    def read(reader: PointsReader | FencesReader) -> FileRows:
        source = inputs[reader.schema.name]
        return reader.from_table(source) if isinstance(source, pa.Table) else reader.from_files(source)

    return _read_sets(plan, read, memory)


def used_points(plan: Plan) -> tuple[PointsSchema, ...]:
    """The declared sets that some query asks about."""
    return tuple(schema for schema in plan.points if _queries_reading(plan, schema))


def used_fences(plan: Plan) -> tuple[FencesSchema, ...]:
    """The declared sets of fences that some query asks about."""
    return tuple(schema for schema in plan.fences if _queries_reading(plan, schema))


def used_sets(plan: Plan) -> tuple[PointsSchema | FencesSchema, ...]:
    """Both."""
    return (*used_points(plan), *used_fences(plan))


def used_columns(plan: Plan, schema: PointsSchema | FencesSchema) -> tuple[str, ...]:
    """The columns of a set that some query looks at, as declared; not that of polygons."""
    used = {
        name for query in _queries_reading(plan, schema) for name in query.operator.columns_of_set(schema)
    }
    return tuple(name for name, _ in schema.columns if name == schema.key or name in used)


def most_points(plan: Plan, schema: PointsSchema, *, memory: int | None = None) -> int | None:
    """How many points of a set there is room for, if there were no others; None: nobody knows."""
    available = available_bytes() if memory is None else memory
    each = _bytes_for(_queries_reading(plan, schema), 1)
    return None if available is None else int(available * MEMORY_SHARE) // each


def probable_queries(plan: Plan) -> list[QueryPlan]:
    """The queries that may lose answers."""
    return [query for query in plan.queries if query.operator.may_lose]


def check_audit(plan: Plan, share: float | None) -> float:
    """The share of points that is audited, if that makes sense."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise DataError("wrong-audit", f"audit must be above 0 and at most 1, not {share}")
    if not probable_queries(plan):
        raise DataError(
            "wrong-audit", "there is nothing to audit: no query is USING PROBABLE", advice=["leave audit out"]
        )
    return share


def _read_sets(
    plan: Plan, read: Callable[[PointsReader | FencesReader], FileRows], memory: int | None
) -> DeclaredSets:
    available = available_bytes() if memory is None else memory
    taken = 0
    rows: dict[str, Rows] = {}
    bad = [Rows.empty(BAD_TYPES)]
    for schema in used_points(plan):
        queries = _queries_reading(plan, schema)

        def fits(count: int, queries: Sequence[QueryPlan] = queries, before: int = taken) -> None:
            needed = before + _bytes_for(queries, count)
            if available is not None and needed > available * MEMORY_SHARE:
                raise _too_many(count, queries, needed, available)

        places = dict.fromkeys(place for query in queries if (place := query.operator.places_in_set))
        piece = read(PointsReader(schema, used_columns(plan, schema), places=tuple(places), fits=fits))
        rows[schema.name] = piece.rows
        bad.append(piece.bad)
        taken += _bytes_for(queries, piece.rows.count)
    for fences in used_fences(plan):
        on_globe = any(_is_geographic(plan, query) for query in _queries_reading(plan, fences))
        piece = read(FencesReader(fences, used_columns(plan, fences), geographic=on_globe))
        rows[fences.name] = piece.rows
        bad.append(piece.bad)
    return DeclaredSets(rows, join_rows(bad), frozenset(fences.name for fences in plan.fences))


def _queries_reading(plan: Plan, schema: PointsSchema | FencesSchema) -> list[QueryPlan]:
    """The queries that ask about a set."""
    return [query for query in plan.queries if query.operator.declared_set == schema.name]


def _is_geographic(plan: Plan, query: QueryPlan) -> bool:
    place = plan.stream(query.reads).place
    return place is not None and place.geographic


def _bytes_for(queries: Sequence[QueryPlan], count: int) -> int:
    """What so many members of a set take, for the queries that ask about it."""
    return sum(query.operator.bytes_for_set(count) for query in queries)


def _too_many(count: int, queries: Sequence[QueryPlan], needed: int, available: int) -> LimitReached:
    standing = counted(count * len(queries), "standing query")
    names = ", ".join(f"'{query.name}'" for query in queries)
    return LimitReached(
        "MEMORY_SHARE",
        int(available * MEMORY_SHARE),
        f"the points '{queries[0].operator.declared_set}' are too many for this machine: the first {count:,} of them are {standing} ({names}) "
        f"and need about {size_in_words(needed)}",
        advice=[
            f"there are {size_in_words(available)} of memory, of which they may use {size_in_words(int(available * MEMORY_SHARE))}",
            "use fewer points or a smaller k, or allow a small loss: USING PROBABLE 0.001 stores fewer candidates",
        ],
    )
