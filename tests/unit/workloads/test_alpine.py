"""The valley is the same for everyone who has the seed."""

import itertools

from headwater.model import SECOND, join_rows, parse_instant
from headwater.query.planning.plan import compile_text
from headwater.workloads import STREAM_TEXT, Valley

START = parse_instant("2026-01-15T04:00:00")


def test_any_split_of_the_time_gives_the_same_readings() -> None:
    valley = Valley(stations=20, seed=3)
    whole = valley.readings(START, START + 300 * SECOND)
    cuts = [0, 1, 77, 78, 200, 300]
    parts = [valley.readings(START + a * SECOND, START + b * SECOND) for a, b in itertools.pairwise(cuts)]
    assert join_rows(parts).tolist() == whole.tolist()
    assert whole.count == 20 * 30


def test_another_seed_is_another_valley() -> None:
    one, two = (Valley(stations=5, seed=seed).readings(START, START + 60 * SECOND) for seed in (1, 2))
    assert one.tolist() != two.tolist()


def test_readings_look_like_weather() -> None:
    rows = Valley(stations=100).readings(START, START + 3600 * SECOND)
    humidity = rows["humidity"].values[rows["humidity"].is_valid]
    temperature = rows["temperature"].values[rows["temperature"].is_valid]
    assert humidity.min() >= 0 and humidity.max() <= 100
    assert -40 < temperature.min() < temperature.max() < 30
    missing = 1 - rows["wind"].is_valid.mean()
    assert 0.005 < missing < 0.02


def test_the_text_says_what_the_schema_says() -> None:
    plan = compile_text(STREAM_TEXT + "CREATE QUERY q AS SELECT station FROM weather;")
    assert plan.streams[0] == Valley().schema
