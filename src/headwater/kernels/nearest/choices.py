"""The choices of NEAREST that language and kernel share."""

from __future__ import annotations

import enum


class Metric(enum.Enum):
    """What near means: Euclidean distance of numbers, metres on the globe, or simply the highest or lowest values."""

    EUCLIDEAN = "EUCLIDEAN"
    GEOGRAPHIC = "GEOGRAPHIC"
    HIGHEST = "HIGHEST"
    LOWEST = "LOWEST"

    @property
    def ranks_values(self) -> bool:
        """Whether there is no point and no distance, only a value that should be high or low."""
        return self in (Metric.HIGHEST, Metric.LOWEST)


class Emission(enum.Enum):
    """What is emitted: each object once, every entry and exit, or the whole set at every tick."""

    ENTERS = "ENTERS"
    CHANGES = "CHANGES"
    EVERY = "EVERY"


class Algorithm(enum.Enum):
    """How candidates are stored.

    RA: every object of the window that is not dominated, pruned from time to time. RAPF: the same, but an object enters late
    if enough recent ones are nearer. PA: only the R* nearest objects, which may lose an answer.
    """

    RA = "RA"
    RAPF = "RAPF"
    PA = "PA"

    @property
    def exact(self) -> bool:
        """Whether it never loses an answer."""
        return self is not Algorithm.PA
