"""Which past matches can still be part of a latest answer, and which of them are near a place?

Rule 1  The list of *needed* matches of a class contains, latest first, only the latest `keep` matches of each sensor (or of each sensor and
        place): a match with `keep` later ones of the same kind is never needed.
Rule 2  A class that is searched by place has one list for every cell of a grid with the width of its δl (its *reach*), so that
        all matches closer than δl are in the neighbouring cells. On the globe the grid is a cubic one through the sphere: it
        has no seam at the date line and no singularity at the poles, and a chord is never longer than its arc.
Rule 3  A list is a *node*: node c is class c's own, and further ones belong to a class and a cell.
Memory  A node for every class and cell with a match in the window, an entry for every class, sensor and place; expired
        entries are removed when there is no more room.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.chains import NONE, Chains, Heads, Past
from headwater.kernels.correlate.subscription_table import BY_SENSOR, SubscriptionTable
from headwater.model.place import EARTH_RADIUS_M
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, THIRD_FACTOR, half_mixed

MOST_CELLS_NEAR = 27

Numbers = NDArray[np.int64]


class MatchLists(NamedTuple):
    """`table`: class, sensor (and place) -> latest match. `nodes`: class and cell -> node. Nodes: where their lists begin."""

    table: Numbers
    nodes: Numbers
    node_class: Numbers
    node_cell: Numbers
    needed: Numbers
    not_emitted: Numbers  # for READINGS: the latest match that may have to be emitted
    used: Numbers  # int64[1]: nodes in use


class History(NamedTuple):
    """All that the loops search past matches in: the subscriptions, the latest of every class, their chains and lists, and their rows."""

    subscriptions: SubscriptionTable
    heads: Heads
    chains: Chains
    lists: MatchLists
    past: Past


def no_match_lists(classes: int) -> MatchLists:
    """The classes' own nodes, empty."""
    return MatchLists(
        np.full(16, NONE, np.int64),
        np.full(16, NONE, np.int64),
        np.arange(classes, dtype=np.int64),
        np.zeros(classes, np.int64),
        np.full(classes, NONE, np.int64),
        np.full(classes, NONE, np.int64),
        np.full(1, classes, np.int64),
    )


class MatchListRoom:
    """Match lists with room to grow, changed in place. `entries`: at most so many places of the table are used."""

    __slots__ = ("entries", "lists")

    def __init__(self, classes: int) -> None:
        self.lists = no_match_lists(classes)
        self.entries = 0

    def add(self, chains: Chains, subscriptions: SubscriptionTable, past: Past, more: int) -> None:
        """Room for so many matches of classes that are searched; expired entries are removed when there is none."""
        if 2 * (self.entries + more) > len(self.lists.table):
            table = _rebuilt(chains, subscriptions, past, _capacity(len(chains.row) + more))
            self.lists = self.lists._replace(table=table)
            self.entries = int(np.count_nonzero(table != NONE))
        self.entries += more
        if int(self.lists.used[0]) + more > len(self.lists.node_class):
            self.lists = _with_more_nodes(self.lists, chains, subscriptions, more)


def _with_more_nodes(
    lists: MatchLists, chains: Chains, subscriptions: SubscriptionTable, more: int
) -> MatchLists:
    """Match lists with room for `more` nodes and as many as there are, without expired ones."""
    used = int(lists.used[0])
    alive = (lists.needed[:used] >= chains.first) | (lists.not_emitted[:used] >= chains.first)
    alive[: len(subscriptions.class_mode)] = True
    count = int(alive.sum())
    empty = np.full(more + count, NONE, np.int64)
    fresh = MatchLists(
        lists.table,
        np.full(_capacity(2 * count + more), NONE, np.int64),
        np.concatenate([lists.node_class[:used][alive], empty]),
        np.concatenate([lists.node_cell[:used][alive], empty]),
        np.concatenate([lists.needed[:used][alive], empty]),
        np.concatenate([lists.not_emitted[:used][alive], empty]),
        np.full(1, count, np.int64),
    )
    _enter_nodes(fresh, len(subscriptions.class_mode))
    return fresh


@loop
def list_match(
    subscriptions: SubscriptionTable,
    chains: Chains,
    lists: MatchLists,
    past: Past,
    match: int,
    of_class: int,
    row: int,
) -> None:
    """Put a stored match at the head of its list, and remove the one that is no longer needed."""
    m, r = match - chains.first, row - past.first
    reach = subscriptions.class_reach[of_class]
    if reach > 0.0:
        i, j, k = cell_at(past.x[r], past.y[r], reach, subscriptions.geographic)
        chains.cell[m] = cell_number(i, j, k)
    node = _node_for(lists, of_class, chains.cell[m], reach)
    if subscriptions.class_owner[of_class] != NONE:
        chains.earlier[m] = lists.not_emitted[node]
        lists.not_emitted[node] = match
    slot = _slot(subscriptions, chains, lists.table, past, of_class, r)
    alike = lists.table[slot]
    lists.table[slot] = match
    chains.alike[m] = alike
    left = subscriptions.class_keep[of_class] - 1
    while left > 0 and alike >= chains.first:
        alike = chains.alike[alike - chains.first]
        left -= 1
    if alike >= chains.first:
        _unlink(chains, lists, node, alike)
    next_one = lists.needed[node]
    chains.older[m] = next_one
    if next_one >= chains.first:
        chains.newer[next_one - chains.first] = match
    lists.needed[node] = match


