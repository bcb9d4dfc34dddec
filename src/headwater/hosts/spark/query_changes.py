"""What another set of queries does to a checkpoint: which go on, which begin, which are gone, and whose state is dropped.

A query goes on if it and all it reads mean what they meant at the last start (see `query.fingerprints`). Any other begins anew,
and what was stored for it under its old meaning is dropped by the first batch. So is what waited in a stream that is no longer declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from headwater.hosts.spark.checkpoint_notes import Notes
from headwater.hosts.zone import StateSize


@dataclass(frozen=True, slots=True)
class DroppedState:
    """State of which some is dropped: for which queries it was stored, and for which others it still is; how much it was."""

    queries: tuple[str, ...]
    others: tuple[str, ...]
    size: StateSize


@dataclass(frozen=True, slots=True)
class Changes:
    """Names of queries, links of chains left out; and of what state is dropped."""

    went_on: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    dropped_state: tuple[DroppedState, ...] = ()
    dropped_streams: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.replaced or self.gone or self.dropped_streams)


def changes_between(
    earlier: Notes | None, now: Notes, remembered: Mapping[str, StateSize] | None = None
) -> Changes:
    """What changes from one start to the next; nothing at the first. `remembered`: the sizes of state, as last noted."""
    if earlier is None:
        return Changes()
    before, after = earlier.queries, now.queries
    said = [name for name, query in after.items() if not query.hidden]
    replaced = [name for name in said if name in before and before[name] != after[name]]
    gone = [name for name, query in before.items() if name not in after and not query.hidden]
    return Changes(
        went_on=tuple(name for name in said if before.get(name) == after[name]),
        new=tuple(name for name in said if name not in before),
        replaced=tuple(replaced),
        gone=tuple(gone),
        dropped=tuple(name for name in (*replaced, *gone) if before[name].has_state),
        dropped_state=tuple(_dropped_state(earlier, now, remembered or {})),
        dropped_streams=tuple(name for name in earlier.declared if name not in now.declared),
    )


def _dropped_state(earlier: Notes, now: Notes, remembered: Mapping[str, StateSize]) -> Iterator[DroppedState]:
    """Queries of one kind that read one source share their state, which is named by the first of them."""
    before = earlier.queries
    for name, size in remembered.items():
        first = before.get(name.partition(", ")[0].partition(" and ")[0])
        if first is None or not first.has_state:
            continue
        sharing = [n for n, query in before.items() if (query.kind, query.reads) == (first.kind, first.reads)]
        lost = [n for n in sharing if now.queries.get(n) != before[n]]
        if lost:
            others = [n for n in sharing if n not in lost]
            yield DroppedState(tuple(_owners(earlier, lost)), tuple(_owners(earlier, others)), size)


def _owners(notes: Notes, names: list[str]) -> Iterator[str]:
    """Names as people wrote them: a link of a chain belongs to the query that it is part of."""
    yield from dict.fromkeys(n.rpartition("/")[0] if notes.queries[n].hidden else n for n in names)
