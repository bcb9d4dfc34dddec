"""Answers of one query as the rows of another: in order, and not before earlier ones can no longer come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headwater.model import INTEREST_SERIAL, Column, Instant, Log, Rows, StreamSchema, join_rows, order_of
from headwater.query.checking.merges import Merge


def as_stream(schema: StreamSchema, blocks: Sequence[Rows]) -> Rows:
    """The answers of the query that a schema is named after, selected from blocks of answers, as rows of the stream, in its order."""
    columns = [column for column, _ in schema.columns]
    parts = [Rows.empty(schema.types)]
    for block in blocks:
        queries = block["query"]
        assert queries.names is not None
        code = int(np.searchsorted(queries.names, schema.name)) if len(queries.names) else 0
        if code == len(queries.names) or queries.names[code] != schema.name:
            continue
        own = np.flatnonzero(queries.values == code)
        if len(own):  # a block may name queries with other columns, which have no answer in it
            parts.append(
                block.take(own).select([*columns, *([INTEREST_SERIAL] if INTEREST_SERIAL in block else [])])
            )
    rows = join_rows(parts)
    return rows.take(order_of(rows, schema.order))


def hand_on(schema: StreamSchema, waits: Log, new_rows: Rows, complete: Instant) -> tuple[Rows, Log]:
    """The rows that can be read, in order, and those that wait: earlier ones may still come."""
    time = new_rows[schema.time].values
    if not waits.chunks and (not new_rows.count or int(time.max()) < complete):
        return new_rows, waits
    stored = waits.rows()
    rows = new_rows if stored is None else join_rows([stored, new_rows])
    is_ready = rows[schema.time].values < complete
    ready, rest = rows.take(is_ready), rows.take(~is_ready)
    left = Log((), waits.next_number).append(rest, schema.time)
    return ready.take(order_of(ready, schema.order)), left


def hold_back(schema: StreamSchema, waits: Log, new_rows: Rows, complete: Instant) -> tuple[Rows, Log]:
    """The rows of a source that is in order, up to a time that the source may be ahead of; and those that wait."""
    if (stored := waits.rows()) is not None:
        # A log may have rows from a time when other columns were read.
        columns = {
            name: stored[name] if name in stored else Column.nulls(kind, stored.count)
            for name, kind in new_rows.types.items()
        }
        new_rows = join_rows([Rows(columns, stored.count), new_rows])
    ready = int(np.searchsorted(new_rows[schema.time].values, complete))
    if ready == new_rows.count and stored is None:
        return new_rows, waits
    left = Log((), waits.next_number).append(new_rows.take(slice(ready, None)), schema.time)
    return new_rows.take(slice(0, ready)), left


def read_together(
    merge: Merge, waits: Log, sources: Mapping[str, tuple[Rows, Instant]]
) -> tuple[tuple[Rows, Instant], Log]:
    """Rows of several sources as one, in order, up to where all of them are complete; and those that wait."""
    ordered = [sources[member.name] for member in merge.members]
    complete = min(watermark for _, watermark in ordered)
    rows = merge.together([merge.rows(place, rows) for place, (rows, _) in enumerate(ordered)])
    ready, left = hand_on(merge.schema, waits, rows.take(order_of(rows, merge.schema.order)), complete)
    return (ready, complete), left
