"""Which queries of a text are computed, and which of them emit answers?

Rule 1  Those that are chosen emit; without a choice, all that are no views.
Rule 2  What they read is computed with them, as a view if it was not chosen itself. Nothing else is computed: a view that no query reads
        costs nothing and needs no input.
Rule 3  Neither changes the fingerprint of a query, so a query that becomes a view, or a view that becomes a query, keeps its state.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from headwater.query.checking.catalogue import Catalogue, CheckedQuery


def choose(catalogue: Catalogue, chosen: Collection[str] | None = None) -> Catalogue:
    """The catalogue with what is computed; `chosen` are names of queries and views, None: every query that is no view."""
    emitting = {name for name, query in catalogue.queries.items() if _emits(query, chosen)}
    computed: dict[str, CheckedQuery] = {}
    read: set[str] = set()
    for name, query in reversed(list(catalogue.queries.items())):  # each comes after those it reads
        if name in emitting or name in read:
            computed[name] = _as_chosen(query, emits=name in emitting)
            read.update((query.reads, *query.further_reads))
    return replace(catalogue, queries=dict(reversed(computed.items())))


def unread_views(catalogue: Catalogue) -> tuple[str, ...]:
    """The views from which no query gets anything, at once or by way of other views."""
    computed = choose(catalogue).queries
    return tuple(
        name for name, query in catalogue.queries.items() if query.tree.view and name not in computed
    )


def _emits(query: CheckedQuery, chosen: Collection[str] | None) -> bool:
    return query.name in chosen if chosen is not None else not query.tree.view and not query.tree.hidden


def _as_chosen(query: CheckedQuery, *, emits: bool) -> CheckedQuery:
    if query.tree.hidden or query.tree.view is not emits:
        return query
    return replace(query, tree=replace(query.tree, view=not emits))
