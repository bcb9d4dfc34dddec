"""Operators that may cover one another, with their boxes as arrays.

Rule 1  As long as all regions are boxes (or there is none), the boxes are stored: a decision reads arrays alone. With other
        regions the rows that count are computed for each decision (`headwater.protocols.cover.candidates_of`).
Rule 2  Only operators that began no later may cover: their readings reach back as far.

Memory  one row of doubles for each operator.
"""

from __future__ import annotations

import numpy as np

from headwater.protocols.cover import Boxes, Cover, Outline, Verdict, candidates_of


class CoverCandidates:
    """Operators of one make by name, in the order they came."""

    def __init__(self) -> None:
        self._outlines: dict[str, Outline] = {}
        self._low = self._high = np.empty((0, 0))
        self._since = np.empty(0, np.int64)
        self._filled = 0

    def __len__(self) -> int:
        return len(self._outlines)

    def add(self, name: str, outline: Outline) -> None:
        """Put an operator there."""
        self._outlines[name] = outline
        if self._filled == len(self._since):
            room, width = max(4, 2 * self._filled), len(outline.low)
            self._low, self._high = _longer(self._low, room, width), _longer(self._high, room, width)
            self._since = np.resize(self._since, room)
        self._low[self._filled], self._high[self._filled] = outline.low, outline.high
        self._since[self._filled] = outline.since
        self._filled += 1

    def remove(self, name: str) -> None:
        """Take an operator away."""
        place = list(self._outlines).index(name)
        del self._outlines[name]
        for rows in (self._low, self._high, self._since):
            rows[place : self._filled - 1] = rows[place + 1 : self._filled]
        self._filled -= 1

    def covers(self, outline: Outline, cover: Cover, *, seed: int) -> Verdict:
        """Whether the operators here leave nothing of another to ask for."""
        takes_something = bool((outline.low <= outline.high).all())
        if not takes_something or not all(other.plain for other in self._outlines.values()):
            return cover.covers(*candidates_of(outline, list(self._outlines.values())), seed=seed)
        early = self._since[: self._filled] <= outline.since
        lows, highs = self._low[: self._filled][early], self._high[: self._filled][early]
        # Places that no row bounds need no columns.
        bounded = np.any((lows > outline.low) | (highs < outline.high), axis=0)
        bounded[: len(outline.filters)] = True
        return cover.covers(
            outline.low[bounded], outline.high[bounded], Boxes(lows[:, bounded], highs[:, bounded]), seed=seed
        )


def _longer(rows: np.ndarray, room: int, width: int) -> np.ndarray:
    longer = np.empty((room, width))
    if len(rows):
        longer[: len(rows)] = rows
    return longer
