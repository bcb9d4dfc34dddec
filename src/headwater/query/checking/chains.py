"""Which operators may follow one another, and which may read several streams?

SUPPRESS may be followed by PREDICT, and FOLLOW may stand behind and before any operator, once. PREDICT and FOLLOW may read several
streams. All else is said with queries that read queries.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from headwater.model import Span
from headwater.query.checking.complaints import Complaints
from headwater.query.language.tree import CreateQuery, Operator, Select
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.predict.tree import Predict
from headwater.query.operators.suppress.tree import Suppress


def check_chain(tree: CreateQuery, complaints: Complaints) -> CreateQuery | None:
    """The query as far as it can be checked further; None and complaints: nothing behind FROM can be."""
    select = tree.select
    if not select.chain and not select.further_sources:
        return tree
    before = len(complaints.errors)
    _check_operators(select, complaints)
    if select.further_sources:
        _check_sources(tree, complaints)
    if len(complaints.errors) > before:
        return None
    if select.further_sources and select.where and not isinstance(_first(select), Follow):
        complaints.refuse(
            "wrong-sources",
            "WHERE selects rows of one stream, but FROM names several",
            select.where.span or select.span,
            f"put it into a query and read that query: CREATE QUERY chosen AS SELECT * FROM {select.source} WHERE …",
        )
        return replace(tree, select=replace(select, where=None))
    return tree


def _check_operators(select: Select, complaints: Complaints) -> None:
    """SUPPRESS (…) PREDICT (…) is the only chain there is, but for one FOLLOW."""
    if not select.chain or select.operator is None:
        return
    operators = (*select.chain, select.operator)
    for first, second in pairwise(operators):
        if isinstance(first, Follow) and first.interests:
            complaints.refuse(
                "wrong-chain",
                f"{second.keyword} reads events, but EMIT INTERESTS emits none",
                second.span,
                "leave EMIT INTERESTS out, or emit the interests in a separate query",
            )
            return
        if isinstance(second, Follow):
            continue
        if not isinstance(first, Follow) and not (
            isinstance(first, Suppress) and isinstance(second, Predict)
        ):
            complaints.refuse(
                "wrong-chain",
                f"{second.keyword} cannot follow {first.keyword} in one query",
                second.span,
                "in one query, PREDICT (…) may follow SUPPRESS (…), and one FOLLOW (…) may come before or after any operator",
                _instead(first, second, select.source),
            )
            return
    followed = [operator for operator in operators if isinstance(operator, Follow)]
    if len(followed) > 1:
        complaints.refuse(
            "wrong-chain",
            "a FOLLOW cannot be downstream of another FOLLOW",
            followed[1].span,
            "remove one of them; what is delivered to one object need not be near another",
        )


def _instead(first: Operator, second: Operator, source: str) -> str:
    """What to write instead of two operators that do not follow one another."""
    if isinstance(first, Suppress) and isinstance(second, Suppress):
        return f"one SUPPRESS lists all dimensions that are sent together; for another tolerance write a second query that reads '{source}' too"
    if isinstance(first, Predict) and isinstance(second, Predict):
        return f"put both conditions into one PREDICT, joined by AND, or write a query for each that reads '{source}'"
    if isinstance(first, Predict) and isinstance(second, Suppress):
        return "swap them: SUPPRESS emits the lines that PREDICT reads"
    return f"write two queries: the one with {second.keyword} reads the one with {first.keyword}"


def _check_sources(tree: CreateQuery, complaints: Complaints) -> None:
    """Several streams are read by PREDICT and FOLLOW, and each of them once."""
    select = tree.select
    reader = _reader(select)
    if not isinstance(reader, Predict | Follow):
        what = "a plain SELECT" if reader is None else reader.keyword
        complaints.refuse(
            "wrong-sources",
            f"{what} reads one stream, but FROM names {1 + len(select.further_sources)}",
            _span(select, 0),
            "only PREDICT (PAIRS a, b WHERE … WITHIN 3 SECONDS) and FOLLOW (…) directly after FROM read several",
        )
        return
    seen = {select.source}
    for place, source in enumerate(select.further_sources):
        if source in seen:
            complaints.refuse(
                "wrong-sources",
                f"FROM names '{source}' twice",
                _span(select, place),
                f"list it once: FROM {source} PREDICT (PAIRS a, b WHERE …) joins its sensors with one another"
                if isinstance(reader, Predict)
                else f"list it once: FROM {source}",
            )
            return
        seen.add(source)


def _first(select: Select) -> Operator | None:
    return (*select.chain, select.operator)[0]


def _reader(select: Select) -> Operator | None:
    """The operator that reads the sources together: FOLLOW right behind FROM; else the last one, unless a FOLLOW comes before."""
    operators = (*select.chain, select.operator)
    apart = any(isinstance(operator, Follow) for operator in operators)
    return operators[0] if apart else select.operator


def _span(select: Select, further: int) -> Span | None:
    return select.further_spans[further] if select.further_spans else select.span
