"""Which readings go to which side, and for which operators?

```
TOGETHER   what is in any operator that came from there, each reading once
EACH       what is in each operator that came from there, once for each: a result set of its own
RETURN     the same, and readings that came from there themselves go back too
ALL        everything, once
RELAY      only what comes marked for an operator from there
```
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Protocol

from headwater.model import NodeId


class Manner(enum.Enum):
    """How readings for a side are chosen."""

    TOGETHER = "together"
    EACH = "each"
    RETURN = "return"
    ALL = "all"
    RELAY = "relay"

    @property
    def each(self) -> bool:
        """Whether every operator has a result set of its own."""
        return self in (Manner.EACH, Manner.RETURN)


class Propagation(Protocol):
    """The policy of a node."""

    def manner(self, side: NodeId) -> Manner:
        """How readings for a neighbour are chosen. (The node's own users always have result sets of their own.)"""
        ...


@dataclass(frozen=True, slots=True)
class PerNeighbour:
    """Each reading crosses a link at most once."""

    def manner(self, side: NodeId) -> Manner:
        """The same for all."""
        return Manner.TOGETHER


@dataclass(frozen=True, slots=True)
class PerSubscription:
    """Each operator has its own result set, those that are covered too, from where they are covered."""

    def manner(self, side: NodeId) -> Manner:
        """The same for all."""
        return Manner.EACH


@dataclass(frozen=True, slots=True)
class ThroughCentre:
    """Everything goes to the centre, result sets come back from there; `towards` is the way, None at the centre itself."""

    towards: NodeId | None

    def manner(self, side: NodeId) -> Manner:
        """By where the centre lies."""
        if self.towards is None:
            return Manner.RETURN
        return Manner.ALL if side == self.towards else Manner.RELAY
