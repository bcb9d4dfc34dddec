"""How many worlds does a law draw? In `make test` half of what it names, and the same ones in every run.

`make soak` draws HEADWATER_SOAK_DRAWS times what a law names, from HEADWATER_SOAK_SEED: other worlds with every seed. A law that names few
worlds draws them all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, seed, settings

LEAST: Final = 20
SOAK_TIMES: Final = int(os.environ.get("HEADWATER_SOAK_DRAWS", "0"))
SOAK_SEED: Final = os.environ.get("HEADWATER_SOAK_SEED")

Law = Callable[..., Any]


def bounded(worlds: int, *, times: int = SOAK_TIMES) -> Callable[[Law], Law]:
    """A law over at most so many worlds; `times` as many in a soak."""
    count = worlds * times if times else max(worlds // 2, min(worlds, LEAST))
    chosen = settings(
        max_examples=count,
        deadline=None,
        derandomize=True,  # without a seed
        database=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.function_scoped_fixture,
        ],
    )

    def decorated(law: Law) -> Law:
        drawn = pytest.mark.soak(chosen(law))
        return seed(int(SOAK_SEED))(drawn) if SOAK_SEED else drawn

    return decorated
