"""What a restart with other queries changes, in the words of the run's first lines on standard error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.hosts.spark.query_changes import Changes, DroppedState
from headwater.query.language.words import counted, size_in_words

MOST_NAMED: Final = 8
"""Queries named one by one; the others are counted."""


def changes_in_words(changes: Changes) -> Iterator[str]:
    """A line on the queries, and one on the state that was dropped; nothing when all is as it was."""
    if not changes:
        return
    parts = (
        (changes.went_on, "continued"),
        (changes.new, "new"),
        (changes.replaced, "replaced, and start again"),
        (changes.gone, "gone"),
    )
    yield "restart   " + "; ".join(f"{what}: {_listed(names)}" for names, what in parts if names)
    sized = {name for state in changes.dropped_state for name in state.queries}
    unsized = [name for name in changes.dropped if name not in sized]
    parts_dropped = [*map(_in_words, changes.dropped_state), *([_listed(unsized)] if unsized else [])]
    dropped = [f"of {'; of '.join(parts_dropped)}"] if parts_dropped else []
    if changes.dropped_streams:
        dropped.append(f"of waiting rows of {_listed(changes.dropped_streams)}")
    if dropped:
        yield f"dropped   the state {', and '.join(dropped)}"


def _in_words(dropped: DroppedState) -> str:
    """Whose state is dropped and how much it was; what queries share is one size."""
    keys = f", {counted(dropped.size.keys, 'key')}" if dropped.size.keys else ""
    others = f", shared with {_listed(dropped.others)}" if dropped.others else ""
    return f"{_listed(dropped.queries)} ({size_in_words(dropped.size.size)}{keys}{others})"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
