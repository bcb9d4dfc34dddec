"""Traces as plain text: a network, what happens there step by step, and what every node then stores, sends and delivers.

```
approach exact                       one of the overlay's, or `pairwise`, `probable` or `exact` and `receipt` or `sender`
link n1 n2                           nodes are known from links, sources and users
source sa a at n1 [x y]              says so at once, unless `later` stands behind it
user n3

> subscribe s1 at n3 within 30 [near 5] [since 10]: 50 < a < 80; 1 <= b of k1 k2 <= 2; c in 0 0 6 1; d x2
> unsubscribe s1
> publish sa a 55 at 10              the value and the time in seconds
> leave sa a
> come sa a [x y]
> wait 100                           seconds
```

Below each step is what changed. `n4 requested by n5` what a neighbour (or a user: the node itself) requested, `covered` if others from there cover it;
`n4 requests from n1` what it requested in turn, `n4 holds back for n1` what is covered by that. In braces: `a?` is not needed, `(a)` not wanted. Then
readings that crossed links, in order; all the readings that a node now has, by time, where they differ from before
(`n4 has sa a 60 of 0, sb b 33 of 1`); what users got, and what they were informed of.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from headwater.apps.overlay.approaches import cover_of, policies
from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import BEGINNING, SECOND, Box, Filter, Link, Network, NodeId, Operator, Source
from headwater.protocols.broker import (
    Approach,
    Broker,
    BrokerSettings,
    ByNeighbour,
    Filtering,
    PerNeighbour,
    Request,
)
from headwater.protocols.cover import Cover, Exact, Pairwise, Probable
from tests.unit.protocols.broker.bus import Bus

VALIDITY_S = 60
COVERS: dict[str, Cover] = {
    "pairwise": Pairwise(),
    "probable": Probable(delta=1e-6, estimate="sound"),
    "exact": Exact(),
}
_FILTER = re.compile(
    r"(?:(?P<low>-?[\d.]+) (?P<above><=?) )?(?P<attribute>[a-z]\w*)(?: of (?P<keys>[\w ]+?))?(?: in (?P<region>[-\d. ]+?))?"
    r"(?: (?P<below><=?) (?P<high>\S+))?(?: x(?P<times>\d))?$"
)


def replayed(text: str) -> str:
    """The same text, with what does happen below each step."""
    lines = [line for line in text.splitlines() if not line.startswith("  ")]
    play = Play([line for line in lines if line and not line.startswith(("#", ">"))])
    replies = []
    for line in lines:
        replies.append(line)
        if line.startswith("> "):
            replies += [f"  {news}" for news in play.step(line[2:])]
    return "\n".join(replies) + "\n"


class Play:
    """A network described by the head of a file, and the steps so far."""

    def __init__(self, head: list[str]) -> None:
        words = [line.split() for line in head]
        links = [Link(*two) for what, *two in words if what == "link"]
        users = [node for what, *rest in words if what == "user" for node in rest]
        (approach,) = (rest for what, *rest in words if what == "approach")
        self.homes: dict[tuple[str, str], NodeId] = {}
        self.places: dict[tuple[str, str], tuple[float, float]] = {}
        now = []
        for what, key, attribute, at, node, *place in (line for line in words if line[0] == "source"):
            assert (what, at) == ("source", "at")
            later = place and place[-1] == "later"
            x, y = map(float, place[:2]) if len(place) >= 2 else (0.0, 0.0)
            self.homes[key, attribute], self.places[key, attribute] = node, (x, y)
            now += [] if later else [(key, attribute)]
        nodes = dict.fromkeys(
            [*(end for link in links for end in (link.one, link.other)), *self.homes.values(), *users]
        )
        network = Network(tuple(sorted(nodes)), tuple(links))
        self.bus = Bus(network, lambda node, beside: _broker(network, approach, node))
        self.names: dict[str, tuple[NodeId, str]] = {}
        self.numbers: dict[tuple[str, str], int] = {}
        self.values: dict[tuple[str, str, int], str] = {}
        for pair in now:
            self.bus.attach(self.homes[pair], self._source(pair))
        self.bus.settle()
        self.bus.crossed.clear()

    def step(self, line: str) -> list[str]:
        """Do it, and tell what changed."""
        bus, before, had = self.bus, _stored(self.bus), self._had()
        what, _, rest = line.partition(" ")
        getattr(self, f"_{what}")(rest)
        bus.settle()
        after = _stored(bus)
        news = [f"- {fact}" for fact in before if fact not in after]
        news += [f"+ {fact}" for fact in after if fact not in before]
        crossed = bus.readings_crossed()
        news += [f"{one} > {other}: {self.values[*pair, n]}" for one, other, pair, n in crossed]
        news += [
            f"{node} has {', '.join(has) or 'nothing'}"
            for node, has in self._had().items()
            if has != had[node]
        ]
        news += [
            f"{query} gets {self.values[key, attribute, n]}" for query, key, attribute, n in bus.delivered
        ]
        news += [f"{tell.subscription} is told: {tell.error.message}" for tell in bus.tells]
        news += [f"{report.peer} is blamed: {report.error.message}" for report in bus.reported]
        for what_came in (bus.crossed, bus.delivered, bus.tells, bus.reported):
            what_came.clear()
        return news

    def _subscribe(self, rest: str) -> None:
        head, _, filters = rest.partition(":")
        name, _, node, *options = head.split()
        given = {key: float(value) for key, value in zip(options[::2], options[1::2], strict=True)}
        operator = Operator(
            name,
            tuple(f for n, words in enumerate(filters.split(";")) for f in _filters(words.strip(), n)),
            round(given["within"] * SECOND),
            given.get("near"),
            since=round(given["since"] * SECOND) if "since" in given else BEGINNING,
        )
        self.names[name] = node, self.bus.ask(node, operator)

    def _unsubscribe(self, name: str) -> None:
        self.bus.cancel(*self.names[name])

    def _publish(self, rest: str) -> None:
        key, attribute, value, _, time = rest.split()
        pair, at = (key, attribute), round(float(time) * SECOND)
        number = self.numbers[pair] = self.numbers.get(pair, -1) + 1
        self.values[key, attribute, number] = f"{key} {attribute} {value} of {time}"
        self.bus.now = max(self.bus.now, at)
        self.bus.publish(self.homes[pair], self._source(pair), (at, float(value), number))

    def _leave(self, rest: str) -> None:
        key, attribute = rest.split()
        self.bus.detach(self.homes[key, attribute], self._source((key, attribute)))

    def _come(self, rest: str) -> None:
        key, attribute, *place = rest.split()
        if place:
            self.places[key, attribute] = float(place[0]), float(place[1])
        self.bus.attach(self.homes[key, attribute], self._source((key, attribute)))

    def _wait(self, seconds: str) -> None:
        self.bus.now += round(float(seconds) * SECOND)

    def _had(self) -> dict[NodeId, list[str]]:
        """The readings of every node, by time."""
        return {
            name: [self.values[which] for which in _readings(node)] for name, node in self.bus.nodes.items()
        }

    def _source(self, pair: tuple[str, str]) -> Source:
        return Source(*pair, *self.places[pair])


def _broker(network: Network, approach: list[str], node: NodeId) -> Broker:
    if len(approach) == 1:
        towards = network.towards(network.centre()).get(node)
        pieces = policies(approach[0], cover_of(approach[0]), towards_centre=towards, seed=0)
    else:
        cover, where = approach
        assert where in ("receipt", "sender")
        filtering = Filtering("receipt" if where == "receipt" else "sender", COVERS[cover])
        pieces = Approach(filtering, ByNeighbour(), PerNeighbour())
    settings = BrokerSettings(validity_us=VALIDITY_S * SECOND)
    return Broker(
        node, network.neighbours()[node], approach=pieces, matcher=MemberMatcher(), settings=settings
    )


def _filters(words: str, number: int) -> list[Filter]:
    found = _FILTER.match(words)
    assert found, f"no filter: {words}"
    low, high, times = found["low"], found["high"], int(found["times"] or 1)
    region = [float(end) for end in found["region"].split()] if found["region"] else None
    one = Filter(
        found["attribute"],
        -math.inf if low is None else _up(float(low)) if found["above"] == "<" else float(low),
        math.inf if high is None else _down(float(high)) if found["below"] == "<" else float(high),
        Box(*region) if region else None,
        tuple(found["keys"].split()) if found["keys"] else None,
        group=number if times > 1 else -1,
    )
    return [one] * times


def _stored(bus: Bus) -> list[str]:
    """What every node knows about operators, one line for each."""
    facts = []
    for name, node in bus.nodes.items():
        for side, known in node.sides.items():
            who = "a user" if side == name else side
            facts += [f"{name} requested by {who}: {_line_of(one)}" for one in known.requested]
            facts += [f"{name} requested by {who}, covered: {_line_of(one)}" for one in known.covered]
            whom = "its sensors" if side == name else side
            facts += [f"{name} requests from {whom}: {_line_of(one)}" for one in known.sent]
            facts += [f"{name} holds back for {whom}: {_line_of(one)}" for one in known.held]
    return facts


def _readings(node: Broker) -> list[tuple[str, str, int]]:
    """Key, attribute and number of what a node holds, by time, as it would be saved."""
    saved = node.save()
    store, sources = saved["flow"]["store"], saved["directory"]["sources"]
    source, _, _, number = store["columns"]
    return [(*sources[source[slot]][:2], int(number[slot])) for slot in store["order"].tolist()]


def _line_of(request: Request) -> str:
    operator = request.operator
    near = "" if operator.within_m is None else f" near {operator.within_m:g}"
    within = "" if len(operator.filters) == 1 else f" within {operator.within_us / SECOND:g}"
    return f"{operator.subscription} {{{', '.join(_words(operator.filters))}}}{within}{near}"


def _words(filters: tuple[Filter, ...]) -> Iterator[str]:
    for f in filters:
        keys = "" if f.keys is None else f" of {' '.join(f.keys)}"
        box = f.region.bounds()[0] if f.region is not None else ()
        region = f" in {' '.join(f'{end:g}' for end in box)}" if box else ""
        group = "" if f.group == -1 else f" group {f.group}"
        low = "" if f.low == -math.inf else _bound(f.low, _down(f.low), " <= ", " < ")
        high = "" if f.high == math.inf else _bound(f.high, _up(f.high), " <= ", " < ", after=True)
        name = f.attribute if f.returned else f"({f.attribute})"
        yield f"{low}{name}{'' if f.needed else '?'}{keys}{region}{group}{high}"


def _bound(closed: float, open_end: float, at: str, beside: str, *, after: bool = False) -> str:
    """As a person would write it: the shorter of `x <= 4.999999` and `x < 5`."""
    value, sign = (closed, at) if len(repr(closed)) <= len(repr(open_end)) else (open_end, beside)
    words = f"{value + 0.0:g}"  # no minus before a zero
    return f"{sign}{words}" if after else f"{words}{sign}"


def _up(value: float) -> float:
    return math.nextafter(value, math.inf)


def _down(value: float) -> float:
    return math.nextafter(value, -math.inf)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        Path(name).write_text(replayed(Path(name).read_text()))
