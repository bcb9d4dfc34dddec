"""Arrays that a step fills grow when they are full: no answer is lost by that, and none comes twice.

How much room there is from the start is a constant of each kernel. Here it is next to nothing, so that worlds of a few rows cross every
growth, some of them at every answer. They must then answer as the oracle does, whatever the steps are. `make soak` draws
HEADWATER_SOAK_GROWTHS times as many worlds.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels import growing_array
from headwater.kernels.correlate import match, regions, subscription_table, window
from headwater.kernels.fence import kernel as fence_kernel
from headwater.kernels.fence import moving_step
from headwater.kernels.follow import places
from headwater.kernels.nearest import query_sets
from headwater.kernels.pattern import compiled_query, node
from headwater.kernels.predict import grids, pair_queries, standing_queries
from headwater.model import END
from tests.laws import correlate_worlds, fence_worlds, follow_worlds, nearest_worlds
from tests.laws.draws import bounded
from tests.laws.kernel_laws import (
    any_split_gives_the_same_answers,
    equals_the_oracle,
    inputs_are_not_modified,
    restoring_changes_nothing,
    run,
)
from tests.laws.pattern_worlds import event_patterns, node_patterns, preferred_patterns
from tests.laws.predict_worlds import PredictWorld, agree
from tests.laws.predict_worlds import worlds as predict_worlds
from tests.laws.test_fence import without_names
from tests.laws.test_pattern_laws import worlds as pattern_worlds
from tests.laws.zone_runs import run_plan, steps_of

TIMES = int(os.environ.get("HEADWATER_SOAK_GROWTHS", "0"))
pytestmark = pytest.mark.soak

LAWS = (any_split_gives_the_same_answers, restoring_changes_nothing, inputs_are_not_modified)


# --- PREDICT --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing_queries, "_ROOM", 1)
    monkeypatch.setattr(grids, "_ENTRIES", 1)
    monkeypatch.setattr(grids, "PATIENCE", 1)
    monkeypatch.setattr(pair_queries, "_EACH", 0)
    monkeypatch.setattr(pair_queries, "_TICKS", 0)
    monkeypatch.setattr(pair_queries, "_SPARE", 1)
    monkeypatch.setattr(pair_queries, "_DESK", 1)


@pytest.mark.parametrize("emission", ["validated", "every", "tentative", "ahead"])
@bounded(15, times=TIMES)
@given(data=st.data())
def test_predict_with_little_room_emits_what_the_oracle_emits(
    little_room_for_predictions, emission: str, data: st.DataObject
):
    world = data.draw(predict_worlds(emission=emission))
    done = run(world, [END])
    for query in world.before:
        agree(done.emitted[query.name], world.emitted(query), query)
    assert done.counts == world.oracle_counts()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(15, times=TIMES)
@given(world=predict_worlds())
def test_predict_with_little_room_keeps_the_law(little_room_for_predictions, law, world: PredictWorld):
    law(world)


# --- CORRELATE ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_table, "ROOM", 1)
    monkeypatch.setattr(window, "_ROOM", 1)
    monkeypatch.setattr(growing_array, "_ROOM", 1)
    monkeypatch.setattr(match, "_first_room", one)
    monkeypatch.setattr(regions, "_first_room", one)


@pytest.mark.parametrize("law", (equals_the_oracle, *LAWS), ids=lambda law: law.__name__)
@bounded(20, times=TIMES)
@given(world=correlate_worlds.worlds())
def test_correlate_with_little_room_keeps_the_law(
    little_room_for_events, law, world: correlate_worlds.CorrelateWorld
):
    law(world)


# --- NEAREST --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_sets, "ROOM_FOR_CANDIDATES", 1)
    monkeypatch.setattr(query_sets, "ROOM_FOR_ANSWERS", 1)
    monkeypatch.setattr(growing_array, "_ROOM", 1)


@pytest.mark.parametrize("law", (equals_the_oracle, *LAWS), ids=lambda law: law.__name__)
@bounded(20, times=TIMES)
@given(world=nearest_worlds.worlds())
def test_nearest_with_little_room_keeps_the_law(
    little_room_for_neighbours, law, world: nearest_worlds.NearestWorld
):
    law(world)


# --- MATCH_RECOGNIZE ------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_query, "ROOM", 1)
    monkeypatch.setattr(compiled_query, "MANY_NODES", 1)
    monkeypatch.setattr(compiled_query, "MANY_NODES_OF_EVERY", 1)
    monkeypatch.setattr(node, "ROOM", 1)


FAMILIES = {
    "preferred": (preferred_patterns(), 9),
    "every": (event_patterns(), 7),
    "node": (node_patterns(), 9),
}


@pytest.mark.parametrize("law", (equals_the_oracle, *LAWS), ids=lambda law: law.__name__)
@pytest.mark.parametrize("family", FAMILIES)
@bounded(12, times=TIMES)
@given(data=st.data())
def test_patterns_with_little_room_keep_the_law(
    little_room_for_matches, family: str, law, data: st.DataObject
):
    law(data.draw(pattern_worlds(*FAMILIES[family])))


# --- FENCE and FOLLOW -----------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fence_kernel, "first_room", one)
    monkeypatch.setattr(moving_step, "first_room", one)


@pytest.mark.parametrize("kind", fence_worlds.KINDS)
@bounded(15, times=TIMES)
@given(data=st.data())
def test_fence_with_little_room_emits_what_the_oracle_emits(
    little_room_for_changes, kind: str, data: st.DataObject
):
    world = data.draw(fence_worlds.worlds(kind))
    for steps in (None, steps_of(world)):
        emitted, _ = run_plan(world, world.plan(), steps)
        for question in world.questions:
            found = [without_names(row) for row in emitted.get(question.name, [])]
            assert sorted(map(repr, found)) == sorted(map(repr, world.oracle(question)))


@bounded(10, times=TIMES)
@given(world=follow_worlds.worlds())
def test_follow_with_little_room_for_events_answers_as_ever(world: follow_worlds.FollowWorld):
    whole = run_plan(world, world.plan())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(places, "_first_room", one)
        assert run_plan(world, world.plan()) == whole


def one(_: int) -> int:
    """Room for one, however many there may be."""
    return 1
