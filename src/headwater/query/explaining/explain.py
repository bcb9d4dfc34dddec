"""What will happen with these queries? The plan in words: which columns are sent, what is filtered where, the zones of queries,
the state and its size, what is shared.

A plan of thousands of queries is described by the first few of each kind, and by counts.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Final, get_args

from headwater.model import FencesSchema, PointsSchema, StreamSchema
from headwater.query.explaining.event_stores import stores_in_words
from headwater.query.explaining.key_memory import key_memory
from headwater.query.expressions import is_said_by_spark, to_spark_sql
from headwater.query.expressions.spark_sql import EVERY_ROW
from headwater.query.language.expression_text import expression_text
from headwater.query.language.tree import Expression
from headwater.query.language.words import counted, duration_in_words, listed, region_in_words
from headwater.query.operators.contract import Entry, Explained
from headwater.query.operators.union import AnyOperator
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.useful_rows import NOTHING

MOST_LISTED: Final = 5
"""Queries of one kind on one source, and regions, that are described one by one; the others are counted."""

LONGEST_SQL: Final = 800
"""Characters of Spark SQL shown for one stream."""

WIDTH: Final = 110

MERGED_LATER: Final = "up to three times as much until changes are merged; assuming texts of 16 bytes"


def explain(plan: Plan | str, *, keys: int | None = None) -> str:
    """The plan of every query of a text, to be read by people; raises QueriesRefused.

    `keys`: also say how much memory so many keys take.
    """
    if isinstance(plan, str):
        plan = compile_text(plan)
    views = len(plan.unread) + sum(query.view for query in plan.queries)
    counts = [counted(len(plan.streams), "stream"), counted(len(plan.public_queries), "query")]
    counts += [counted(views, "view")] if views else []
    parts = [", ".join([*counts, counted(plan.zones, "zone")])]
    parts += [_stream(plan, stream) for stream in plan.streams]
    sets: tuple[PointsSchema | FencesSchema, ...] = (*plan.points, *plan.fences)
    for schema in sets:
        if asking := [query for query in plan.queries if query.operator.declared_set == schema.name]:
            parts.append(_set(schema, asking))
    for alike in _by_kernel(plan).values():
        parts += [_query(plan, query) for query in alike[:MOST_LISTED]]
        if len(alike) > MOST_LISTED:
            parts.append(_others(plan, alike[MOST_LISTED:]))
    parts += [_section(f"view {name}", [("read by", "no query: it is not computed")]) for name in plan.unread]
    parts.append(_shared(plan))
    if keys is not None:
        parts.append(_memory(plan, keys))
    return "\n\n".join(parts) + "\n"


def dot(plan: Plan) -> str:
    """What is better drawn of every query of a plan, such as the automaton of a pattern: digraphs of Graphviz, none where nothing is."""
    explained = (Explained(plan, query, plan.stream(query.reads)) for query in plan.queries)
    drawings = (each.query.operator.drawing(each) for each in explained)
    return "\n".join(drawing for drawing in drawings if drawing)


# --- streams ------------------------------------------------------------------------------------------------------


def _stream(plan: Plan, stream: StreamSchema) -> str:
    useful_rows = plan.useful_rows(stream.name)
    if useful_rows == NOTHING:
        return _section(f"stream {stream.name}", [("read by", "no query: its rows are not read")])
    read = plan.columns_read(stream.name)
    entries: list[Entry] = [("columns", _wrapped(", ".join(_role(stream, name) for name in read)))]
    if dropped := [name for name in stream.types if name not in read]:
        entries.append(("left out", _wrapped(f"{', '.join(dropped)} (needed by no query)")))
    entries.append(("lateness", _lateness(stream)))
    if stream.idle_us is not None:
        entries.append(
            ("idle", f"an input that is silent for {duration_in_words(stream.idle_us)} is ignored")
        )
    if stream.deduplicate:
        entries.append(("duplicates", "rows equal in every column count once"))
    return _section(f"stream {stream.name}", entries + _filter(stream, useful_rows))


def _role(stream: StreamSchema, name: str) -> str:
    if name == stream.time:
        return f"{name} (time)"
    if name == stream.key:
        return f"{name} (key)"
    return f"{name} (place)" if stream.place and name in (stream.place.x, stream.place.y) else name


def _lateness(stream: StreamSchema) -> str:
    where = "dropped and counted" if stream.drop_late else "they go to the late output"
    behind = f"more than {duration_in_words(stream.late_us)} " if stream.late_us else ""
    return f"rows {behind}before the latest time seen are late: {where}"


def _filter(stream: StreamSchema, useful_rows: Expression | None) -> list[Entry]:
    if useful_rows is None:
        return [("filter", "none: some query uses every row")]
    sql = to_spark_sql(useful_rows, stream.types)
    if sql == EVERY_ROW:
        where = "evaluated in Python, before rows are routed: it cannot be written in Spark SQL"
    else:
        where = "evaluated before Python: in Catalyst for a DataFrame, in the reader for files"
    entries: list[Entry] = [
        ("filter", _wrapped(expression_text(useful_rows))),
        ("", f"{where}; other rows only advance time"),
    ]
    if sql != EVERY_ROW:
        cut = sql if len(sql) <= LONGEST_SQL else f"{sql[:LONGEST_SQL]} …"
        entries.append(("in Spark SQL", _wrapped(cut)))
        if not is_said_by_spark(useful_rows, stream.types):
            entries.append(("", "which is all that Spark SQL can express; the rest is evaluated in Python"))
    return entries


def _set(schema: PointsSchema | FencesSchema, asking: Sequence[QueryPlan]) -> str:
    """Points or fences that are loaded before the first row."""
    used = {name for query in asking for name in query.operator.columns_of_set(schema)}
    columns = [f"{schema.key} (key)", *(name for name, _ in schema.columns if name in used - {schema.key})]
    entries: list[Entry] = [("columns", _wrapped(", ".join(columns)))]
    if unused := [name for name, _ in schema.columns if name not in used and name != schema.key]:
        entries.append(("left out", _wrapped(f"{', '.join(unused)} (needed by no query)")))
    entries.append(("used by", _wrapped(listed([query.name for query in asking]))))
    entries.append(("read", asking[0].operator.set_in_words(schema.name, asking)))
    kind = "fences" if isinstance(schema, FencesSchema) else "points"
    return _section(f"{kind} {schema.name}", entries)


# --- queries ------------------------------------------------------------------------------------------------------


def _by_kernel(plan: Plan) -> dict[tuple[str, str], list[QueryPlan]]:
    found: dict[tuple[str, str], list[QueryPlan]] = {}
    for query in plan.queries:
        found.setdefault((query.kind, query.reads), []).append(query)
    return found


def _query(plan: Plan, query: QueryPlan) -> str:
    explained = Explained(plan, query, plan.stream(query.reads))
    conditions, state, zones, why_there, drawn = query.operator.words(explained)
    entries: list[Entry] = [("reads", query.reads)]
    if query.where is not None:
        entries.append(("where", _wrapped(expression_text(query.where))))
    entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in conditions]
    columns = ", ".join(name for name, _, _ in plan.projections[query.shape].columns)
    entries.append(("columns", _wrapped(columns or "none of its own")))
    entries.append(_zone(explained, zones, why_there))
    entries.append(("kernel", query.operator.group_name(query.reads)))
    entries.append(("state", state))
    return _section(f"{'view' if query.view else 'query'} {query.name}", [*entries, *drawn])


def _zone(explained: Explained, zones: str | None, why_there: str | None) -> Entry:
    plan, query = explained.plan, explained.query
    where = f"in the zone of '{query.reads}', so its answers need not travel"
    if query.is_inside and query.shared and plan.zones > 1:
        follow = plan.query(query.downstream_of or "")
        zones = follow.operator.words(Explained(plan, follow, plan.stream(follow.reads))).zones
    if zones is not None:
        return "zones", _wrapped(zones)
    if query.shared and plan.zones > 1:
        copies = f"all {plan.zones} (from 0), a copy in each, for the pairs that read it; one of them emits answers"
        return "zones", _wrapped(copies)
    if query.spread:
        return "zones", f"all {plan.zones} (from 0), {where}"
    by_name = "by its name: all rows that it can use go to this one zone"
    why = (why_there or by_name) if explained.reads_stream else where
    return "zone", f"{plan.zone_of(query.name)} of {plan.zones} (from 0), {why}"


def _others(plan: Plan, queries: Sequence[QueryPlan]) -> str:
    first = queries[0]
    entries: list[Entry] = [
        ("named", _wrapped(listed([query.name for query in queries]))),
        ("zones", _by_zone(plan, queries)),
    ]
    if state := first.operator.state_of_many(queries, plan.stream(first.reads)):
        entries.append(("state", state))
    return _section(f"{counted(len(queries), 'more query')} of kernel {first.kind}:{first.reads}", entries)


# --- what is shared -----------------------------------------------------------------------------------------------


def _shared(plan: Plan) -> str:
    entries: list[Entry] = [("zones", _by_zone(plan, plan.queries))]
    regions = Counter(query.operator.area for query in plan.queries)
    together = [(region, count) for region, count in regions.most_common() if region and count > 1]
    if together:
        lines = [
            f"{counted(count, 'query')} inside {region_in_words(region)}"
            for region, count in together[:MOST_LISTED]
        ]
        more = len(together) - MOST_LISTED
        lines += [f"and the same for {counted(more, 'more region')}"] if more > 0 else []
        entries.append(("regions", lines))
    kernels = {
        (zone, query.kind, query.reads)
        for query in plan.queries
        for zone in range(plan.zones)
        if query.lives_in(zone, plan.zones)
    }
    queries = counted(len(plan.queries), "query")
    entries.append(("kernels", f"{len(kernels):,} for {queries}: one for each zone, kind and source"))
    if stores := stores_in_words(plan):
        entries.append(("events", [line for store in stores for line in _wrapped(store)]))
    by_kind: dict[str, list[QueryPlan]] = {}
    for query in plan.queries:
        by_kind.setdefault(query.kind, []).append(query)
    for operator in get_args(AnyOperator):
        if alike := by_kind.get(operator.kind):
            entries += operator.shared_words(alike)
    entries.append(
        ("shapes", f"{len(plan.projections):,}: queries with the same columns are computed together")
    )
    return _section("shared", entries)


def _by_zone(plan: Plan, queries: Sequence[QueryPlan]) -> list[str]:
    whole = [query for query in queries if not query.spread and query.parts == 1 and not query.shared]
    counts = Counter(plan.zone_of(query.name) for query in whole)
    lines = [f"{counted(n, 'query')} in zone {zone}" for zone, n in sorted(counts.items())]
    if scattered := sum(1 for query in queries if query.parts > 1):
        lines.insert(0, f"{counted(scattered, 'query')} in all zones, each point in one")
    if spread := sum(1 for query in queries if query.spread):
        lines.insert(0, f"{counted(spread, 'query')} in all zones, each partition in one")
    if shared := sum(1 for query in queries if query.shared):
        lines.insert(0, f"{counted(shared, 'query')} in all zones, each pair or focal object in one")
    return _wrapped(listed(lines, 32))


def _memory(plan: Plan, keys: int) -> str:
    """What so many keys take, by kernel."""
    title = f"memory for {counted(keys, 'key')} that are stored, over all zones"
    entries: list[Entry] = [(found.queries, found.in_words(keys)) for found in key_memory(plan)]
    if not entries:
        return f"{title}\n  none: no query stores anything by key"
    return _section(title, [*entries, ("", MERGED_LATER)])


# --- layout -------------------------------------------------------------------------------------------------------


def _section(title: str, entries: Sequence[Entry]) -> str:
    lines = [title]
    width = max(len(name) for name, _ in entries)
    for name, words in entries:
        first, *rest = [words] if isinstance(words, str) else words or [""]
        lines.append(f"  {name:<{width}}  {first}")
        lines += [f"  {'':<{width}}  {line}" for line in rest]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
