"""Values and ranges as whole numbers in the same order, so that one index serves every type of column.

Rule 1  A value's *rank* is a 64-bit integer; ranks compare as the values do. Floating-point numbers become the sortable form
        of their bits, whole numbers and times stay, strings become their number among the texts that clauses name.
Rule 2  Every range, open or closed, is a closed range of ranks: an excluded end is one rank less. Nothing is rounded.
Rule 3  NULL has a rank below every range, so that it satisfies nothing.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.clauses import Clause, Interval
from headwater.model import Column, ColumnType

Ranks = NDArray[np.int64]

NULL_RANK = -(2**63)
NO_TEXT = -1  # a string that no clause names
LEAST, GREATEST = -(2**63) + 1, 2**63 - 1
_MAGNITUDE = 2**63 - 1


def ranks_of(column: Column, texts: Sequence[str] = ()) -> Ranks:
    """int64[n]: the rank of every value of a column; `texts` are the sorted strings that clauses name."""
    if column.type is ColumnType.DOUBLE:
        bits = (column.values + 0.0).view(np.int64)  # + 0.0: minus zero is zero
        ranks = bits ^ ((bits >> 63) & _MAGNITUDE)
    elif column.type is ColumnType.STRING:
        ranks = _text_ranks(column, texts)
    else:
        ranks = np.maximum(column.values.astype(np.int64), LEAST)
    return ranks if column.valid is None else np.where(column.valid, ranks, NULL_RANK)


def range_of(clause: Clause, column_type: ColumnType, texts: Sequence[str]) -> tuple[int, int]:
    """The least and the greatest rank that satisfy a clause; an empty range has the greater one first."""
    if clause.interval is None:
        assert clause.text is not None, f"clause '{clause.name}' has no text"
        number = texts.index(clause.text)
        return number, number
    if column_type is ColumnType.DOUBLE:
        low, high = _double_rank(clause.interval.low), _double_rank(clause.interval.high)
        return low + clause.interval.low_open, high - clause.interval.high_open
    return _whole_range(clause.interval)


def _double_rank(value: float) -> int:
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits ^ ((bits >> 63) & _MAGNITUDE)


def _whole_range(interval: Interval) -> tuple[int, int]:
    """The whole numbers of an interval whose ends may lie between two of them."""
    low, high = LEAST, GREATEST
    if not math.isinf(interval.low):
        low = math.floor(interval.low) + 1 if interval.low_open else math.ceil(interval.low)
    elif interval.low > 0:
        return 1, 0
    if not math.isinf(interval.high):
        high = math.ceil(interval.high) - 1 if interval.high_open else math.floor(interval.high)
    elif interval.high < 0:
        return 1, 0
    if low > GREATEST or high < LEAST:
        return 1, 0
    return max(low, LEAST), min(high, GREATEST)


def numbers_by_name(names: NDArray[Any], numbers: Mapping[Any, int]) -> Ranks:
    """The number of each of some sorted names, NO_TEXT if it has none; iterates over the shorter of the two."""
    if len(names) <= len(numbers):
        return np.array([numbers.get(name, NO_TEXT) for name in names.tolist()], np.int64)
    table = np.full(len(names), NO_TEXT, np.int64)
    known_names = np.array([*numbers, ""], object)[:-1]
    at = np.minimum(np.searchsorted(names, known_names), max(0, len(names) - 1))
    there = names[at] == known_names
    table[at[there]] = np.array(list(numbers.values()), np.int64)[there]
    return table


def _text_ranks(column: Column, texts: Sequence[str]) -> Ranks:
    assert column.names is not None
    if not len(column.names):
        return np.full(len(column), NO_TEXT, np.int64)
    return numbers_by_name(column.names, {text: number for number, text in enumerate(texts)})[column.values]
