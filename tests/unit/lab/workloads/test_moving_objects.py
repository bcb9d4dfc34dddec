"""Objects go straight ahead at their speed, turn when they may, stay inside, and are the same for everyone who has the seed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from headwater.model import SECOND
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.moving_objects import (
    MOVERS_SCHEMA,
    MOVERS_TEXT,
    PAPER_SIDE_M,
    START,
    Motion,
    make_movers,
    side_for,
)

STEP_US = SECOND // 10


def steps(movers, seconds: int):
    """Places of all objects ten times a second, float64[instants, n, 2]."""
    return np.stack([movers.places(START + at * STEP_US) for at in range(seconds * 10)])


def test_nobody_is_ever_outside() -> None:
    places = steps(make_movers(200, 60, seed=3, motion=Motion(side_m=300.0)), 60)
    assert places.min() >= 0.0 and places.max() <= 300.0
    assert places.min() < 5.0 and places.max() > 295.0


def test_all_have_the_same_speed_but_at_turns_and_borders() -> None:
    places = steps(make_movers(200, 60, seed=3), 60)
    gone = np.linalg.norm(np.diff(places, axis=0), axis=2)
    assert gone.max() <= 2.68 + 1e-9
    assert np.isclose(gone, 2.68).mean() > 0.98


def test_directions_change_at_turns_only_and_as_often_as_is_likely() -> None:
    motion = Motion(side_m=1e6, turn_every_us=5 * SECOND, turn_probability=0.75)
    movers = make_movers(1_000, 100, seed=3, motion=motion)
    velocity = np.diff(steps(movers, 100), axis=0) * 10
    changed = np.linalg.norm(np.diff(velocity, axis=0), axis=2) > 0.01
    # A turn between two steps bends both, unless it falls on the instant between them.
    turns = changed[1:] & ~changed[:-1]
    assert turns.sum(axis=0).mean() == pytest.approx(0.75 * 100 / 5, rel=0.05)
    when = np.nonzero(turns)[0].reshape(-1)
    assert len(np.unique(when % 50)) > 40, "all objects turn at the same moments"


def test_a_seed_and_a_number_are_enough() -> None:
    one, same, other = (make_movers(50, 30, seed=seed) for seed in (3, 3, 4))
    at = START + 17 * SECOND + 123
    assert (one.places(at) == same.places(at)).all()
    assert not (one.places(at) == other.places(at)).any()
    samples, again = one.samples(3 * SECOND), same.samples(3 * SECOND)
    assert (samples.place == again.place).all() and (samples.at == again.at).all()


def test_samples_are_where_objects_are_in_the_order_of_a_stream() -> None:
    movers = make_movers(100, 30, seed=3)
    samples = movers.samples(3 * SECOND)
    assert (np.lexsort((samples.key, samples.at)) == np.arange(len(samples))).all()
    for number in (0, 500, len(samples) - 1):
        place = movers.places(int(samples.at[number]))[samples.key[number]]
        assert (place == samples.place[number]).all()


def test_everybody_has_a_sample_before_time_0_and_one_every_period() -> None:
    samples = make_movers(100, 30, seed=3).samples(3 * SECOND)
    for key in range(100):
        at = samples.at[samples.key == key]
        assert START - 3 * SECOND < at[0] <= START
        assert (np.diff(at) == 3 * SECOND).all()
        assert START + 27 * SECOND <= at[-1] < START + 30 * SECOND
    assert len(np.unique(samples.at % (3 * SECOND))) > 90, "all objects measure at the same moments"


def test_rows_are_those_of_the_stream_the_text_says() -> None:
    samples = make_movers(5, 10, seed=3).samples(SECOND)
    plan = compile_text(MOVERS_TEXT + "CREATE QUERY q AS SELECT id FROM movers;")
    (stream,) = plan.streams
    assert dict(stream.columns) == samples.rows().types
    assert (stream.time, stream.key, stream.late_us) == ("at", "id", SECOND)
    assert MOVERS_SCHEMA.types == samples.rows().types
    assert samples.between(3, 7).tolist() == samples.rows().tolist()[3:7]


def test_the_paper_has_ten_square_kilometres() -> None:
    assert math.isclose(PAPER_SIDE_M**2, 10e6)
    assert side_for(1_000, 100.0) == pytest.approx(PAPER_SIDE_M)
    assert side_for(100_000, 10.0) == 100_000.0
    assert math.isclose(Motion().speed_mps, 60 * 1609.344 / 3600, rel_tol=0.001)
