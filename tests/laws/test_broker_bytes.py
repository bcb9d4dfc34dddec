"""Law 10: whatever a peer sends a broker, the outcome is a report and an unchanged node, or a message it understands; never an exception."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.apps.overlay.approaches import APPROACHES
from headwater.apps.overlay.random_scenes import draw_scene
from headwater.apps.overlay.replay import VALIDITY_US, broker_maker
from headwater.model import (
    SECOND,
    Box,
    Circle,
    Deliver,
    Filter,
    Message,
    Operator,
    Polygon,
    Report,
    Send,
    Source,
    decode,
    encode,
)
from headwater.protocols.broker import Broker, Request, advertise, retract, subscribe, unsubscribe
from tests.laws.broker_worlds import played
from tests.laws.draws import bounded
from tests.unit.model.making import sealed
from tests.unit.protocols.broker.bus import reading, saved

KINDS = ("advertise", "retract", "subscribe", "unsubscribe", "events")
LONE = "@LONE@"  # as long as half a letter is when JSON writes it
JUNK: list[Any] = [
    None,
    True,
    -1,
    0,
    2**70,
    10**400,
    0.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "a",
    "k0",
    LONE,
    "x" * 2000,
    [],
    [[]],
    [1, 2, 3, 4],
    {},
    {"a": 1},
    np.zeros(2),
    np.zeros((2, 2)),
    np.array([7], np.int32),
    np.array([-1, 2**62 + 1]),
    np.array([np.nan, 1.0]),
    np.array([], np.int32),
    np.array([True]),
]


def good_messages() -> list[Message]:
    """All kinds, with all shapes."""
    source, other = Source("k0", "a", 1.0, 2.0), Source("k9", "b")
    shapes = [
        None,
        Box(0.0, 0.0, 2.0, 1.0),
        Circle(1.0, 0.0, 2.0),
        Polygon(((0.0, 0.0), (3.0, 0.0), (0.0, 3.0))),
    ]
    operators = [
        Operator(
            "s",
            (Filter("a", 0.0, 5.0, shape), Filter("b", keys=("k0", "k9"), needed=False, group=0)),
            SECOND,
            2.0,
            geographic,
        )
        for shape in shapes
        for geographic in (False, True)
    ]
    requests = [subscribe(Request.of(operator)) for operator in operators]
    readings = reading(source, (0, 1.0, 3), (SECOND, 2.0, 4))
    of_sets = decode(readings.body) | {"sets": ["s0", "s1"], "of": np.array([0, 1], np.int32)}
    return [
        advertise([source, other]),
        retract([("k0", "a"), ("k9", "b")]),
        unsubscribe(Request.of(operators[0]).name),
        readings,
        Message("events", encode(of_sets)),
        *requests,
    ]


def spoilt(seed: int) -> Message:
    """A good message with one or two of its values replaced, taken out, or doubled."""
    luck = Random(seed)
    message = luck.choice(good_messages())
    tree: Any = copy.deepcopy(decode(message.body))
    for _ in range(luck.choice([1, 1, 2])):
        parent, place = luck.choice([*_places(tree)] or [(tree, "sources")])
        action = luck.random()
        if action < 0.1 and len(parent):
            del parent[place]
        elif action < 0.2 and isinstance(parent, list):
            parent.insert(place, parent[place])
        else:
            parent[place] = luck.choice(JUNK)
    body = sealed(encode(tree).replace(LONE.encode(), b"\\ud800"))
    return Message(luck.choice(KINDS) if luck.random() < 0.1 else message.kind, body)


def _places(node: Any) -> Any:
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        yield node, key
        yield from _places(node[key])


def damaged(seed: int) -> Message:
    """A good message with bytes cut off or changed."""
    luck = Random(seed)
    message = luck.choice(good_messages())
    body = bytearray(message.body)
    for _ in range(luck.randint(1, 4)):
        body[luck.randrange(len(body))] = luck.randrange(256)
    cut = bytes(body[: luck.choice([len(body), luck.randrange(len(body))])])
    return Message(message.kind, sealed(cut) if len(cut) >= 12 and luck.random() < 0.9 else cut)


@cache
def _a_life(approach: str) -> tuple[dict[str, Any], Callable[[str], Broker], str, int]:
    seed = next(s for s in range(1000) if len(draw_scene(s, [approach]).network.nodes) >= 4)
    scene = draw_scene(seed, [approach])
    bus, _ = played(scene)
    name = max(bus.nodes, key=lambda node: len(bus.nodes[node].sides))
    neighbour = next(side for side in bus.nodes[name].sides if side != name)
    return bus.nodes[name].save(), broker_maker(scene)[0], neighbour, bus.now


def someone(approach: str) -> tuple[Broker, str, int]:
    """A broker in the middle of a life, one of its neighbours, and the time."""
    tree, make, neighbour, now = _a_life(approach)
    broker = make(tree["name"])
    broker.restore(decode(encode(tree)))
    return broker, neighbour, now


def check(message: Message, approach: str, sender: str | None = None) -> None:
    broker, neighbour, now = someone(approach)
    before = encode(saved(broker))
    effects = broker.receive(message, sender or neighbour, now)
    reports = [effect for effect in effects if isinstance(effect, Report)]
    assert all(report.peer == (sender or neighbour) for report in reports)
    if any(report.error.code in ("bad-message", "not-a-neighbour") for report in reports):
        assert len(effects) == 1 and encode(saved(broker)) == before
    elif encode(saved(broker)) != before:
        lives_on(broker, now)


def lives_on(broker: Broker, now: int) -> None:
    """Whatever it has taken in, it can be matched, passed on and saved."""
    for side, known in broker.sides.items():
        for source in list(known.sources.values()):
            effects = broker.receive(reading(source, (now, 4.0, 1000), (now, 1.0, 1001)), side, now)
            assert not any(isinstance(effect, Report) for effect in effects)
    broker.wake(now + SECOND)
    for name, known in broker.sides.items():
        for request in [*known.requested, *known.covered]:
            broker.receive(unsubscribe(request.name), name, now)
    assert not any(
        len(shelf) for side in broker.sides.values() for shelf in (side.requested, side.sent, side.held)
    )
    decode(encode(broker.save()))


any_approach = st.sampled_from(APPROACHES)


@bounded(150)
@given(kind=st.sampled_from(KINDS), body=st.binary(max_size=60), approach=any_approach)
def test_any_bytes_are_no_message(kind: str, body: bytes, approach: str) -> None:
    broker, neighbour, now = someone(approach)
    before = encode(saved(broker))
    (report,) = broker.receive(Message(kind, body), neighbour, now)
    assert isinstance(report, Report) and report.error.code == "bad-message"
    assert encode(saved(broker)) == before


@bounded(300)
@given(message=st.integers(0, 2**32).map(damaged), approach=any_approach)
def test_damaged_messages_end_in_a_report_or_are_understood(message: Message, approach: str) -> None:
    check(message, approach)


@bounded(800)
@given(message=st.integers(0, 2**32).map(spoilt), approach=any_approach)
def test_messages_with_wrong_values_end_in_a_report_or_are_understood(
    message: Message, approach: str
) -> None:
    check(message, approach)


@pytest.mark.parametrize("approach", APPROACHES)
def test_good_messages_of_somebody_who_is_not_a_neighbour_change_nothing(approach: str) -> None:
    for message in good_messages():
        check(message, approach, sender="stranger")


@pytest.mark.parametrize("kind", ["", "frame", "Subscribe", "x" * 500])
def test_an_unknown_kind_is_reported_in_few_words(kind: str) -> None:
    broker, neighbour, now = someone("exact")
    before = encode(saved(broker))
    (report,) = broker.receive(Message(kind, b""), neighbour, now)
    assert isinstance(report, Report) and report.error.code == "bad-message"
    assert len(report.error.message) < 100 and encode(saved(broker)) == before


@pytest.mark.parametrize("approach", APPROACHES)
def test_readings_of_a_source_that_is_not_there_go_nowhere(approach: str) -> None:
    broker, neighbour, now = someone(approach)
    before = encode(saved(broker))
    effects = broker.receive(reading(Source("nobody", "a"), (now, 1.0, 0)), neighbour, now)
    assert [type(effect) for effect in effects] == [Report]
    assert isinstance(effects[0], Report) and effects[0].error.code == "unknown-source"
    assert encode(saved(broker)) == before


def test_a_source_of_one_side_cannot_be_taken_over_by_another() -> None:
    broker, neighbour, now = someone("exact")
    side, source = next(
        (name, source)
        for name, known in broker.sides.items()
        for source in known.sources.values()
        if name != neighbour
    )
    before = encode(saved(broker))
    for message in (advertise([source]), retract([(source.key, source.attribute)])):
        effects = broker.receive(message, neighbour, now)
        assert not any(isinstance(effect, (Send, Deliver)) for effect in effects)
    effects = broker.receive(reading(source, (now, 1.0, 99)), neighbour, now)
    assert [effect.error.code for effect in effects if isinstance(effect, Report)] == ["unknown-source"]
    assert encode(saved(broker)) == before and source in broker.sides[side].sources.values()


def test_readings_that_are_too_old_are_counted_and_dropped() -> None:
    broker, neighbour, now = someone("exact")
    source = Source("late", "a")
    broker.receive(advertise([source]), neighbour, now)
    count = sum(broker.counts.values())
    effects = broker.receive(reading(source, (now - VALIDITY_US - 1, 1.0, 500)), neighbour, now)
    assert effects == [] and sum(broker.counts.values()) == count + 1


WRONG_REGIONS: list[Any] = [
    [np.zeros(2), 0.0, 0.0, 1.0],
    [np.zeros(2), 0.0, 0.0, 1.0, 1.0],
    ["circle", 0.0, 89.0, -1_000_000.0],
    ["circle", 0.0, 10**400, 1.0],
    ["box", 0.0, 0.0, 1.0],
    ["polygon", [0.0, 0.0], [1.0, 0.0], [1.0]],
    ["polygon", [0.0, 0.0], [1.0, 0.0]],
    [None, 1.0, 2.0, 3.0],
    "circle",
]


@pytest.mark.parametrize("region", WRONG_REGIONS, ids=range(len(WRONG_REGIONS)))
def test_a_region_without_a_shape_is_not_a_message(region: Any) -> None:
    broker, neighbour, now = someone("exact")
    before = encode(saved(broker))
    tree = decode(subscribe(Request.of(Operator("s", (Filter("a"),), SECOND, geographic=True))).body)
    tree["filters"][0][3] = region
    (report,) = broker.receive(Message("subscribe", encode(tree)), neighbour, now)
    assert isinstance(report, Report) and report.error.code == "bad-message"
    assert encode(saved(broker)) == before
