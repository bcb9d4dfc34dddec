"""One simulation: a scene, an approach, and what came of it."""

from __future__ import annotations

from typing import Final

import numpy as np

from headwater.apps.overlay import Outcome as Simulated
from headwater.apps.overlay import simulate
from headwater.drivers.simulator import Crash, Faults, Partition
from headwater.model import SECOND
from headwater_lab.reproduce.fsf.cases import Case, Measured
from headwater_lab.reproduce.fsf.scenes import SEED, Scene

FAULTY_NODES: Final = 5
DOWN_US: Final = 60 * SECOND


def run_case(case: Case, scene: Scene) -> Measured:
    """Simulate a case and count."""
    faults = faults_of(scene) if case.faults else Faults.none()
    standing = scene.standing[: case.subscriptions]
    simulated = simulate(scene.network, case.approach, standing, scene.recorded, seed=SEED, faults=faults)
    return counted(case, scene, simulated)


def counted(case: Case, scene: Scene, simulated: Simulated) -> Measured:
    """What a simulation gave, as a row."""
    cover_us = np.asarray(simulated.cover_us, np.float64)
    median, p99 = np.percentile(cover_us, (50, 99)) if len(cover_us) else (0.0, 0.0)
    return Measured(
        part=case.part,
        scene=case.scene,
        nodes=len(scene.network.nodes),
        sensors=len(scene.recorded.sources),
        readings=len(scene.recorded.readings.time),
        approach=case.approach,
        subscriptions=case.subscriptions,
        faults=case.faults,
        subscription_load=simulated.subscription_load,
        event_load=simulated.event_load,
        subscription_bytes=simulated.subscription_bytes,
        event_bytes=simulated.event_bytes,
        expected=simulated.expected,
        delivered=simulated.delivered,
        wrong=simulated.wrong,
        twice=simulated.twice,
        recall=simulated.recall,
        cover_decisions=len(cover_us),
        covered=simulated.covered,
        cover_wrong=simulated.cover_wrong,
        cover_us_median=round(float(median), 1),
        cover_us_p99=round(float(p99), 1),
        elapsed_s=round(simulated.elapsed_s, 2),
    )


def faults_of(scene: Scene) -> Faults:
    """Some of everything while readings are made: frames lost, doubled, damaged and overtaken, links cut, nodes down for a minute."""
    time = scene.recorded.readings.time
    start, end = int(time[0]), int(time[-1])
    random = np.random.default_rng([SEED, 31])
    nodes, links = scene.network.nodes, scene.network.links
    when = random.integers(start, end, 2 * FAULTY_NODES).tolist()
    cut = [links[at] for at in random.integers(len(links), size=FAULTY_NODES)]
    down = [nodes[at] for at in random.integers(len(nodes), size=FAULTY_NODES)]
    return Faults(
        loss=0.05,
        duplication=0.02,
        corruption=0.01,
        reordering=0.05,
        partitions=tuple(
            Partition(at, at + DOWN_US, (link.one, link.other))
            for at, link in zip(when[:FAULTY_NODES], cut, strict=True)
        ),
        crashes=tuple(Crash(node, at, DOWN_US) for node, at in zip(down, when[FAULTY_NODES:], strict=True)),
        until=end + DOWN_US,
    )
