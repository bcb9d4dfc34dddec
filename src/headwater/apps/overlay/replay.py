"""What happens in the world of one seed, in which everything may go wrong? `make sim SEED=…` prints it.

The seed decides the approach, the network, what happens there and all faults (`random_scenes`, `headwater.drivers.simulator`). The tests of the
simulation run the same function over many seeds: one that fails is looked at with this command.

Rule 1  Right is: it settles, users get what the bounds of the scene say and nothing twice, no node blames another for anything but
        damaged frames, and a subscription is dropped only with a word to its user.
Rule 2  The probable cover may lose readings; then, and only then, a cover decision was wrong.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, cast

from headwater.apps.overlay.approaches import APPROACHES
from headwater.apps.overlay.measured_cover import Watched
from headwater.apps.overlay.nodes import Maker, maker_of
from headwater.apps.overlay.random_scenes import Reply, Scene, draw_scene
from headwater.drivers.simulator import (
    Faults,
    Judgement,
    Trace,
    World,
    answers,
    judge,
    load,
    reliable_world,
    settles,
)
from headwater.model import SECOND, NodeId
from headwater.protocols.broker import Broker, BrokerSettings
from headwater.protocols.delivery import USUAL, DeliverySettings, Reliable

MOST_STEPS: Final = 100_000
VALIDITY_US: Final = 3600 * SECOND
TIGHT: Final = DeliverySettings(window_frames=3, window_bytes=1_000, frame_bytes=400, ack_frames=2)
DAMAGE: Final = frozenset(["bad-frame", "wrong-peer"])
"""What a node reports when a link has changed a bit."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A world that has come to rest, or has not."""

    scene: Scene
    faults: Faults
    world: World
    settled: bool
    judgement: Judgement
    dropped: tuple[str, ...]
    unexplained: tuple[str, ...]
    wrong_covers: int
    trace: Trace

    @property
    def right(self) -> bool:
        """Rules 1 and 2."""
        answers_right = not (self.judgement.twice or self.judgement.wrong or self.unexplained)
        return self.settled and answers_right and (not self.judgement.missed or self.wrong_covers > 0)


def broker_maker(scene: Scene) -> tuple[Maker, Watched | None]:
    """How the nodes of a scene are made, and who watches their cover decisions."""
    settings = BrokerSettings(validity_us=VALIDITY_US, gather_us=scene.gather_us)
    make = maker_of(scene.network, scene.approach, settings, judge_all=True)
    return make, make.watched


def replay(seed: int, *, approaches: Sequence[str] = APPROACHES, faults: Faults | None = None) -> Replayed:
    """Run the world of a seed. Without `faults` they are drawn too."""
    scene = draw_scene(seed, approaches)
    lasting_us = scene.steps[-1].time + 5 * SECOND
    faults = faults or Faults.drawn(seed, scene.network, lasting_us=lasting_us)
    luck, trace = Random(f"replay {seed}"), Trace()
    make, watched = broker_maker(scene)
    world = world_of(scene, make, seed=seed, faults=faults, settings=luck.choice([USUAL, TIGHT]), trace=trace)
    settled = settles(world, most_steps=MOST_STEPS)
    brokers = {name: cast(Broker, cast(Reliable, node).core) for name, node in world.nodes.items()}
    tells = {effect.subscription for _, _, effect in world.tells}
    dropped = dropped_in(scene, brokers)
    strange = [f"'{name}' was dropped without a report" for name in dropped if name not in tells]
    strange += [
        f"'{node}' reports '{report.peer}': {report.error.message}"
        for _, node, report in world.reported
        if report.error.code not in DAMAGE
    ]
    judgement = judged(scene, dropped, _replies(world))
    wrong_covers = watched.wrong if watched else 0
    return Replayed(scene, faults, world, settled, judgement, dropped, tuple(strange), wrong_covers, trace)


def world_of(
    scene: Scene,
    make: Maker,
    *,
    seed: int,
    faults: Faults,
    settings: DeliverySettings = USUAL,
    trace: Trace | None = None,
) -> World:
    """The world of a scene, about to begin."""
    world = reliable_world(
        scene.network,
        make.all(),
        seed=seed,
        faults=faults,
        load_core=make.revive,
        settings=settings,
        trace=trace,
    )
    for step in scene.steps:
        world.at(step.time, step.node, step.message)
    return world


def dropped_in(scene: Scene, brokers: dict[NodeId, Broker]) -> tuple[str, ...]:
    """The subscriptions that stand nowhere though nobody took them back."""
    there = {
        requested.operator.subscription
        for name, broker in brokers.items()
        for shelf in (broker.sides[name].requested, broker.sides[name].covered)
        for requested in shelf
    }
    return tuple(name for name in scene.standing if name not in there)


def judged(scene: Scene, dropped: Sequence[str], came: Sequence[Reply]) -> Judgement:
    """What users got, between what they must and what they may get."""
    must, may = scene.bounds(dropped)
    least, most = judge(came, sorted(must)), judge(came, sorted(may))
    return Judgement(most.twice, most.wrong, least.missed, least.recall)


def _replies(world: World) -> list[Reply]:
    found = answers(world.delivered, ["query", "key", "attribute", "number"])
    return [cast(Reply, answer[1:]) for answer in found]


def _tell_lines(replayed: Replayed) -> str:
    scene, judgement, carried = replayed.scene, replayed.judgement, load(replayed.world)
    lines = [f"approach {scene.approach}, nodes gather for {scene.gather_us / SECOND:g} s"]
    lines += [f"link {link.one} {link.other} {link.latency_us / 1000:g} ms" for link in scene.network.links]
    for node, sources in scene.network.sources.items():
        lines += [f"source {s.key} {s.attribute} at {node} ({s.x:g}, {s.y:g})" for s in sources]
    lines += [f"{step.time / SECOND:5g} s  {step.node}  {step.words}" for step in scene.steps]
    lines += [str(replayed.faults)]
    lines += [
        f"{time / SECOND:g} s  {node} tells {t.subscription}: {t.error}"
        for time, node, t in replayed.world.tells
    ]
    lines += [
        f"{replayed.world.steps} steps, {carried.frames} frames, {carried.bytes} bytes, {carried.lost} frames lost",
        f"settled: {replayed.settled}, dropped: {', '.join(replayed.dropped) or 'none'}",
        f"readings delivered twice {len(judgement.twice)}, wrong {len(judgement.wrong)}, missed {len(judgement.missed)}; "
        f"cover decisions that were wrong {replayed.wrong_covers}",
        *[f"twice  {reply}" for reply in judgement.twice],
        *[f"wrong  {reply}" for reply in judgement.wrong],
        *[f"missed {reply}" for reply in judgement.missed],
        *replayed.unexplained,
        f"trace: {replayed.trace.count} lines, digest {replayed.trace.digest()[:16]}",
        "right" if replayed.right else "NOT RIGHT",
    ]
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """`SEED`: replay one. `FIRST COUNT`: as many, and only the ones that are not right are shown."""
    if not 1 <= len(words) <= 2 or not all(word.isdecimal() for word in words):
        print("usage: python -m headwater.apps.overlay.replay SEED [COUNT]", file=sys.stderr)
        return 2
    first, count = int(words[0]), int(words[1]) if len(words) == 2 else 1
    began, bad = time.perf_counter(), 0
    for seed in range(first, first + count):
        replayed = replay(seed)
        bad += not replayed.right
        if count == 1 or not replayed.right:
            print(f"seed {seed}\n{_tell_lines(replayed)}")
    if count > 1:
        print(f"{count} worlds, {bad} not right, {count / (time.perf_counter() - began):.1f} a second")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
