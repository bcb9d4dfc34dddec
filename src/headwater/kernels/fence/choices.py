"""The changes that FENCE can report, as the language names them."""

from __future__ import annotations

import enum


class Detect(enum.Enum):
    """A change; the value is its name in an answer."""

    ENTER = "enter"
    EXIT = "exit"
    INSIDE = "inside"
    OUTSIDE = "outside"
    CROSS = "cross"


UNLESS_SAID = (Detect.ENTER, Detect.EXIT)
"""The changes reported without DETECT."""
