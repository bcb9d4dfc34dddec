"""Rows stored for a while, in pieces that are saved once and dropped whole.

A window over a stream grows at one end and is forgotten at the other. Stored as one array it would be written again at
every step; stored as a log, a step writes its own new pieces and deletes old ones, and nothing else.

Rule 1  A chunk never changes. Its number is used once, so a copy of chunk 17 of a log is valid for ever.
Rule 2  Small chunks at the end are replaced by a larger one under a new number, so that many small steps do not leave many:
        one that is smaller than half of CHUNK_ROWS is more than twice as large as the next. So a row is written again
        a few times, and not with each of the steps that fill a chunk.
Rule 3  A chunk has only the names that its own rows use.
Memory  A chunk is dropped when its newest row is before the bound passed to `since`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headwater.model.codec import Tree, rows_tree, tree_rows
from headwater.model.rows import Rows, compacted_rows, join_rows
from headwater.model.time import Instant

CHUNK_ROWS = 8192


@dataclass(frozen=True)
class Chunk:
    """Some rows, and the greatest and the least event time among them."""

    number: int
    newest: Instant
    oldest: Instant
    rows: Rows

    @cached_property
    def size(self) -> int:
        """Bytes, about; cached, because every save reads it."""
        return self.rows.size

    @property
    def cells(self) -> int:
        """The number of cells over which it is saved."""
        return 1

    def trees(self) -> list[Tree]:
        """The content of each of them."""
        return [rows_tree(self.rows)]


@dataclass(frozen=True, slots=True)
class Log:
    """Chunks in the order they were appended."""

    chunks: tuple[Chunk, ...] = ()
    next_number: int = 0

    def append(self, rows: Rows, time: str) -> Log:
        """The log with rows at the end; `time` names the column of event times."""
        if not rows.count:
            return self
        rows = compacted_rows(rows)
        retained, count = len(self.chunks), rows.count
        while retained and self.chunks[retained - 1].rows.count <= min(2 * count, CHUNK_ROWS // 2 - 1):
            retained -= 1
            count += self.chunks[retained].rows.count
        rows = join_rows([*(chunk.rows for chunk in self.chunks[retained:]), rows])
        number = self.next_number
        added = []
        for piece in _pieces(rows):
            times = piece[time].values
            added.append(Chunk(number, int(times.max()), int(times.min()), piece))
            number += 1
        return Log((*self.chunks[:retained], *added), number)

    def since(self, instant: Instant) -> Log:
        """The log without the chunks whose every row is before `instant`."""
        retained = tuple(chunk for chunk in self.chunks if chunk.newest >= instant)
        return self if len(retained) == len(self.chunks) else Log(retained, self.next_number)

    def rows(self) -> Rows | None:
        """All rows, in the order they were appended; None if there are none."""
        return join_rows([chunk.rows for chunk in self.chunks]) if self.chunks else None

    def outline(self) -> Tree:
        """What is saved beside the chunks to restore the log."""
        return {
            "next": self.next_number,
            "chunks": np.array([[c.number, c.newest, c.oldest] for c in self.chunks], np.int64).reshape(
                -1, 3
            ),
        }


def _pieces(rows: Rows) -> list[Rows]:
    """Rows, cut into pieces of the size of a chunk."""
    if rows.count <= CHUNK_ROWS:
        return [rows]
    starts = range(0, rows.count, CHUNK_ROWS)
    return [compacted_rows(rows.take(slice(start, start + CHUNK_ROWS))) for start in starts]


def log_from(outline: Tree, chunks: Mapping[int, Any]) -> Log:
    """The log of an outline; `chunks` gives the tree or the Rows of each number."""
    found = []
    for number, newest, oldest in outline["chunks"].tolist():
        piece = chunks[number]
        found.append(Chunk(number, newest, oldest, piece if isinstance(piece, Rows) else tree_rows(piece)))
    return Log(tuple(found), outline["next"])
