"""Which columns make a row an update: a line for each dimension, its tolerance, and how long it is valid.

A dimension `x` of a stream of updates is a column of numbers with a second column, `x_slope`. SUPPRESS answers with such
columns, and PREDICT reads them, from SUPPRESS or from any other source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from headwater.model import StreamSchema

TOLERANCE: Final = "tolerance"
HEARTBEAT: Final = "heartbeat"
REASON: Final = "reason"

_SLOPE: Final = "_slope"


def slope_of(dimension: str) -> str:
    """The column with the slope of a dimension, per second."""
    return dimension + _SLOPE


def update_columns(dimensions: Sequence[str]) -> Iterator[str]:
    """The columns of an update with some dimensions, beside its time and key."""
    for name in dimensions:
        yield name
        yield slope_of(name)
    yield TOLERANCE
    yield HEARTBEAT


def dimensions_in(schema: StreamSchema) -> tuple[str, ...]:
    """The dimensions of a stream of updates, in the order of its columns; none: it is no such stream."""
    types = schema.types
    return tuple(
        name
        for name, kind in schema.columns
        if kind.numeric and (slope := types.get(slope_of(name))) is not None and slope.numeric
    )


def is_updates(schema: StreamSchema) -> bool:
    """Whether its rows are updates."""
    types = schema.types
    return bool(dimensions_in(schema)) and all(
        name in types and types[name].numeric for name in (TOLERANCE, HEARTBEAT)
    )