@loop
def nodes_near(
    subscriptions: SubscriptionTable, lists: MatchLists, past: Past, of_class: int, row: int, found: Numbers
) -> int:
    """Write the nodes with all matches of a class within its reach of a row into `found`; returns how many."""
    reach = subscriptions.class_reach[of_class]
    if reach == 0.0:
        found[0] = of_class
        return 1
    x, y = past.x[row - past.first], past.y[row - past.first]
    i, j, k = cell_at(x, y, reach, subscriptions.geographic)
    deep = 1 if subscriptions.geographic else 0
    count = 0
    for a in range(-1, 2):
        for b in range(-1, 2):
            for c in range(-deep, deep + 1):
                node = lists.nodes[_node_slot(lists, of_class, cell_number(i + a, j + b, k + c))]
                known = node == NONE
                for n in range(count):
                    known = known or found[n] == node
                if not known:
                    found[count] = node
                    count += 1
    return count


@loop
def cell_at(x: float, y: float, reach: float, geographic: bool) -> tuple[int, int, int]:
    """The cell of a place in a grid of this width."""
    if not geographic:
        return math.floor(x / reach), math.floor(y / reach), 0
    lon, lat = math.radians(x), math.radians(y)
    across = EARTH_RADIUS_M / reach * math.cos(lat)
    return (
        math.floor(across * math.cos(lon)),
        math.floor(across * math.sin(lon)),
        math.floor(EARTH_RADIUS_M / reach * math.sin(lat)),
    )


@loop
def cell_number(i: int, j: int, k: int) -> int:
    """A number for a cell. Two cells with one number share a list, which costs time and changes no result."""
    h = np.uint64(i) * GOLDEN ^ np.uint64(j) * SECOND_FACTOR
    return int(np.int64(half_mixed(h ^ np.uint64(k) * THIRD_FACTOR)))


@loop
def _unlink(chains: Chains, lists: MatchLists, node: int, match: int) -> None:
    older, newer = chains.older[match - chains.first], chains.newer[match - chains.first]
    if newer == NONE:
        lists.needed[node] = older
    else:
        chains.older[newer - chains.first] = older
    if older >= chains.first:
        chains.newer[older - chains.first] = newer


@loop
def _node_for(lists: MatchLists, of_class: int, cell: int, reach: float) -> int:
    """The node of a class and cell, made if there is none."""
    if reach == 0.0:
        return of_class
    slot = _node_slot(lists, of_class, cell)
    if lists.nodes[slot] == NONE:
        node = lists.used[0]
        lists.nodes[slot] = node
        lists.node_class[node], lists.node_cell[node] = of_class, cell
        lists.used[0] = node + 1
    return lists.nodes[slot]


@loop
def _node_slot(lists: MatchLists, of_class: int, cell: int) -> int:
    mask = len(lists.nodes) - 1
    slot = int(np.int64(half_mixed(np.uint64(of_class) * GOLDEN ^ np.uint64(cell)))) & mask
    while lists.nodes[slot] != NONE:
        node = lists.nodes[slot]
        if lists.node_class[node] == of_class and lists.node_cell[node] == cell:
            break
        slot = (slot + 1) & mask
    return slot


@loop
def _enter_nodes(lists: MatchLists, classes: int) -> None:
    for node in range(classes, lists.used[0]):
        lists.nodes[_node_slot(lists, lists.node_class[node], lists.node_cell[node])] = node


@loop
def _slot(
    subscriptions: SubscriptionTable, chains: Chains, table: Numbers, past: Past, of_class: int, r: int
) -> int:
    """Where the table has, or should have, the latest match of a class by the sensor (and at the place) of row r.

    An expired entry is no match but still occupies its place until the table is rebuilt.
    """
    by_place = subscriptions.class_reach[of_class] > 0.0
    mask = len(table) - 1
    h = np.uint64(of_class) * GOLDEN ^ np.uint64(past.key[r]) * SECOND_FACTOR
    if by_place:
        h ^= past.x.view(np.uint64)[r] * THIRD_FACTOR
        h = half_mixed(h) ^ past.y.view(np.uint64)[r]
    slot = int(np.int64(half_mixed(h))) & mask
    while table[slot] != NONE:
        held = table[slot] - chains.first
        if held >= 0 and chains.of_class[held] == of_class:
            other = chains.row[held] - past.first
            same_place = not by_place or (past.x[other] == past.x[r] and past.y[other] == past.y[r])
            if same_place and past.key[other] == past.key[r]:
                break
        slot = (slot + 1) & mask
    return slot


@loop
def _rebuilt(chains: Chains, subscriptions: SubscriptionTable, past: Past, capacity: int) -> Numbers:
    """A table of this capacity with the entries that have not expired."""
    table = np.full(capacity, NONE, np.int64)
    for m in range(len(chains.row)):
        if subscriptions.class_mode[chains.of_class[m]] >= BY_SENSOR:
            slot = _slot(subscriptions, chains, table, past, chains.of_class[m], chains.row[m] - past.first)
            table[slot] = chains.first + m
    return table


def _capacity(entries: int) -> int:
    return 1 << max(4, int(4 * entries).bit_length())
