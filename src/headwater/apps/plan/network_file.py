"""What does a network file say: nodes, links, sensors, users, and which queries are whose?

    {"nodes": ["pass", "hut", "village"],
     "links": [["pass", "hut"], {"between": ["hut", "village"], "latency_ms": 20, "bandwidth_kbit_s": 250}],
     "sensors": [{"key": "st-01", "attributes": ["temperature", "wind"], "node": "pass", "place": [7.17, 45.87]}],
     "users": [{"name": "rescue", "node": "village", "queries": ["storm"]}]}

Rule 1  Nodes and links make one tree.
Rule 2  A key and an attribute are together one sensor, and no two are the same.
Rule 3  An error does not hide others, except those that follow from it: a network with a link to an unknown node is not also
        said to be in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.apps.plan.json_places import NotJson, Value, read_json
from headwater.apps.plan.refusals import PlanRefused, Refusals
from headwater.apps.plan.tree_shape import Tree
from headwater.model import DataError, LimitReached, Link, Network, NodeId, Source
from headwater.model.network import BYTES_PER_S, LATENCY_US
from headwater.query.language.suggestions import suggest
from headwater.query.language.words import listed

MOST_BYTES: Final = 16 * 2**20
MOST_NODES: Final = 10_000
MOST_SOURCES: Final = 100_000
MOST_USERS: Final = 10_000

LONGEST_LATENCY_MS: Final = 60_000.0
LEAST_KBIT_S, MOST_KBIT_S = 1.0, 1e9
FARTHEST: Final = 1e15
"""Metres or degrees; nodes know no places beyond."""
TOO_SLOW: Final = "nodes send a frame again if it is not acknowledged within seconds: slower links would mostly carry copies"
BYTES_PER_KBIT: Final = 125.0

_FIELDS: Final = ("nodes", "links", "sensors", "users")


@dataclass(frozen=True, slots=True)
class Sensor:
    """A key with what it measures, its node, its place (None: not said), and where in the file it stands."""

    key: str
    attributes: Mapping[str, Value]
    node: NodeId
    place: tuple[float, float] | None
    at: Value


@dataclass(frozen=True, slots=True)
class User:
    """Who asks, at which node, and the names of their queries with where they stand."""

    name: str
    node: NodeId
    queries: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class NetworkFile:
    """A file whose own errors are in `refusals`; what could be understood of it is here all the same."""

    nodes: Mapping[NodeId, Value]
    links: tuple[Link, ...]
    sensors: tuple[Sensor, ...]
    users: tuple[User, ...]
    root: Value
    refusals: Refusals

    def network(self) -> Network:
        """The network, once there are no errors."""
        sources: dict[NodeId, tuple[Source, ...]] = {}
        for sensor in self.sensors:
            x, y = sensor.place or (0.0, 0.0)
            made = tuple(Source(sensor.key, attribute, x, y) for attribute in sensor.attributes)
            sources[sensor.node] = sources.get(sensor.node, ()) + made
        return Network(tuple(self.nodes), self.links, sources, {user.name: user.node for user in self.users})


def read_network(file: str) -> NetworkFile:
    """A network file; raises an error only where nothing of it can be understood."""
    return parse_network(_text(file), file)


def parse_network(text: str, file: str = "network") -> NetworkFile:
    """The same of a text."""
    try:
        document = read_json(text)
    except NotJson as fault:
        place = f"{file}:{fault.line}:{fault.column}"
        advice = [
            "write strings and field names in double quotes, no comma after the last item, and no comments"
        ]
        raise PlanRefused(
            [DataError("network-not-json", f"this is not JSON: {fault.why}", place=place, advice=advice)]
        ) from fault
    refusals = Refusals(file)
    for again in document.repeated:
        name = again.path.rpartition(".")[2]
        refusals.refuse("repeated-field", f"the field '{name}' appears twice", again, "remove one of them")
    return _Reader(refusals).read(document.root)


def _text(file: str) -> str:
    try:
        with Path(file).open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as fault:
        raise DataError("missing-network", f"cannot read '{file}': {fault.strerror or fault}") from fault
    if len(data) > MOST_BYTES:
        raise LimitReached("MOST_BYTES", MOST_BYTES, f"'{file}' is larger than {MOST_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = data[: fault.start].count(b"\n") + 1
        why = f"'{file}' is not UTF-8 text: byte 0x{data[fault.start]:02x} in line {line}"
        raise DataError("network-not-json", why, advice=["save it as UTF-8"]) from fault


class _Reader:
    """One pass over a file, part by part; each part knows the nodes."""

    def __init__(self, refusals: Refusals) -> None:
        self.refusals = refusals
        self.refuse = refusals.refuse
        self.nodes: dict[NodeId, Value] = {}

    def read(self, root: Value) -> NetworkFile:
        self.refusals.fields(root, "a network", _FIELDS)
        parts = root.content if isinstance(root.content, dict) else {}
        if "nodes" in parts:
            self._nodes(parts["nodes"])
        links = self._links(parts["links"]) if "links" in parts else ()
        sensors = tuple(self._sensors(parts["sensors"])) if "sensors" in parts else ()
        users = tuple(self._users(parts["users"])) if "users" in parts else ()
        return NetworkFile(self.nodes, links, sensors, users, root, self.refusals)

    def _nodes(self, value: Value) -> None:
        items = self.refusals.items(value, "'nodes'")
        _bounded("MOST_NODES", MOST_NODES, len(items), "nodes")
        for item in items:
            name = self.refusals.name(item, "the name of a node")
            if name is None:
                continue
            if name in self.nodes:
                first = self.nodes[name]
                self.refuse(
                    "duplicate-node",
                    f"there already is a node '{name}'",
                    item,
                    f"the first one is in line {first.line}: rename or remove one",
                )
            self.nodes.setdefault(name, item)
        if not items and isinstance(value.content, list):
            self.refuse("wrong-field", "there are no nodes", value, 'name at least one: "nodes": ["hut"]')

    # --- links ----------------------------------------------------------------------------------------------------------

    def _links(self, value: Value) -> tuple[Link, ...]:
        items = self.refusals.items(value, "'links'")
        _bounded("MOST_NODES", 2 * MOST_NODES, len(items), "links")
        tree, taken, whole = Tree(tuple(self.nodes)), dict[frozenset[NodeId], Value](), True
        links = []
        for item in items:
            link = self._link(item)
            whole &= link is not None
            if link is not None and self._joins(link, item, tree, taken):
                links.append(link)
        pieces = tree.pieces()
        if whole and self.nodes and len(pieces) > 1:
            self._refuse_pieces(pieces)
        return tuple(links)

    def _link(self, item: Value) -> Link | None:
        latency_us, bytes_per_s, ends = LATENCY_US, BYTES_PER_S, item
        if isinstance(item.content, dict):
            parts = self.refusals.fields(item, "a link", ("between",), ("latency_ms", "bandwidth_kbit_s"))
            if parts is None:
                return None
            ends = parts["between"]
            latency_us, bytes_per_s = self._speed(parts)
        between = self.refusals.items(ends, "a link")
        if len(between) != 2:
            if isinstance(ends.content, list):
                what = f"a link has two ends, but this one has {len(between)}"
                self.refuse("wrong-field", what, ends, 'write it as ["hut", "village"]')
            return None
        one, other = (self._node(end, "a link goes to") for end in between)
        return None if one is None or other is None else Link(one, other, latency_us, bytes_per_s)

    def _speed(self, parts: Mapping[str, Value]) -> tuple[int, float]:
        latency_us, bytes_per_s = LATENCY_US, BYTES_PER_S
        if (value := parts.get("latency_ms")) is not None:
            latency = self.refusals.number(
                value, "the latency", least=0.0, most=LONGEST_LATENCY_MS, why=TOO_SLOW
            )
            latency_us = round((latency or 0.0) * 1000)
        if (value := parts.get("bandwidth_kbit_s")) is not None:
            speed = self.refusals.number(
                value, "the bandwidth", least=LEAST_KBIT_S, most=MOST_KBIT_S, why=TOO_SLOW
            )
            bytes_per_s = BYTES_PER_KBIT * (speed or 1.0)
        return latency_us, bytes_per_s

    def _joins(self, link: Link, item: Value, tree: Tree, taken: dict[frozenset[NodeId], Value]) -> bool:
        """Whether a link joins what was apart."""
        pair = frozenset((link.one, link.other))
        if pair in taken:
            self.refuse(
                "duplicate-link",
                f"'{link.one}' and '{link.other}' are already joined by a link",
                item,
                f"the first one is in line {taken[pair].line}: links work in both directions, so remove one",
            )
            return False
        taken[pair] = item
        circle = tree.join(link.one, link.other)
        if circle:
            self.refuse(
                "network-cycle",
                f"this link closes a cycle: {_circle(circle)}",
                item,
                "a network is a tree, with one path between any two nodes: remove one of these links",
            )
        return not circle

    def _refuse_pieces(self, pieces: list[list[NodeId]]) -> None:
        largest = max(pieces, key=len)
        for piece in pieces:
            if piece is not largest:
                names = listed([f"'{node}'" for node in piece], 4)
                self.refuse(
                    "network-in-pieces",
                    f"no link leads from {names} to the other nodes ({listed([repr(n) for n in largest], 4)})",
                    self.nodes[piece[0]],
                    f'add a link, as in ["{piece[0]}", "{largest[0]}"]',
                )

    def _node(self, value: Value, who: str, *, of_user: bool = False) -> NodeId | None:
        name = self.refusals.name(value, "the name of a node")
        if name is None or name in self.nodes:
            return name
        if not self.nodes:  # said already: there are none, or they could not be read
            return None
        words, advice = f"{who} '{name}', but there is no such node", suggest(name, self.nodes, "nodes")
        if of_user:
            self.refuse("user-nowhere", words, value, *advice)
        else:
            self.refuse("unknown-node", words, value, *advice)
        return None

    # --- sensors and users ----------------------------------------------------------------------------------------------

    def _sensors(self, value: Value) -> Iterator[Sensor]:
        seen: dict[tuple[str, str], Value] = {}
        for item in self.refusals.items(value, "'sensors'"):
            parts = self.refusals.fields(item, "a sensor", ("key", "attributes", "node"), ("place",))
            if parts is None:
                continue
            key = self._key(parts["key"])
            node = self._node(parts["node"], "a sensor is attached to")
            place = self._place(parts["place"]) if "place" in parts else None
            attributes = self._attributes(parts["attributes"], key, seen)
            _bounded("MOST_SOURCES", MOST_SOURCES, len(seen), "sensors")
            if key is not None and node is not None:
                yield Sensor(key, attributes, node, place, item)

    def _key(self, value: Value) -> str | None:
        """Keys of streams are texts or whole numbers."""
        if isinstance(value.content, int) and not isinstance(value.content, bool):
            key = str(value.content)
            return key if self.refusals.short(key, value, "the key of a sensor") else None
        return self.refusals.name(value, "the key of a sensor")

    def _attributes(
        self, value: Value, key: str | None, seen: dict[tuple[str, str], Value]
    ) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for item in self.refusals.items(value, "'attributes'"):
            name = self.refusals.name(item, "an attribute")
            if name is None or key is None:
                continue
            if (key, name) in seen:
                self.refuse(
                    "duplicate-sensor",
                    f"there already is a sensor '{key}' of '{name}'",
                    item,
                    f"the first one is in line {seen[key, name].line}: give one of the two another key",
                )
                continue
            seen[key, name] = found[name] = item
        if isinstance(value.content, list) and not value.content:
            self.refuse(
                "wrong-field", "the sensor measures nothing", value, 'list what it measures: ["wind"]'
            )
        return found

    def _place(self, value: Value) -> tuple[float, float] | None:
        numbers = self.refusals.items(value, "a place")
        if isinstance(value.content, list) and len(numbers) != 2:
            what = f"a place has two numbers, but this one has {len(numbers)}"
            self.refuse("wrong-field", what, value, "write [x, y], or [longitude, latitude]")
            return None
        found = [
            self.refusals.number(number, "a coordinate", least=-FARTHEST, most=FARTHEST) for number in numbers
        ]
        return (
            (found[0], found[1])
            if len(found) == 2 and found[0] is not None and found[1] is not None
            else None
        )

    def _users(self, value: Value) -> Iterator[User]:
        names: dict[str, Value] = {}
        items = self.refusals.items(value, "'users'")
        _bounded("MOST_USERS", MOST_USERS, len(items), "users")
        for item in items:
            if isinstance(item.content, dict) and "node" not in item.content:
                nowhere = "a user needs a node, to which answers are delivered"
                self.refuse("user-nowhere", nowhere, item, *suggest("", self.nodes, "nodes"))
                self.refusals.fields(item, "a user", ("name", "queries"))
                continue
            parts = self.refusals.fields(item, "a user", ("name", "node", "queries"))
            if parts is None:
                continue
            name = self._user_name(parts["name"], names)
            node = self._node(parts["node"], f"the user '{name}' is at", of_user=True)
            queries = self._queries(parts["queries"], name)
            if name is not None and node is not None:
                yield User(name, node, queries)

    def _user_name(self, value: Value, names: dict[str, Value]) -> str | None:
        name = self.refusals.name(value, "the name of a user")
        if name is not None and "/" in name:
            self.refuse(
                "wrong-field", f"the name of a user must not contain '/': '{name}'", value, "write - instead"
            )
            return None
        if name in names:
            first = names[name].line
            advice = f"the first one is in line {first}: rename one, or give all queries to one of them"
            self.refuse("duplicate-user", f"there already is a user '{name}'", value, advice)
            return None
        if name is not None:
            names[name] = value
        return name

    def _queries(self, value: Value, user: str | None) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for item in self.refusals.items(value, "'queries'"):
            name = self.refusals.name(item, "the name of a query")
            if name in found:
                what = f"'{user}' has the query '{name}' twice"
                self.refuse("wrong-field", what, item, "remove one of them")
            elif name is not None:
                found[name] = item
        return found


def _circle(nodes: list[NodeId], most: int = 8) -> str:
    shown = [f"'{node}'" for node in nodes]
    shown = [*shown[:most], "…"] if len(shown) > most else shown
    return " - ".join([*shown, f"'{nodes[0]}'"])


def _bounded(bound: str, value: int, count: int, what: str) -> None:
    if count > value:
        raise LimitReached(bound, value, f"{count:,} {what} in one network: at most {value:,} are possible")
