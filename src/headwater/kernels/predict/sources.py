"""The lines of all sources of a query as one set, and their events as one stream.

Rule 1  The number of a line is slot · sources + source.
Rule 2  Of two updates of one sensor at one time the former answers nothing, not even for the moment until the latter is read.
Rule 3  All words of a line are in one row, adjacent in memory. `Lines` are views of the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from headwater.kernels.predict.geometry.shapes import Lines, Whole
from headwater.kernels.predict.lines.events import ADD, END, EVENT_COLUMNS, LIFE, LINE, START, WHAT, WHEN
from headwater.kernels.predict.lines.store import LineState, slots_without_gaps
from headwater.kernels.predict.sensors import Sensors

_ALIGNED: Final = 64
_WORD: Final = 8
_FIXED: Final = 4  # words of a row before values and slopes
_FEWEST: Final = 2
"""Views of fewer rows would have no gaps, and loops are compiled for columns with gaps."""


def merged(events: Sequence[Whole], after: Sequence[LineState], sensors: Sensors) -> Whole:
    """The events of all sources in the order of the stream, with lines known across sources."""
    parts = []
    for source, (happened, state) in enumerate(zip(events, after, strict=True)):
        if not len(happened):
            continue
        part = happened.copy()
        is_empty = (part[:, WHAT] == LIFE) & (part[:, START] == part[:, END])
        if is_empty.any():
            muted = (part[:, WHAT] == ADD) & np.isin(part[:, LINE], part[is_empty, LINE])
            muted &= part[:, START] == part[:, WHEN]
            part[muted, END] = part[muted, START]
        if len(events) == 1:
            return part
        rank = sensors.rank[state.key[part[:, LINE]]]
        # All effects of an update come with its own line, which is the last of them.
        adds = np.where(part[:, WHAT] == ADD, np.arange(len(part)), len(part))
        own = np.minimum.accumulate(adds[::-1])[::-1]
        own = np.where(own < len(part), own, np.arange(len(part)))
        rank = np.where(part[own, WHEN] == part[:, WHEN], rank[own], len(sensors.rank))
        part[:, LINE] = part[:, LINE] * len(events) + source
        parts.append((part, rank, np.full(len(part), source)))
    if not parts:
        return np.empty((0, EVENT_COLUMNS), np.int64)
    joined = np.concatenate([part for part, _, _ in parts])
    order = np.lexsort(
        [
            np.concatenate([source for _, _, source in parts]),
            np.concatenate([rank for _, rank, _ in parts]),
            joined[:, WHEN],
        ]
    )
    return joined[order]


def lines_of(before: Sequence[LineState], after: Sequence[LineState]) -> tuple[Lines, Whole]:
    """The lines of all sources with the lives that they had before the step, and the codes of their keys."""
    sources = len(after)
    slots = max(_FEWEST, *(len(state.key) for state in after))
    lines = empty_lines(slots * sources, max(state.lines.values.shape[1] for state in after))
    code = np.zeros(slots * sources, np.int64)
    for source, (old, new) in enumerate(zip(before, after, strict=True)):
        many, known = len(new.key), min(len(old.key), len(new.key))
        at = slice(source, source + many * sources, sources)
        past = slice(source, source + known * sources, sources)
        lines.t0[at], code[at] = new.lines.t0, new.key
        lines.start[past], lines.end[past] = old.lines.start[:known], old.lines.end[:known]
        width = new.lines.values.shape[1]
        lines.values[at, :width], lines.slopes[at, :width] = new.lines.values, new.lines.slopes
        lines.tolerance[at] = new.lines.tolerance
    return lines, code


def lines_without_gaps(states: Sequence[LineState]) -> Whole:
    """int64[lines]: the number of each stored line after saving and loading, -1 for the others."""
    sources = len(states)
    found = np.full(sources * max(len(state.key) for state in states), -1)
    for source, state in enumerate(states):
        slots = slots_without_gaps(state)
        found[source : source + len(slots) * sources : sources] = np.where(
            slots >= 0, slots * sources + source, -1
        )
    return found


def empty_lines(count: int, dimensions: int) -> Lines:
    """An empty set of lines."""
    width = _FIXED + 2 * dimensions
    memory = np.zeros(count * width + _ALIGNED // _WORD, np.int64)
    first = -memory.ctypes.data % _ALIGNED // _WORD
    words = memory[first : first + count * width].reshape(count, width)
    numbers = words.view(np.float64)
    middle = _FIXED + dimensions
    return Lines(
        words[:, 0],
        words[:, 1],
        words[:, 2],
        numbers[:, _FIXED:middle],
        numbers[:, middle:],
        numbers[:, 3],
    )
