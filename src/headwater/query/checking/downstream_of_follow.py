"""What may run downstream of a FOLLOW, once for each interest?

Queries downstream of a FOLLOW read queries downstream of the same one, are not a FOLLOW themselves, look back over a known time, and do not
use the stamps: `focal`, `interest` and `historical` are added to answers when they are delivered. Fences that stand still are not read as a
stream; those that move must be downstream of the same FOLLOW as the positions.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from headwater.model import Span
from headwater.query.checking.answer_columns import STAMPS, Columns
from headwater.query.checking.catalogue import CheckedQuery
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.lookback import heartbeat_us
from headwater.query.checking.operator_pairs import has_two_sides, runs_others
from headwater.query.language.tree import CreateQuery, Expression, Name
from headwater.query.language.walk import columns_of
from headwater.query.operators.contract import Unbounded
from headwater.query.operators.union import AnyOperator


class Read(NamedTuple):
    """A source that a query reads: as it was written, where, and the FOLLOW that it is downstream of, if any."""

    name: str
    span: Span | None
    downstream_of: str | None
    emits_interests: bool = False


def check_downstream_sources(
    tree: CreateQuery, sources: Sequence[Read], complaints: Complaints
) -> str | None:
    """The FOLLOW that a query is downstream of; complains where it would be two, or where interests are read as if they were events."""
    follows = runs_others(tree.select.operator)
    fellow = next((source for source in sources if source.downstream_of), None)
    follow = fellow.downstream_of if fellow else None
    for source in sources:
        if source.emits_interests:
            complaints.refuse(
                "wrong-chain",
                f"queries read events, but '{source.name}' emits interests",
                source.span,
                "leave EMIT INTERESTS out, or emit the interests in a separate query",
            )
        elif follows and source.downstream_of:
            complaints.refuse(
                "wrong-chain",
                f"'{source.name}' is downstream of a FOLLOW, and a FOLLOW cannot be downstream of another",
                source.span,
                "read a stream or query that is not downstream of a FOLLOW: what is delivered to one object need not be near another",
            )
        elif not follows and fellow and source.downstream_of != follow:
            _refuse_apart(tree, source, fellow, complaints)
    return tree.name if follows else follow


def _refuse_apart(tree: CreateQuery, source: Read, fellow: Read, complaints: Complaints) -> None:
    if not has_two_sides(tree.select.operator):
        complaints.refuse(
            "wrong-sources",
            f"'{source.name}' and '{fellow.name}' are not downstream of the same FOLLOW",
            source.span,
            "let both read the same FOLLOW, or follow both together: FROM a, b FOLLOW (…)",
        )
        return
    complaints.refuse(
        "wrong-sources",
        "positions and moving fences must be downstream of the same FOLLOW, or of none: "
        f"'{source.name}' is not downstream of the same FOLLOW as '{fellow.name}'",
        source.span,
        "create a query with the FOLLOW and read it on both sides: CREATE QUERY near AS SELECT * FROM a, b FOLLOW (…), then FROM near WHERE source = 'a' "
        "FENCE (near WHERE source = 'b' RADIUS …)",
        "polygons of a CREATE FENCES can be used after any FOLLOW",
    )


def check_bounded(
    tree: CreateQuery,
    operator: AnyOperator,
    queries: Mapping[str, CheckedQuery],
    streams: Container[str],
    complaints: Complaints,
) -> None:
    """What runs downstream of a FOLLOW looks back over a time that is known before it starts.

    What is neither among `queries` nor among `streams` was refused, and is not held against those that read it.
    """
    node = tree.select.operator
    sources = (tree.select.source, *tree.select.further_sources)
    beats = [heartbeat_us(queries, source) for source in sources if _is_known(source, queries, streams)]
    known = [beat for beat in beats if beat is not None]
    looks_back_us = operator.looks_back_us(max(known, default=0) if len(known) == len(beats) else None)
    if node is None or not isinstance(looks_back_us, Unbounded):
        return
    why, word, advice = looks_back_us
    complaints.refuse(
        "unbounded-behind-follow",
        f"downstream of FOLLOW it must be known how far back an answer looks, but {why}",
        node.place_of(word),
        advice,
        "when an interest moves, earlier events are processed again, as far back as the windows downstream of FOLLOW reach",
    )


def check_stamp_names(tree: CreateQuery, answers: Columns, complaints: Complaints) -> None:
    """Neither the operator nor the SELECT list names a column like a stamp that it is not."""
    for name, _ in answers:
        if name in STAMPS:
            complaints.refuse(
                "reserved-column",
                f"the answers would have a column '{name}', and every answer downstream of FOLLOW already has one",
                tree.select.operator.span if tree.select.operator else tree.span,
                "give it another name with AS",
            )
    for item in tree.select.items or ():
        if item.alias in STAMPS and item.expression != Name(item.alias):
            complaints.refuse(
                "reserved-column",
                f"every answer downstream of FOLLOW already has a column '{item.alias}'",
                item.span or item.expression.span,
                "give it another name with AS",
            )


def stamps_in(expression: Expression | None) -> tuple[Name, ...]:
    """The stamps that an expression names."""
    return () if expression is None else tuple(name for name in columns_of(expression) if name.name in STAMPS)


def _is_known(source: str, queries: Mapping[str, CheckedQuery], streams: Container[str]) -> bool:
    """Whether nothing that a source goes back to was refused."""
    if (query := queries.get(source)) is None:
        return source in streams
    return all(_is_known(read, queries, streams) for read in (query.reads, *query.further_reads))
