"""Complex events and emitted readings as answer columns, one block for every shape.

Rule 1  Answers are in the order of the row that completed them, then of the subscription, then in the order they were found.
Rule 2  `match_id` is computed from the query's name, the time and the readings: key, time, value and place of each.
Cost    Whole columns for all queries of a shape at once; nothing is done query by query.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.engine import StepFindings
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.kernels.correlate.subscription_table import SubscriptionTable
from headwater.kernels.correlate.window import Window
from headwater.model import Answers, Column, ColumnType, Rows, StreamSchema, coded, content_ids, join_columns

Numbers = NDArray[np.int64]


class Shapes:
    """The columns of each subscription's answers."""

    def __init__(
        self,
        schema: StreamSchema,
        subscriptions: Sequence[Subscription],
        table: SubscriptionTable,
        attributes: Sequence[str],
    ) -> None:
        self.schema, self.table, self.attributes = schema, table, tuple(attributes)
        self.names = np.array([s.name for s in subscriptions] + [""], object)[:-1]
        self.shape = np.array([s.shape for s in subscriptions], np.int64)
        self.readings = np.array([s.emit is Emit.READINGS for s in subscriptions], np.bool_)
        self.clause_names = {
            s.shape: tuple(clause.name for clause in s.clauses)
            for s in subscriptions
            if s.emit is not Emit.READINGS
        }

    def answers(self, found: StepFindings, window: Window) -> tuple[Answers, ...]:
        """All answers of a step, by shape."""
        blocks = [*self._events(found, window), *self._emitted(found, window)]
        return tuple(sorted(blocks, key=lambda block: block.shape))

    def _events(self, found: StepFindings, window: Window) -> list[Answers]:
        shapes = self.shape[found.subscription]
        clauses = (
            self.table.first_clause[found.subscription + 1] - self.table.first_clause[found.subscription]
        )
        starts = np.cumsum(clauses) - clauses
        blocks = []
        for shape in np.unique(shapes).tolist():
            chosen = np.flatnonzero(shapes == shape)
            subscription, newest = found.subscription[chosen], found.newest[chosen]
            order = np.lexsort([subscription, newest])
            chosen, subscription, newest = chosen[order], subscription[order], newest[order]
            width = int(clauses[chosen[0]])
            rows = found.rows[starts[chosen][:, None] + np.arange(width)]
            columns = self._event_columns(shape, subscription, rows, window)
            blocks.append(self._block(shape, subscription, newest, columns, window))
        return blocks

    def _event_columns(
        self, shape: int, subscription: Numbers, rows: Numbers, window: Window
    ) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        first = self.table.first_clause[subscription]
        for i, name in enumerate(self.clause_names[shape]):
            attribute = self.table.clause_attribute[first + i]
            columns[name] = self._values(attribute, rows[:, i], window)
            columns |= self._reading(rows[:, i], window, f"{name}_")
        return columns

    def _values(self, attribute: Numbers, rows: Numbers, window: Window) -> Column:
        """Values of attributes that may differ from row to row but are of one type."""
        used = np.unique(attribute).tolist()
        parts = [window.take(self.attributes[a], rows[attribute == a]) for a in used]
        if len(parts) == 1:
            return parts[0]
        back = np.argsort(np.argsort(attribute, kind="stable"), kind="stable")
        return join_columns(parts).take(back)

    def _reading(self, rows: Numbers, window: Window, prefix: str, time: str = "time") -> dict[str, Column]:
        """Key, time and place of readings."""
        key = self.schema.key
        who = Column.nulls(ColumnType.STRING, len(rows)) if key is None else window.take(key, rows)
        columns = {f"{prefix}key": who, f"{prefix}{time}": window.take(self.schema.time, rows)}
        if self.schema.place is not None:
            for name in (self.schema.place.x, self.schema.place.y):
                columns[f"{prefix}{name}"] = window.take(name, rows)
        return columns

    def _emitted(self, found: StepFindings, window: Window) -> list[Answers]:
        table = found.emitted.reshape(-1, 4)
        shapes = self.shape[table[:, 0]]
        blocks = []
        for shape in np.unique(shapes).tolist():
            part = table[shapes == shape]
            time = window.values(self.schema.time)[part[:, 1] - window.first]
            part = part[np.lexsort([part[:, 0], part[:, 3], part[:, 2], time])]
            subscription, newest, rows, attribute = part.T
            names = np.array([*self.attributes, ""], object)[:-1]
            columns = {"attribute": coded(attribute.astype(np.int32), names)}
            reading = self._reading(rows, window, "", "reading_time")
            columns |= {name: reading.pop(name) for name in ("key", "reading_time")}
            columns["value"] = self._numbers(attribute, rows, window)
            blocks.append(self._block(shape, subscription, newest, columns | reading, window))
        return blocks

    def _numbers(self, attribute: Numbers, rows: Numbers, window: Window) -> Column:
        """Values of any attributes as DOUBLE; strings have no number and are NULL."""
        values, valid = np.zeros(len(rows)), np.ones(len(rows), np.bool_)
        for a in np.unique(attribute).tolist():
            chosen = attribute == a
            column = window.take(self.attributes[a], rows[chosen])
            if column.type is ColumnType.STRING:
                valid[chosen] = False
            else:
                values[chosen] = column.values
        return Column(ColumnType.DOUBLE, values, None if valid.all() else valid)

    def _block(
        self, shape: int, subscription: Numbers, newest: Numbers, columns: dict[str, Column], window: Window
    ) -> Answers:
        used, codes = np.unique(subscription, return_inverse=True)
        query = coded(codes.astype(np.int32), self.names[used])
        event_time = Column(ColumnType.TIMESTAMP, window.values(self.schema.time)[newest - window.first])
        identity = content_ids([query, event_time, *columns.values()])
        head = {"query": query, "event_time": event_time, "match_id": identity}
        return Answers(shape, Rows(head | columns, len(subscription)))
