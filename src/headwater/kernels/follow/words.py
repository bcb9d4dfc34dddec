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
