"""What travels through a network of nodes: advertisements of sources, operators that request readings, readings.

An *operator* is a CORRELATE query, or the part of one that concerns one link. A *complex event* of it takes one
reading for each filter that is needed, all within δt and δl as in `SEMANTICS` of CORRELATE; a reading is *in* the operator
if its filter is returned and it is part of such an event (a filter that is not needed adds its one reading to the event).

Rule 1  Intervals are closed, on doubles: `x < 5` is written as `x <= ` the double below 5. So boxes are exact: there is nothing
        between the end of one interval and the next double.
Rule 2  A part requests no less than its whole: it may let a reading pass that the whole does not need, never the reverse.

Symbols  F -> filters, δt -> within_us, δl -> within_m, L -> region of each filter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headwater.model.place import Region
from headwater.model.time import BEGINNING, Instant

UNGROUPED = -1


@dataclass(frozen=True, slots=True)
class Source:
    """A sensor: a key that measures one attribute at one place. No two in a network share key and attribute."""

    key: str
    attribute: str
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Filter:
    """Which readings one clause takes: an attribute, a closed interval, a region or certain keys (None: all).

    `needed`: without a reading here there is no complex event. `returned`: readings here are returned, not only tested.
    Filters of one `group` take readings of different keys.
    """

    attribute: str
    low: float = -math.inf
    high: float = math.inf
    region: Region | None = None
    keys: tuple[str, ...] | None = None
    needed: bool = True
    returned: bool = True
    group: int = UNGROUPED

    def takes(self, source: Source) -> bool:
        """Whether it can take readings of a source at all."""
        if source.attribute != self.attribute or (self.keys is not None and source.key not in self.keys):
            return False
        return self.region is None or bool(
            self.region.contains(np.array([source.x]), np.array([source.y]))[0]
        )


@dataclass(frozen=True, slots=True)
class Operator:
    """Filters to be met together, on behalf of a subscription; readings before `since` do not count for it."""

    subscription: str
    filters: tuple[Filter, ...]
    within_us: int
    within_m: float | None = None
    geographic: bool = False
    since: Instant = BEGINNING


class Readings(NamedTuple):
    """Readings as columns, by time: `source` is a position in a list of sources, `number` counts the readings of a source."""

    source: NDArray[np.int32]
    time: NDArray[np.int64]
    value: NDArray[np.float64]
    number: NDArray[np.int64]

    def take(self, chosen: NDArray[np.int64] | NDArray[np.bool_]) -> Readings:
        """Some of them, by position or by mask."""
        return Readings(self.source[chosen], self.time[chosen], self.value[chosen], self.number[chosen])


class Matching(Protocol):
    """Operators ready to be matched."""

    @property
    def sources(self) -> NDArray[np.bool_]:
        """Which sources any of them takes readings of; all others change nothing."""
        ...

    def members(self, readings: Readings, *, each: bool) -> NDArray[np.bool_]:
        """Which readings (by time) are in which operator: bool[operators, n]; not `each`: in any of them, bool[1, n]."""
        ...


class Matcher(Protocol):
    """A kernel that finds members of operators, passed to the nodes that need one."""

    def prepare(self, operators: Sequence[Operator], sources: Sequence[Source]) -> Matching:
        """Operators over readings whose `source` is a position in `sources`."""
        ...
