"""What a PREDICT kernel answers, as sensors and intervals that can be compared with the truth."""

from __future__ import annotations

import numpy as np

from headwater.model import Rows
from headwater_lab.bench.predict_kernel import Answered, Asking, Sent, answer
from headwater_lab.reproduce.prediction.truth import Told


def ask(sent: Sent, asking: Asking) -> tuple[Told, Answered]:
    """All intervals that follow from what was sent."""
    parts: list[Told] = []

    def take(rows: Rows) -> None:
        begins, ends = rows["begins"].values, rows["ends"].values
        if asking.above:
            key = rows["key"].values
            parts.append(Told(np.zeros_like(key), key, begins, ends))
        else:
            parts.append(Told(rows["a_key"].values, rows["b_key"].values, begins, ends))

    answered = answer(sent, asking, take)
    return Told.joined(parts), answered
