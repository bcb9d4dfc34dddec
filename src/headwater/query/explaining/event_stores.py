"""The events that are stored for queries, in words: how many, their size, how far back they reach, and which queries read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater.model import HIGHEST, SECOND
from headwater.query.language.words import counted, history_in_words, listed, size_in_words
from headwater.query.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Stored:
    """The store of a source: the size of an event, the longest history of any query, and all queries that read it."""

    source: str
    event_bytes: int
    history_us: int
    queries: tuple[str, ...]


def stores_of(plan: Plan) -> list[Stored]:
    """The stores of a plan that keep events for longer than a step."""
    found: dict[str, Stored] = {}
    for query in plan.queries:
        looks_back_us = query.operator.history_us(query.before_us)
        for source in query.operator.stored_sources:
            known = found.get(source) or Stored(
                source, query.operator.stored_event_bytes(plan.stream(source)), 0, ()
            )
            longest_us = max(known.history_us, looks_back_us)
            found[source] = Stored(source, known.event_bytes, longest_us, (*known.queries, query.name))
    return [store for store in found.values() if store.history_us]


def stores_in_words(plan: Plan) -> list[str]:
    """What will be stored."""
    zones = f" in each of {counted(plan.zones, 'zone')}" if plan.zones > 1 else ""
    return [
        f"{store.source}: the last {history_in_words(store.history_us)}, {size_in_words(store.event_bytes)} each, stored once{zones} "
        f"for {listed(store.queries)}"
        for store in stores_of(plan)
    ]


def stored_in_words(stores: Iterable[Stored], counts: Mapping[str, int]) -> list[str]:
    """What was in the stores at most, in any zone: the closing lines of a run."""
    lines = []
    for store in stores:
        many = counts.get(f"{HIGHEST}stored:{store.source}", 0)
        seconds = counts.get(f"{HIGHEST}stored_us:{store.source}", 0) / SECOND
        lines.append(
            f"stored    {store.source}: at most {counted(many, 'event')} at once, {size_in_words(many * store.event_bytes)}, "
            f"of {seconds:,.1f} s; the query needs the last {history_in_words(store.history_us)}"
        )
    return lines
