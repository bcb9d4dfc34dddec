"""How far back must the rows reach that a FOLLOW passes to the queries downstream of it?

An answer of a query looks back at most as far as its window, and the rows in the window may be answers themselves. So the
result is the longest sum of windows on a path of queries. A plain SELECT and a SUPPRESS count as nothing, a PREDICT as its WITHIN
and the heartbeat of the updates that it reads. A FENCE looks back to the last position of an object that is not forgotten; a forgotten object
leaves a microsecond after FORGET, so the window is that long.
"""

from __future__ import annotations

from collections.abc import Mapping

from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.updates import HEARTBEAT
from headwater.query.language.tree import Name
from headwater.query.operators.contract import Unbounded


def downstream_windows_us(catalogue: Catalogue, name: str) -> int:
    """The longest sum of windows downstream of the FOLLOW query `name`, in microseconds."""
    reached: dict[str, int] = {}
    for query in catalogue.queries.values():  # each after those it reads
        if query.downstream_of == name and query.name != name:
            before = (reached.get(source, 0) for source in (query.reads, *query.further_reads))
            reached[query.name] = max(before) + window_us(query, catalogue)
    return max(reached.values(), default=0)


def heartbeat_us(queries: Mapping[str, CheckedQuery], source: str) -> int | None:
    """The heartbeat of a query's updates; None where no SUPPRESS makes them, or the column is not handed on as it is."""
    query = queries.get(source)
    if query is None or (HEARTBEAT, Name(HEARTBEAT)) not in (column[:2] for column in query.selected):
        return None
    if query.operator.sends_every_us is not None:
        return query.operator.sends_every_us
    sources = query.operator.passes_on(query.reads)
    known = [found for name in sources if (found := heartbeat_us(queries, name)) is not None]
    return max(known) if known and len(known) == len(sources) else None


def window_us(query: CheckedQuery, catalogue: Catalogue) -> int:
    """How far back one answer looks."""
    # A heartbeat that is not known here matters to no answer, or its source was refused, and there is no plan.
    beats = [heartbeat_us(catalogue.queries, source) or 0 for source in (query.reads, *query.further_reads)]
    looks_back_us = query.operator.looks_back_us(max(beats))
    assert not isinstance(looks_back_us, Unbounded), (
        f"'{query.name}' should have been refused downstream of FOLLOW"
    )
    return looks_back_us
