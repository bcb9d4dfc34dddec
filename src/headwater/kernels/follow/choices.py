"""The words of FOLLOW that language and kernel share."""

from __future__ import annotations

import enum


class Update(enum.Enum):
    """When a location update of a focal object starts a new interest.

    ALWAYS: each does. EVERY t: the current one began more than t ago. MOVED d: the object is more than d from its place.
    QUALITY p, r: of the latest events, too few that the current one takes are near the object (precision at most p), or too
    few that are near the object are taken by it (recall at most r).
    """

    ALWAYS = "ALWAYS"
    EVERY = "EVERY"
    MOVED = "MOVED"
    QUALITY = "QUALITY"


class Saving(enum.StrEnum):
    """What need not be streamed to operators again, without changing an answer. Each can be left off.

    SPACE: of operators that look at each event by itself, events that lie in the region before as well. TIME: of operators that look at
    groups of events, those of a group before it differs between the two regions. SUBGRAPHS: to operators that hang together, events that
    they do not take, and history as long as it is the same in both regions. POINTS: events before the windows of an operator's own path.
    """

    SPACE = "space"
    TIME = "time"
    SUBGRAPHS = "subgraphs"
    POINTS = "points"
