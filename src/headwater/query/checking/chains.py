"""Is a query with several operators, or with several streams in FROM, one that there is?

Which operators may come after one another is a rule of `operator_pairs`; which may read several streams, each says itself.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import get_args

from headwater.model import Span
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.operator_pairs import (
    IN_ONE_QUERY,
    emits_interests,
    instead_of,
    may_come_after,
    runs_others,
)
from headwater.query.language.tree import CreateQuery, Operator, Select


def check_chain(tree: CreateQuery, complaints: Complaints) -> CreateQuery | None:
    """The query as far as it can be checked further; None and complaints if nothing after FROM can be checked."""
    select = tree.select
    if not select.chain and not select.further_sources:
        return tree
    before = len(complaints.errors)
    _check_operators(select, complaints)
    if select.further_sources:
        _check_sources(tree, complaints)
    if len(complaints.errors) > before:
        return None
    if select.further_sources and select.where and not _selects_of_several(select):
        complaints.refuse(
            "wrong-sources",
            "WHERE selects rows of one stream, but FROM names several",
            select.where.span or select.span,
            f"put it into a query and read that query: CREATE QUERY chosen AS SELECT * FROM {select.source} WHERE …",
        )
        return replace(tree, select=replace(select, where=None))
    return tree


def _check_operators(select: Select, complaints: Complaints) -> None:
    """Each may come after the one before, and one at most runs others downstream of it."""
    if not select.chain or select.operator is None:
        return
    operators = (*select.chain, select.operator)
    for first, second in pairwise(operators):
        if emits_interests(first):
            complaints.refuse(
                "wrong-chain",
                f"{second.keyword} reads events, but EMIT INTERESTS emits none",
                second.span,
                "leave EMIT INTERESTS out, or emit the interests in a separate query",
            )
            return
        if not may_come_after(first, second):
            complaints.refuse(
                "wrong-chain",
                f"{second.keyword} cannot follow {first.keyword} in one query",
                second.span,
                IN_ONE_QUERY,
                instead_of(first, second, select.source),
            )
            return
    followed = [operator for operator in operators if runs_others(operator)]
    if len(followed) > 1:
        complaints.refuse(
            "wrong-chain",
            f"a {followed[1].keyword} cannot be downstream of another {followed[0].keyword}",
            followed[1].span,
            "remove one of them; what is delivered to one object need not be near another",
        )


def _check_sources(tree: CreateQuery, complaints: Complaints) -> None:
    """Several streams are read by operators that can, and each of them once."""
    select = tree.select
    reader = _reader(select)
    if reader is None or not reader.with_several_sources:
        examples = [node.with_several_sources for node in get_args(Operator) if node.with_several_sources]
        what = "a plain SELECT" if reader is None else reader.keyword
        complaints.refuse(
            "wrong-sources",
            f"{what} reads one stream, but FROM names {1 + len(select.further_sources)}",
            _span(select, 0),
            f"only {' and '.join(examples)} directly after FROM read several",
        )
        return
    seen = {select.source}
    for place, source in enumerate(select.further_sources):
        if source in seen:
            complaints.refuse(
                "wrong-sources",
                f"FROM names '{source}' twice",
                _span(select, place),
                f"list it once: FROM {source}{reader.reads_itself}",
            )
            return
        seen.add(source)


def _selects_of_several(select: Select) -> bool:
    """Whether WHERE is a condition on all sources together."""
    first = (*select.chain, select.operator)[0]
    return first is not None and first.reads_together


def _reader(select: Select) -> Operator | None:
    """The operator that reads the sources together: the first of a chain with a FOLLOW, otherwise the last one."""
    operators = (*select.chain, select.operator)
    apart = any(map(runs_others, operators))
    return operators[0] if apart else select.operator


def _span(select: Select, further: int) -> Span | None:
    return select.further_spans[further] if select.further_spans else select.span
