"""Simulations as tasks of a Spark job: rows in the order of the cases, failures in words, progress while it runs."""

from __future__ import annotations

import time

from headwater.apps.reproduce.fsf_cases import Case, Measured
from headwater.apps.reproduce.fsf_scenes import PAPER, make_scene
from headwater.apps.reproduce.fsf_spark import run_on_spark


def test_one_simulation_is_one_task(spark) -> None:
    scene = make_scene(PAPER[0], count=5, hours=1.0, data=None)
    cases = [Case("settings", scene.setting.name, "naive", count) for count in range(1, 6)]

    def simulate(case: Case, scene) -> Measured:
        time.sleep(1.5)
        if case.subscriptions == 3:
            raise ValueError("three is too many")
        size = len(scene.network.nodes), len(scene.recorded.sources), len(scene.recorded.readings.time)
        return Measured(
            case.part, case.scene, *size, case.approach, case.subscriptions, False,
            1, 1, 1, 1, 1, 1, 0, 1.0, 1, 0, 1.0, 1.0, 0.1,
        )  # fmt: skip

    told: list[str] = []
    rows, failures = run_on_spark(
        spark.sparkContext, simulate, cases, {scene.setting.name: scene}, told.append
    )
    assert [row.subscriptions for row in rows] == [1, 2, 4, 5]
    assert {(row.nodes, row.sensors) for row in rows} == {(60, 50)}
    assert failures == ["small, 3 subscriptions, naive: ValueError: three is too many"]
    assert told[-1].startswith("5 of 5 simulations done after ")
    assert told[0].startswith(("2 of 5", "1 of 5"))
