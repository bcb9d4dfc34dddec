"""The open attempts of all queries in a partition as one list of whole numbers, so that a partition is one record of a store.

Each query that has something open in the partition is an entry: the query's slot, how many words follow, then its line of `open`
(without the partition, NUMBER first), its partial matches, the doubles they remember (as bits), its nodes, and completed matches that wait.
If nothing is left but the number of matches, that number alone follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.runs import (
    AT,
    BEST,
    END_OF_LAST,
    NODE_COLUMNS,
    NODES,
    NUMBER,
    OPEN_COLUMNS,
    OPEN_PARTITION,
    SEARCH,
    THREADS,
    WAITING,
    WAITING_COLUMNS,
    Runs,
)
from headwater.model.keyed_records import Ragged

Numbers = NDArray[np.int64]

HEAD: Final = 2  # slot and length
MATCH_NUMBER_BYTES: Final = 8 * (HEAD + 1)
"""Of a query that has nothing but the number of its matches."""
SLOT, PIECE, PLACE = range(3)  # the columns of entries
_LINE = OPEN_COLUMNS - 1


def packed(slots: Sequence[int], runs: Sequence[Runs], ends: Numbers) -> Ragged:
    """A list of words for each piece; `ends` is the number of the row that comes next in it."""
    sizes = [_sizes(one.open, one.threads.shape[1], one.doubles.shape[1], ends) for one in runs]
    length = np.zeros(len(ends) + 1, np.int64)
    for one, size in zip(runs, sizes, strict=True):
        length[1 + one.open[:, OPEN_PARTITION]] += HEAD + size
    offsets = np.cumsum(length)
    words, cursor = np.zeros(int(offsets[-1]), np.int64), offsets[:-1].copy()
    for slot, one, size in zip(slots, runs, sizes, strict=True):
        if len(one.open):
            _write(words, cursor, slot, size, one)
    return Ragged(offsets, {"words": words})


@loop
def entries(words: Numbers, offsets: Numbers) -> Numbers:
    """int64[n, 3]: slot, record and place of the first word after the head, record by record."""
    count, at = 0, 0
    while at < len(words):
        count += 1
        at += HEAD + words[at + 1]
    found = np.zeros((count, 3), np.int64)
    count = 0
    for record in range(len(offsets) - 1):
        at = offsets[record]
        while at < offsets[record + 1]:
            found[count, SLOT], found[count, PIECE], found[count, PLACE] = words[at], record, at + HEAD
            at += HEAD + words[at + 1]
            count += 1
    return found


def unpacked(words: Numbers, some: Numbers, ends: Numbers, none: Runs) -> Runs:
    """The entries of one query (int64[n, 3], by piece) as runs; `none` are its runs where nothing is open."""
    if not len(some):
        return none
    return Runs(*_read(words, some, ends, none.threads.shape[1], none.doubles.shape[1]))


@loop
def _sizes(open_: Numbers, wholes: int, doubles: int, ends: Numbers) -> Numbers:
    size = np.zeros(len(open_), np.int64)
    for line in range(len(open_)):
        threads, nodes, waiting = open_[line, THREADS], open_[line, NODES], open_[line, WAITING]
        if threads + nodes + waiting == 0 and open_[line, SEARCH] >= ends[open_[line, OPEN_PARTITION]]:
            size[line] = 1
        else:
            size[line] = _LINE + threads * (wholes + doubles) + nodes * NODE_COLUMNS
            size[line] += waiting * WAITING_COLUMNS
    return size


@loop
def _write(
    words: Numbers,
    cursor: Numbers,
    slot: int,
    size: Numbers,
    runs: Runs,
) -> None:
    open_, threads, doubles, nodes, waiting = runs
    as_doubles = words.view(np.float64)
    thread = node = wait = 0
    for line in range(len(open_)):
        piece = open_[line, OPEN_PARTITION]
        at = cursor[piece]
        words[at], words[at + 1], words[at + HEAD] = slot, size[line], open_[line, NUMBER]
        cursor[piece] = at + HEAD + size[line]
        if size[line] == 1:
            continue
        at += HEAD + 1
        for column in range(1, OPEN_COLUMNS):
            if column != NUMBER:
                words[at] = open_[line, column]
                at += 1
        for place in range(thread, thread + open_[line, THREADS]):
            words[at : at + threads.shape[1]] = threads[place]
            at += threads.shape[1]
            as_doubles[at : at + doubles.shape[1]] = doubles[place]
            at += doubles.shape[1]
        for place in range(node, node + open_[line, NODES]):
            words[at : at + NODE_COLUMNS] = nodes[place]
            at += NODE_COLUMNS
        for place in range(wait, wait + open_[line, WAITING]):
            words[at : at + WAITING_COLUMNS] = waiting[place]
            at += WAITING_COLUMNS
        thread += open_[line, THREADS]
        node += open_[line, NODES]
        wait += open_[line, WAITING]


@loop
def _read(
    words: Numbers, some: Numbers, ends: Numbers, wholes: int, remembered: int
) -> tuple[Numbers, Numbers, NDArray[np.float64], Numbers, Numbers]:
    open_ = np.zeros((len(some), OPEN_COLUMNS), np.int64)
    for line in range(len(some)):
        piece, at = some[line, PIECE], some[line, PLACE]
        open_[line, OPEN_PARTITION], open_[line, NUMBER] = piece, words[at]
        if words[at - 1] == 1:
            open_[line, SEARCH] = open_[line, AT] = ends[piece]
            open_[line, BEST] = open_[line, END_OF_LAST] = -1
            continue
        at += 1
        for column in range(1, OPEN_COLUMNS):
            if column != NUMBER:
                open_[line, column] = words[at]
                at += 1
    threads = np.zeros((open_[:, THREADS].sum(), wholes), np.int64)
    doubles = np.zeros((len(threads), remembered), np.float64)
    nodes = np.zeros((open_[:, NODES].sum(), NODE_COLUMNS), np.int64)
    waiting = np.zeros((open_[:, WAITING].sum(), WAITING_COLUMNS), np.int64)
    as_doubles = words.view(np.float64)
    thread = node = wait = 0
    for line in range(len(some)):
        at = some[line, PLACE] + _LINE
        for _ in range(open_[line, THREADS]):
            threads[thread] = words[at : at + wholes]
            at += wholes
            doubles[thread] = as_doubles[at : at + remembered]
            at += remembered
            thread += 1
        for _ in range(open_[line, NODES]):
            nodes[node] = words[at : at + NODE_COLUMNS]
            at += NODE_COLUMNS
            node += 1
        for _ in range(open_[line, WAITING]):
            waiting[wait] = words[at : at + WAITING_COLUMNS]
            at += WAITING_COLUMNS
            wait += 1
    return open_, threads, doubles, nodes, waiting
