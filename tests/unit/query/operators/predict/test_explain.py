"""A PREDICT in the words of a plan: what is stored, and which of it a step reads."""

from __future__ import annotations

import pytest

from headwater.query.explaining.explain import explain
from headwater.query.planning.plan import compile_text

STREAM = """
CREATE STREAM u (s STRING KEY, at TIMESTAMP TIME, v DOUBLE, v_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE);
"""


def state_of(predict: str) -> list[str]:
    """The lines on the state of one query."""
    told = explain(compile_text(f"{STREAM}CREATE QUERY q AS SELECT * FROM u PREDICT ({predict});"))
    section = next(part.split("\n") for part in told.split("\n\n") if part.startswith("query q"))
    first = next(number for number, line in enumerate(section) if line.startswith("  state "))
    found = [section[first].removeprefix("  state ")]
    for line in section[first + 1 :]:
        if not line.startswith("    "):
            break
        found.append(line)
    return [line.strip() for line in found]


@pytest.mark.parametrize(
    ("predict", "words"),
    [
        ("v > 1", "the keys with updates, and those that are due"),
        (
            "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 4 SECONDS",
            "the keys with updates and those that are due; it also reads the keys whose lines may come near them",
        ),
        (
            "PAIRS a, b WHERE ABS(a.v - b.v) >= 1 WITHIN 4 SECONDS",
            "everything: no condition bounds how far apart two of them may be (<=, < or DISTANCE)",
        ),
        ("v > 1 BUFFER 20", "everything that is stored: what is given up depends on all of it"),
        (
            "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 4 SECONDS BUFFER 20",
            "everything that is stored: what is given up depends on all of it",
        ),
    ],
)
def test_it_says_what_a_step_reads(predict: str, words: str):
    assert state_of(predict)[-1] == f"a step reads and writes {words}"


def test_a_buffer_is_the_bound_of_what_is_stored():
    stored, answers, _ = state_of("v > 1 BUFFER 20")
    assert stored == "at most 20 updates a stream, 96 bytes each"
    assert answers.startswith("undecided answers: ")
