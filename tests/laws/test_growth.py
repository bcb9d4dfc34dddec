"""Arrays that a step fills grow when they are full: no answer is lost by that, and none comes twice.

How much room there is from the start is a constant of each kernel. Here it is next to nothing, so that worlds of a few rows cross every
growth, some of them at every answer. They must then answer as the oracle does, whatever the steps are.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.kernels.predict import grids, passing, standing
from headwater.model import END
from tests.laws.kernel_laws import (
    any_split_gives_the_same_answers,
    inputs_are_not_modified,
    restoring_changes_nothing,
    run,
)
from tests.laws.predict_worlds import PredictWorld, agree
from tests.laws.predict_worlds import worlds as predict_worlds

LAWS = (any_split_gives_the_same_answers, restoring_changes_nothing, inputs_are_not_modified)


def bounded(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


# --- PREDICT --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def little_room_for_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_ROOM", 1)
    monkeypatch.setattr(grids, "_ENTRIES", 1)
    monkeypatch.setattr(grids, "PATIENCE", 1)
    monkeypatch.setattr(passing, "_EACH", 0)
    monkeypatch.setattr(passing, "_TICKS", 0)
    monkeypatch.setattr(passing, "_SPARE", 1)
    monkeypatch.setattr(passing, "_DESK", 1)


@pytest.mark.parametrize("telling", ["validated", "every", "tentative", "ahead"])
@bounded(60)
@given(data=st.data())
def test_predict_with_little_room_tells_what_the_oracle_tells(
    little_room_for_predictions, telling: str, data: st.DataObject
):
    world = data.draw(predict_worlds(telling=telling))
    done = run(world, [END])
    for query in world.before:
        agree(done.told[query.name], world.told(query), query)
    assert done.counts == world.oracle_counts()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(60)
@given(world=predict_worlds())
def test_predict_with_little_room_keeps_the_law(little_room_for_predictions, law, world: PredictWorld):
    law(world)
