"""How many queries may read one another in a row?

Each reader adds its step to every micro-batch, and waits for the one before it. So a chain has a bound, on which code that walks
along one may rely.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.query.checking.complaints import Complaints
from headwater.query.checking.sources import sources_of
from headwater.query.language.tree import CreateQuery

LONGEST_CHAIN: Final = 100
"""Queries that read one another in a row; each operator of a query with several counts."""


def check_chain_length(tree: CreateQuery, before: Mapping[str, int], complaints: Complaints) -> int:
    """The place of a query in the longest chain that leads to it, from 1; `before` has those of the queries it may read.

    Only the first that is too far is refused: shorten the chain there, and the others are nearer as well.
    """
    place = 1 + max((before.get(source, 0) for source in sources_of(tree)), default=0)
    if place == LONGEST_CHAIN + 1:
        complaints.refuse(
            "chain-too-long",
            f"at most {LONGEST_CHAIN} queries may read one another in a row, and this is one more",
            tree.select.source_span or tree.span,
            "if a query only filters the answers of another, join the conditions with AND in one query",
        )
    return place
