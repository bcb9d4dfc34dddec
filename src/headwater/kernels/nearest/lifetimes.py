"""Where does FORGET cut the objects of a value of PER into lives?

Rule 1  An object that comes longer than FORGET after the one before begins a life; exactly that long after it does not.
Rule 2  A life is over when another has begun, or when the watermark is past the microsecond after FORGET.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.model import END, Instant
from headwater.model.partitions import by_partition

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lives:
    """The lives of a step: first one of every value, then those that begin in it.

    `key` is the value of each life, `last` the time of its last object, `partition` the life of every row. `final`: no other life of its value
    comes after it.
    """

    key: Whole
    last: Whole
    partition: Whole
    final: NDArray[np.bool_]

    def is_over(self, gone: Whole, watermark: Instant) -> NDArray[np.bool_]:
        """Which lives are over; `gone` is when each would be forgotten."""
        return ~self.final | (gone < watermark)


def begin_lives(last: Whole, partition: Whole, times: Whole, forget_us: int | None) -> Lives:
    """The lives of rows in order; `last` is the time of the last object of every value before them, END: there was none."""
    many = len(last)
    if forget_us is None:
        return Lives(np.arange(many), last, partition, np.ones(many, np.bool_))
    order = by_partition(partition, many)
    partitions, time = partition[order], times[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = partitions[1:] != partitions[:-1]
    before = np.empty_like(time)
    before[1:] = time[:-1]
    before[first] = last[partitions[first]]
    begins = (before != END) & (time - before > forget_us)
    number = np.where(begins, many - 1 + np.cumsum(begins), -1)
    # A row belongs to the last life of its value that began at or before it, or to the one that existed.
    start = np.where(first & ~begins, partitions, number)
    known = np.flatnonzero(first | begins)
    life = start[known][np.cumsum(first | begins) - 1]
    key = np.concatenate([np.arange(many), partitions[begins]])
    ends = np.concatenate([last, np.zeros(int(begins.sum()), np.int64)])
    ends[life] = time  # of several, the last is written last
    final = np.zeros(len(key), np.bool_)
    newest = np.arange(many)
    newest[partitions] = life
    final[newest] = True
    of_row = np.empty_like(partition)
    of_row[order] = life
    return Lives(key, ends, of_row, final)
