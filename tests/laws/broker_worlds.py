"""Scenes of overlays over perfect links, and what users must get by the oracle of CORRELATE."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from headwater.apps.overlay.measured_cover import Watched
from headwater.apps.overlay.random_scenes import Reply, Scene
from headwater.apps.overlay.replay import broker_maker
from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import ColumnType, Operator, PlaceColumns, StreamSchema
from headwater.model.network_operators import UNGROUPED
from headwater.workloads.station_subscriptions import Standing
from headwater.workloads.stations import Recorded
from tests.laws.oracles import correlate
from tests.unit.protocols.broker.bus import Bus

ATTRIBUTES = ("a", "b", "c")
DOUBLE = ColumnType.DOUBLE
SCHEMA = StreamSchema(
    "readings",
    (
        ("key", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("number", ColumnType.BIGINT),
        ("x", DOUBLE),
        ("y", DOUBLE),
        *((name, DOUBLE) for name in ATTRIBUTES),
    ),
    time="at",
    key="key",
    place=PlaceColumns("x", "y", geographic=False),
)


def played(scene: Scene, *, order: int | None = None, restarting: bool = False) -> tuple[Bus, Watched | None]:
    """The scene to its end; with an `order` links take turns by chance, and much is under way when the next thing happens."""
    make, watched = broker_maker(scene)
    luck = Random(order)
    shuffle = None if order is None else luck
    bus = Bus(scene.network, lambda name, _: make(name), shuffle, restarting=restarting)
    for step in scene.steps:
        bus.now = max(bus.now, step.time)
        bus.say(step.node, step.message)
        if shuffle is None:
            bus.settle()
        else:
            bus.hand_over(luck.choice([0, 0, 1, 3, 10, 1000]))
    bus.settle()
    return bus, watched


def expected(standing: Sequence[Standing], recorded: Recorded) -> set[Reply]:
    """The READINGS of each subscription, straight from the definition of CORRELATE."""
    found: set[Reply] = set()
    for one in standing:
        rows = [row for row in _rows(recorded) if row["at"] >= one.operator.since]
        query = as_query(one.operator)
        for event in correlate.complex_events(SCHEMA, rows, query):
            for n, clause in zip(event, query.clauses, strict=True):
                found.add((one.name, rows[n]["key"], clause.attribute, rows[n]["number"]))
    return found


def as_query(operator: Operator) -> Subscription:
    """The query that an operator of a scene was made from."""
    groups = [f.group for f in operator.filters]
    distinct = len(groups) > 1 and set(groups) == {0}
    clauses = [
        Clause(
            f"c{n}",
            f.attribute,
            Interval(f.low, f.high),
            sensor=f.keys[0] if f.keys else None,
            group=100 + n if distinct or f.group == UNGROUPED else f.group,
        )
        for n, f in enumerate(operator.filters)
    ]
    region = next((f.region for f in operator.filters if f.region is not None), None)
    within = operator.within_us, operator.within_m
    return Subscription(
        operator.subscription,
        "",
        0,
        tuple(clauses),
        *within,
        region,
        distinct_sensors=distinct,
        emit=Emit.READINGS,
    )


def _rows(recorded: Recorded) -> list[correlate.Row]:
    rows = []
    readings = recorded.readings
    for n, source in enumerate(recorded.sources[i] for i in readings.source):
        row = {"key": source.key, "at": int(readings.time[n]), "number": int(readings.number[n])}
        place = {"x": source.x, "y": source.y}
        rows.append(row | place | dict.fromkeys(ATTRIBUTES) | {source.attribute: float(readings.value[n])})
    return rows
