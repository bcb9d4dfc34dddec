"""Many patterns, each over rows of its own: what is told is what the oracle tells, whole, in steps and after a restart.

`make test` looks at a few hundred of each family; `make soak` at HEADWATER_SOAK_PATTERNS, drawn from HEADWATER_SOAK_SEED. A
failure names the place in the sequence: `Random(f"{seed}/{place}")` draws the pattern and the rows again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from headwater.kernels.pattern.choices import SkipTo
from headwater.kernels.pattern.kernel import PatternKernel
from headwater.model import BEGINNING, END, SECOND, Instant
from headwater.query.operators.pattern.text import pattern_text
from headwater.query.operators.pattern.tree import MatchRecognize, Skip
from tests.laws.kernel_laws import between_times, restored
from tests.laws.pattern_worlds import random_pattern, random_rows
from tests.laws.test_pattern_laws import PatternWorld, _is_accepted
from tests.laws.test_pattern_trace import recording, walked_and_emitted

COUNT = int(os.environ.get("HEADWATER_SOAK_PATTERNS", "300"))
SEED = int(os.environ.get("HEADWATER_SOAK_SEED", "19"))

Listed = list[dict[str, Any]]


@pytest.mark.soak
@pytest.mark.parametrize("every", [False, True], ids=["preferred", "every"])
def test_what_is_emitted_is_what_the_oracle_emits(every: bool) -> None:
    for place in range(COUNT):
        random = Random(f"{SEED}/{place}")
        operator = random_pattern(random, every=every)
        rows = random_rows(random, random.randint(1, 7 if every else 9))
        watermarks = sorted({random.randint(1, 14) * SECOND for _ in range(random.randint(0, 2))})
        if _is_accepted(operator):
            assert_alike(operator, rows, watermarks, f"{SEED}/{place}: {pattern_text(operator.pattern)}")


def assert_alike(operator: MatchRecognize, rows: Listed, watermarks: Sequence[Instant], where: str) -> None:
    """What the oracle tells is told at once and in steps, and `headwater why` walks to every match."""
    world = PatternWorld(rows, watermarks, (("q", operator),), (), 0)
    kernel = world.kernel()
    expected = _sorted(world.oracle(BEGINNING)["q"])
    assert _sorted(_emitted(kernel, world, [])) == expected, where
    assert _sorted(_emitted(kernel, world, watermarks)) == expected, where
    everywhere = Skip(SkipTo.NOWHERE if operator.every else SkipTo.NEXT_ROW)
    walked, emitted = walked_and_emitted(recording(replace(operator, skip=everywhere, limit=None), rows))
    assert walked == emitted, where


def _emitted(kernel: PatternKernel, world: PatternWorld, watermarks: Sequence[Instant]) -> Listed:
    """The answers of a run that is saved and restored at each of the watermarks."""
    state, after = kernel.start(BEGINNING), BEGINNING
    answers: Listed = []
    for watermark in [*watermarks, END]:
        step = kernel.step(state, between_times(world, after, watermark), watermark)
        answers += [row for block in step.answers for row in block.rows.tolist()]
        if watermark < END:
            state, after = restored(kernel, step.state), watermark
    return answers


def _sorted(answers: Listed) -> list[str]:
    """Without their identities, which the oracle does not know."""
    return sorted(
        repr(sorted((name, value) for name, value in answer.items() if name != "match_id"))
        for answer in answers
    )


# --- what is drawn ------------------------------------------------------------------------------------------------------

SHAPES = {
    "UNTIL of a greedy loop": r"! UNTIL",
    "UNTIL of a group": r"\)[~+*?{},\d]* UNTIL",
    "two NOTs": r"NOT .*NOT ",
    "an optional element between NOTs": r"NOT \w+ (~> |~~> )?\w~*[?*]\S* .*NOT ",
    "an optional loop before NOT": r"\)\?\S* (~> |~~> )?NOT",
    "a group before NOT": r"\)[~+*{]\S* (~> |~~> )?NOT",
    "a reluctant optional in a loop": r"\w\?\?\)[~+*?{]",
    "rounds that may be empty": r"\(\w~*[*?]\??\)[~+*?{]",
}


def test_the_shapes_that_went_wrong_are_drawn() -> None:
    drawn = [pattern_text(random_pattern(Random(f"19/{n}"), every=n % 2 == 0).pattern) for n in range(600)]
    missing = [name for name, text in SHAPES.items() if not any(re.search(text, one) for one in drawn)]
    assert missing == []
