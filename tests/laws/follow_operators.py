"""What may stand behind a FOLLOW in its laws: operators, graphs of queries that read one another, and what their oracles answer.

Every event has a `mark`, a power of two of its own, so that a sum of marks says which rows are bound, and the content of an answer is
its identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from headwater.model import SECOND, Column, Rows, StreamSchema, order_of
from headwater.query.language.parse import parse
from headwater.query.language.tree import CreateQuery
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.planning.plan import compile_text
from tests.laws.follow_fences import FENCE_IDENTITY, fence_changes
from tests.laws.oracles import correlate, nearest, pattern, predict, suppress
from tests.laws.oracles.follow import Answer, Operate

Row = dict[str, Any]


@dataclass(frozen=True)
class Link:
    """An operator that reads rows: its text, and how far back it looks. `reads` is the query of a graph that it reads."""

    text: str
    windows_s: int = 0
    reads: str = ""

    @property
    def windows_us(self) -> int:
        """Who is silent for longer than FORGET leaves a fence a microsecond after it."""
        return self.windows_s * SECOND + self.text.startswith("FENCE")


OPERATORS: Mapping[str, Link] = {
    "alone": Link(""),
    "latest": Link("CORRELATE (v >= 1 AS a, v <= 1 AS b WITHIN 3 SECONDS)", 3),
    "all": Link("CORRELATE (v >= 1 AS a, v <= 1 AS b WITHIN 4 SECONDS, 5 METERS EMIT ALL)", 4),
    "readings": Link("CORRELATE (2 OF v >= 0 WITHIN 3 SECONDS EMIT READINGS)", 3),
    "pairs": Link("MATCH_RECOGNIZE (MEASURES A.mark AS a, B.mark AS b PATTERN (A B) WITHIN 4 SECONDS)", 4),
    "runs": Link(
        "MATCH_RECOGNIZE (MEASURES A.mark AS a, SUM(B.mark) AS b PATTERN (A B+) WITHIN 6 SECONDS"
        " DEFINE B AS v >= PREV(v))",
        6,
    ),
    "per id": Link(
        "MATCH_RECOGNIZE (PARTITION BY id MEASURES A.mark AS a, B.mark AS b PATTERN (A ~> B) WITHIN 5 SECONDS"
        " DEFINE A AS s = 'a', B AS s = 'b')",
        5,
    ),
    "rises": Link(
        "MATCH_RECOGNIZE (PARTITION BY id MEASURES A.mark AS a, SUM(B.mark) AS b AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (A B+) WITHIN 5 SECONDS DEFINE B AS v >= A.v)",
        5,
    ),
    "gaps": Link(
        "MATCH_RECOGNIZE (PARTITION BY s, id MEASURES A.mark AS a, C.mark AS c MATCH EVERY AFTER MATCH NO SKIP"
        " PATTERN (A ~> NOT B ~> C) WITHIN 5 SECONDS DEFINE B AS v > A.v, C AS v <= A.v)",
        5,
    ),
    "every": Link(
        "MATCH_RECOGNIZE (MEASURES A.mark AS a, B.mark AS b MATCH EVERY PATTERN (A ~~> B) WITHIN 4 SECONDS"
        " DEFINE A AS s = 'a', B AS s = 'b')",
        4,
    ),
    "absent": Link(
        "MATCH_RECOGNIZE (MEASURES A.mark AS a MATCH EVERY PATTERN (A ~> NOT B) WITHIN 3 SECONDS"
        " DEFINE A AS s = 'a', B AS s = 'b')",
        3,
    ),
    "enters": Link("NEAREST (1 TO (1) BY (v) OVER 4 SECONDS)", 4),
    "changes": Link("NEAREST (2 TO HIGHEST v OVER 3 SECONDS EMIT CHANGES)", 3),
    "ticks": Link("NEAREST (2 TO LOWEST v OVER 4 SECONDS EMIT EVERY 2 SECONDS)", 4),
    "sent": Link("SUPPRESS (v TOLERANCE 1 HEARTBEAT 4 SECONDS USING CONSTANT)"),
    "predicted": Link("SUPPRESS (v TOLERANCE 1 HEARTBEAT 4 SECONDS USING CONSTANT) PREDICT (v >= 1)", 4),
    "fences": Link("FENCE (zones DETECT ENTER, EXIT, INSIDE, OUTSIDE, CROSS FORGET 3 SECONDS)", 3),
    "meets": Link(
        "SUPPRESS (v TOLERANCE 1 HEARTBEAT 3 SECONDS USING CONSTANT)"
        " PREDICT (PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 2 SECONDS)",
        5,
    ),
}

DRAWN = (*OPERATORS, "graph", "free graph")
"""What worlds have behind their FOLLOWs unless they are asked for: seeds that once failed stay the worlds that they were."""

# What these find may depend on events behind their ends, in any partition or none, within windows that are short beside the history.
OPERATORS = {
    **OPERATORS,
    "climbs": Link(
        "MATCH_RECOGNIZE (MEASURES A.mark AS a, SUM(B.mark) AS b AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (A B+) WITHIN 2 SECONDS DEFINE B AS v >= A.v)",
        2,
    ),
    "maybe": Link(
        "MATCH_RECOGNIZE (MEASURES A.mark AS a, B.mark AS b AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (A B?) WITHIN 2 SECONDS DEFINE A AS s = 'a', B AS s = 'b')",
        2,
    ),
}

_CLOSE = Link("FENCE (NEAR RADIUS METRES FORGET 3 SECONDS)", 3, reads="near")
# The answers of "pairs" have `a` and `b` and no key; "fours" reads them, and "tall" is a plain SELECT with a WHERE. The fences of
# "close" are around the rows that it reads, which a FOLLOW in the same text has no name for.
_GRAPH: Mapping[str, Link] = {
    "pairs": replace(OPERATORS["pairs"], reads="near"),
    "fours": Link(
        "MATCH_RECOGNIZE (MEASURES X.a AS a, Y.b AS b PATTERN (X Y) WITHIN 5 SECONDS)", 5, reads="pairs"
    ),
    "tall": Link("WHERE v >= 1", reads="near"),
    "close": _CLOSE,
}
# Nothing in it depends on where it begins. What "lone" finds is wrong where an answer of "rises" is missing.
_FREE: Mapping[str, Link] = {
    "rises": replace(OPERATORS["rises"], reads="near"),
    "lone": Link(
        "MATCH_RECOGNIZE (MEASURES X.a AS a, Y.b AS b MATCH EVERY PATTERN (X ~> NOT Z ~> Y) WITHIN 4 SECONDS"
        " DEFINE Z AS Z.b > X.b)",
        4,
        reads="rises",
    ),
    "tall": Link("WHERE v >= 1", reads="near"),
    "met": replace(OPERATORS["latest"], reads="near"),
    "marked": replace(OPERATORS["absent"], reads="near"),
    "close": _CLOSE,
}
# Windows are so short that much of the history is settled.
_SHORT: Mapping[str, Link] = {
    "climbs": Link(
        "MATCH_RECOGNIZE (PARTITION BY id MEASURES A.mark AS a, SUM(B.mark) AS b AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (A B+) WITHIN 2 SECONDS DEFINE B AS v >= A.v)",
        2,
        reads="near",
    ),
    "next": Link(
        "MATCH_RECOGNIZE (MEASURES X.a AS a, SUM(b) AS b AFTER MATCH SKIP TO NEXT ROW"
        " PATTERN (X Y*) WITHIN 1 SECOND DEFINE Y AS Y.b > X.b)",
        1,
        reads="climbs",
    ),
}
GRAPHS: Mapping[str, Mapping[str, Link]] = {"graph": _GRAPH, "free graph": _FREE, "short graph": _SHORT}


@cache
def operator(text: str, schema: StreamSchema) -> Operate:
    """What an operator answers for rows of a schema, by its own oracle."""
    if not text:
        return lambda rows: identified([dict(row) for row in rows])
    if text.startswith("WHERE"):
        return lambda rows: identified([dict(row) for row in rows if row["v"] is not None and row["v"] >= 1])
    if text.startswith("FENCE"):
        geographic = schema.place is not None and schema.place.geographic
        return lambda rows: identified(fence_changes(text, rows, geographic=geographic), by=FENCE_IDENTITY)
    if text.startswith("MATCH_RECOGNIZE"):
        recognition = _pattern(text)
        return lambda rows: identified(pattern.answers(recognition, schema, rows))
    kernels = {group.name.partition(":")[0]: group.kernel for group in _plan(text, schema).groups(0)}
    first: Any = next(iter(kernels.values()))
    if text.startswith("CORRELATE"):
        return lambda rows: identified(correlate.answers(schema, rows, first.subscriptions[0]))
    if text.startswith("NEAREST"):
        return lambda rows: identified(nearest.answers(schema, rows, first.queries[0]))
    if "PREDICT" not in text:
        return lambda rows: identified(suppress.watch(schema, rows, first.queries[0]).sent, by=("id", "v"))
    return _predicted(text, schema)


def identified(answers: Sequence[Row], by: Sequence[str] | None = None) -> list[Answer]:
    """Answers whose content is their identity, or some of it; of equal ones, each has its place among them."""
    seen: Counter[Hashable] = Counter()
    found = []
    for answer in answers:
        values = {name: value for name, value in answer.items() if name not in ("query", "event_time")}
        content = (answer["event_time"], *((name, values[name]) for name in by or values))
        found.append(Answer(answer["event_time"], (content, seen[content]), values))
        seen[content] += 1
    return found


def _predicted(text: str, schema: StreamSchema) -> Operate:
    """SUPPRESS and PREDICT: an answer is a line and a piece, however far it goes."""
    plan = _plan(text, schema)
    first, second = (group.kernel for group in plan.groups(0))
    updates: StreamSchema = plan.stream(first.queries[0].name)

    def operate(rows: Sequence[Row]) -> list[Answer]:
        sent = in_order(updates, suppress.watch(schema, rows, first.queries[0]).sent)
        found = []
        for one in predict.emitted(updates, sent, second.queries[0]):
            aliases = ("a_", "b_") if "PAIRS" in text else ("", "")
            values: Row = {}
            for alias, update in zip(aliases, one.answer.updates, strict=False):
                values |= {f"{alias}key": update.key, f"{alias}time" if alias else "update_time": update.time}
            identity = (*values.values(), one.answer.pieces)
            values |= {"begins": one.begins, "ends": one.ends, "withdrawn": one.withdrawn}
            found.append(Answer(one.event_time, identity, values))
        return found

    return operate


def in_order(schema: StreamSchema, rows: Sequence[Row]) -> list[Row]:
    """Rows in the order of their stream."""
    return as_table(schema, rows).tolist()


def as_table(schema: StreamSchema, rows: Sequence[Row]) -> Rows:
    """The same as columns."""
    table = Rows.of({name: Column.of(kind, [row[name] for row in rows]) for name, kind in schema.columns})
    return table.take(order_of(table, schema.order))


def _pattern(text: str) -> MatchRecognize:
    script, errors = parse(f"CREATE QUERY q AS SELECT * FROM s {text};")
    assert not errors
    (query,) = script.statements
    assert isinstance(query, CreateQuery) and isinstance(query.select.operator, MatchRecognize)
    return query.select.operator


@cache
def _plan(text: str, schema: StreamSchema) -> Any:
    return compile_text(f"{declared(schema)}\nCREATE QUERY q AS SELECT * FROM {schema.name} {text};")


def declared(schema: StreamSchema) -> str:
    """CREATE STREAM for a schema."""
    columns = [
        f"{name} {kind.value}" + (" TIME" if name == schema.time else " KEY" if name == schema.key else "")
        for name, kind in schema.columns
    ]
    if schema.place is not None:
        kind = " GEOGRAPHIC" if schema.place.geographic else ""
        columns.append(f"PLACE ({schema.place.x}, {schema.place.y}){kind}")
    return f"CREATE STREAM {schema.name} ({', '.join(columns)});"
