"""Values that are added at one end and forgotten at the other, without copying those between.

Rule 1  Appending never changes what an earlier tape shows. It writes after the end of memory that nobody else has written
        after, or else copies: a step repeated from an old state takes the second way.
Memory  What is shown, at most doubled by the room to grow, and what was forgotten since the last copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_ROOM: Final = 64
"""The least room of a tape that has been copied."""


@dataclass(frozen=True, slots=True)
class GrowingArray:
    """`buffer[start:stop]`; `written[0]` says how far the buffer has been written by anyone."""

    buffer: NDArray[Any]
    start: int
    stop: int
    written: list[int]

    @classmethod
    def of(cls, values: NDArray[Any]) -> GrowingArray:
        """A tape with room for as much again."""
        buffer = np.empty((max(_ROOM, 2 * len(values)), *values.shape[1:]), values.dtype)
        buffer[: len(values)] = values
        return cls(buffer, 0, len(values), [len(values)])

    @classmethod
    def over(cls, values: NDArray[Any]) -> GrowingArray:
        """A tape of values as they are, without room: the first that are appended copy them."""
        return cls(values, 0, len(values), [len(values)])

    @property
    def shown(self) -> NDArray[Any]:
        """What is on it."""
        return self.buffer[self.start : self.stop]

    def append(self, values: NDArray[Any]) -> GrowingArray:
        """With values at the end."""
        stop = self.stop + len(values)
        if self.written[0] != self.stop or stop > len(self.buffer):
            return GrowingArray.of(np.concatenate([self.shown, values]))
        self.buffer[self.stop : stop] = values
        self.written[0] = stop
        return GrowingArray(self.buffer, self.start, stop, self.written)

    def drop(self, count: int) -> GrowingArray:
        """Without the first `count` values."""
        return GrowingArray(self.buffer, self.start + count, self.stop, self.written)
