"""Which columns make a row an update: a line for each dimension, how far the truth may be from it, and for how long it holds.

A dimension `x` of a stream of updates is a column of numbers that has another beside it, `x_slope`. SUPPRESS answers with such
columns, and PREDICT reads them, whoever wrote them.
"""

from __future__ import annotations

from typing import Final

from headwater.model import StreamSchema

TOLERANCE: Final = "tolerance"
HEARTBEAT: Final = "heartbeat"
REASON: Final = "reason"

_SLOPE: Final = "_slope"


def slope_of(dimension: str) -> str:
    """The column with the slope of a dimension, per second."""
    return dimension + _SLOPE


def dimensions_in(schema: StreamSchema) -> tuple[str, ...]:
    """The dimensions of a stream of updates, in the order of its columns; none: it is no such stream."""
    types = schema.types
    return tuple(
        name
        for name, kind in schema.columns
        if kind.numeric and (slope := types.get(slope_of(name))) is not None and slope.numeric
    )
