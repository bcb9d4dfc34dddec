"""Answers in order of event time, though some are emitted after others of later times: they wait until none before them can come.

Interests of FOLLOW bring answers of the time before they began, and a pattern may tell a match long after its last row. Kernels say how
far their answers are complete; so far they are handed over.

Memory  Answers from there on: those of the history and the windows that queries ask for. A pattern without WITHIN may hold them back for
        long; when more than `most` wait, the earlier half is handed over, and only answers before those may then be out of order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from headwater.model import END, Instant, Rows

MOST_WAITING: Final = 2_000_000

_TIME: Final = "event_time"


class PendingAnswers:
    """Answers of a run that are not handed over yet."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self.most = most
        self.blocks: list[Rows] = []

    def ready(self, answers: Sequence[Rows], complete: Instant) -> tuple[Rows, ...]:
        """With new answers: those before an instant before which none will follow. END: all."""
        blocks = [*self.blocks, *answers]
        if complete == END:
            self.blocks = []
            return tuple(blocks)
        cut = max(complete, self._too_many(blocks, complete))
        parts = [(block, block[_TIME].values < cut) for block in blocks]
        self.blocks = [block.take(~is_ready) for block, is_ready in parts if not is_ready.all()]
        return tuple(block.take(is_ready) for block, is_ready in parts if is_ready.any())

    def _too_many(self, blocks: Sequence[Rows], complete: Instant) -> Instant:
        """Up to when answers go although others may follow, so that half as many wait as may."""
        times = np.concatenate([np.zeros(0, np.int64), *(block[_TIME].values for block in blocks)])
        waiting = times[times >= complete]
        if len(waiting) <= self.most:
            return complete
        place = len(waiting) - self.most // 2
        return int(np.partition(waiting, place)[place])
