"""CORRELATE against its oracle and the laws of every kernel.

The chunks of logs are made one row long, so that a log forgets as exactly as the bound is stated.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given

from headwater.kernels.correlate.kernel import CorrelateKernel
from headwater.kernels.correlate.routing import Routing
from headwater.model import BEGINNING, END, row_log
from tests.laws.correlate_worlds import CONDITIONS, CorrelateWorld, long_worlds, worlds
from tests.laws.draws import bounded
from tests.laws.kernel_laws import (
    LAWS,
    any_split_gives_the_same_answers,
    inputs_are_not_modified,
    optimisations_change_nothing,
    queries_come_and_go_unnoticed,
    restoring_changes_nothing,
    state_stays_below_its_bound,
)

WITHOUT_ORACLE = (
    any_split_gives_the_same_answers,
    restoring_changes_nothing,
    queries_come_and_go_unnoticed,
    inputs_are_not_modified,
    state_stays_below_its_bound,
    optimisations_change_nothing,
)
ZONES = 3


@pytest.fixture(autouse=True)
def tiny_chunks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(row_log, "CHUNK_ROWS", 1)
    yield


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(300)
@given(world=worlds())
def test_correlate_keeps_the_law(law, world: CorrelateWorld):
    law(world)


@pytest.mark.parametrize("law", WITHOUT_ORACLE, ids=lambda law: law.__name__)
@bounded(40)
@given(world=long_worlds())
def test_correlate_keeps_the_law_over_many_rows(law, world: CorrelateWorld):
    law(world)


@bounded(300)
@given(world=worlds())
def test_rows_that_routing_keeps_from_a_zone_change_none_of_its_answers(world: CorrelateWorld):
    zones = [(world.seed + n) % ZONES for n in range(len(world.before))]
    zones_using = Routing(world.schema, world.before, zones, ZONES, CONDITIONS).zones_using(world.rows)
    assert zones_using.shape == (ZONES, world.rows.count)
    for zone in range(ZONES):
        subscriptions = [s for s, its in zip(world.before, zones, strict=True) if its == zone]
        kernel = CorrelateKernel(world.schema, subscriptions, CONDITIONS)
        whole = kernel.step(kernel.start(BEGINNING), world.rows, END)
        routed = kernel.step(kernel.start(BEGINNING), world.rows.take(zones_using[zone]), END)
        assert [block.rows.tolist() for block in routed.answers] == [
            block.rows.tolist() for block in whole.answers
        ]
        if not subscriptions:
            assert not np.any(zones_using[zone])
