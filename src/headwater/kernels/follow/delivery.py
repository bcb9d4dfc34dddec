"""Which answers are delivered to a focal object? Those of the requested time, each once, in order.

Rule 1  An answer is delivered if it became true no earlier than `last` before its interest began, and before its life ended.
Rule 2  DELIVER ONCE: an answer is not delivered if the same answer (the same query, the same events) was delivered to the same object for
        an earlier interest.
Rule 3  Order: the interests of an object one after the other, and within each by time.
Rule 4  `match_id` is computed from that of the operator, the focal object and the start of the interest.

Memory  For ONCE, delivered answers that can occur again: with a later interest, those of the history and of the operators' windows before
        the watermark; with the object's current interest, those of earlier interests for as long before its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.follow.interests import Alive
from headwater.kernels.follow.question import FollowQuery, InterestAnswers, Lives, Whole
from headwater.model import END, Answers, Column, ColumnType, Instant, join_rows
from headwater.model.identity import content_hash, hashed_ids

_QUERY, _TIME, _ID = "query", "event_time", "match_id"


@dataclass(frozen=True, slots=True)
class Delivered:
    """Delivered answers: a hash of query, object and answer, uint64[2, n]; a hash of the object; when the answer became true; when its
    interest began."""

    name: NDArray[np.uint64]
    focal: NDArray[np.uint64]
    time: Whole
    start: Whole

    @classmethod
    def nothing(cls) -> Delivered:
        """No answer."""
        none = np.zeros(0, np.int64)
        return cls(np.zeros((2, 0), np.uint64), none.view(np.uint64), none, none)

    def recent(self, watermark: Instant, reach_us: int, alive: Alive) -> Delivered:
        """The answers that can occur again, with a later interest or with one that is alive."""
        if not len(self.time):
            return self
        names = content_hash([alive.focal])[0]
        order = np.argsort(names)
        place = np.searchsorted(names[order], self.focal)
        known = order[np.minimum(place, len(order) - 1)] if len(order) else np.zeros(len(place), np.int64)
        present = np.full(len(self.time), END)
        if len(order):
            present = np.where(names[known] == self.focal, alive.start[known], END)
        may_repeat = self.time >= watermark - reach_us
        may_repeat |= (self.start < present) & (self.time >= present - reach_us)
        if may_repeat.all():
            return self
        return Delivered(
            self.name[:, may_repeat], self.focal[may_repeat], self.time[may_repeat], self.start[may_repeat]
        )


def deliver(
    query: FollowQuery, lives: Lives, blocks: Sequence[InterestAnswers], before: Delivered
) -> tuple[Answers | None, Delivered, int]:
    """The delivered ones among answers of one shape, all answers delivered by then, and how many were left out as delivered before.

    All answers of a step are taken together, because every call searches the delivered answers. They keep the order in which they were
    emitted, which for each object is the order of its interests.
    """
    rows = join_rows([some.answers.rows for some in blocks])
    of = np.concatenate([some.of for some in blocks])
    place = np.repeat(np.arange(len(blocks)), [len(some.of) for some in blocks])
    time = rows[_TIME].values
    in_time = np.flatnonzero((time >= lives.start[of] - query.last_us) & (time < lives.end[of]))
    rows, of, place, time = rows.take(in_time), of[in_time], place[in_time], time[in_time]
    if not rows.count:
        return None, before, 0
    start = lives.start[of]
    repeated = 0
    if not query.each:
        name = content_hash([rows[_QUERY], lives.focal.take(of), rows[_ID]])
        is_first = _is_first(before, name, start)
        repeated = int(len(is_first) - np.count_nonzero(is_first))
        fresh = np.flatnonzero(is_first)
        rows, of, place = rows.take(fresh), of[fresh], place[fresh]
        time, start = time[fresh], start[fresh]
        before = Delivered(
            np.concatenate([before.name, name[:, fresh]], axis=1),
            np.concatenate([before.focal, content_hash([lives.focal.take(of)])[0]]),
            np.concatenate([before.time, time]),
            np.concatenate([before.start, start]),
        )
    order = np.lexsort([time, lives.number[of], start, place])
    rows, of = rows.take(order), of[order]
    began = Column(ColumnType.TIMESTAMP, start[order])
    identity = hashed_ids(content_hash([rows[_QUERY], rows[_ID], lives.focal.take(of), began]))
    return Answers(blocks[0].answers.shape, rows.having(**{_ID: identity})), before, repeated


def _is_first(before: Delivered, name: NDArray[np.uint64], start: Whole) -> NDArray[np.bool_]:
    """Which answers are the first of their identity: no earlier interest had them, neither before this step nor in it."""
    names = np.concatenate([before.name, name], axis=1)
    starts = np.concatenate([before.start, start])
    order = np.lexsort([starts, names[1], names[0]])
    ordered = names[:, order]
    is_same = np.concatenate([[False], (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)])
    first = np.maximum.accumulate(np.where(is_same, 0, np.arange(len(order))))
    earliest = np.empty(len(order), np.int64)
    earliest[order] = starts[order][first]
    return np.asarray(starts[len(before.start) :] == earliest[len(before.start) :])
