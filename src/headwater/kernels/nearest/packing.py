"""Lists between two steps: their entries one after the other, without gaps."""

from __future__ import annotations

import numpy as np

from headwater.compiled import loop
from headwater.kernels.nearest import candidates
from headwater.kernels.nearest.candidates import Real, Whole


def spans(begins: Whole, lengths: Whole) -> Whole:
    """The places of spans, one after the other."""
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)


def runs_of(numbers: Whole) -> Whole:
    """int64[runs, 2]: where each run of numbers that follow one another begins, and how many they are; ascending ones."""
    begins = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 2) != 1)
    return np.column_stack([numbers[begins], np.diff(begins, append=len(numbers))])


@loop
def unpack(lists: candidates.CandidateLists, packed_ids: Whole, packed_scores: Real) -> None:
    """Put the entries where the lists begin, and compute what depends on them."""
    table, ids, scores = lists.table, lists.ids, lists.scores
    source = 0
    for b in range(len(table)):
        start = table[b, candidates.BEGIN]
        oldest, oldest_in, tops = candidates.NEVER, candidates.NEVER, 0
        for p in range(start, start + table[b, candidates.LENGTH]):
            scores[p] = packed_scores[source]
            for column in range(3):
                ids[column, p] = packed_ids[source, column]
            source += 1
            clock = ids[candidates.CLOCK, p]
            oldest = min(oldest, clock)
            if ids[candidates.FLAGS, p] & candidates.IN_SET:
                tops += 1
                oldest_in = min(oldest_in, clock)
        table[b, candidates.OLDEST] = oldest
        table[b, candidates.TOPS] = tops
        table[b, candidates.EXPIRY] = (
            candidates.NEVER if tops == 0 else oldest_in + lists.rules[candidates.WINDOW]
        )


@loop
def packed(lists: candidates.CandidateLists) -> tuple[Whole, Whole, Whole, Real]:
    """Lengths, limits, ids and scores of all lists, one after the other."""
    table, ids, scores = lists.table, lists.ids, lists.scores
    total = 0
    for b in range(len(table)):
        total += table[b, candidates.LENGTH]
    packed_ids, packed_scores = np.empty((total, 3), np.int64), np.empty(total)
    n = 0
    for b in range(len(table)):
        start = table[b, candidates.BEGIN]
        for p in range(start, start + table[b, candidates.LENGTH]):
            packed_scores[n] = scores[p]
            for column in range(3):
                packed_ids[n, column] = ids[column, p]
            n += 1
    return table[:, candidates.LENGTH].copy(), table[:, candidates.LIMIT].copy(), packed_ids, packed_scores
