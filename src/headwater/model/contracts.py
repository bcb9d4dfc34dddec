"""The two contracts: kernels are hosted, protocols are driven. Both are pure.

A *kernel* is a continuous query as a function: (state, new rows, watermark) -> (new state, answers, how far they are
complete). A *node* is network behaviour as a function: something happened, now -> things to do. All code that uses a
clock, a socket, a disk or Spark is outside them, so the same kernel gives the same answers in a plain loop and on a
cluster, and the same node runs in a seeded simulator and on a real network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headwater.model.errors import HeadwaterError, PeerError
from headwater.model.keyed_store import KeyedStore
from headwater.model.row_log import Log
from headwater.model.rows import Mask, Rows
from headwater.model.time import Instant

State = TypeVar("State")
Stored = TypeVar("Stored")
Stored_contra = TypeVar("Stored_contra", contravariant=True)
Operators_contra = TypeVar("Operators_contra", contravariant=True)

HIGHEST: Final = "most_"
"""Counts whose names begin with this are not added up: the greatest of all steps and zones is reported."""

RowCondition = Callable[[Rows], Mask]
"""A row-local condition over columns: true where it holds; NULL counts as false."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of queries that share their columns.

    `rows` begin with `query` (STRING), `event_time` (TIMESTAMP) and `match_id` (ID); `shape` is the number that the
    planner gave to queries with these columns and this SELECT list.
    """

    shape: int
    rows: Rows


@dataclass(frozen=True, slots=True)
class Saved:
    """A state ready to be written: plain values and arrays, and logs and stores, whose chunks and runs are written once.

    `values` must fit the codec (dictionaries of arrays, numbers, strings, lists). They are written at every step, so what
    grows with the number of keys or rows belongs in a log or a store.
    `holds_are_times`: whether `hold` of records in stores is a time, or else the number of a row.
    """

    values: dict[str, Any]
    logs: Mapping[str, Log] = field(default_factory=dict)
    stores: Mapping[str, KeyedStore] = field(default_factory=dict)
    holds_are_times: bool = True


@dataclass(frozen=True, slots=True)
class Step(Generic[State]):
    """The results of one step.

    `complete_until`: no answer with an event time before it will follow (the output watermark).
    `counts`: counts, by name (rows cut by LIMIT, objects given up), which the host combines with `add_counts`.
    """

    state: State
    answers: tuple[Answers, ...]
    complete_until: Instant
    counts: Mapping[str, int] = field(default_factory=dict)


def add_counts(total: dict[str, int], counts: Mapping[str, int]) -> None:
    """Add the counts of one more step, or of one more zone, to a total."""
    for name, amount in counts.items():
        before = total.get(name, 0)
        total[name] = max(before, amount) if name.startswith(HIGHEST) else before + amount


class Kernel(Protocol[State]):
    """A group of standing queries of one kind over one stream.

    Rows come in the stream's order, every one before `watermark` and none before the last watermark. Empty rows with a
    later watermark: time passes. `step` changes neither its state nor its rows: a host may run the same batch again.
    A host does not read states: to it, each kernel is a `Kernel[Any]`, to which it passes only states of this kernel.
    """

    def start(self, since: Instant) -> State:
        """The empty state; rows before `since` are not for these queries."""
        ...

    def step(self, state: State, rows: Rows, watermark: Instant) -> Step[State]:
        """Take rows, move time to `watermark`, answer."""
        ...

    def save(self, state: State) -> Saved:
        """The state as values and logs; `load` of it behaves as the state did."""
        ...

    def load(self, saved: Saved, since: Instant) -> State:
        """A saved state, possibly of other queries: queries in both keep their state, new ones see rows from `since` on."""
        ...

    def next_due(self, state: State) -> Instant:
        """A step without rows and with a watermark up to this one answers nothing and changes nothing that a later answer depends on.

        END: until rows come or the input ends. BEGINNING, which is always right: every step may.
        """
        ...

    def is_blank(self, state: State) -> bool:
        """Whether it behaves, with rows that are still to come, like `start(BEGINNING)`. False is always right."""
        ...


@runtime_checkable
class RecordsByKey(Protocol):
    """A kernel that saves few keys in `values` and makes one record for each key only when there are many."""

    def empty_stores(self) -> Mapping[str, KeyedStore]:
        """The stores for many keys, empty."""
        ...


@runtime_checkable
class KernelByInterest(Kernel[State], Protocol[State]):
    """A kernel that can separate the rows of many interests, by their column INTEREST_SERIAL, and answers as if each had a kernel of its own.

    Rows come in order within each interest, and not before the watermark up to which that interest has been stepped. So a new interest
    may bring rows from before the last watermark, and a watermark may be less than the last one.
    """

    def due_interests(self, state: State, until: Instant) -> NDArray[np.int64]:
        """The interests for which a step without rows up to this watermark may change something; some may come several times."""
        ...

    def split(self, state: State, interests: NDArray[np.int64]) -> tuple[State, State]:
        """The state of some interests, in rising order, and the state of all others."""
        ...


@runtime_checkable
class StoringKernel(Kernel[Stored], Protocol[Stored]):
    """A kernel that stores rows for others to read, and answers nothing itself."""

    def since(self, state: Stored, instant: Instant) -> Stored:
        """The state after rows before an instant are no longer needed."""
        ...


@runtime_checkable
class StoreReader(Kernel[State], Protocol[State, Stored_contra]):
    """A kernel that reads rows stored by others. Time passes for it as far as its own rows and all stores that it reads are complete."""

    def with_stores(self, state: State, stores: Mapping[str, Stored_contra]) -> State:
        """The state for one step, with the stores of each source. The state after the step does not contain them."""
        ...

    def needs_since(self, state: State) -> Mapping[str, Instant]:
        """From when on rows of each source may still be read."""
        ...


@runtime_checkable
class OperatedKernel(Kernel[State], Protocol[State, Operators_contra]):
    """A kernel on whose answers a host runs operators within the same step. The host passes them as values."""

    def with_operators(self, operators: Mapping[str, Operators_contra]) -> Kernel[State]:
        """The same kernel, with operators for some of its queries, by name."""
        ...


NodeId = str


@dataclass(frozen=True, slots=True)
class Message:
    """Bytes between nodes, with the name of what they hold."""

    kind: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """An effect: send a message to a neighbour."""

    to: NodeId
    message: Message


@dataclass(frozen=True, slots=True)
class Deliver:
    """An effect: deliver answers to the local user."""

    answers: Answers


@dataclass(frozen=True, slots=True)
class Tell:
    """An effect: a notice to the local user of a subscription (it was dropped, its sensors are gone)."""

    subscription: str
    error: HeadwaterError


@dataclass(frozen=True, slots=True)
class Report:
    """An effect: record a peer's mistake. What it sent was dropped, the node continues."""

    peer: NodeId
    error: PeerError


Effect = Send | Deliver | Tell | Report


class Node(Protocol):
    """A participant of a network. It has no clock: time is an argument, and it says when it wants to be woken.

    Input of its own sensors and users are messages too, with the node itself as their sender. A driver carries out the effects
    only once the node's state is safe, so that a node that stops and starts again keeps its promises.
    """

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        """A message arrived from a neighbour."""
        ...

    def wake(self, now: Instant) -> list[Effect]:
        """The time of `next_wake` has come."""
        ...

    def next_wake(self) -> Instant | None:
        """When to be woken next; None: only by messages."""
        ...
