"""What another set of queries does to a checkpoint: which go on, which begin, which are gone, and whose state is dropped.

A query goes on if it and all it reads mean what they meant at the last start (see `query.fingerprints`). Any other begins anew,
and what was kept for it under its old meaning is dropped by the first batch. So is what waited in a stream that is no longer declared.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.hosts.spark.notes import Notes


@dataclass(frozen=True, slots=True)
class Changes:
    """Names of queries, links of chains left out; and of what state is dropped."""

    went_on: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    dropped_streams: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.new or self.replaced or self.gone or self.dropped_streams)


def changes_between(earlier: Notes | None, now: Notes) -> Changes:
    """What changes from one start to the next; nothing at the first."""
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
        dropped_streams=tuple(name for name in earlier.declared if name not in now.declared),
    )
