"""At which instant does time alone change something of a partition: when does the first of its partial matches run out of time?

Until then a partition without new rows need not be processed. Rules as in `preferred_match` and `all_matches`: a partial match is out of time
when its deadline is before the watermark; one that waits for the end of the rows has none, and where rows must follow (NEXT)
only rows or the end of the input decide.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.pattern.automaton import AT_END
from headwater.kernels.pattern.runs import (
    BEGAN,
    NEVER,
    NODE,
    NODES,
    OPEN_PARTITION,
    ROW,
    STATE,
    THREADS,
    Rules,
    Runs,
    Segments,
)
from headwater.model import END

Numbers = NDArray[np.int64]

_START = 3  # of an event in a node's window: the time of the latest initial event that it follows


def first_deadlines(kind: Numbers, rules: Rules, runs: Runs, segments: Segments, time: Numbers) -> Numbers:
    """For each open line of a query the first deadline; END: time changes nothing there."""
    if rules.next_rows > 0 or (rules.within_us == NEVER and rules.between_us == NEVER):
        return np.full(len(runs.open), END)
    place = np.searchsorted(segments.partition, runs.open[:, OPEN_PARTITION])
    offset = segments.low[place] - segments.base[place]
    return _first_deadlines(
        kind, rules.within_us, rules.between_us, runs.open, runs.threads, runs.nodes, offset, time
    )


def window_deadlines(within_us: int, runs: Runs) -> Numbers:
    """The same for node modes: when the first event leaves the window."""
    deadlines = np.full(len(runs.open), END)
    held = runs.open[:, THREADS]
    some = held > 0
    if some.any():
        first = np.cumsum(held) - held
        deadlines[some] = np.minimum.reduceat(runs.threads[:, _START], first[some]) + within_us
    return deadlines


@loop
def _first_deadlines(
    kind: Numbers,
    within_us: int,
    between_us: int,
    open_: Numbers,
    threads: Numbers,
    nodes: Numbers,
    offset: Numbers,
    time: Numbers,
) -> Numbers:
    deadlines = np.full(len(open_), END, np.int64)
    thread_from = node_from = 0
    for line in range(len(open_)):
        for thread in range(thread_from, thread_from + open_[line, THREADS]):
            if kind[threads[thread, STATE]] == AT_END:
                continue
            its = END
            if within_us != NEVER:
                its = min(its, time[threads[thread, BEGAN] + offset[line]] + within_us)
            node = threads[thread, NODE]
            if between_us != NEVER and node >= 0:
                its = min(its, time[nodes[node_from + node, ROW] + offset[line]] + between_us)
            deadlines[line] = min(deadlines[line], its)
        thread_from += open_[line, THREADS]
        node_from += open_[line, NODES]
    return deadlines
