"""What does it cost to answer subscriptions in a network, and are the answers right? One run in the simulator.

```
time          setting up                          the record
              advertise   subscribe, in order     publish every `publish_us`       settle
              |-----------|-----------------------|--------------------------------|----->
```

Rule 1  The clock of the world is that of the record: what is measured until an instant is published at it, by source.
Rule 2  Expected are the READINGS of CORRELATE over the whole record (the same kernel, without a network).
Rule 3  Operators, readings and the bytes of messages are counted when a node first sends them; what delivery sends again is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

import numpy as np

from headwater.apps.overlay.approaches import cover_of, policies
from headwater.apps.overlay.outcome import Outcome, Pairs, outcome_of
from headwater.apps.overlay.watching import Watched
from headwater.drivers.simulator import NO_FAULTS, Faults, Trace, World, reliable_world
from headwater.kernels.correlate import MemberMatcher
from headwater.model import SECOND, Network, NodeId, Operator, Readings, Source
from headwater.protocols.broker import Asked, Broker, BrokerSettings, Events, advertise, events, subscribe
from headwater.protocols.cover import Exact
from headwater.protocols.delivery import Reliable
from headwater.workloads.standing import Standing
from headwater.workloads.stations import Recorded

_TRUTH = Exact(budget=10_000_000)
_SLACK_US = 3_600 * SECOND
_AT_ONCE = 200  # subscriptions whose members are looked for together: a matrix of so many rows


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaySettings:
    """How a run goes.

    `publish_us` is the time between two batches of a source's readings (None: so that the record has `BATCHES`), `gather_us` how
    long a node waits for more, `validity_us` how long it holds a reading (None: long enough for the slowest way through
    the network), `subscribe_us` the pause between two subscriptions. None of them changes an answer or a load.
    """

    publish_us: int | None = None
    gather_us: int = SECOND
    validity_us: int | None = None
    subscribe_us: int = SECOND // 10
    set_up_us: int = 60 * SECOND


USUAL = OverlaySettings()
BATCHES: Final = 32


def simulate(
    network: Network,
    approach: str,
    standing: Sequence[Standing],
    recorded: Recorded,
    *,
    seed: int = 0,
    faults: Faults = NO_FAULTS,
    settings: OverlaySettings = USUAL,
    trace: Trace | None = None,
) -> Outcome:
    """Run the subscriptions over the record, and judge what their users got."""
    began = time.perf_counter()
    cover = cover_of(approach)
    watched = (
        None if cover is None else Watched(cover, _TRUTH if approach == "filter-split-forward" else None)
    )
    settings = _resolved(settings, standing, recorded)
    make = _maker(network, approach, watched, seed, settings)

    def revive(saved: dict[str, Any]) -> Broker:
        core = make(saved["name"])
        core.restore(saved)
        return core

    cores = {node: make(node) for node in network.nodes}
    world = reliable_world(network, cores, seed=seed, faults=faults, load_core=revive, trace=trace)
    _set_up(world, network, standing, recorded, settings)
    _publish(world, network, recorded, settings)
    world.run()
    brokers = {name: cast(Reliable, node).core for name, node in world.nodes.items()}
    return outcome_of(
        cast(Mapping[NodeId, Broker], brokers),
        delivered=_delivered(world, standing, recorded),
        expected=_expected(standing, recorded),
        told=[effect.error for _, _, effect in world.told],
        watched=watched,
        elapsed_s=time.perf_counter() - began,
    )


def _resolved(settings: OverlaySettings, standing: Sequence[Standing], recorded: Recorded) -> OverlaySettings:
    """The settings with nothing left open."""
    times = recorded.readings.time
    whole = int(times[-1] - times[0]) if len(times) else 0
    publish_us = settings.publish_us or max(1, whole // BATCHES)
    longest = max((one.operator.within_us for one in standing), default=0)
    validity_us = settings.validity_us or 2 * publish_us + longest + _SLACK_US
    return replace(settings, publish_us=publish_us, validity_us=validity_us)


def _maker(
    network: Network, approach: str, watched: Watched | None, seed: int, settings: OverlaySettings
) -> Callable[[NodeId], Broker]:
    beside, matcher = network.neighbours(), MemberMatcher()
    towards = network.towards(network.centre()) if approach == "centralized" else {}
    assert settings.validity_us is not None
    held = BrokerSettings(validity_us=settings.validity_us, gather_us=settings.gather_us)
    return lambda node: Broker(
        node,
        beside[node],
        approach=policies(approach, watched, towards_centre=towards.get(node), seed=seed),
        matcher=matcher,
        settings=held,
    )


def _set_up(
    world: World,
    network: Network,
    standing: Sequence[Standing],
    recorded: Recorded,
    settings: OverlaySettings,
) -> None:
    """Advertise, then subscribe one after the other, all of it before the first reading."""
    times = recorded.readings.time
    start = int(times[0]) if len(times) else 0
    first = start - len(standing) * settings.subscribe_us - settings.set_up_us
    for node, sources in network.sources.items():
        world.at(first - settings.set_up_us, node, advertise(sources))
    for i, one in enumerate(standing):
        world.at(first + i * settings.subscribe_us, one.user_node, subscribe(Asked.of(_named(one))))


def _publish(world: World, network: Network, recorded: Recorded, settings: OverlaySettings) -> None:
    assert settings.publish_us is not None
    home = {(s.key, s.attribute): node for node, sources in network.sources.items() for s in sources}
    for source, readings in _by_source(recorded):
        pair = (source.key, source.attribute)
        batch = readings.time // settings.publish_us
        for rows in np.split(np.arange(len(batch)), np.flatnonzero(np.diff(batch)) + 1):
            if len(rows):
                at = (int(batch[rows[0]]) + 1) * settings.publish_us
                told = readings.take(rows)._replace(source=np.zeros(len(rows), np.int32))
                world.at(at, home[pair], events(Events((pair,), told)))


def _by_source(recorded: Recorded) -> Iterator[tuple[Source, Readings]]:
    order = np.argsort(recorded.readings.source, kind="stable")
    ends = np.searchsorted(recorded.readings.source[order], np.arange(len(recorded.sources) + 1))
    for i, source in enumerate(recorded.sources):
        yield source, recorded.readings.take(order[ends[i] : ends[i + 1]])


def _named(one: Standing) -> Operator:
    return replace(one.operator, subscription=one.name)


def _expected(standing: Sequence[Standing], recorded: Recorded) -> Pairs:
    """Which readings (positions in the record) are in which subscription: codes `subscription * readings + reading`."""
    count, codes = len(recorded.readings.time), [np.zeros(0, np.int64)]
    for first in range(0, len(standing), _AT_ONCE):
        operators = [one.operator for one in standing[first : first + _AT_ONCE]]
        members = MemberMatcher().prepare(operators, recorded.sources).members(recorded.readings, each=True)
        which, at = np.nonzero(members)
        codes.append((which + first) * count + at)
    return np.concatenate(codes)


def _delivered(world: World, standing: Sequence[Standing], recorded: Recorded) -> Pairs:
    """What users got, in the same codes."""
    readings = recorded.readings
    which = {one.name: i for i, one in enumerate(standing)}
    source = {(s.key, s.attribute): i for i, s in enumerate(recorded.sources)}
    order = np.lexsort((readings.number, readings.source))
    firsts = np.searchsorted(readings.source[order], np.arange(len(recorded.sources)))
    codes = [np.zeros(0, np.int64)]
    for _, _, deliver in world.delivered:
        rows = deliver.answers.rows
        query = np.array([which[name] for name in rows["query"].tolist()], np.int64)
        pairs = zip(rows["key"].tolist(), rows["attribute"].tolist(), strict=True)
        at = order[firsts[[source[pair] for pair in pairs]] + rows["number"].values]
        codes.append(query * len(readings.time) + at)
    return np.concatenate(codes)
