"""What a PREDICT kernel answers, as sensors and intervals that can be compared with the truth."""

from __future__ import annotations

import numpy as np

from headwater.model import Rows
from headwater_lab.bench.predict_kernel import Answered, PredictQuestion, Sent, answer
from headwater_lab.reproduce.prediction.truth import AnswerIntervals


def ask(sent: Sent, question: PredictQuestion) -> tuple[AnswerIntervals, Answered]:
    """All intervals that follow from what was sent."""
    parts: list[AnswerIntervals] = []

    def take(rows: Rows) -> None:
        begins, ends = rows["begins"].values, rows["ends"].values
        if question.above:
            key = rows["key"].values
            parts.append(AnswerIntervals(np.zeros_like(key), key, begins, ends))
        else:
            parts.append(AnswerIntervals(rows["a_key"].values, rows["b_key"].values, begins, ends))

    answered = answer(sent, question, take)
    return AnswerIntervals.joined(parts), answered
