"""The choices of FOLLOW that language and kernel share."""

from __future__ import annotations

import enum


class Update(enum.Enum):
    """When a location update of a focal object starts a new interest.

    ALWAYS: each update does. EVERY t: the current interest began more than t ago. MOVED d: the object is more than d from its place.
    QUALITY p, r: among the latest events, too few of those in the current region are near the object (precision at most p), or too
    few of those near the object are in the current region (recall at most r).
    """

    ALWAYS = "ALWAYS"
    EVERY = "EVERY"
    MOVED = "MOVED"
    QUALITY = "QUALITY"


class Saving(enum.StrEnum):
    """Which events need not be streamed to operators again, without changing an answer. Each saving can be turned off.

    SPACE: for operators that judge each event alone, events that also lie in the previous region. TIME: for operators that judge groups of
    events, those of a group before it differs between the two regions. SUBGRAPHS: for connected operators, events that none of them takes,
    and history for as long as it is the same in both regions. POINTS: events before the windows on an operator's own path.
    """

    SPACE = "space"
    TIME = "time"
    SUBGRAPHS = "subgraphs"
    POINTS = "points"
