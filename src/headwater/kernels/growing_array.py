"""Values that are added at one end and forgotten at the other, without copying those between.

Rule 1  Appending never changes what an earlier tape shows. It either writes after the end of memory that no other tape has written to,
        or copies: a step that is repeated from an old state copies.
Memory  The values shown, at most doubled by the room to grow, and those forgotten since the last copy.
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
    """`buffer[start:stop]`; `written[0]` is how far any tape has written to the buffer."""

    buffer: NDArray[Any]
    start: int
    stop: int
    written: list[int]

    @classmethod
    def of(cls, values: NDArray[Any]) -> GrowingArray:
        """A tape with room for as many values again."""
        buffer = np.empty((max(_ROOM, 2 * len(values)), *values.shape[1:]), values.dtype)
        buffer[: len(values)] = values
        return cls(buffer, 0, len(values), [len(values)])

    @classmethod
    def over(cls, values: NDArray[Any]) -> GrowingArray:
        """A tape over given values, without room: the first append copies them."""
        return cls(values, 0, len(values), [len(values)])

    @property
    def shown(self) -> NDArray[Any]:
        """The values on it."""
        return self.buffer[self.start : self.stop]

    def append(self, values: NDArray[Any]) -> GrowingArray:
        """The tape with more values at the end."""
        stop = self.stop + len(values)
        if self.written[0] != self.stop or stop > len(self.buffer):
            return GrowingArray.of(np.concatenate([self.shown, values]))
        self.buffer[self.stop : stop] = values
        self.written[0] = stop
        return GrowingArray(self.buffer, self.start, stop, self.written)

    def drop(self, count: int) -> GrowingArray:
        """The tape without its first `count` values."""
        return GrowingArray(self.buffer, self.start + count, self.stop, self.written)
