"""How far has an input come, if some of its rows have wrong times?

The watermark follows the greatest event time of an input. One row dated 2030 among rows of 2026 would move it there and
make every correct row late. So time follows an input only in steps of at most LEAP, and a longer step is accepted only
when other rows confirm it:

Rule 1  A row at most LEAP past the time reached moves it. Rows further ahead are *held*: they are stored, they are passed
        on when time gets there (or the input ends), and they do not move time.
Rule 2  Held rows are accepted once there are at least WITNESSES of them and they outnumber the other rows that came
        after the first of them. Time then moves to the earliest of them, and rule 1 continues from there.
Rule 3  An input begins with no time reached and every row held, so its first row may be wrong too.
Rule 4  Rows count in the order of the source: file by file, piece by piece, line by line (rows of a DataFrame: a
        micro-batch at a time). Nothing depends on which files came in one micro-batch.
Rule 5  Where time ticks, held rows that agree with one another (AGREEING of them, with no gap longer than LEAP) are
        accepted after PATIENCE ticks without any rows, unless rows of an earlier time came after the first of them.
        Sensors that send little would otherwise count only from their fifth row on. One row is never enough: alone it would
        move time to any value, and every correct row after it would be late.

After a real gap no row contradicts those beyond it, so they are accepted soon. A station whose clock is a year ahead
stays a minority and is held for as long as the others report.

Memory  At most MOST_CLUSTERS groups of held times an input; the furthest become one when there are more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import BEGINNING, UNITS, Instant

LEAP: Final = UNITS["DAYS"]
WITNESSES: Final = 5
AGREEING: Final = 2
PATIENCE: Final = 5
MOST_CLUSTERS: Final = 64

# int64[m, 4]: first time, last time, rows, and how many earlier rows (earlier in time) came after the first of them.
# In time order, with more than LEAP between neighbours.
Clusters = NDArray[np.int64]

NO_CLUSTERS: Final[Clusters] = np.empty((0, 4), np.int64)


@dataclass(frozen=True, slots=True)
class InputClock:
    """The state of one input of a stream; `contrary` counts the other rows since the first held one.

    `arrival_time` is when rows last came, by the clock of the host; of an input that ticks, when it was last examined, and
    `ticked` how far its time has advanced since the last row.
    """

    reached: Instant = BEGINNING
    held: Clusters = field(default_factory=lambda: NO_CLUSTERS)
    contrary: int = 0
    arrival_time: Instant = BEGINNING
    ticked: int = 0

    def after(self, clusters: Clusters) -> InputClock:
        """The clock after one more piece with these times."""
        reached, ahead, normal = self.reached, 0, 0
        for first, last, rows, _ in clusters.tolist():
            if not _within(reached, first):
                break
            reached, normal, ahead = max(reached, last), normal + rows, ahead + 1
        new = clusters[ahead:]
        if not len(self.held) and not len(new):
            return replace(self, reached=reached)
        contrary = self.contrary + normal if len(self.held) else int(new[0, 3])
        known = _contradicted(self.held, clusters)
        reached, held, contrary = _believe(reached, merge_clusters([known, new]), contrary)
        return replace(self, reached=reached, held=held, contrary=contrary)

    def after_silence(self) -> InputClock:
        """The clock after PATIENCE ticks without any rows: rule 5, for the earliest rows that satisfy it.

        Single rows before those are passed with them. Later ones are held as before, and silence begins again for them.
        """
        borne_out = np.flatnonzero((self.held[:, 2] >= AGREEING) & (self.held[:, 3] == 0))
        if not len(borne_out):
            return self
        believed = int(borne_out[0])
        later = self.held[believed + 1 :]
        reached, held, contrary = _believe(
            int(self.held[believed, 1]), later, int(later[0, 3]) if len(later) else 0
        )
        return replace(self, reached=reached, held=held, contrary=contrary)


def clusters_of(times: NDArray[np.int64]) -> Clusters:
    """The times of some rows, in the order they came, as runs with no gap longer than LEAP."""
    if not len(times):
        return NO_CLUSTERS
    first, last = int(times.min()), int(times.max())
    if last - first <= LEAP:
        return np.array([[first, last, len(times), 0]], np.int64)
    ordered = np.sort(times)
    cuts = np.flatnonzero(np.diff(ordered) > LEAP) + 1
    starts = np.concatenate([[0], cuts])
    ends = np.concatenate([cuts, [len(ordered)]])
    contrary = np.zeros(len(starts), np.int64)
    for i, begins in enumerate(ordered[starts][:MOST_CLUSTERS]):
        came = int(np.argmax(times >= begins))
        contrary[i] = (times[came:] < begins).sum()
    return _bounded(np.stack([ordered[starts], ordered[ends - 1], ends - starts, contrary], axis=1))


def merge_clusters(parts: Sequence[Clusters]) -> Clusters:
    """The runs of all parts together."""
    together = [part for part in parts if len(part)]
    if len(together) <= 1:
        return together[0] if together else NO_CLUSTERS
    every = np.concatenate(together)
    every = every[np.argsort(every[:, 0], kind="stable")]
    last = np.maximum.accumulate(every[:, 1])
    starts = np.concatenate([[0], np.flatnonzero(every[1:, 0] - last[:-1] > LEAP) + 1])
    ends = np.concatenate([starts[1:], [len(every)]])
    rows = np.add.reduceat(every[:, 2], starts)
    # Not the sum: a row that contradicts both of two runs would count twice.
    contrary = np.maximum.reduceat(every[:, 3], starts)
    return _bounded(np.column_stack([every[starts, 0], last[ends - 1], rows, contrary]))


def _contradicted(held: Clusters, came: Clusters) -> Clusters:
    """The held rows after these came: rows of an earlier time contradict them, unless they join them."""
    if not len(held) or not len(came):
        return held
    against = came[:, 1] + LEAP < held[:, :1]
    return np.column_stack([held[:, :3], held[:, 3] + (against * came[:, 2]).sum(axis=1)])


def _believe(reached: Instant, held: Clusters, contrary: int) -> tuple[Instant, Clusters, int]:
    """Rule 2, as often as it applies."""
    while len(held):
        rows = int(held[:, 2].sum())
        if _within(reached, int(held[0, 0])):
            reached, held = max(reached, int(held[0, 1])), held[1:]
        elif rows >= WITNESSES and rows > contrary:
            reached, held = int(held[0, 1]), held[1:]
            contrary = int(held[0, 3]) if len(held) else 0
        else:
            break
    return reached, held, contrary if len(held) else 0


def _within(reached: Instant, time: int) -> bool:
    return reached > BEGINNING and time <= reached + LEAP


def _bounded(clusters: Clusters) -> Clusters:
    if len(clusters) <= MOST_CLUSTERS:
        return clusters
    tail = clusters[MOST_CLUSTERS - 1 :]
    furthest = np.array([[tail[0, 0], tail[-1, 1], tail[:, 2].sum(), tail[0, 3]]], np.int64)
    return np.concatenate([clusters[: MOST_CLUSTERS - 1], furthest])
