"""Standing subscriptions as the CORRELATE kernel gets them, with every choice of the language already made.

A *clause* is a range on one attribute; a *subscription* is a set of clauses, how near in time (δt) and place (δl) their
readings must be, and where. Symbols of the paper: F -> clauses, δt -> within_us, δl -> within_m, L -> region.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from headwater.model import Region


class Emit(enum.Enum):
    """Which answers a subscription gets; the meaning of each is in `docs/reference/language.md`."""

    READINGS = "READINGS"
    LATEST = "LATEST"
    ALL = "ALL"


@dataclass(frozen=True, slots=True)
class Interval:
    """Values from `low` to `high`; an open end leaves its value out."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One reading of `attribute`, in `interval` or, for a STRING attribute, equal to `text`.

    `sensor` binds the clause to one key. Clauses made from one `n OF` have the same `group` (others have a group of their
    own): they are interchangeable and want readings of different sensors.
    """

    name: str
    attribute: str
    interval: Interval | None
    text: str | None = None
    sensor: str | int | None = None
    group: int = 0


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing CORRELATE query.

    `fingerprint` changes with the meaning of the query; `shape` numbers its answer columns and SELECT list; `where` is the
    index of its row condition in the kernel's list; `sensors` are the only keys whose readings count, when given.
    """

    name: str
    fingerprint: str
    shape: int
    clauses: tuple[Clause, ...]
    within_us: int
    within_m: float | None = None
    region: Region | None = None
    sensors: tuple[str | int, ...] | None = None
    distinct_sensors: bool = False
    emit: Emit = Emit.LATEST
    limit: int | None = None
    where: int | None = None
