"""Does a query still mean what it meant when its state was saved?

A fingerprint is a digest of the canonical text of a query and of everything it reads. Spaces, comments, order of statements
and the lateness of streams (which rows come, not what they mean) leave it as it is.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from headwater.query.catalogue import Catalogue, CheckedQuery
from headwater.query.printer import show
from headwater.query.walk import columns_of


def fingerprints(catalogue: Catalogue) -> dict[str, str]:
    """The fingerprint of every query, 32 hex digits."""
    found: dict[str, str] = {}
    for name, stream in catalogue.streams.items():
        found[name] = _digest(show(replace(stream.tree, late=None, drop_late=False, idle=None)))
    for name, query in catalogue.queries.items():
        read = "".join(found[source] for source in (query.reads, *query.further_reads))
        found[name] = _digest(
            read + _kind_of_points(catalogue, query) + _kind_of_fences(catalogue, query) + show(query.tree)
        )
    return {name: found[name] for name in catalogue.queries}


def _kind_of_points(catalogue: Catalogue, query: CheckedQuery) -> str:
    """The type of their names, which answers carry; what else is declared about them changes no answer of the others."""
    if query.neighbourhood is None or query.neighbourhood.points is None:
        return ""
    points = catalogue.points[query.neighbourhood.points].schema
    return points.types[points.key].value


def _kind_of_fences(catalogue: Catalogue, query: CheckedQuery) -> str:
    """The same of fences that are a set, and of the columns that a WHERE asks about."""
    if query.fencing is None or query.fencing.fences not in catalogue.fences:
        return ""
    fences = catalogue.fences[query.fencing.fences].schema
    asked = {column.name for column in columns_of(query.fencing.where)} if query.fencing.where else set()
    return " ".join(
        f"{name} {kind.value}" for name, kind in fences.columns if name in asked or name == fences.key
    )


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
