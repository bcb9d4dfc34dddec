"""What will happen with these queries? The plan in words: what travels, what is filtered where, who lives in which zone,
what is remembered and how much that is, what is shared.

A plan of thousands of queries is told by the first few of each kind, and by counts.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from headwater.kernels.correlate.book import is_plain
from headwater.kernels.correlate.subscription import Emit
from headwater.model import FencesSchema, PointsSchema, StreamSchema
from headwater.query.expressions import is_said_by_spark, to_spark_sql
from headwater.query.expressions.spark_sql import EVERY_ROW
from headwater.query.fence_words import fences_in_words, fencing_in_words, state_of_fencing, zones_of_fencing
from headwater.query.follow_words import (
    completeness_in_words,
    following_in_words,
    state_of_following,
    zones_of_following_in_words,
)
from headwater.query.groups import QueryPlan, follow_name
from headwater.query.key_memory import key_memory
from headwater.query.nearest_words import (
    asked_in_words,
    found_in_words,
    points_in_words,
    way_of_looking,
    zones_of_points_in_words,
)
from headwater.query.nearest_words import state_in_words as state_of_nearest
from headwater.query.operators import CorrelateOperator
from headwater.query.operators.correlate.plan import make_subscription
from headwater.query.patterns.drawing import as_dot, as_text, draw
from headwater.query.patterns.words import (
    all_conditions,
    answers_in_words,
    bounds_in_words,
    condition_key,
    conditions_in_words,
    decisions_in_words,
    family_in_words,
    state_in_words,
    times_in_words,
    written_patterns,
    zones_in_words,
)
from headwater.query.plan import Plan, compile_text
from headwater.query.predict_words import (
    prediction_in_words,
    state_of_prediction,
    state_of_suppression,
    suppression_in_words,
    zones_of_shared_in_words,
)
from headwater.query.printer import show
from headwater.query.stores import stores_in_words
from headwater.query.tree import Expression, MatchRecognize
from headwater.query.useful import NOTHING
from headwater.query.walk import columns_of
from headwater.query.words import (
    aligned,
    clauses_in_words,
    condition_in_words,
    counted,
    duration_in_words,
    emission_in_words,
    listed,
    region_in_words,
    size_in_words,
)

MOST_TOLD: Final = 5
"""Queries of one kind on one source, and regions, that are told one by one; the others are counted."""

LONGEST_SQL: Final = 800
"""Characters of Spark SQL shown for one stream."""

WIDTH: Final = 110

# What the kernel holds besides rows: for each query, for each of its clauses, and, unless the latest match of each clause
# is all that can matter, for each match.
BYTES_PER_QUERY: Final = 16
BYTES_PER_CLAUSE: Final = 32
BYTES_PER_MATCH: Final = 65
MERGED_LATER: Final = (
    "up to three times as much until changes are merged; texts are taken to be 16 bytes long"
)

Entry = tuple[str, str | list[str]]


def explain(plan: Plan | str, *, keys: int | None = None) -> str:
    """The plan of every query of a text, to be read by people; raises QueriesRefused.

    `keys`: also say how much memory so many keys take.
    """
    if isinstance(plan, str):
        plan = compile_text(plan)
    streams, queries = counted(len(plan.streams), "stream"), counted(len(plan.told), "query")
    parts = [f"{streams}, {queries}, {counted(plan.zones, 'zone')}"]
    parts += [_stream(plan, stream) for stream in plan.streams]
    asked = {query.neighbourhood.points for query in plan.queries if query.neighbourhood}
    parts += [_points(plan, points) for points in plan.points if points.name in asked]
    parts += [told for fences in plan.fences if (told := _fences(plan, fences))]
    patterns = _patterns(plan)
    for alike in _by_kernel(plan).values():
        parts += [_query(plan, query, patterns.get(query.name)) for query in alike[:MOST_TOLD]]
        if len(alike) > MOST_TOLD:
            parts.append(_others(plan, alike[MOST_TOLD:]))
    parts.append(_shared(plan))
    if keys is not None:
        parts.append(_memory(plan, keys))
    return "\n\n".join(parts) + "\n"


def dot(plan: Plan) -> str:
    """The automaton of every pattern of a plan, each a digraph of Graphviz."""
    patterns = _patterns(plan)
    return "\n".join(
        as_dot(
            query.name,
            f"PATTERN ({show(query.recognition.pattern)})",
            draw(query.recognition, patterns[query.name], plan.stream(query.reads)),
        )
        for query in plan.queries
        if query.recognition
    )


def bytes_per_row(source: StreamSchema, subscriptions: Iterable[CorrelateOperator]) -> int:
    """What a kernel holds for one remembered row: its time, key, place, and the attributes of all clauses."""
    place = (source.place.x, source.place.y) if source.place else ()
    names = {source.time, source.key, *place}
    names.update(clause.attribute for subscription in subscriptions for clause in subscription.clauses)
    return sum(kind.dtype.itemsize for name, kind in source.columns if name in names)


# --- streams ------------------------------------------------------------------------------------------------------


def _stream(plan: Plan, stream: StreamSchema) -> str:
    useful = plan.useful(stream.name)
    if useful == NOTHING:
        return _section(f"stream {stream.name}", [("read by", "no query: its rows are not looked at")])
    kept = plan.kept(stream.name)
    entries: list[Entry] = [("columns", _wrapped(", ".join(_role(stream, name) for name in kept)))]
    if dropped := [name for name in stream.types if name not in kept]:
        entries.append(("left out", _wrapped(f"{', '.join(dropped)} (needed by no query)")))
    entries.append(("lateness", _lateness(stream)))
    if stream.idle_us is not None:
        entries.append(("idle", f"an input silent for {duration_in_words(stream.idle_us)} is not waited for"))
    if stream.deduplicate:
        entries.append(("duplicates", "rows equal in every column count once"))
    return _section(f"stream {stream.name}", entries + _filter(stream, useful))


def _role(stream: StreamSchema, name: str) -> str:
    if name == stream.time:
        return f"{name} (time)"
    if name == stream.key:
        return f"{name} (key)"
    return f"{name} (place)" if stream.place and name in (stream.place.x, stream.place.y) else name


def _lateness(stream: StreamSchema) -> str:
    where = "dropped and counted" if stream.drop_late else "they go to the late output"
    behind = f"more than {duration_in_words(stream.late_us)} " if stream.late_us else ""
    return f"rows {behind}behind the latest time seen are late: {where}"


def _filter(stream: StreamSchema, useful: Expression | None) -> list[Entry]:
    if useful is None:
        return [("filter", "none: some query uses every row")]
    sql = to_spark_sql(useful, stream.types)
    if sql == EVERY_ROW:
        where = "decided in Python, before rows are routed: Spark has no words for it"
    else:
        where = "decided before Python for a DataFrame, in Catalyst, and for files in the reader"
    entries: list[Entry] = [
        ("filter", _wrapped(show(useful))),
        ("", f"{where}; other rows only move time on"),
    ]
    if sql != EVERY_ROW:
        cut = sql if len(sql) <= LONGEST_SQL else f"{sql[:LONGEST_SQL]} …"
        entries.append(("in Spark SQL", _wrapped(cut)))
        if not is_said_by_spark(useful, stream.types):
            entries.append(("", "which is all that Spark has words for; the rest is decided in Python"))
    return entries


def _points(plan: Plan, points: PointsSchema) -> str:
    asking = [
        query for query in plan.queries if query.neighbourhood and query.neighbourhood.points == points.name
    ]
    used = {name for query in asking if query.neighbourhood for name in query.neighbourhood.attributes}
    columns = [f"{points.key} (key)", *(name for name in points.types if name in used)]
    entries: list[Entry] = [("columns", _wrapped(", ".join(columns)))]
    if unused := [name for name in points.types if name not in used and name != points.key]:
        entries.append(("left out", _wrapped(f"{', '.join(unused)} (needed by no query)")))
    names = [query.name for query in asking]
    entries.append(("asked by", _wrapped(listed(names))))
    entries.append(("read", points_in_words(points.name, names)))
    return _section(f"points {points.name}", entries)


def _fences(plan: Plan, fences: FencesSchema) -> str | None:
    asking = [query for query in plan.queries if query.fencing and query.fencing.fences == fences.name]
    if not asking:
        return None
    conditions = [query.fencing.where for query in asking if query.fencing and query.fencing.where]
    used = {column.name for where in conditions for column in columns_of(where)}
    columns = [f"{fences.key} (key)", *(name for name, _ in fences.columns if name in used - {fences.key})]
    unused = [name for name, _ in fences.columns if name not in used and name != fences.key]
    return _section(
        f"fences {fences.name}",
        [
            ("columns", _wrapped(", ".join(columns))),
            *([("left out", _wrapped(f"{', '.join(unused)} (needed by no query)"))] if unused else []),
            ("asked by", _wrapped(listed([query.name for query in asking]))),
            ("read", fences_in_words(fences.name)),
        ],
    )


# --- queries ------------------------------------------------------------------------------------------------------


def _by_kernel(plan: Plan) -> dict[tuple[str, str], list[QueryPlan]]:
    found: dict[tuple[str, str], list[QueryPlan]] = {}
    for query in plan.queries:
        found.setdefault((query.kind, query.reads), []).append(query)
    return found


def _patterns(plan: Plan) -> dict[str, MatchRecognize]:
    """As written: a plan keeps conditions taken apart."""
    return written_patterns(plan.text) if any(query.recognition for query in plan.queries) else {}


def _query(plan: Plan, query: QueryPlan, written: MatchRecognize | None) -> str:
    source = plan.stream(query.reads)
    entries: list[Entry] = [("reads", query.reads)]
    if query.where is not None:
        entries.append(("where", _wrapped(show(query.where))))
    if query.correlation:
        entries.append(("clauses", aligned(clauses_in_words(query.correlation, source))))
        entries.append(("together", _wrapped(condition_in_words(query.correlation))))
        entries.append(("answers", emission_in_words(query.correlation)))
    elif written:
        entries += _pattern(query, written)
    elif query.neighbourhood:
        told = [*asked_in_words(query.neighbourhood), *found_in_words(query.neighbourhood)]
        entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in told]
    elif query.suppression or query.prediction:
        told = suppression_in_words(query.suppression) if query.suppression else []
        told += prediction_in_words(query.prediction) if query.prediction else []
        entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in told]
    elif query.following:
        told = following_in_words(query)
        entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in told]
    elif query.fencing:
        told = fencing_in_words(query.fencing)
        if query.fencing.where:
            told.insert(1, ("of these", show(query.fencing.where)))
        entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in told]
    else:
        entries.append(("answers", "each row for which WHERE holds" if query.where else "each row"))
    if query.following:
        promised = completeness_in_words(*plan.promised(query.name))
        entries += [(name, _wrapped(words) if isinstance(words, str) else words) for name, words in promised]
    columns = ", ".join(name for name, _, _ in plan.projections[query.shape].columns)
    entries.append(("columns", _wrapped(columns or "none of its own")))
    entries.append(_zone(plan, query))
    entries.append(("kernel", _kernel(query)))
    entries.append(("state", _state(plan, query)))
    if written and query.recognition:
        entries.append(("automaton", as_text(draw(query.recognition, written, source))))
    return _section(f"query {query.name}", entries)


def _kernel(query: QueryPlan) -> str:
    asked = query.following
    return follow_name(asked.focals, asked.events) if asked else f"{query.kind}:{query.reads}"


def _pattern(query: QueryPlan, written: MatchRecognize) -> list[Entry]:
    asked = query.recognition
    assert asked is not None
    entries: list[Entry] = [
        ("partition", ", ".join(asked.partition) or "none: all rows are one partition"),
        ("order", ", ".join(show(column) for column in written.order) or "that of the stream"),
        ("pattern", _wrapped(show(asked.pattern))),
        ("conditions", conditions_in_words(asked, written)),
        *([("decided", decisions_in_words(asked))] if asked.define or asked.untils else []),
        ("matches", family_in_words(asked)),
    ]
    if times := times_in_words(asked):
        entries.append(("time", times))
    return [*entries, ("bounded by", bounds_in_words(asked)), ("answers", answers_in_words(asked))]


def _zone(plan: Plan, query: QueryPlan) -> Entry:
    if query.scatter == query.name and plan.zones > 1:
        return "zones", _wrapped(zones_of_points_in_words(query, plan.zones, plan.zone_of(query.name)))
    if query.shared and plan.zones > 1 and query.behind:
        return "zones", _wrapped(zones_of_following_in_words(plan.zones))
    if query.fencing and plan.zones > 1 and (query.spread or query.shared):
        key = query.spread[0] if query.spread else ""
        return "zones", _wrapped(zones_of_fencing(query.fencing, plan.zones, key))
    if query.shared and plan.zones > 1:
        return "zones", _wrapped(zones_of_shared_in_words(query, plan.zones))
    if not query.spread:
        return "zone", f"{plan.zone_of(query.name)} of {plan.zones} (from 0), {_why_there(plan, query)}"
    if query.recognition:
        return "zones", zones_in_words(plan.zones, query.spread)
    if (query.suppression or query.prediction) and query.reads in {stream.name for stream in plan.streams}:
        return "zones", f"all {plan.zones} (from 0), by {query.spread[0]}: each sensor lives in one of them"
    if query.neighbourhood:
        return (
            "zones",
            f"all {plan.zones} (from 0), by {query.spread[0]}: each value and its window live in one of them",
        )
    return "zones", f"all {plan.zones} (from 0), where '{query.reads}' is answered: its answers do not travel"


def _why_there(plan: Plan, query: QueryPlan) -> str:
    if query.reads not in {stream.name for stream in plan.streams}:
        return f"where '{query.reads}' is answered: its answers do not travel"
    if query.recognition and not query.recognition.partition:
        return "by its name: without PARTITION BY all rows that it can use meet in this one zone"
    if query.recognition:
        return "by its name: other operators read its answers, so all its partitions meet in this one zone"
    if (near := query.neighbourhood) and (near.points or near.per):
        return "by its name: all that it asks about is answered in this one zone"
    if query.correlation and query.correlation.region:
        return "by its region: queries on the same region share it, and rows elsewhere do not come here"
    if query.correlation and query.correlation.sensors:
        return "by its sensors: queries on the same sensors share it, and rows of others do not come here"
    return "by its name: rows from everywhere that it can use meet in this one zone"


def _state(plan: Plan, query: QueryPlan) -> str | list[str]:
    if query.recognition:
        declared = {stream.name for stream in plan.streams}
        source = plan.stream(query.reads)
        kept = plan.kept(query.reads) if query.reads in declared else source.types
        return state_in_words(query.recognition, source, kept)
    if query.neighbourhood:
        return state_of_nearest(query.neighbourhood, plan.stream(query.reads))
    if query.suppression:
        return state_of_suppression(query.suppression)
    if query.prediction:
        return state_of_prediction(query.prediction)
    if query.following:
        return state_of_following(query, [plan.stream(name) for name in query.following.events])
    if query.fencing:
        return state_of_fencing(query.fencing)
    asked = query.correlation
    if asked is None:
        return "none"
    here = plan.zone_of(query.name)
    mates = [
        other.correlation
        for other in plan.queries
        if other.correlation and other.reads == query.reads and plan.zone_of(other.name) == here
    ]
    row = bytes_per_row(plan.stream(query.reads), mates)
    longest = duration_in_words(max(mate.within_us for mate in mates))
    own = BYTES_PER_QUERY + BYTES_PER_CLAUSE * len(asked.clauses)
    told = [
        f"rows that match a clause, of the last {longest}: {size_in_words(row)} a row, once for all queries of the kernel",
        f"{size_in_words(own)} for the query itself",
    ]
    if asked.emit is not Emit.LATEST or not is_plain(
        make_subscription(asked, name=query.name, fingerprint="", shape=query.shape, where=None)
    ):
        told[1] += f", and {size_in_words(BYTES_PER_MATCH)} for each match of its clauses in that time"
    return told


def _others(plan: Plan, queries: Sequence[QueryPlan]) -> str:
    first = queries[0]
    entries: list[Entry] = [
        ("named", _wrapped(listed([query.name for query in queries]))),
        ("zones", _by_zone(plan, queries)),
    ]
    if asked := [query.correlation for query in queries if query.correlation]:
        longest = duration_in_words(max(subscription.within_us for subscription in asked))
        row = bytes_per_row(plan.stream(first.reads), asked)
        clauses = sum(len(subscription.clauses) for subscription in asked)
        own = BYTES_PER_QUERY * len(asked) + BYTES_PER_CLAUSE * clauses
        entries.append(
            (
                "state",
                [
                    f"rows that match a clause, of the last {longest}: {size_in_words(row)} a row and zone",
                    f"{size_in_words(own)} for the queries themselves",
                ],
            )
        )
    return _section(f"{counted(len(queries), 'more query')} of kernel {first.kind}:{first.reads}", entries)


# --- what is shared -----------------------------------------------------------------------------------------------


def _shared(plan: Plan) -> str:
    entries: list[Entry] = [("zones", _by_zone(plan, plan.queries))]
    regions = Counter(query.correlation.region for query in plan.queries if query.correlation)
    together = [(region, count) for region, count in regions.most_common() if region and count > 1]
    if together:
        told = [
            f"{counted(count, 'query')} inside {region_in_words(region)}"
            for region, count in together[:MOST_TOLD]
        ]
        more = len(together) - MOST_TOLD
        told += [f"and the same for {counted(more, 'more region')}"] if more > 0 else []
        entries.append(("regions", told))
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
    if clauses := [clause for query in plan.queries for clause in _matched(query)]:
        entries.append(
            (
                "clauses",
                f"{len(clauses):,}, {len(set(clauses)):,} of them different: equal ones are matched once",
            )
        )
    if conditions := [
        (query.reads, condition_key(condition))
        for query in plan.queries
        if query.recognition
        for condition in all_conditions(query.recognition)
    ]:
        entries.append(
            (
                "conditions",
                f"{len(conditions):,} of patterns, {len(set(conditions)):,} of them different:"
                " equal ones in columns are worked out once",
            )
        )
    if near := [way_of_looking(query) for query in plan.queries if query.neighbourhood]:
        ways = f"{counted(len(near), 'query')} in {len(set(near)):,} way{'s' * (len(set(near)) != 1)} of looking at objects"
        entries.append(
            ("nearest", f"{ways}: those of one way, and all their points, are one loop over the objects")
        )
    entries.append(
        ("shapes", f"{len(plan.projections):,}: queries with the same columns are written out together")
    )
    return _section("shared", entries)


def _matched(query: QueryPlan) -> Iterable[tuple[object, ...]]:
    """What is matched for a query: clauses that are equal in this are one to the kernel."""
    asked = query.correlation
    if asked is None:
        return
    for clause in asked.clauses:
        scope = clause.sensor if clause.sensor is not None else (asked.region, asked.sensors)
        where = repr(query.where)
        yield query.reads, query.zone_key, where, scope, clause.attribute, clause.interval, clause.text


def _by_zone(plan: Plan, queries: Sequence[QueryPlan]) -> list[str]:
    whole = [query for query in queries if not query.spread and query.parts == 1 and not query.shared]
    counts = Counter(plan.zone_of(query.name) for query in whole)
    told = [f"{counted(n, 'query')} in zone {zone}" for zone, n in sorted(counts.items())]
    if scattered := sum(1 for query in queries if query.parts > 1):
        told.insert(0, f"{counted(scattered, 'query')} in all zones, each point in one")
    if spread := sum(1 for query in queries if query.spread):
        told.insert(0, f"{counted(spread, 'query')} in all zones, each partition in one")
    if shared := sum(1 for query in queries if query.shared):
        told.insert(0, f"{counted(shared, 'query')} in all zones, each pair or focal object in one")
    return _wrapped(listed(told, 32))


def _memory(plan: Plan, keys: int) -> str:
    """What so many keys take, by kernel."""
    title = f"memory for {counted(keys, 'key')} that are remembered, over all zones"
    entries: list[Entry] = [(found.queries, found.in_words(keys)) for found in key_memory(plan)]
    if not entries:
        return f"{title}\n  none: no query keeps anything by key"
    return _section(title, [*entries, ("", MERGED_LATER)])


# --- layout -------------------------------------------------------------------------------------------------------


def _section(title: str, entries: Sequence[Entry]) -> str:
    lines = [title]
    width = max(len(name) for name, _ in entries)
    for name, told in entries:
        first, *rest = [told] if isinstance(told, str) else told or [""]
        lines.append(f"  {name:<{width}}  {first}")
        lines += [f"  {'':<{width}}  {line}" for line in rest]
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)
