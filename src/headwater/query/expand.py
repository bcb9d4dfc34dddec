"""Chains of operators, written out as queries that read queries.

`FROM cars SUPPRESS (…) PREDICT (…)` is a hidden query `"meeting/SUPPRESS"` that reads `cars`, and a PREDICT that reads it. So an
operator reads a stream or another query's answers, and nothing behind this module knows of chains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headwater.query.tree import CreateQuery, Operator, Script, Select, Statement


def expand(script: Script) -> Script:
    """The same script without chains."""
    statements: list[Statement] = []
    for statement in script.statements:
        if isinstance(statement, CreateQuery) and statement.select.chain:
            statements += list(_links(statement))
        else:
            statements.append(statement)
    return Script(tuple(statements))


def _links(query: CreateQuery) -> Iterator[CreateQuery]:
    """A hidden query for each operator before the last, one a source where there are several; then the query itself."""
    select = query.select
    sources = (select.source, *select.further_sources)
    places = (
        (select.source_span, *select.further_spans)
        if select.further_spans
        else (select.source_span,) * len(sources)
    )
    where = select.where
    for place, operator in enumerate(select.chain):
        names = [
            _link_name(query.name, place, operator, source, len(sources)) for source in range(len(sources))
        ]
        for name, source, span in zip(names, sources, places, strict=True):
            first = len(sources) == 1 and place == 0
            yield CreateQuery(
                name,
                Select(
                    None,
                    source,
                    where if first else None,
                    operator,
                    source_span=span,
                    span=select.span,
                ),
                hidden=True,
                span=query.span,
            )
        sources = tuple(names)
    # A WHERE before several sources stays where the checker refuses it.
    several = len(sources) > 1
    yield replace(
        query,
        select=replace(
            select, source=sources[0], further_sources=sources[1:], where=where if several else None, chain=()
        ),
    )


def _link_name(query: str, place: int, operator: Operator, source: int, sources: int) -> str:
    word = "".join(f"_{letter}" if letter.isupper() else letter for letter in type(operator).__name__)
    number = f" {source + 1}" if sources > 1 else ""
    step = f"{place + 1} " if place else ""
    return f"{query}/{step}{word.strip('_').upper()}{number}"
