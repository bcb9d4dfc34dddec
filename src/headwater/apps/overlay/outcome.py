"""What came of a run: loads, answers, operators and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwater.apps.overlay.measured_cover import Watched
from headwater.model import NodeId, Operator, Report, Tell
from headwater.protocols.broker import Broker

Pairs = NDArray[np.int64]
LinkLoad = dict[tuple[NodeId, NodeId], int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Loads count operators and readings sent over links, in sum and by link (sender, recipient).

    `delivered`, `expected`, `missed`, `wrong` and `twice` count pairs of a subscription and a reading. `operators` are those that
    stand at a node, with the side that requested them. `tells` are the words to users, `reported` what nodes blame one another or their own sensors
    and users for, `counts` what nodes found worth counting (readings that came too late), in sum. `cover_wrong` of the `covered`
    decisions that an operator is covered were not right. `settled`: nothing was under way any more at the end.
    """

    subscription_load: int
    event_load: int
    subscription_bytes: int
    event_bytes: int
    expected: int
    delivered: int
    missed: int
    wrong: int
    twice: int
    link_subscriptions: LinkLoad
    link_events: LinkLoad
    operators: dict[NodeId, list[tuple[NodeId, Operator]]]
    tells: tuple[Tell, ...]
    reported: tuple[Report, ...]
    counts: Mapping[str, int]
    cover_us: NDArray[np.float64]
    covered: int
    cover_wrong: int
    settled: bool
    elapsed_s: float

    @property
    def recall(self) -> float:
        """The share of what was expected that came; 1.0 only if all of it did."""
        return 1.0 if self.expected == 0 else (self.expected - self.missed) / self.expected


def outcome_of(
    brokers: Mapping[NodeId, Broker],
    *,
    delivered: Pairs,
    expected: Pairs,
    tells: Iterable[Tell],
    reported: Iterable[Report],
    watched: Watched | None,
    settled: bool,
    elapsed_s: float,
) -> Outcome:
    """What brokers sent and users got, judged."""
    came, times = np.unique(delivered, return_counts=True)
    subscriptions, events = _by_link(brokers, "subscribe"), _by_link(brokers, "events")
    return Outcome(
        subscription_load=sum(subscriptions.values()),
        event_load=sum(events.values()),
        subscription_bytes=_bytes(brokers.values(), "subscribe"),
        event_bytes=_bytes(brokers.values(), "events"),
        expected=len(expected),
        delivered=len(came),
        missed=len(np.setdiff1d(expected, came)),
        wrong=len(np.setdiff1d(came, expected)),
        twice=int((times - 1).sum()),
        link_subscriptions=subscriptions,
        link_events=events,
        operators={
            name: [(side, one.operator) for side, known in broker.sides.items() for one in known.requested]
            for name, broker in brokers.items()
        },
        tells=tuple(tells),
        reported=tuple(reported),
        counts=sum((broker.counts for broker in brokers.values()), Counter[str]()),
        cover_us=np.array(watched.elapsed_us if watched else []),
        covered=watched.covered if watched else 0,
        cover_wrong=watched.wrong if watched else 0,
        settled=settled,
        elapsed_s=elapsed_s,
    )


def _by_link(brokers: Mapping[NodeId, Broker], kind: str) -> LinkLoad:
    return {
        (name, to): count
        for name, broker in brokers.items()
        for (what, to), count in broker.load.items()
        if what == kind
    }


def _bytes(brokers: Iterable[Broker], kind: str) -> int:
    return sum(size for broker in brokers for (what, _), size in broker.sizes.items() if what == kind)
