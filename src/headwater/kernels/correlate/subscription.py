"""Standing subscriptions as the CORRELATE kernel sees them, with every choice of the language made.

A *subscription* is a set of clauses, how near in time (δt) and place (δl) their readings must be, and where. Symbols of the paper:
F -> clauses, δt -> within_us, δl -> within_m, L -> region.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from headwater.kernels.clauses import Clause
from headwater.model import Region


class Emit(enum.Enum):
    """Which answers a subscription gets; the meaning of each is in `docs/reference/language.md`."""

    READINGS = "READINGS"
    LATEST = "LATEST"
    ALL = "ALL"


@dataclass(frozen=True, slots=True)
class Subscription:
    """A standing CORRELATE query.

    `fingerprint` changes with the meaning of the query; `shape` numbers its answer columns and SELECT list; `where` is the
    index of its row condition in the kernel's list; `sensors`, if set, are the only keys whose readings count.
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
