"""Rows and patterns of examples that are worked by hand.

Rows are written `a1 b2`: a row with s = 'a' at second 1. A variable is true for the rows with its own letter, unless DEFINE says
something else.
"""

from __future__ import annotations

from typing import Any

from headwater.kernels.pattern.choices import SkipTo
from headwater.query.language.parse import parse_expression, parse_quantity
from headwater.query.language.tree import Binary, Literal, Name
from headwater.query.operators.pattern.parse import parse_pattern
from headwater.query.operators.pattern.tree import Definition, MatchRecognize, Measure, Skip
from tests.laws.draws import bounded

QUICK = bounded(150)
SECOND = 1_000_000
PAST_LAST = Skip(SkipTo.PAST_LAST_ROW)
TO_NEXT = Skip(SkipTo.NEXT_ROW)


def rows_of(text: str, *values: float | None) -> list[dict[str, Any]]:
    """The rows `a1 b2 …`, with x from `values` where there are any, and n counting from 0."""
    return [
        {
            "k": "k",
            "at": int(word[1:]) * SECOND,
            "x": values[n] if values else None,
            "n": n,
            "s": word[0],
        }
        for n, word in enumerate(text.split())
    ]


def ask(pattern: str, define: dict[str, str] | None = None, **clauses: Any) -> MatchRecognize:
    """A MATCH_RECOGNIZE; measures as {name: text}, times as text."""
    conditions = {letter: Binary("=", Name("s"), Literal(letter.lower())) for letter in "ABCDE"} | {
        name: parse_expression(text) for name, text in (define or {}).items()
    }
    for time in ("within", "between_rows"):
        if time in clauses:
            clauses[time] = parse_quantity(clauses[time])
    measures = clauses.pop("measures", {})
    return MatchRecognize(
        parse_pattern(pattern),
        tuple(Definition(name, condition) for name, condition in conditions.items()),
        measures=tuple(Measure(parse_expression(text), name) for name, text in measures.items()),
        **clauses,
    )
