"""What does it cost to answer subscriptions in a network, and are the answers right? One run in the simulator.

```
time          setting up                                    the record
              advertise   settle   subscribe, in order   settle   publish every `publish_us`       settle
              |--------------------|------------------------------|--------------------------------|----->
```

Rule 1  The clock of the world is that of the record: what is measured until an instant is published at it, by source.
Rule 2  Setting up begins so long before the record (`set_up_us`) that it is over when the first reading is published, however slow
        the links. Links that are slower than that are refused.
Rule 3  Nodes hold readings for as long as the slowest way through the network may take (`reading_lifetime`). Readings that come later
        all the same are counted: links carry less than is measured. When the last reading is no longer valid the run is over, whether
        the network is at rest (`settled`) or not: links on which frames are sent again sooner than they arrive may never be.
Rule 4  Expected are the READINGS of CORRELATE over the whole record (the same kernel, without a network).
Rule 5  Operators, readings and the bytes of messages are counted when a node first sends them; what delivery sends again is not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from headwater.apps.overlay.nodes import maker_of
from headwater.apps.overlay.outcome import Outcome, Pairs, outcome_of
from headwater.apps.overlay.reading_lifetime import slack_us
from headwater.drivers.simulator import NO_FAULTS, Faults, Trace, World, reliable_world
from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import SECOND, Instant, LimitReached, Network, NodeId, Operator, Readings, Source
from headwater.protocols.broker import Broker, BrokerSettings, Events, Request, advertise, events, subscribe
from headwater.protocols.delivery import Reliable
from headwater.workloads.station_subscriptions import Standing
from headwater.workloads.stations import Recorded

_AT_ONCE = 200  # subscriptions whose members are looked for together: a matrix of so many rows


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlaySettings:
    """How a run goes.

    `publish_us` is the time between two batches of a source's readings (None: so that the record has `BATCHES`), `gather_us` how
    long a node waits for more, `validity_us` how long it holds a reading (None: long enough for the slowest way through
    the network), `subscribe_us` the pause between two subscriptions, `set_up_us` how long before the record all of it begins.

    A `validity_us` that is too short loses answers. No other one of them changes an answer. The pause decides which operators stand
    when another one comes, and with it the loads: with pauses shorter than the way of an operator two may pass one another.
    """

    publish_us: int | None = None
    gather_us: int = SECOND
    validity_us: int | None = None
    subscribe_us: int = SECOND // 10
    set_up_us: int = 365 * 86_400 * SECOND


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
    expected = _expected(standing, recorded)
    settings = _resolved(settings, network, standing, recorded, answers=len(expected))
    assert settings.validity_us is not None
    held = BrokerSettings(validity_us=settings.validity_us, gather_us=settings.gather_us)
    make = maker_of(network, approach, held, seed=seed)
    world = reliable_world(network, make.all(), seed=seed, faults=faults, load_core=make.revive, trace=trace)
    _set_up(world, network, standing, recorded, settings)
    last = _publish(world, network, recorded, settings)
    world.run(last + settings.validity_us + settings.gather_us)
    brokers = {name: cast(Reliable, node).core for name, node in world.nodes.items()}
    return outcome_of(
        cast(Mapping[NodeId, Broker], brokers),
        delivered=_delivered(world, standing, recorded),
        expected=expected,
        tells=[effect for _, _, effect in world.tells],
        reported=[effect for _, _, effect in world.reported],
        watched=make.watched,
        settled=world.quiet,
        elapsed_s=time.perf_counter() - began,
    )


def _resolved(
    settings: OverlaySettings,
    network: Network,
    standing: Sequence[Standing],
    recorded: Recorded,
    *,
    answers: int,
) -> OverlaySettings:
    """The settings with nothing left open."""
    times = recorded.readings.time
    whole = int(times[-1] - times[0]) if len(times) else 0
    publish_us = settings.publish_us or max(1, whole // BATCHES)
    longest = max((one.operator.within_us for one in standing), default=0)
    validity_us = settings.validity_us
    if validity_us is None:
        most = int(np.unique(times // publish_us, return_counts=True)[1].max(initial=0))
        batch = most + most * answers // max(1, len(times))
        slack = slack_us(network, batch=batch, gather_us=settings.gather_us)
        validity_us = 2 * publish_us + longest + slack
    return replace(settings, publish_us=publish_us, validity_us=validity_us)


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
    begin = start - settings.set_up_us - len(standing) * settings.subscribe_us
    for node, sources in network.sources.items():
        world.at(begin, node, advertise(sources))
    _settle(world, begin, start)
    first = world.now
    for i, one in enumerate(standing):
        world.at(first + i * settings.subscribe_us, one.user_node, subscribe(Request.of(_named(one))))
    _settle(world, first + len(standing) * settings.subscribe_us, start)


def _settle(world: World, said_at: Instant, start: Instant) -> None:
    """Until what is said up to an instant has gone everywhere; crashes that are to come are not waited for.

    A frame that is not acknowledged has a timer, so the network is at rest when no node wants to be woken.
    """
    world.run(said_at)
    pause = SECOND
    while any(node.next_wake() is not None for node in world.nodes.values()):
        if world.now + pause >= start:
            raise LimitReached(
                "set_up_us",
                start - said_at,
                "the links are so slow that sensors and subscriptions are not known everywhere when the first reading is made",
                advice=["use links with less latency or more bandwidth"],
            )
        world.run(world.now + pause)
        pause *= 2


def _publish(world: World, network: Network, recorded: Recorded, settings: OverlaySettings) -> Instant:
    """Note down what sensors will say; when the last of it is said."""
    assert settings.publish_us is not None
    last = world.now
    home = {(s.key, s.attribute): node for node, sources in network.sources.items() for s in sources}
    for source, readings in _by_source(recorded):
        pair = (source.key, source.attribute)
        batch = readings.time // settings.publish_us
        for rows in np.split(np.arange(len(batch)), np.flatnonzero(np.diff(batch)) + 1):
            if len(rows):
                at = (int(batch[rows[0]]) + 1) * settings.publish_us
                sent = readings.take(rows)._replace(source=np.zeros(len(rows), np.int32))
                world.at(at, home[pair], events(Events((pair,), sent)))
                last = max(last, at)
    return last


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
