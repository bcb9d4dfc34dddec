"""When are conditions on predicted lines true? All PREDICT queries that read one stream in one zone.

Rule 1  A condition on single values judges each key separately: such queries are in `by_key`. Pairs with a bound on their distance read only
        lines that are near one another: see `by_place`. In both the cost of a step depends on its rows, their keys, and the keys near them.
Rule 2  Pairs without such a bound read all lines, and a buffer all stored ones: the cost of a step depends on all of these. See `across_keys`.
Memory  See `by_key`, `by_place` and `across_keys`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from headwater.kernels.predict.across_keys import WholePredict, WholeState, codes_in_use
from headwater.kernels.predict.by_key import ByKeyState, PredictByKey
from headwater.kernels.predict.by_place import ByPlaceState, PredictByPlace
from headwater.kernels.predict.neighbours import has_neighbours
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.model import (
    Answers,
    Instant,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    join_rows,
)

_KEYS: Final = "keys"
_PAIRS: Final = "pairs"
_CELLS: Final = "cells"


@dataclass(frozen=True, slots=True)
class PredictState:
    """The queries that judge each key separately, those that read keys near one another, and the others."""

    by_key: ByKeyState
    by_place: ByPlaceState
    whole: WholeState


class PredictKernel:
    """All PREDICT queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[PredictQuery],
        conditions: Sequence[RowCondition] = (),
        *,
        index: bool = True,
    ) -> None:
        self.queries = tuple(queries)
        alone = [query for query in queries if len(query.aliases) == 1 and query.buffer is None]
        near = [query for query in queries if has_neighbours(query)]
        others = [query for query in queries if query not in alone and query not in near]
        self.by_key = PredictByKey(schema, alone, conditions)
        self.by_place = PredictByPlace(schema, near, conditions, index=index)
        self.whole = WholePredict(schema, others, conditions, index=index)

    def start(self, since: Instant) -> PredictState:
        """Nothing read; rows before `since` are not for these queries."""
        return PredictState(self.by_key.start(since), self.by_place.start(since), self.whole.start(since))

    def step(self, state: PredictState, rows: Rows, watermark: Instant) -> Step[PredictState]:
        """Take updates, let time pass, emit."""
        counts: Counter[str] = Counter()
        shapes: dict[int, list[list[Rows]]] = {}
        by_key = replace(state.by_key, watermark=watermark)
        by_place = replace(state.by_place, watermark=watermark)
        whole = replace(state.whole, watermark=watermark)
        if self.by_key.queries:
            by_key, more = self.by_key.step(state.by_key, rows, watermark, counts)
            _add(shapes, more)
        if self.by_place.queries:
            by_place, more = self.by_place.step(state.by_place, rows, watermark, counts)
            _add(shapes, more)
        if self.whole.queries:
            whole, more = self.whole.step(state.whole, rows, watermark, counts)
            whole = self.whole.without_gaps(whole)
            _add(shapes, more)
        answers = tuple(
            Answers(shape, block) for shape, parts in sorted(shapes.items()) for block in _by_time(parts)
        )
        counted = {name: many for name, many in counts.items() if many}
        return Step(PredictState(by_key, by_place, whole), answers, watermark, counted)

    def save(self, state: PredictState) -> Saved:
        """Records in a store; for the other queries keys with lines, lines and pending answers."""
        codes = codes_in_use(state.whole)
        sensors = state.whole.sensors.only(codes).save()
        whole = {"sensors": sensors, **self.whole.values(state.whole, codes)}
        values = {
            "by_key": self.by_key.save(state.by_key),
            "by_place": self.by_place.save(state.by_place),
            "whole": whole,
        }
        stores = {}
        if self.by_key.queries:
            stores[_KEYS] = state.by_key.store
        if self.by_place.queries:
            stores |= {_PAIRS: state.by_place.store, _CELLS: state.by_place.near.cells}
        return Saved(values, stores=stores)

    def load(self, saved: Saved, since: Instant) -> PredictState:
        """The state of the queries that are unchanged; others begin at `since`."""
        by_key, by_place, whole = (saved.values[name] for name in ("by_key", "by_place", "whole"))
        pairs, cells = saved.stores.get(_PAIRS), saved.stores.get(_CELLS)
        return PredictState(
            self.by_key.load(by_key, saved.stores.get(_KEYS), since),
            self.by_place.load(by_place, pairs, cells, since),
            self.whole.state(whole, Sensors.load(whole["sensors"]), since),
        )

    def next_due(self, state: PredictState) -> Instant:
        """When something happens to a key by time alone."""
        return min(
            state.by_key.store.next_due,
            self.by_place.next_due(state.by_place),
            self.whole.next_due(state.whole),
        )

    def is_blank(self, state: PredictState) -> bool:
        """Whether no line is known, and a buffer has never had one."""
        return (
            self.by_key.is_blank(state.by_key)
            and self.by_place.is_blank(state.by_place)
            and self.whole.is_blank(state.whole)
        )


def _add(shapes: dict[int, list[list[Rows]]], more: dict[int, list[list[Rows]]]) -> None:
    """Add what other queries emit to what some emit."""
    for shape, parts in more.items():
        shapes.setdefault(shape, []).extend(parts)


def _by_time(parts: Sequence[list[Rows]]) -> list[Rows]:
    """The answers of queries of one shape in the order of time."""
    if len(parts) == 1:
        return parts[0]
    joined = join_rows([block for blocks in parts for block in blocks])
    return [joined.take(np.argsort(joined["event_time"].values, kind="stable"))]
