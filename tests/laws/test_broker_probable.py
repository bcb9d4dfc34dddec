"""Approaches with a probable set cover: at least 1 − δ of the oracle's READINGS reach their users, if the number of trials is a sound one.

Pairs of a subscription and a reading are counted over all worlds together. In half of the worlds anything may happen, but hardly two
subscriptions ask about the same; in the others many do, readings lie between the ends of their ranges too, and covers are decided by
points that are drawn.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from headwater.apps.overlay.approaches import DELTA
from headwater.apps.overlay.random_scenes import Scene, Step, draw_scene
from headwater.apps.overlay.replay import dropped_in
from headwater.model import SECOND, Filter, Link, Network, Operator, Readings, Source
from headwater.protocols.broker import Events, Request, advertise, events, subscribe
from headwater.protocols.cover import probable
from headwater.workloads.station_subscriptions import Standing
from headwater.workloads.stations import Recorded
from tests.laws.broker_worlds import expected, played

SOUND = "filter-split-forward-sound"
WORLDS = 40
SOURCES = {Source("k0", "a"): "n0", Source("k0", "b"): "n1"}
WITHIN_US = 5 * SECOND
HIGHEST, GAP = 10, 0.1


def crowded(seed: int) -> Scene:
    """n0 (a) - n1 (b) - n2, where users ask for ranges of a, of b or of both; some ranges leave narrow gaps, and readings lie there too."""
    luck = Random(f"crowded {seed}")
    homes = {node: tuple(s for s, home in SOURCES.items() if home == node) for node in ("n0", "n1")}
    scene = Scene(SOUND, Network(("n0", "n1", "n2"), (Link("n0", "n1"), Link("n1", "n2")), homes), 0)
    for source, node in SOURCES.items():
        scene.steps.append(Step(0, node, advertise([source]), "advertise"))
    for number in range(luck.randint(15, 30)):
        one = Standing(f"s{number}", "n2", _ranges(luck, f"s{number}"))
        scene.standing[one.name] = one
        scene.steps.append(Step(SECOND, "n2", subscribe(Request.of(one.operator)), f"subscribe {one.name}"))
    _publish(scene, luck)
    return scene


def _ranges(luck: Random, name: str) -> Operator:
    filters = []
    for attribute in luck.choice([("a",), ("b",), ("a", "b"), ("a", "b")]):
        low, high = sorted(luck.sample(range(HIGHEST + 1), 2))
        filters.append(Filter(attribute, low + luck.choice([0.0, GAP]), high - luck.choice([0.0, GAP])))
    return Operator(name, tuple(filters), WITHIN_US)


def _publish(scene: Scene, luck: Random) -> None:
    sources, rows = tuple(SOURCES), []
    numbers: Counter[int] = Counter()
    for second in range(2, 32):
        which, value = (
            luck.randrange(2),
            luck.randint(0, HIGHEST) + luck.choice([-0.3, -GAP / 2, 0.0, GAP / 2]),
        )
        rows.append((which, second * SECOND, value, numbers[which]))
        numbers[which] += 1
        source = sources[which]
        news = Events(((source.key, source.attribute),), _columns([(0, *rows[-1][1:])]))
        scene.steps.append(
            Step(second * SECOND, SOURCES[source], events(news), f"publish {source.attribute}")
        )
    scene.recorded = Recorded(sources, _columns(rows))


def _columns(rows: list[tuple[int, int, float, int]]) -> Readings:
    source, time, value, number = zip(*rows, strict=True)
    return Readings(
        np.array(source, np.int32), np.array(time, np.int64), np.array(value), np.array(number, np.int64)
    )


def tally(scenes: list[Scene]) -> Counter[str]:
    """All worlds together: pairs expected and missed; decisions about what is not covered, and how many of them were wrong."""
    found: Counter[str] = Counter()
    for seed, scene in enumerate(scenes):
        bus, watched = played(scene, order=seed)
        assert watched is not None and not bus.reported
        dropped = dropped_in(scene, bus.nodes)
        remaining = [one for one in scene.standing.values() if one.name not in dropped]
        came, must = set(bus.delivered), expected(remaining, scene.recorded)
        assert len(came) == len(bus.delivered)
        assert came <= must | expected(list(scene.ended.values()), scene.recorded)
        found.update(expected=len(must), missed=len(must - came), wrong=watched.wrong)
        found.update(open=len(watched.elapsed_us) - watched.covered + watched.wrong)
    return found


@pytest.fixture
def spot_checks(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """How often points were drawn, by whether one of them found a gap."""
    seen: Counter[bool] = Counter()
    find = probable.finds_gap

    def counted(question: probable.Question, trials: int, seed: int) -> bool:
        found = find(question, trials, seed)
        seen[found] += 1
        return found

    monkeypatch.setattr(probable, "finds_gap", counted)
    return seen


def test_with_the_sound_number_of_trials_users_get_at_least_one_minus_delta(
    spot_checks: Counter[bool],
) -> None:
    scenes = [draw_scene(seed, [SOUND], leaving=False) for seed in range(WORLDS)]
    found = tally([*scenes, *(crowded(seed) for seed in range(WORLDS))])
    assert spot_checks[True] > 80 and spot_checks[False] > 80 and found["expected"] > 4_000
    assert found["wrong"] <= DELTA * found["open"]
    assert found["missed"] <= DELTA * found["expected"]
