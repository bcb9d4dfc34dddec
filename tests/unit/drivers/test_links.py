"""When frames arrive: bytes at the link's speed one after the other, then the latency; and what faults do to them."""

from __future__ import annotations

from headwater.drivers.simulator import NO_FAULTS, Faults, Links, Partition
from headwater.model import SECOND, Link

SLOW = Link("a", "b", latency_us=5_000, bytes_per_s=1_000.0)  # a millisecond a byte


def links(faults: Faults = NO_FAULTS, seed: int = 0) -> Links:
    return Links([SLOW], seed=seed, faults=faults)


def times(world: Links, count: int, *, apart_us: int = 1_000_000, size: int = 10) -> list[list[int]]:
    return [[one.at for one in world.carry("a", "b", size, number * apart_us)] for number in range(count)]


def test_a_frame_takes_its_bytes_at_the_speed_of_the_link_and_the_latency() -> None:
    assert times(links(), 1, size=100) == [[105_000]]


def test_a_frame_starts_when_the_one_before_it_is_through() -> None:
    world = links()
    assert times(world, 3, apart_us=1_000, size=10) == [[15_000], [25_000], [35_000]]
    assert [one.at for one in world.carry("a", "b", 10, 500_000)] == [515_000]


def test_the_two_directions_do_not_hold_each_other_up() -> None:
    world = links()
    world.carry("a", "b", 1_000, 0)
    assert [one.at for one in world.carry("b", "a", 10, 0)] == [15_000]
    assert (world.carried["a", "b"].bytes, world.carried["b", "a"].bytes) == (1_000, 10)
    assert world.carried["a", "b"].frames == 1


def test_the_share_of_lost_frames_is_as_requested_and_they_are_counted() -> None:
    world = links(Faults(loss=0.3))
    lost = sum(not arrivals for arrivals in times(world, 5_000))
    assert 0.27 < lost / 5_000 < 0.33
    assert world.carried["a", "b"].lost == lost and world.carried["a", "b"].frames == 5_000


def test_doubled_frames_arrive_twice_and_held_ones_are_overtaken() -> None:
    assert {len(arrivals) for arrivals in times(links(Faults(duplication=0.5)), 100)} == {1, 2}
    arrived = [
        at for arrivals in times(links(Faults(reordering=0.5)), 100, apart_us=20_000) for at in arrivals
    ]
    assert arrived != sorted(arrived)


def test_delay_keeps_the_order() -> None:
    faults = Faults(delay_us=SECOND)
    arrived = [at for arrivals in times(links(faults), 200, apart_us=20_000) for at in arrivals]
    assert arrived == sorted(arrived) and len(set(arrived)) > 1
    assert max(at - 20_000 * number for number, at in enumerate(arrived)) > SECOND // 2


def test_a_frame_after_the_end_of_faults_does_not_overtake_one_delayed_before() -> None:
    world = links(Faults(delay_us=100 * SECOND, until=2 * SECOND))
    arrived = [at for arrivals in times(world, 4) for at in arrivals]
    assert arrived[1] > 5 * SECOND and arrived == sorted(arrived)


def test_one_frame_can_be_named() -> None:
    assert [len(one) for one in times(links(Faults(lost=frozenset([1]), doubled=frozenset([2]))), 4)] == [
        1,
        0,
        2,
        1,
    ]


def test_nothing_passes_a_partition_in_either_direction_until_it_ends() -> None:
    world = links(Faults(partitions=(Partition(10, 20, ("b", "a")),)))
    for now, passes in ((9, True), (10, False), (19, False), (20, True)):
        assert bool(world.carry("a", "b", 1, now)) is passes
        assert bool(world.carry("b", "a", 1, now)) is passes


def test_everything_stops_at_the_end_of_faults() -> None:
    world = links(Faults(loss=1.0, partitions=(Partition(0, 99 * SECOND, ("a", "b")),), until=5 * SECOND))
    assert [bool(arrivals) for arrivals in times(world, 8)] == [False] * 5 + [True] * 3


def test_luck_is_the_seed() -> None:
    faults = Faults(loss=0.2, duplication=0.2, reordering=0.2, corruption=0.2, delay_us=1_000)
    assert times(links(faults, 1), 100) == times(links(faults, 1), 100)
    assert times(links(faults, 1), 100) != times(links(faults, 2), 100)
