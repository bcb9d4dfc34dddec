"""FOLLOW in words, for people who read plans: which objects, how far around them, when an interest moves, what is delivered, what is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from headwater.kernels.follow.choices import Update
from headwater.model import StreamSchema
from headwater.query.language.expression_text import expression_text
from headwater.query.language.words import counted, duration_in_words, history_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.follow.operator import FollowOperator
from headwater.query.planning.query_plan import QueryPlan

INDEX_BYTES: Final = 6
"""What an event takes in the grid beside its columns."""

INTEREST_BYTES: Final = 120
"""What a focal object takes: its interest, when and where it was heard of."""


def words(operator: FollowOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    shared = query.shared and plan.zones > 1
    return Words(
        [*_conditions(operator, query), *completeness_in_words(*_promised(explained))],
        _state(operator, query, [plan.stream(name) for name in operator.events]),
        zones=zones_in_words(plan.zones) if shared else None,
    )


def _conditions(operator: FollowOperator, query: QueryPlan) -> list[Entry]:
    where = f" for which {expression_text(operator.where)}" if operator.where is not None else ""
    history = duration_in_words(operator.last_us) if operator.last_us else "nothing"
    entries: list[Entry] = [
        (
            "follows",
            f"each {operator.focals}{where}; one silent for {duration_in_words(operator.forget_us)} is forgotten",
        ),
        ("region", _region(operator)),
        ("new interest", _update(operator)),
        ("history", f"{history} from before an interest begins{_windows(query)}"),
    ]
    if operator.best_effort is not None:
        entries.append(("effort", f"of these at most the {counted(operator.best_effort, 'latest event')}"))
    if operator.interests:
        entries.append(("answers", "each interest at its end, with precision and recall"))
    else:
        once = (
            "once for each interest" if operator.each else "once, for the first interest that it belongs to"
        )
        entries.append(("answers", f"stamped with focal, interest and historical; each is delivered {once}"))
    return entries


def _promised(explained: Explained) -> tuple[tuple[str, ...], bool]:
    """Which downstream queries depend on where an interest begins; and whether events that the previous interest had are left out
    for one of them at least. Points and fences need not be loaded."""
    from headwater.kernels.follow.kernel import FollowKernel

    plan, name = explained.plan.with_placeholders(), explained.query.name
    group = next(group for group in plan.groups(plan.zone_of(name)) if name in group.queries)
    assert isinstance(group.kernel, FollowKernel)
    reuses = next(query.reuses for query in group.kernel.queries if query.name == name)
    return group.downstream[name].weak if name in group.downstream else (), reuses


def completeness_in_words(weak: Sequence[str], reuses: bool) -> list[Entry]:
    """What queries downstream of a FOLLOW promise, of which some depend on where an interest begins; and what is streamed again."""
    promise = (
        "strong: two objects with the same region get the same answers"
        if not weak
        else f"weak: what {_last(weak[0])} finds depends on where an interest begins, so two objects with the same region may get "
        "different answers"
    )
    reused = (
        "events that an interest shares with the one before are not passed on again"
        if reuses
        else "none: every interest gets its whole history"
    )
    return [("complete", promise), ("reuse", reused)]


def _last(name: str) -> str:
    """The operator of a link in a chain, the name of any other query."""
    _, slash, operator = name.rpartition("/")
    return operator if slash else f"'{name}'"


def event_bytes(source: StreamSchema) -> int:
    """The size of an event in the store, without its texts: names are stored once."""
    return INDEX_BYTES + sum(kind.dtype.itemsize for _, kind in source.columns)


def _state(operator: FollowOperator, query: QueryPlan, events: Sequence[StreamSchema]) -> list[str]:
    reach = operator.history_us(query.before_us)
    rows = " and ".join(f"{size_in_words(event_bytes(source))} each of {source.name}" for source in events)
    delivered = (
        []
        if operator.each or not operator.last_us
        else ["32 bytes for each answer of the history, to deliver it only once"]
    )
    return [
        f"events of the last {history_in_words(reach)}: {rows}, once for all queries that read them"
        if reach
        else "events only for the duration of a step",
        f"{size_in_words(INTEREST_BYTES)} for each focal object, and what downstream operators store for its interest",
        *delivered,
    ]


def zones_in_words(zones: int) -> str:
    """Where a FOLLOW and what is downstream of it live."""
    return f"all {zones} (from 0): each has all events, and handles the focal objects that live in it"


def _windows(query: QueryPlan) -> str:
    return (
        f", and {history_in_words(query.before_us)} more for the downstream windows"
        if query.before_us
        else ""
    )


def _region(operator: FollowOperator) -> str:
    if operator.radius_m is not None:
        return f"at most {operator.radius_m:g} m around it, border included"
    if operator.box_m is not None:
        return f"a box of {operator.box_m[0]:g} m by {operator.box_m[1]:g} m around it, border included"
    return f"the polygon in its column '{operator.shape}', border included"


def _update(operator: FollowOperator) -> str:
    match operator.update:
        case Update.ALWAYS:
            return "with every location update"
        case Update.EVERY:
            return f"with an update more than {duration_in_words(operator.every_us)} after it began"
        case Update.MOVED:
            return f"with an update more than {operator.moved_m:g} m from its centre"
        case Update.QUALITY:
            return (
                f"with an update at which, of the events of the last {duration_in_words(operator.over_us)}, precision is at most "
                f"{operator.precision:g} or recall at most {operator.recall:g}"
            )
