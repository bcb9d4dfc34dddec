"""What golden traces cannot show: things under way, pauses, bounds, and a cover that errs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwater.apps.overlay.approaches import cover_of, policies
from headwater.apps.overlay.measured_cover import Watched
from headwater.kernels.correlate.members import MemberMatcher
from headwater.model import SECOND, Box, Filter, Link, Network, Operator, Readings, Report, Source
from headwater.protocols.broker import (
    Broker,
    BrokerSettings,
    Events,
    Request,
    directory,
    events,
    flow,
    messages,
    placement,
    store,
    subscribe,
)
from headwater.protocols.cover import Exact
from tests.unit.protocols.broker.bus import Bus

LINE = Network(("n1", "n2", "n3"), (Link("n1", "n2"), Link("n2", "n3")))
A, B = Source("ka", "a"), Source("kb", "b")


def bus_of(approach: str = "exact", *, gather_us: int = 0, seed: int = 0) -> tuple[Bus, Watched | None]:
    cover = cover_of(approach)
    watched = None if cover is None else Watched(cover, Exact())
    towards = LINE.towards("n2")

    def make(name: str, beside: tuple[str, ...]) -> Broker:
        pieces = policies(approach, watched, towards_centre=towards.get(name), seed=seed)
        settings = BrokerSettings(validity_us=60 * SECOND, gather_us=gather_us)
        return Broker(name, beside, approach=pieces, matcher=MemberMatcher(), settings=settings)

    return Bus(LINE, make), watched  # type: ignore[arg-type]


def about(name: str, *filters: Filter) -> Operator:
    return Operator(name, filters, 10 * SECOND)


def test_a_reading_that_comes_back_from_the_centre_is_known_though_its_source_left_and_came_meanwhile() -> (
    None
):
    bus, _ = bus_of("centralized")
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n1", about("s", Filter("a", 0.0, 5.0)))
    bus.settle()
    bus.publish("n1", A, (0, 1.0, 0))
    bus.hand_over(1)  # it is at the centre, its way back has begun
    bus.detach("n1", A)
    bus.attach("n1", A)
    bus.settle()
    assert bus.delivered == [("s", "ka", "a", 0)] and not bus.reported


def test_a_sensor_that_moves_is_found_again_though_its_arrival_is_announced_before_its_leaving() -> None:
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n2", about("s", Filter("a", 0.0, 5.0)))
    bus.settle()
    bus.attach("n3", A)  # n3 still has it at n1: it waits
    assert [report.error.code for report in bus.reported] == ["known-source"]
    bus.detach("n1", A)
    bus.settle()
    bus.publish("n3", A, (SECOND, 1.0, 0))
    bus.settle()
    assert bus.delivered == [("s", "ka", "a", 0)] and len(bus.reported) == 1
    bus.attach("n1", A)
    bus.detach("n1", A)  # nobody waits any more
    bus.detach("n3", A)
    bus.settle()
    assert not any(side.sources for node in bus.nodes.values() for side in node.sides.values())


def test_what_was_gathered_goes_before_the_news_that_its_source_has_left() -> None:
    bus, _ = bus_of(gather_us=SECOND)
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n3", about("s", Filter("a", 0.0, 5.0)))
    bus.settle()
    bus.publish("n1", A, (0, 1.0, 0))
    assert not any(bus.links.values())
    bus.detach("n1", A)
    bus.settle()
    assert bus.delivered == [("s", "ka", "a", 0)] and not bus.reported


def test_readings_held_of_a_source_that_left_are_not_sent_to_nodes_that_know_it_no_more() -> None:
    """A second source of a keeps the operator where it is; the reading of the first one waits for b."""
    bus, _ = bus_of()
    other = Source("kc", "a")
    bus.attach("n1", A, B, other)
    bus.settle()
    bus.ask("n3", about("s", Filter("a", 0.0, 5.0), Filter("b", 0.0, 5.0)))
    bus.settle()
    bus.publish("n1", A, (0, 1.0, 0))
    bus.detach("n1", A)
    bus.publish("n1", B, (1, 1.0, 0))
    bus.publish("n1", other, (2, 1.0, 0))
    bus.settle()
    assert not bus.reported
    assert set(bus.delivered) == {("s", "kb", "b", 0), ("s", "kc", "a", 0)}


def test_readings_are_gathered_and_matched_together_after_the_pause() -> None:
    bus, _ = bus_of(gather_us=SECOND)
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n2", about("s", Filter("a", 0.0, 5.0)))
    bus.settle()
    node, bus.now = bus.nodes["n1"], 7 * SECOND
    bus.publish("n1", A, (0, 1.0, 0))
    bus.now += SECOND // 2
    bus.publish("n1", A, (1, 1.0, 1))
    assert node.next_wake() == 8 * SECOND and node.wake(8 * SECOND - 1) == []
    (send,) = node.wake(8 * SECOND)
    assert node.load["events", "n2"] == 2 and node.next_wake() is None
    assert send.message.kind == "events"  # type: ignore[union-attr]


def test_a_small_hole_is_lost_by_the_papers_estimate_and_never_by_exact_cover() -> None:
    """Four boxes around a hole of one in ten thousand: some twenty spot checks hardly ever see it."""
    lost = {approach: [seed for seed in range(10) if loses_the_hole(approach, seed)] for approach in PAIR}
    assert lost["exact"] == [] and len(lost["filter-split-forward"]) >= 9


PAIR = ("filter-split-forward", "exact")
PINWHEEL = (
    (0.0, 0.505, 0.0, 0.495),
    (0.505, 1.0, 0.0, 0.505),
    (0.495, 1.0, 0.505, 1.0),
    (0.0, 0.495, 0.495, 1.0),
    (0.0, 1.0, 0.0, 1.0),  # the one in question
)


def loses_the_hole(approach: str, seed: int) -> bool:
    bus, watched = bus_of(approach, seed=seed)
    bus.attach("n1", A, B)
    bus.settle()
    for n, (west, east, south, north) in enumerate(PINWHEEL):
        bus.ask("n3", about(f"s{n}", Filter("a", west, east), Filter("b", south, north)))
        bus.settle()
    bus.publish("n1", A, (0, 0.5, 0), (30 * SECOND, 0.3, 1))
    bus.publish("n1", B, (1, 0.5, 0), (30 * SECOND, 0.3, 1))
    bus.settle()
    hole = {("s4", "ka", "a", 0), ("s4", "kb", "b", 0)}
    beside = {
        (name, key, attribute, 1) for name in ("s0", "s4") for key, attribute in (("ka", "a"), ("kb", "b"))
    }
    assert watched is not None and set(bus.delivered) - hole == beside
    lost = not hole <= set(bus.delivered)
    assert lost == bool(watched.wrong)
    return lost


def test_what_a_wrong_cover_lost_is_sent_when_the_cover_goes() -> None:
    bus, watched = bus_of("filter-split-forward")
    bus.attach("n1", A, B)
    bus.settle()
    names = []
    for n, (west, east, south, north) in enumerate(PINWHEEL):
        node = "n2" if n == 4 else "n3"
        names.append(bus.ask(node, about(f"s{n}", Filter("a", west, east), Filter("b", south, north))))
        bus.settle()
    bus.publish("n1", A, (0, 0.5, 0))
    bus.publish("n1", B, (1, 0.5, 0))
    bus.settle()
    assert watched is not None and watched.wrong == 1 and bus.delivered == []
    bus.cancel("n3", names[0])
    bus.settle()
    assert set(bus.delivered) == {("s4", "ka", "a", 0), ("s4", "kb", "b", 0)}


def test_more_operators_than_the_bound_are_refused_with_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "MOST_OPERATORS", 2)
    bus, _ = bus_of("naive")
    bus.attach("n1", A)
    bus.settle()
    for n in range(3):
        bus.nodes["n1"].receive(subscribe(Request.of(about(f"s{n}", Filter("a", float(n), 9.0)))), "n2", 0)
    again = bus.nodes["n1"].receive(subscribe(Request.of(about("s9", Filter("a", 0.0, 9.0)))), "n2", 0)
    assert [effect.error.code for effect in again if isinstance(effect, Report)] == ["limit-reached"]
    assert len(bus.nodes["n1"].sides["n2"].requested) == 2


def test_more_sources_than_the_bound_are_refused_and_one_that_comes_back_is_not_counted_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directory, "MOST_SOURCES", 2)
    bus, _ = bus_of()
    for _ in range(5):
        bus.attach("n1", A)
        bus.detach("n1", A)
    bus.attach("n1", B, Source("kc", "c"))
    bus.settle()
    assert [report.error.code for report in bus.reported] == ["limit-reached"]
    assert list(bus.nodes["n1"].sides["n1"].sources) == [("kb", "b")]


def test_the_oldest_readings_beyond_the_bound_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_READINGS", 3)
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    for n in range(5):
        bus.publish("n1", A, (n, 1.0, n))
    bus.publish("n1", A, (9, 1.0, 9))
    bus.ask("n1", about("s", Filter("a", 0.0, 5.0)))
    assert [number for *_, number in bus.delivered] == [3, 4, 9]


def test_a_reading_is_held_for_exactly_its_validity() -> None:
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    bus.publish("n1", A, (0, 1.0, 0), (1, 1.0, 1))
    bus.now = 60 * SECOND + 1
    bus.ask("n1", about("s", Filter("a", 0.0, 5.0)))
    bus.publish("n1", A, (0, 1.0, 2), (1, 1.0, 3))
    assert [number for *_, number in bus.delivered] == [1, 3]
    assert sum(bus.nodes["n1"].counts.values()) == 1


def test_a_part_of_several_operators_is_taken_back_with_the_last_of_them() -> None:
    """Two users of one name and filter differ in nothing: the operator travels once."""
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    same = about("s", Filter("a", 0.0, 5.0))
    first, second = bus.ask("n3", same), bus.ask("n2", same)
    bus.settle()
    assert first == second and bus.nodes["n2"].load["subscribe", "n1"] == 1
    bus.cancel("n2", second)
    bus.settle()
    assert len(bus.nodes["n1"].sides["n2"].requested) == 1
    bus.cancel("n3", first)
    bus.settle()
    assert len(bus.nodes["n1"].sides["n2"].requested) == 0


@pytest.mark.parametrize("approach", ["exact", "filter-split-forward"])
def test_asking_comes_before_taking_back(approach: str) -> None:
    """There is no moment at which something wanted is not asked for: neither when its cover goes, nor when its sources change."""
    bus, _ = bus_of(approach)
    bus.attach("n1", A, B)
    bus.settle()
    wide = bus.ask("n3", about("wide", Filter("a", 0.0, 10.0), Filter("b")))
    bus.ask("n3", about("narrow", Filter("a", 2.0, 8.0), Filter("b")))
    bus.settle()
    bus.crossed.clear()
    bus.cancel("n3", wide)
    bus.settle()
    kinds = {
        link: [m.kind for *way, m in bus.crossed if tuple(way) == link]
        for link in (("n3", "n2"), ("n2", "n1"))
    }
    assert kinds == {("n3", "n2"): ["subscribe", "unsubscribe"], ("n2", "n1"): ["subscribe", "unsubscribe"]}
    bus.crossed.clear()
    bus.attach("n2", Source("kc", "a"))
    bus.settle()
    assert [m.kind for one, other, m in bus.crossed if (one, other) == ("n2", "n1")] == [
        "advertise",
        "subscribe",
        "unsubscribe",
    ]


def test_readings_go_back_over_the_link_they_came_from_only_from_the_centre() -> None:
    for approach, back in (("centralized", 1), ("naive", 0), ("exact", 0)):
        bus, _ = bus_of(approach)
        bus.attach("n1", A)
        bus.settle()
        for node in ("n1", "n2", "n3"):
            bus.ask(node, about(f"at {node}", Filter("a", 0.0, 5.0)))
            bus.settle()
        bus.publish("n1", A, (0, 1.0, 0))
        bus.settle()
        assert len(bus.delivered) == 3
        assert sum((one, other) == ("n2", "n1") for one, other, *_ in bus.readings_crossed()) == back


def test_the_room_of_a_subscription_that_is_gone_is_clean_when_it_is_used_again() -> None:
    bus, _ = bus_of("naive")
    bus.attach("n1", A)
    bus.settle()
    first = bus.ask("n3", about("first", Filter("a", 0.0, 5.0)))
    bus.settle()
    bus.publish("n1", A, (0, 1.0, 0))
    bus.settle()
    bus.cancel("n3", first)
    bus.ask("n3", about("second", Filter("a", 0.0, 6.0)))
    bus.settle()
    assert bus.delivered == [("first", "ka", "a", 0), ("second", "ka", "a", 0)]


def test_the_room_of_readings_that_have_expired_is_clean_when_it_is_used_again() -> None:
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n3", about("s", Filter("a", 0.0, 5.0)))
    bus.settle()
    for n in range(3):
        bus.now = n * 61 * SECOND
        bus.publish("n1", A, (bus.now, 1.0, n))
        bus.settle()
    assert [number for *_, number in bus.delivered] == [0, 1, 2]


@pytest.mark.parametrize("approach", ["exact", "naive", "centralized"])
def test_more_readings_and_sources_than_fit_a_message_go_in_several(
    approach: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow, "MOST_ROWS", 3)
    monkeypatch.setattr(messages, "MOST_ROWS", 3)
    bus, _ = bus_of(approach)
    sources = [Source(f"k{n}", "a") for n in range(5)]
    bus.attach("n1", *sources)
    bus.settle()
    for n, source in enumerate(sources):
        bus.publish("n1", source, (0, 1.0, 0), (1, float(n), 1))
    bus.settle()
    bus.ask("n3", about("s", Filter("a", 0.0, 9.0)))
    bus.settle()
    assert sorted(bus.delivered) == [("s", f"k{n}", "a", number) for n in range(5) for number in range(2)]
    assert not bus.reported
    advertised = [message for one, _, message in bus.crossed if (one, message.kind) == ("n1", "advertise")]
    assert [len(messages.read_sources(message.body)) for message in advertised] == [3, 2]
    rows = [len(messages.read_events(m.body).of) for *_, m in bus.crossed if m.kind == "events"]
    assert max(rows) == 3


def test_a_peer_that_sends_too_much_at_once_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    monkeypatch.setattr(messages, "MOST_ROWS", 1)
    columns = Readings(np.zeros(2, np.int32), np.arange(2), np.zeros(2), np.arange(2))
    effects = bus.nodes["n2"].receive(events(Events((("ka", "a"),), columns)), "n1", 0)
    assert [report.error.message for report in effects] == ["more than 1 readings at once"]
    monkeypatch.setattr(messages, "LARGEST_OPERATOR", 10)
    effects = bus.nodes["n2"].receive(subscribe(Request.of(about("s", Filter("a")))), "n1", 0)
    assert [report.error.message for report in effects] == ["an operator of more than 10 bytes"]


def test_a_distance_applies_to_no_more_readings_than_the_language_allows() -> None:
    bus, _ = bus_of()
    many = Operator("s", tuple(Filter("a", float(n)) for n in range(7)), SECOND, within_m=5.0)
    effects = bus.nodes["n2"].receive(subscribe(Request.of(many)), "n1", 0)
    assert [report.error.message for report in effects] == ["an operator has 1 to 6 filters"]
    assert not bus.nodes["n2"].receive(subscribe(Request.of(replace(many, within_m=None))), "n1", 0)


def test_a_reading_from_the_future_is_dropped_and_counted() -> None:
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    bus.ask("n1", about("s", Filter("a", 0.0, 5.0)))
    bus.publish("n1", A, (60 * SECOND, 1.0, 0), (60 * SECOND + 1, 1.0, 1))
    assert bus.delivered == [("s", "ka", "a", 0)]
    assert bus.nodes["n1"].counts["readings from the future"] == 1


def test_where_the_sources_of_a_filter_are_is_not_remembered_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directory, "MOST_REMEMBERED", 4)
    bus, _ = bus_of()
    bus.attach("n1", A)
    bus.settle()
    for n in range(9):
        bus.cancel("n1", bus.ask("n1", about("s", Filter("a", region=Box(-1.0, -1.0, float(n), 1.0)))))
    bus.settle()
    assert len(bus.nodes["n1"]._directory._where) <= 4
