"""How many events did each FOLLOW have to keep, how much is that, and how long back do they go?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater.model import HIGHEST, SECOND
from headwater.query.follow_words import event_bytes
from headwater.query.plan import Plan, QueryPlan
from headwater.query.reach import history_us
from headwater.query.words import history_in_words, size_in_words


@dataclass(frozen=True, slots=True)
class Stored:
    """A store: what it is counted under, which events are in it, what one takes, and how long back they are asked for."""

    counted: str
    events: str
    event_bytes: int
    history_us: int


def stores_of(plan: Plan) -> list[Stored]:
    """The stores of a plan that keep events for longer than a step; queries that look at the same streams have one."""
    alike: dict[tuple[str, tuple[str, ...]], list[QueryPlan]] = {}
    for query in plan.queries:
        if query.following:
            alike.setdefault((query.reads, query.following.events), []).append(query)
    stores = [
        Stored(
            queries[0].name,
            ", ".join(events),
            event_bytes([plan.stream(name) for name in events]),
            max(history_us(query.following, query.before_us) for query in queries if query.following),
        )
        for (_, events), queries in alike.items()
    ]
    return [store for store in stores if store.history_us]


def stored_in_words(stores: Iterable[Stored], counts: Mapping[str, int]) -> list[str]:
    """The closing lines: what was in the stores at most, in any zone."""
    told = []
    for store in stores:
        many = counts.get(f"{HIGHEST}stored:{store.counted}", 0)
        seconds = counts.get(f"{HIGHEST}stored_us:{store.counted}", 0) / SECOND
        told.append(
            f"stored    {store.events}: at most {many:,} event{'s' * (many != 1)} at once, {size_in_words(many * store.event_bytes)}, "
            f"of {seconds:,.1f} s; asked for are the last {history_in_words(store.history_us)}"
        )
    return told
