"""One run in the simulator: slow links lose nothing, links that are too slow are told, and what nodes say comes out."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from headwater.apps.overlay import APPROACHES, OverlaySettings, Recorded, Standing, simulate
from headwater.apps.overlay.reading_lifetime import LEAST_US, MOST_US, slack_us
from headwater.drivers.simulator import Crash, Faults
from headwater.model import SECOND, Filter, LimitReached, Link, Network, Operator, Readings, Source

A, B = Source("ka", "a"), Source("kb", "b")
START = 1_768_435_200 * SECOND
MINUTE = 60 * SECOND


def network(latency_us: int = 10_000, bytes_per_s: float = 1_250_000.0) -> Network:
    """A chain of five; the sensors at its ends, so that their readings meet on the way."""
    nodes = ("n0", "n1", "n2", "n3", "n4")
    links = tuple(Link(one, other, latency_us, bytes_per_s) for one, other in pairwise(nodes))
    return Network(nodes, links, {"n0": (A,), "n4": (B,)})


def recorded(rounds: int = 60, every_us: int = MINUTE) -> Recorded:
    """Both sensors measure together."""
    times = START + np.repeat(np.arange(rounds), 2) * every_us
    source = np.tile(np.array([0, 1], np.int32), rounds)
    return Recorded((A, B), Readings(source, times, np.ones(2 * rounds), np.repeat(np.arange(rounds), 2)))


SUBSCRIBED = Operator("", (Filter("a", 0.0, 2.0), Filter("b", 0.0, 2.0)), SECOND)
NOBODY = Operator("", (Filter("c", 0.0, 2.0),), SECOND)
STANDING = (
    Standing("first", "n1", SUBSCRIBED),
    Standing("second", "n4", replace(SUBSCRIBED, within_us=2 * SECOND)),
)


@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize(
    ("latency_us", "bytes_per_s"), [(60 * SECOND, 1e6), (0, 125.0), (60 * SECOND, 125.0)]
)
def test_slow_links_lose_no_answer_and_carry_as_much_as_fast_ones(approach, latency_us, bytes_per_s):
    fast = simulate(network(), approach, STANDING, recorded())
    slow = simulate(network(latency_us, bytes_per_s), approach, STANDING, recorded())
    assert (slow.expected, slow.missed, slow.wrong, slow.twice) == (240, 0, 0, 0)
    assert (slow.tells, slow.reported, dict(slow.counts), slow.settled) == ((), (), {}, True)
    assert (slow.subscription_load, slow.event_load) == (fast.subscription_load, fast.event_load)


def test_setting_up_takes_as_long_as_it_takes():
    """Half an hour a link: two hours to cross the chain, long before the record all the same."""
    came = simulate(network(30 * MINUTE), "exact", STANDING, recorded(rounds=10, every_us=60 * MINUTE))
    assert (came.expected, came.missed) == (40, 0)


def test_links_on_which_setting_up_is_not_over_in_time_are_refused():
    with pytest.raises(LimitReached, match="links are so slow"):
        simulate(network(MINUTE), "exact", STANDING, recorded(), settings=OverlaySettings(set_up_us=MINUTE))


def test_a_node_that_stops_during_the_record_is_not_waited_for():
    faults = Faults(crashes=(Crash("n2", START + 10 * MINUTE, 5 * MINUTE),))
    came = simulate(network(), "exact", STANDING, recorded(), faults=faults)
    assert (came.expected, came.missed, came.twice) == (240, 0, 0)


def test_readings_that_come_too_late_are_missing_and_counted():
    came = simulate(
        network(5 * SECOND), "exact", STANDING, recorded(), settings=OverlaySettings(validity_us=3 * SECOND)
    )
    assert came.missed > 0
    assert came.counts["readings that came when they were no longer valid"] > 0


@pytest.mark.parametrize("bytes_per_s", [125.0, 5.0])
def test_links_that_take_longer_for_a_batch_than_delivery_waits_lose_nothing(bytes_per_s):
    record = recorded(rounds=10_000, every_us=8 * SECOND)
    came = simulate(network(0, bytes_per_s), "exact", STANDING, record, seed=1)
    assert (came.expected, came.missed, came.twice, came.settled) == (40_000, 0, 0, True)


def test_a_run_ends_though_links_do_not_come_to_rest_while_readings_are_valid():
    record, settings = recorded(rounds=10_000, every_us=8 * SECOND), OverlaySettings(validity_us=60 * MINUTE)
    came = simulate(network(0, 0.5), "exact", STANDING, record, seed=1, settings=settings)
    assert not came.settled
    assert came.missed > 0


def test_users_are_informed_by_the_name_of_their_subscription():
    came = simulate(network(), "exact", [*STANDING, Standing("third", "n2", NOBODY)], recorded())
    assert [(tell.subscription, tell.error.code) for tell in came.tells] == [("third", "no-sources")]


def test_what_a_node_cannot_take_from_its_own_users_is_reported():
    came = simulate(network(), "exact", [Standing("x" * 300, "n2", SUBSCRIBED)], recorded())
    assert [report.error.code for report in came.reported] == ["bad-message"]
    assert came.missed == came.expected == 120


@pytest.mark.parametrize(
    ("latency_us", "bytes_per_s", "batch", "slack"),
    [
        # Four links, each with a second of gathering: twice, four times.
        (0, 1e12, 0, LEAST_US + 8 * 4 * SECOND),
        # Latency there and back on each.
        (3 * SECOND, 1e12, 0, LEAST_US + 8 * 4 * 7 * SECOND),
        # 64 bytes a reading: ten seconds for a hundred of them, so that the frame is sent again once.
        (0, 640.0, 100, LEAST_US + 8 * 4 * 21 * SECOND),
        (60 * SECOND, 1.0, 10**6, MOST_US),
    ],
)
def test_slack_follows_from_the_longest_way(latency_us, bytes_per_s, batch, slack):
    assert slack_us(network(latency_us, bytes_per_s), batch=batch, gather_us=SECOND) == slack


def test_a_node_alone_needs_no_way():
    assert slack_us(Network(("n",), ()), batch=10, gather_us=SECOND) == LEAST_US
