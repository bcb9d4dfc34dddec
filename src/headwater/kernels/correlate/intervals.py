"""Which of many ranges contain a value? Found without testing the others.

A forest: one tree of ranges for every scope and attribute. A value's place among the sorted ends of a tree's ranges gives a
leaf; the ranges that contain the value are in lists on the path from that leaf to the root.

Rule 1  Ranges are closed ranges of ranks (`ranks.py`), so that open and closed ends are exact.
Rule 2  The way up skips nodes without a list: a value that no range contains costs one binary search and nothing more.
Memory  O(n log n) for n ranges; look-up O(log n + ranges found).
Source  the segment tree (Bentley 1977), laid out as in an iterative range-update tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.correlate.ranks import GREATEST

Numbers = NDArray[np.int64]


class Forest(NamedTuple):
    """Trees of ranges, one after the other in flat arrays.

    `ends[first_end[t]:first_end[t + 1]]` are the sorted ends of tree t; its leaf p, for values with p ends at or below
    them, starts at node `leaf[first_end[t] + t + p]` (-1: no range there). A node's ranges are
    `ranges[first_range[node]:first_range[node + 1]]`, and `above[node]` is the next node up that has any.
    """

    first_end: Numbers
    ends: Numbers
    leaf: Numbers
    above: Numbers
    first_range: Numbers
    ranges: Numbers


def plant(tree: Numbers, low: Numbers, high: Numbers, name: Numbers, trees: int) -> Forest:
    """The forest of the ranges `low[i]..high[i]`, with number `name[i]`, in tree `tree[i]`; empty ranges are left out."""
    filled = low <= high
    tree, low, high, name = tree[filled], low[filled], high[filled], name[filled]
    bounded = high < GREATEST
    all_trees = np.concatenate([tree, tree[bounded]])
    all_ends = np.concatenate([low, high[bounded] + 1])
    order = np.lexsort([all_ends, all_trees])
    all_trees, all_ends = all_trees[order], all_ends[order]
    fresh = np.ones(len(order), np.bool_)
    fresh[1:] = (all_trees[1:] != all_trees[:-1]) | (all_ends[1:] != all_ends[:-1])
    ends = all_ends[fresh]
    first_end = np.searchsorted(all_trees[fresh], np.arange(trees + 1)).astype(np.int64)
    return _grow(first_end, ends, tree, low, high, name)


@loop(inline="always")
def leaf_of(forest: Forest, tree: int, rank: int) -> int:
    """The lowest node with ranges that contain `rank`; -1: none does. Further ones follow by `above`."""
    start, stop = forest.first_end[tree], forest.first_end[tree + 1]
    return forest.leaf[tree + start + count_up_to(forest.ends, start, stop, rank)]


@loop(inline="always")
def count_up_to(ends: Numbers, start: int, stop: int, rank: int) -> int:
    """How many of `ends[start:stop]`, which are sorted, are at or below the rank."""
    # Without a branch in the loop: the position of a value is practically random, and a misprediction costs more than adding.
    low, left = start, stop - start
    while left > 0:
        half = (left + 1) >> 1
        low += half * (ends[low + half - 1] <= rank)
        left -= half
    return low - start


def _grow(
    first_end: Numbers, ends: Numbers, tree: Numbers, low: Numbers, high: Numbers, name: Numbers
) -> Forest:
    """Put every range on its O(log n) nodes, all ranges one level at a time."""
    start, leaves = first_end[tree], np.diff(first_end)[tree] + 1
    root = 2 * (start + tree)  # a tree with n leaves has its nodes 1 to 2n - 1 after its root's place
    place = _Places(first_end, ends, tree)
    a, b = place.of(low) + leaves, place.of(high) + leaves + 1
    nodes, names = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    while (a < b).any():
        for taken, node in (((a < b) & (a & 1 == 1), a), ((a < b) & (b & 1 == 1), b - 1)):
            nodes.append((root + node)[taken])
            names.append(name[taken])
        a, b = (a + 1) >> 1, b >> 1
    node = np.concatenate(nodes)
    order = np.argsort(node, kind="stable")
    first_range = np.searchsorted(node[order], np.arange(2 * (len(ends) + len(first_end) - 1) + 1)).astype(
        np.int64
    )
    above, leaf = _shortcuts(first_end, first_range)
    return Forest(first_end, ends, leaf, above, first_range, np.concatenate(names)[order])


class _Places:
    """Where ranks lie among the ends of their trees."""

    def __init__(self, first_end: Numbers, ends: Numbers, tree: Numbers) -> None:
        # Ends in the order of all trees, so that one search over pairs (tree, rank) answers for all.
        self.first_end, self.tree = first_end, tree
        self.sorted = np.unique(ends)
        number = np.searchsorted(self.sorted, ends)
        self.pairs = (
            np.repeat(np.arange(len(first_end) - 1), np.diff(first_end)) * (len(self.sorted) + 1) + number
        )

    def of(self, rank: Numbers) -> Numbers:
        """How many ends of its tree are at or below each rank."""
        number = np.searchsorted(self.sorted, rank, side="right") - 1
        found = np.searchsorted(self.pairs, self.tree * (len(self.sorted) + 1) + number, side="right")
        return found - self.first_end[self.tree]


def _shortcuts(first_end: Numbers, first_range: Numbers) -> tuple[Numbers, Numbers]:
    """For every node the next one up with ranges, and for every leaf the first such node."""
    trees = len(first_end) - 1
    leaves = np.diff(first_end) + 1
    root = 2 * (first_end[:-1] + np.arange(trees))
    tree = np.repeat(np.arange(trees), 2 * leaves)
    filled = np.diff(first_range) > 0
    here = np.arange(len(filled)) - root[tree]
    above = here >> 1
    while True:
        empty = (above > 0) & ~filled[root[tree] + above]
        if not empty.any():
            break
        above = np.where(empty, above >> 1, above)
    above = np.where(above > 0, root[tree] + above, -1)
    is_leaf = here >= leaves[tree]
    leaf = np.where(filled, np.arange(len(filled)), above)[is_leaf]
    return above, leaf
