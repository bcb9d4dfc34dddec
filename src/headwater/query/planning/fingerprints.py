"""Does a query still mean what it meant when its state was saved?

A fingerprint is a digest of the canonical text of a query and of everything it reads. Spaces, comments, order of statements
and the lateness of streams (which rows come, not what they mean) leave it as it is; so does whether it is a query or a view.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from headwater.query.checking.catalogue import Catalogue
from headwater.query.language.printer import show
from headwater.query.operators.union import AnyOperator


def fingerprints(catalogue: Catalogue) -> dict[str, str]:
    """The fingerprint of every query, 32 hex digits."""
    found: dict[str, str] = {}
    for name, stream in catalogue.streams.items():
        found[name] = _digest(show(replace(stream.tree, late=None, drop_late=False, idle=None)))
    for name, query in catalogue.queries.items():
        read = "".join(found[source] for source in (query.reads, *query.further_reads))
        found[name] = _digest(
            read + _meaning_of_set(catalogue, query.operator) + show(replace(query.tree, view=False))
        )
    return {name: found[name] for name in catalogue.queries}


def _meaning_of_set(catalogue: Catalogue, operator: AnyOperator) -> str:
    if operator.declared_set is None:
        return ""
    declared = catalogue.points.get(operator.declared_set) or catalogue.fences[operator.declared_set]
    return operator.meaning_of_set(declared.schema)


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
