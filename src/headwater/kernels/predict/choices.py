"""The choices of PREDICT that language and kernel share."""

from __future__ import annotations

import enum


class Comparator(enum.IntEnum):
    """How a value, or the size of a difference, is compared with its bound."""

    LESS_EQUAL = 0
    LESS = 1
    GREATER_EQUAL = 2
    GREATER = 3
    EQUAL = 4
    DIFFERENT = 5


class Certainty(enum.IntEnum):
    """How sure an answer must be.

    LINE: the lines are taken as exact. MAY: some values within the tolerances satisfy the conditions. MUST: all of them
    do. PROBABILITY: values distributed uniformly over the tolerances do so often enough.
    """

    LINE = 0
    MAY = 1
    MUST = 2
    PROBABILITY = 3


class GiveUp(enum.Enum):
    """Which update is given up when the buffer is full: the one that matters least, the new one, the oldest, or any."""

    LEAST = "LEAST"
    NEWEST = "NEWEST"
    OLDEST = "OLDEST"
    RANDOM = "RANDOM"
