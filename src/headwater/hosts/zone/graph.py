"""Queries that read queries: each group of a graph is stepped once, after the groups that it reads, and passes its answers on.

Rule 1  Rows go from a query to its readers in the order of its stream, and not before earlier ones can no longer come; until then
        they wait. The input of a query is complete as far as the answers that it reads are.
Rule 2  Sources that are read together are one stream, complete as far as all of them are.
Rule 3  A group that reads event stores takes its own rows only as far as these stores are complete. Events that are no longer needed are
        dropped after all groups have stepped.

Memory  Rows that wait, in a log for each query that is read and for each merge, in addition to the kernels' states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from headwater.hosts.zone.chaining import as_stream, hand_on, hold_back, read_together
from headwater.model import (
    INTEREST_SERIAL,
    Column,
    ColumnType,
    Instant,
    Log,
    Rows,
    Step,
    StoreReader,
    StoringKernel,
    StreamSchema,
)
from headwater.query.checking.merges import Merge
from headwater.query.planning.groups import Group, store_of

Ordered = tuple[Rows, Instant]
"""Rows of a source in its order, and the time up to which it is complete."""

_NO_ENTRIES: Final[Mapping[str, Ordered]] = {}

Answered = Callable[[Group, Step[Any]], Sequence[Rows]]
"""Called after every step of a group; returns its answers with SELECT lists applied, for the queries that read them."""


def waiting_for(source: str) -> str:
    """The name of the log in which answers of a query, rows of a merge, or rows of a group wait: no group has such a name."""
    return f"waiting:{source}"


@dataclass(frozen=True)
class Graph:
    """Groups, each after what it reads. `read` are the queries among them that others read.

    `by_interest`: rows have a column INTEREST_SERIAL, which answers have as well.
    """

    groups: tuple[Group, ...]
    read: frozenset[str]
    schemas: Mapping[str, StreamSchema] = field(repr=False)
    merges: Mapping[str, Merge] = field(repr=False)
    by_interest: bool = False

    @property
    def waits(self) -> list[str]:
        """The names with rows that may wait: queries that are read, merges, and groups that read stores."""
        together = [group.reads for group in self.groups if group.reads in self.merges]
        readers = [group.name for group in self.groups if group.reads_stores]
        answered = [name for group in self.groups for name in group.queries if name in self.read]
        return list(dict.fromkeys([*together, *readers, *answered]))

    def start(self, since: Instant) -> dict[str, Any]:
        """The state of every group under its name, and the logs of waiting rows under `waiting_for` theirs."""
        states: dict[str, Any] = {group.name: group.kernel.start(since) for group in self.groups}
        return states | {waiting_for(name): Log() for name in self.waits}

    def step(
        self,
        states: Mapping[str, Any],
        sources: Mapping[str, Ordered],
        answered: Answered,
        entries: Mapping[str, Ordered] = _NO_ENTRIES,
        entered: str = "",
    ) -> dict[str, Any]:
        """The states after every group was stepped once.

        `entries` are rows of the source `entered`, by the name of the group, or of the merge, that reads them: entries may read different rows.
        """
        known, next_states = dict(sources), dict(states)
        for group in self.groups:
            if (together := self.merges.get(group.reads)) and together.name not in known:
                waiting = waiting_for(together.name)
                own = {entered: entries[together.name]} if together.name in entries else {}
                known[together.name], next_states[waiting] = read_together(
                    together, states[waiting], known | own
                )
            rows, watermark = entries[group.name] if group.name in entries else known[group.reads]
            if group.reads_stores:
                step = self._step_store_reader(group, next_states, rows, watermark, known)
            else:
                step = group.kernel.step(states[group.name], rows, watermark)
            next_states[group.name] = step.state
            blocks = answered(group, step)
            for name in group.queries:
                if name in self.read:
                    handed, waiting = self._as_stream(name, blocks), waiting_for(name)
                    ready, next_states[waiting] = hand_on(
                        self.schemas[name], states[waiting], handed, step.complete_until
                    )
                    known[name] = ready, step.complete_until
        for source, needed in self._needed_since(next_states).items():
            kernel = self._by_name[store_of(source)].kernel
            assert isinstance(kernel, StoringKernel)
            next_states[store_of(source)] = kernel.since(next_states[store_of(source)], needed)
        return next_states

    def _step_store_reader(
        self,
        group: Group,
        states: dict[str, Any],
        rows: Rows,
        watermark: Instant,
        known: Mapping[str, Ordered],
    ) -> Step[Any]:
        """A step of a group that reads stores: rows that are too early for them wait."""
        kernel, waiting = group.kernel, waiting_for(group.name)
        assert isinstance(kernel, StoreReader)
        complete = min(watermark, *(known[source][1] for source in group.reads_stores))
        ready, states[waiting] = hold_back(self.schemas[group.reads], states[waiting], rows, complete)
        stores = {source: states[store_of(source)] for source in group.reads_stores}
        return kernel.step(kernel.with_stores(states[group.name], stores), ready, complete)

    def _needed_since(self, states: Mapping[str, Any]) -> dict[str, Instant]:
        """From when on the events of each source are needed."""
        needed: dict[str, Instant] = {}
        for group in self.groups:
            if group.reads_stores:
                assert isinstance(group.kernel, StoreReader)
                for source, since in group.kernel.needs_since(states[group.name]).items():
                    needed[source] = min(since, needed.get(source, since))
        return needed

    @cached_property
    def _by_name(self) -> dict[str, Group]:
        return {group.name: group for group in self.groups}

    def _as_stream(self, name: str, blocks: Sequence[Rows]) -> Rows:
        rows = as_stream(self.schemas[name], blocks)
        if rows.count or not self.by_interest:
            return rows
        return rows.having(**{INTEREST_SERIAL: Column.of(ColumnType.BIGINT, ())})
