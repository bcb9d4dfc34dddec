"""Which rows satisfy a condition? `SELECT … FROM stream WHERE …` without an operator.

Rule 1  Every row that satisfies a query's condition (NULL: no) is one answer, at the row's own time.
Rule 2  `match_id` is computed from the query's name, the time and all of the row's columns.
Rule 3  With `by_interest`, rows have a column with the serial of their interest, and are in order within each interest.
Memory  None, except for each query the time from which it reads rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.model import (
    BEGINNING,
    END,
    INTEREST_SERIAL,
    Answers,
    Column,
    ColumnType,
    Instant,
    RowCondition,
    Rows,
    Saved,
    Step,
    StreamSchema,
    coded,
    content_ids,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """A standing SELECT; `where` is the index of its condition in the kernel's list, None: every row."""

    name: str
    fingerprint: str
    shape: int
    where: int | None = None


@dataclass(frozen=True, slots=True)
class SelectState:
    """From when on each query reads rows."""

    watermark: Instant
    since: NDArray[np.int64]


class SelectKernel:
    """All plain SELECT queries that read one stream in one zone."""

    def __init__(
        self,
        schema: StreamSchema,
        queries: Sequence[Selection],
        conditions: Sequence[RowCondition] = (),
        *,
        by_interest: bool = False,
    ) -> None:
        self.schema = schema
        self.by_interest = by_interest
        self.queries = tuple(queries)
        self.conditions = tuple(conditions)

    def start(self, since: Instant) -> SelectState:
        """Nothing read; rows before `since` are not for these queries."""
        return SelectState(BEGINNING, np.full(len(self.queries), since, np.int64))

    def step(self, state: SelectState, rows: Rows, watermark: Instant) -> Step[SelectState]:
        """Answer every row that a query needs."""
        if not rows.count:
            return Step(SelectState(watermark, state.since), (), watermark)
        shapes: dict[int, list[tuple[str, NDArray[np.int64]]]] = {}
        time = rows[self.schema.time].values
        used = {query.where for query in self.queries if query.where is not None}
        holds = {where: np.flatnonzero(self.conditions[where](rows)) for where in used}
        for query, since in zip(self.queries, state.since.tolist(), strict=True):
            found = np.arange(rows.count) if query.where is None else holds[query.where]
            if since > BEGINNING:  # rows of many interests are in order of time only within each
                found = found[time[found] >= since]
            if len(found):
                shapes.setdefault(query.shape, []).append((query.name, found))
        answers = tuple(self._block(shape, rows, shapes[shape]) for shape in sorted(shapes))
        return Step(SelectState(watermark, state.since), answers, watermark)

    def save(self, state: SelectState) -> Saved:
        """The name of each query, and from when it reads rows."""
        return Saved(
            {
                "watermark": state.watermark,
                "queries": [query.name for query in self.queries],
                "fingerprints": [query.fingerprint for query in self.queries],
                "since": state.since,
            }
        )

    def load(self, saved: Saved, since: Instant) -> SelectState:
        """The state of the queries that are unchanged; others begin at `since`."""
        values = saved.values
        names = zip(values["queries"], values["fingerprints"], strict=True)
        known = dict(zip(names, values["since"].tolist(), strict=True))
        begins = max(since, values["watermark"])
        since_of = [known.get((query.name, query.fingerprint), begins) for query in self.queries]
        return SelectState(values["watermark"], np.array(since_of, np.int64))

    def next_due(self, state: SelectState) -> Instant:
        """There are no answers without rows."""
        return END

    def is_blank(self, state: SelectState) -> bool:
        """Nothing is stored except from when queries read rows."""
        return not (state.since > BEGINNING).any()

    def due_interests(self, state: SelectState, until: Instant) -> NDArray[np.int64]:
        """None: nothing happens without rows."""
        return np.zeros(0, np.int64)

    def split(self, state: SelectState, interests: NDArray[np.int64]) -> tuple[SelectState, SelectState]:
        """The same state for all: it does not depend on interests."""
        return state, state

    def _block(self, shape: int, rows: Rows, parts: Sequence[tuple[str, NDArray[np.int64]]]) -> Answers:
        """The answers of all queries of a shape, by row and then by query."""
        row = np.concatenate([found for _, found in parts])
        number = np.repeat(np.arange(len(parts), dtype=np.int32), [len(found) for _, found in parts])
        order = np.argsort(row, kind="stable")
        chosen = rows.take(row[order])
        names = np.array([name for name, _ in parts] + [""], object)[:-1]
        query = coded(number[order], names)
        event_time = Column(ColumnType.TIMESTAMP, chosen[self.schema.time].values)
        content = [column for name, column in chosen.columns.items() if name != INTEREST_SERIAL]
        identity = content_ids(
            [query, event_time, *content], chosen[INTEREST_SERIAL].values if self.by_interest else None
        )
        head = {"query": query, "event_time": event_time, "match_id": identity}
        return Answers(shape, Rows({**head, **chosen.columns}, chosen.count))
