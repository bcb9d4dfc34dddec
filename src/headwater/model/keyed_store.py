"""State by key: a step reads, changes and saves the keys that it touches, and a removed key leaves nothing.

A store is a few *runs*, the newest last. A run is records in the order of their keys and never changes. The records of a step
are a new run; the newest record of a key counts, and a removed key has a mark in a newer run.

Rule 1  A run at least `_RATIO` times as large as the next newer one is not changed; smaller ones are merged with it. So there are
        few runs, and each key is written again a few times in its life.
Rule 2  Marks of removed keys are dropped when they meet the oldest run. A store whose every key was removed is empty.
Rule 3  A run's number is used once, so a copy of run 17 of a store is valid for ever. It is saved in cells of about
        CELL_BYTES.
Rule 4  A store has one shape (`like`): records that were written in another are converted when they are read.

Memory  At most three times the records that count: newer runs together have at most half as many as the oldest.
Cost    finding n keys: n binary searches in every run. Putting n: the same, and a merge that is paid for by earlier puts.
Source  the log-structured merge tree (O'Neil et al., 1996).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model.codec import Tree
from headwater.model.keyed_records import (
    Ids,
    Records,
    Whole,
    join_records,
    no_records,
    records_from_tree,
    records_tree,
    shaped,
    stored,
)
from headwater.model.time import END, Instant

CELL_BYTES = 256 << 10
_RATIO = 3
_AT_ONCE = 64

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Run:
    """Records in the order of their keys, saved over `cells` cells; where `alive` is false the key was removed and the record is blank."""

    number: int
    records: Records
    alive: NDArray[np.bool_]
    cells: int

    def __len__(self) -> int:
        return len(self.records)

    @cached_property
    def size(self) -> int:
        """Bytes."""
        return self.records.size

    @cached_property
    def by_due(self) -> tuple[Places, Whole]:
        """Places in the order of `due`, and the times in that order."""
        return _sorted(self.records.due)

    @cached_property
    def by_hold(self) -> tuple[Places, Whole]:
        """Places in the order of `hold`, and the times in that order."""
        return _sorted(self.records.hold)

    def trees(self) -> list[Tree]:
        """The content of each of them."""
        bounds = np.linspace(0, len(self), self.cells + 1).astype(np.int64)
        cut = [np.arange(low, high) for low, high in pairwise(bounds)]
        return [{"alive": self.alive[at], **records_tree(self.records.take(at))} for at in cut]


def run_from(number: int, trees: Sequence[Tree]) -> Run:
    """A run from its saved content."""
    records = join_records([records_from_tree(tree) for tree in trees])
    return Run(number, records, np.concatenate([tree["alive"] for tree in trees]), len(trees))


def _run(number: int, records: Records, alive: NDArray[np.bool_]) -> Run:
    """A new run."""
    cells = max(1, min(len(records), -(-records.size // CELL_BYTES)))
    return Run(number, records, alive, cells)


@dataclass(frozen=True, slots=True)
class KeyedStore:
    """Records by key. `skipped`: for every run, how many places of `by_hold` are known not to count."""

    like: Records
    runs: tuple[Run, ...] = ()
    count: int = 0
    skipped: tuple[int, ...] = ()
    next_number: int = 0

    def __len__(self) -> int:
        return self.count

    @property
    def size(self) -> int:
        """Bytes, those of records that no longer count included."""
        return sum(run.size for run in self.runs)

    @property
    def lines(self) -> int:
        """Lines of lists, those of records that no longer count included."""
        return sum(int(ragged.offsets[-1]) for run in self.runs for ragged in run.records.lists.values())

    @property
    def held(self) -> Instant:
        """The least `hold` of all records; END if there is none."""
        fronts = (
            int(run.by_hold[1][at]) for run, at in zip(self.runs, self.skipped, strict=True) if at < len(run)
        )
        return min(fronts, default=END)

    @property
    def next_due(self) -> Instant:
        """The least `due` of all records; END if there is none."""
        least = END
        for place, run in enumerate(self.runs):
            order, times = run.by_due
            for first in range(0, int(np.searchsorted(times, least)), _AT_ONCE):
                counts = self._counts(place, order[first : first + _AT_ONCE])
                if counts.any():
                    least = min(least, int(times[first + int(counts.argmax())]))
                    break
        return least

    def find(self, ids: Ids) -> tuple[Records, Places]:
        """The records of those keys that are in the store, and for every key its place among them, or -1. `ids` may repeat."""
        places = np.full(len(ids), -1, np.int64)
        parts: list[Records] = []
        open_ = np.arange(len(ids))
        found_so_far = 0
        for run in reversed(self.runs):
            if not len(open_):
                break
            at = search(run.records.ids, ids[open_])
            here = at >= 0
            counts = here & run.alive[at]
            if counts.any():
                different, number = np.unique(at[counts], return_inverse=True)
                parts.append(stored(shaped(run.records.take(different), self.like)))
                places[open_[counts]] = number + found_so_far
                found_so_far += len(different)
            open_ = open_[~here]
        return (join_records(parts) if parts else shaped(no_records(), self.like)), places

    def due(self, since: Instant, until: Instant) -> Ids:
        """The keys that are due at `since` or later and before `until`."""
        found = []
        for place, run in enumerate(self.runs):
            order, times = run.by_due
            at = order[np.searchsorted(times, since) : np.searchsorted(times, until)]
            if len(at):
                found.append(run.records.ids[at[self._counts(place, at)]])
        return np.concatenate(found) if found else no_records().ids

    def chosen(self, choose: Callable[[Ids], Places]) -> Records:
        """The records that `choose` selects: it takes the keys of a run, in order, and returns their places."""
        parts = []
        for place, run in enumerate(self.runs):
            at = choose(run.records.ids)
            at = at[self._counts(place, at)] if len(at) else at
            if len(at):
                parts.append(stored(shaped(run.records.take(at), self.like)))
        return join_records(parts) if parts else shaped(no_records(), self.like)

    def put(self, records: Records, gone: Ids) -> KeyedStore:
        """The store with these records in place of former ones of the same keys, and without the keys in `gone`; no key twice."""
        ids = np.concatenate([records.ids, gone])
        if not len(ids):
            return self
        before = int(self.has(ids).sum())
        blank = Records(gone, np.full(len(gone), END), np.full(len(gone), END))
        order = order_of_ids(ids)
        added = _run(
            self.next_number,
            join_records([stored(shaped(records, self.like)), shaped(blank, self.like)]).take(order),
            np.arange(len(ids))[order] < len(records),
        )
        runs, number = _merged([*self.runs, added], self.next_number + 1, self.like)
        after = replace(
            self,
            runs=tuple(runs),
            count=self.count + len(records) - before,
            next_number=number,
            skipped=(0,) * len(runs),
        )
        return replace(after, skipped=after._skipped_places(dict(zip(self.runs, self.skipped, strict=True))))

    def has(self, ids: Ids) -> NDArray[np.bool_]:
        """Whether each key has a record."""
        known = np.zeros(len(ids), np.bool_)
        open_ = np.arange(len(ids))
        for run in reversed(self.runs):
            at = search(run.records.ids, ids[open_])
            here = at >= 0
            known[open_[here]] = run.alive[at[here]]
            open_ = open_[~here]
        return known

    def everything(self) -> Records:
        """All records, in the order of their keys: for tests, and for callers that must read everything."""
        merged = _together(list(self.runs), self.next_number, self.like) if self.runs else None
        return shaped(no_records(), self.like) if merged is None else merged.records

    def shaped_like(self, like: Records) -> KeyedStore:
        """The same records, in another shape."""
        return replace(self, like=stored(like))

    def outline(self) -> Tree:
        """What is saved beside the runs to restore the store."""
        runs = np.array([[run.number, run.cells] for run in self.runs], np.int64).reshape(-1, 2)
        return {"next": self.next_number, "count": self.count, "glanced": list(self.skipped), "runs": runs}

    def _counts(self, place: int, at: Places) -> NDArray[np.bool_]:
        """Whether records of a run count: their keys were not removed, and no newer run has them."""
        run = self.runs[place]
        counts = run.alive[at].copy()
        ids = run.records.ids[at]
        for newer in self.runs[place + 1 :]:
            counts &= search(newer.records.ids, ids) < 0
        return counts

    def _skipped_places(self, known: Mapping[Run, int]) -> tuple[int, ...]:
        """For every run the first place of `by_hold` that counts; records with END never count, so the search stops there."""
        found = []
        for place, run in enumerate(self.runs):
            order, times = run.by_hold
            last = int(np.searchsorted(times, END))
            at = known.get(run, 0)
            while at < last:
                counts = self._counts(place, order[at : min(at + _AT_ONCE, last)])
                if counts.any():
                    at += int(counts.argmax())
                    break
                at += len(counts)
            found.append(at if at < last else len(run))
        return tuple(found)


def empty_store(like: Records) -> KeyedStore:
    """A store without records; `like` has the columns and lists of those that will come, and no line."""
    return KeyedStore(stored(like))


def keyed_store_from(outline: Tree, runs: Mapping[int, Run]) -> KeyedStore:
    """The store of an outline, in the shape in which it was saved; `runs` gives the run of each number."""
    listed = tuple(runs[number] for number in outline["runs"][:, 0].tolist())
    like = _shape_of(listed)
    return KeyedStore(like, listed, outline["count"], tuple(outline["glanced"]), outline["next"])


def _shape_of(runs: Sequence[Run]) -> Records:
    """Every column and list that some run has, without any lines."""
    nothing = np.zeros(0, np.int64)
    like = no_records()
    for run in runs:
        one = run.records.take(nothing)
        like = Records(
            like.ids, like.due, like.hold, {**like.table, **one.table}, {**like.lists, **one.lists}
        )
    return like


def _merged(runs: list[Run], number: int, like: Records) -> tuple[list[Run], int]:
    """Runs by rule 1, and the next number."""
    first = len(runs) - 1
    weight = len(runs[first])
    while first and len(runs[first - 1]) < _RATIO * weight:
        first -= 1
        weight += len(runs[first])
    if first == len(runs) - 1 and first:
        return runs, number
    merged = _together(runs[first:], number, like, oldest=first == 0)
    return [*runs[:first], *([merged] if len(merged) else [])], number + 1


def _together(runs: list[Run], number: int, like: Records, *, oldest: bool = True) -> Run:
    """One run of several; without marks if the oldest is among them."""
    parts, alive = [], []
    for place, run in enumerate(runs):
        keep = run.alive.copy() if oldest else np.ones(len(run), np.bool_)
        for newer in runs[place + 1 :]:
            keep &= search(newer.records.ids, run.records.ids) < 0
        at = np.flatnonzero(keep)
        parts.append(shaped(run.records if len(at) == len(run) else run.records.take(at), like))
        alive.append(run.alive[at])
    if len(parts) == 1:
        return _run(number, parts[0], alive[0])
    joined = shaped(join_records(parts), like)
    order = order_of_ids(joined.ids)
    return _run(number, joined.take(order), np.concatenate(alive)[order])


def order_of_ids(ids: Ids) -> Places:
    """The order of keys. Runs that are in order already are merged in one pass."""
    order = np.argsort(ids[:, 0], kind="stable")
    ordered = ids[order, 0]
    if len(ids) > 1 and (ordered[1:] == ordered[:-1]).any():
        return np.lexsort((ids[:, 1], ids[:, 0]))
    return order


def _sorted(times: Whole) -> tuple[Places, Whole]:
    order = np.argsort(times, kind="stable")
    return order, times[order]


@loop(nogil=True)
def search(ids: Any, searched: Any) -> Any:
    """int64[len(wanted)]: where each key stands in `ids`, which are in order; -1: nowhere."""
    found = first_places(ids, searched[:, 0])
    for n in range(len(searched)):
        at, high_bits, low_bits = found[n], searched[n, 0], searched[n, 1]
        if (
            at < len(ids) and ids[at, 0] == high_bits and ids[at, 1] < low_bits
        ):  # several keys have the same first half
            high = len(ids)
            while at < high:
                middle = (at + high) >> 1
                if ids[middle, 0] == high_bits and ids[middle, 1] < low_bits:
                    at = middle + 1
                else:
                    high = middle
        if at < len(ids) and ids[at, 0] == high_bits and ids[at, 1] == low_bits:
            found[n] = at
        else:
            found[n] = -1
    return found


@loop(nogil=True)
def first_places(ids: Any, searched: Any) -> Any:
    """int64[len(wanted)]: the first place in `ids`, which are in order, whose first half is not below each of `searched`.

    All take a step of the binary search before any takes the next: so the processor loads many places of memory at once.
    """
    found = np.zeros(len(searched), np.int64)
    left = len(ids)
    while left > 1:
        half = left >> 1
        for n in range(len(searched)):
            found[n] += half * (ids[found[n] + half - 1, 0] < searched[n])
        left -= half
    if left:
        for n in range(len(searched)):
            found[n] += ids[found[n], 0] < searched[n]
    return found
