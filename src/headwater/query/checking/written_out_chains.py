"""Chains of operators, written out as queries that read queries.

`FROM cars SUPPRESS (…) PREDICT (…)` is a hidden query `"meeting/SUPPRESS"` that reads `cars`, and a PREDICT that reads it. So an
operator reads a stream or another query's answers, and no later module knows of chains. FOLLOW takes all sources
of FROM together; any other operator before the last is written out once for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headwater.query.language.tree import CreateQuery, Operator, Script, Select, Statement


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
    select = replace(query.select, chain=())
    for place, operator in enumerate(query.select.chain):
        parts = list(_read_by(operator, select))
        names = [_link_name(query.name, place, operator, number, len(parts)) for number in range(len(parts))]
        for name, part in zip(names, parts, strict=True):
            yield CreateQuery(name, part, hidden=True, span=query.span)
        # A WHERE before several sources stays where the checker refuses it.
        several = len(parts) > 1
        select = replace(
            select,
            source=names[0],
            further_sources=tuple(names[1:]),
            where=select.where if several else None,
            further_spans=select.further_spans if several else (),
        )
    yield replace(query, select=select)


def _read_by(operator: Operator, select: Select) -> Iterator[Select]:
    """What an operator before the last selects from the sources: all that they answer."""
    if operator.reads_together or not select.further_sources:
        yield replace(select, items=None, operator=operator)
        return
    sources = (select.source, *select.further_sources)
    places = (select.source_span, *select.further_spans)
    for number, source in enumerate(sources):
        span = places[number] if len(places) == len(sources) else select.source_span
        yield Select(None, source, None, operator, source_span=span, span=select.span)


def _link_name(query: str, place: int, operator: Operator, source: int, sources: int) -> str:
    number = f" {source + 1}" if sources > 1 else ""
    step = f"{place + 1} " if place else ""
    return f"{query}/{step}{operator.keyword}{number}"
