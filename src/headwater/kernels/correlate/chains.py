"""What is remembered of past matches: for every class its latest match, and for some classes the way back.

Matches are numbered on and on; arrays hold those from `first` to the newest, and a link to a number below `first` has
come to its end. Nothing is renumbered when old matches are dropped.

Rule 1  `earlier` leads from a match to the one before it of the same class: all matches, latest first. For a class that one
        READINGS subscription has to itself it leads to the one before it that may still have to be told.
Rule 2  Classes that are searched also have *useful* lists (`spots.py`), with links `older` and `newer`.
Memory  The matches of the longest δt, for classes that are searched; one entry a class for all others.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

NONE = -1

Numbers = NDArray[np.int64]


class Past(NamedTuple):
    """The rows remembered, from row number `first` on: when, who, where."""

    first: int
    time: Numbers
    key: Numbers
    x: NDArray[np.float64]
    y: NDArray[np.float64]


class Heads(NamedTuple):
    """For every class: row and time of its latest match, and where its chain begins."""

    row: Numbers
    time: Numbers
    latest: Numbers


class Chains(NamedTuple):
    """The matches remembered, from match number `first` on."""

    first: int
    row: Numbers
    of_class: Numbers
    earlier: Numbers
    alike: Numbers  # the one before it of the same class and sensor (and place)
    older: Numbers  # neighbours in the useful list
    newer: Numbers
    cell: Numbers  # where it is, for classes that are searched by place
    told: NDArray[np.bool_]  # for READINGS: its owner has told this reading


def no_heads(classes: int) -> Heads:
    """No match yet."""
    return Heads(
        np.full(classes, NONE, np.int64),
        np.full(classes, -(2**62), np.int64),
        np.full(classes, NONE, np.int64),
    )


def no_chains() -> Chains:
    """No matches remembered."""
    none = np.empty(0, np.int64)
    return Chains(0, none, none, none, none, none, none, none, np.empty(0, np.bool_))


def copied(heads: Heads) -> Heads:
    """Heads that may be changed."""
    return Heads(heads.row.copy(), heads.time.copy(), heads.latest.copy())


def with_room(chains: Chains, more: int) -> Chains:
    """Chains that may be changed, with room for `more` matches."""
    empty = np.full(more, NONE, np.int64)
    return Chains(
        chains.first,
        np.concatenate([chains.row, empty]),
        np.concatenate([chains.of_class, empty]),
        np.concatenate([chains.earlier, empty]),
        np.concatenate([chains.alike, empty]),
        np.concatenate([chains.older, empty]),
        np.concatenate([chains.newer, empty]),
        np.concatenate([chains.cell, empty]),
        np.concatenate([chains.told, np.zeros(more, np.bool_)]),
    )


def dropped(chains: Chains, before_row: int) -> Chains:
    """Without the matches of rows before `before_row`."""
    gone = int(np.searchsorted(chains.row, before_row))
    return Chains(
        chains.first + gone,
        chains.row[gone:],
        chains.of_class[gone:],
        chains.earlier[gone:],
        chains.alike[gone:],
        chains.older[gone:],
        chains.newer[gone:],
        chains.cell[gone:],
        chains.told[gone:],
    )


@numba.njit(cache=True)
def remember(heads: Heads, chains: Chains, match: int, of_class: int, row: int) -> None:
    """Put a new match at the head of its class's chain."""
    m = match - chains.first
    chains.row[m], chains.of_class[m] = row, of_class
    chains.earlier[m] = heads.latest[of_class]
    heads.latest[of_class] = match
