"""What FENCE can tell, in the words of the language."""

from __future__ import annotations

import enum


class Detect(enum.Enum):
    """What is told; the value is how an answer calls it."""

    ENTER = "enter"
    EXIT = "exit"
    INSIDE = "inside"
    OUTSIDE = "outside"
    CROSS = "cross"


UNLESS_SAID = (Detect.ENTER, Detect.EXIT)
"""What is told where DETECT says nothing."""
