"""Updates that arrive late: are answers the same, and what is answered without those that come too late?

Rule 1  Every update is delayed by a time of its own: exponential with a mean of one second, and never more than ten seconds.
Rule 2  Arrivals go, second by second, through the queue and the kernel that answer queries on every host. `LATE` decides: an update waits
        until the watermark has passed it, and one that comes later than that is left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater.hosts.zone import Arrivals, Program, Unit, clusters_of
from headwater.kernels.predict.choices import GiveUp
from headwater.model import SECOND, Rows
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.predict_kernel import Answered, Numbers, PredictQuestion, Sent
from headwater_lab.reproduce.prediction.truth import AnswerIntervals

MEAN_DELAY_US: Final = SECOND
MOST_DELAY_US: Final = 10 * SECOND
SEED: Final = 11

STREAM: Final = """
CREATE STREAM updates (
  id BIGINT KEY, event_time TIMESTAMP TIME, x DOUBLE, x_slope DOUBLE, y DOUBLE, y_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE
) LATE {late_s} SECONDS;
CREATE QUERY near AS SELECT a_key, b_key, begins, ends FROM updates PREDICT (
  PAIRS a, b WHERE ABS(a.x - b.x) <= {bound} AND ABS(a.y - b.y) <= {bound} WITHIN {within_s} SECONDS{buffer});
"""
COLUMNS: Final = ("id", "event_time", "x", "x_slope", "y", "y_slope", "tolerance", "heartbeat")
GIVE_UP: Final = {
    GiveUp.LEAST: "LEAST",
    GiveUp.OLDEST: "OLDEST",
    GiveUp.RANDOM: "RANDOM 7",
    GiveUp.NEWEST: "NEWEST",
}


@dataclass(frozen=True, slots=True)
class Delays:
    """How late updates come, and how long is waited for them."""

    late_s: int
    most_us: int = MOST_DELAY_US

    def arrivals(self, sent: Sent) -> Iterator[Rows]:
        """What was sent, in the order in which it arrives: all of one second together."""
        at = sent.rows["event_time"].values
        drawn = np.random.default_rng(SEED).exponential(MEAN_DELAY_US, len(at)).astype(np.int64)
        arrives: Numbers = at + np.minimum(drawn, self.most_us)
        order = np.argsort(arrives, kind="stable")
        second = arrives[order] // SECOND
        for part in np.split(order, np.flatnonzero(np.diff(second)) + 1):
            yield sent.rows.take(part)


def ask_late(sent: Sent, question: PredictQuestion, delays: Delays) -> tuple[AnswerIntervals, Answered, int]:
    """All intervals that are answered, and how many updates came too late."""
    program = Program(compile_text(_text(question, delays), zones=1))
    state, parts, seconds, late = program.start(), [], 0.0, 0
    counts: Counter[str] = Counter()
    for number, rows in enumerate((*delays.arrivals(sent), None)):
        came = Arrivals({}, end=True) if rows is None else Arrivals({"updates": [_unit(rows, number)]})
        begun = time.process_time()
        state, output = program.step(state, came)
        seconds += time.process_time() - begun
        counts.update(output.counts)
        late += sum(part.count for part in output.late.values())
        parts += [
            AnswerIntervals(*(part[name].values for name in ("a_key", "b_key", "begins", "ends")))
            for part in output.answers
        ]
    answers = AnswerIntervals.joined(parts)
    return answers, Answered(seconds, len(answers), dict(counts)), late


def _text(question: PredictQuestion, delays: Delays) -> str:
    buffer = (
        "" if question.buffer is None else f" BUFFER {question.buffer} GIVE UP {GIVE_UP[question.give_up]}"
    )
    return STREAM.format(
        late_s=delays.late_s,
        bound=f"{question.bound:g}",
        within_s=question.within_us // SECOND,
        buffer=buffer,
    )


def _unit(rows: Rows, number: int) -> Unit:
    return Unit("updates", number, 0, clusters_of(rows["event_time"].values), rows.select(COLUMNS))
