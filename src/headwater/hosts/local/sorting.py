"""Rows of any number in the order of event time, in bounded memory.

Rows gather in memory. When there are many, they are sorted and written aside as a *run*; at the end the runs are read
side by side, a chunk of each at a time, and all rows before the least time that some run has not got past come out together.

Memory  `memory_rows` while gathering, one chunk a run while merging; and all rows of one instant, which belong together.
Disk    the columns that travel, in a temporary folder that goes away with the sorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np

from headwater.hosts.temporary_folders import TemporaryFolder, temporary_folder
from headwater.model import (
    BEGINNING,
    END,
    Instant,
    Rows,
    StreamSchema,
    decode,
    encode,
    join_rows,
    order_of,
    rows_tree,
    tree_rows,
)

MEMORY_ROWS = 2_000_000
CHUNK_ROWS = 100_000


class Sorter:
    """Takes the rows of several streams, and gives them back slice of time by slice of time."""

    def __init__(
        self, streams: Sequence[StreamSchema], *, memory_rows: int = MEMORY_ROWS, chunk_rows: int = CHUNK_ROWS
    ) -> None:
        self.streams = {stream.name: stream for stream in streams}
        self.memory_rows = memory_rows
        self.chunk_rows = chunk_rows
        self.gathered: dict[str, list[Rows]] = {name: [] for name in self.streams}
        self.held = 0
        self.runs: list[_Run] = []
        self.folder: TemporaryFolder | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.folder is not None:
            self.folder.remove()

    def add(self, stream: str, rows: Rows) -> None:
        """Some more rows, in any order."""
        if not rows.count:
            return
        self.gathered[stream].append(rows)
        self.held += rows.count
        if self.held >= self.memory_rows:
            for name in self.streams:
                if ordered := self._ordered(name):
                    self.runs.append(_Run(name, self.streams[name].time, self._written(ordered)))
            self.held = 0

    def slices(self) -> Iterator[tuple[dict[str, list[Rows]], Instant]]:
        """Rows by stream, all with times before the instant beside them and none before the last one's; then END."""
        for name in self.streams:
            if ordered := self._ordered(name):
                self.runs.append(_Run(name, self.streams[name].time, _chunks(ordered, self.chunk_rows)))
        border: Instant = BEGINNING
        while border < END:
            border = min((run.sure_until() for run in self.runs), default=END)
            slices: dict[str, list[Rows]] = {}
            for run in self.runs:
                if (rows := run.before(border)).count:
                    slices.setdefault(run.stream, []).append(rows)
            if slices or border == END:
                yield slices, border
            else:  # one instant fills all that some run has in memory
                for run in self.runs:
                    if run.sure_until() == border:
                        run.read_on()
            self.runs = [run for run in self.runs if not run.over()]

    def _ordered(self, name: str) -> Rows | None:
        parts, self.gathered[name] = self.gathered[name], []
        if not parts:
            return None
        rows = join_rows(parts)
        return rows.take(order_of(rows, [column for column in self.streams[name].order if column in rows]))

    def _written(self, rows: Rows) -> Iterator[Rows]:
        if self.folder is None:
            self.folder = temporary_folder("sort")
        path = self.folder.path / f"run-{len(self.runs)}"
        places = [0]
        with path.open("wb") as file:
            for chunk in _chunks(rows, self.chunk_rows):
                places.append(places[-1] + file.write(encode(rows_tree(chunk))))
        return _read_back(path, places)


class _Run:
    """Rows of one stream in order, of which one chunk is in memory."""

    def __init__(self, stream: str, time: str, chunks: Iterator[Rows]) -> None:
        self.stream = stream
        self.time = time
        self.chunks = chunks
        self.rows: Rows = next(chunks)
        self.ended = False

    def sure_until(self) -> Instant:
        """No row still to be read is before this."""
        if not self.rows.count and not self.ended:
            self.read_on()
        return END if self.ended else int(self.rows[self.time].values[-1])

    def before(self, border: Instant) -> Rows:
        """Take the rows before an instant."""
        cut = int(np.searchsorted(self.rows[self.time].values, border))
        taken, self.rows = self.rows.take(slice(0, cut)), self.rows.take(slice(cut, None))
        return taken

    def read_on(self) -> None:
        """Have one more chunk in memory."""
        more = next(self.chunks, None)
        if more is None:
            self.ended = True
        else:
            self.rows = join_rows([self.rows, more]) if self.rows.count else more

    def over(self) -> bool:
        """Whether there is nothing left."""
        return self.ended and not self.rows.count


def _chunks(rows: Rows, size: int) -> Iterator[Rows]:
    return (rows.take(slice(start, start + size)) for start in range(0, rows.count, size))


def _read_back(path: Path, places: Sequence[int]) -> Iterator[Rows]:
    with path.open("rb") as file:
        for start, stop in pairwise(places):
            file.seek(start)
            yield tree_rows(decode(file.read(stop - start)))
