"""Operators in words, for people who look after nodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from headwater.kernels.clauses import Interval
from headwater.model import ColumnType, Filter, Operator
from headwater.query.language.words import (
    duration_in_words,
    interval_in_words,
    length_in_words,
    listed,
    region_in_words,
)


def operator_in_words(operator: Operator) -> str:
    """What is requested from a node: what must come together, and what goes along with it."""
    needed = _together([clause for clause in operator.filters if clause.needed])
    others = _together([clause for clause in operator.filters if not clause.needed])
    if not needed:
        return " or ".join(others)  # nothing is needed, so every reading counts by itself
    parts = [*needed, *(f"perhaps {words}" for words in others)]
    if len(operator.filters) > 1:
        parts.append(f"less than {duration_in_words(operator.within_us)} apart")
        if operator.within_m is not None:
            parts.append(f"closer than {length_in_words(operator.within_m)}")
    return ", ".join(parts)


def filter_in_words(clause: Filter) -> str:
    """Which readings one clause takes."""
    words = clause.attribute
    if clause.low > -math.inf or clause.high < math.inf:
        words += f" {interval_in_words(_as_written(clause.low, clause.high), ColumnType.DOUBLE)}"
    if clause.keys is not None:
        words += f" of {listed([repr(key) for key in clause.keys], 4)}"
    if clause.region is not None:
        words += f" inside {region_in_words(clause.region)}"
    return words if clause.returned else f"{words} (only tested)"


def _together(filters: Iterable[Filter]) -> list[str]:
    """Equal ones as one: 3 of temperature below 0."""
    counts = Counter(map(filter_in_words, filters))
    return [f"{count} of {words}" if count > 1 else words for words, count in counts.items()]


def _as_written(low: float, high: float) -> Interval:
    """An end that is the double beside a short number was an open end."""
    below, above = math.nextafter(low, -math.inf) + 0.0, math.nextafter(high, math.inf) + 0.0  # no -0
    low_open, high_open = _shorter(below, low), _shorter(above, high)
    return Interval(below if low_open else low, above if high_open else high, low_open, high_open)


def _shorter(written: float, stored: float) -> bool:
    return math.isfinite(stored) and (written == 0.0 or len(repr(written)) + 6 < len(repr(stored)))
