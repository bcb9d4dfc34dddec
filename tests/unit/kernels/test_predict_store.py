"""Lives of lines, worked by hand: sensors are letters, an update is its sensor and its second."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headwater.kernels.predict.choices import GiveUp
from headwater.kernels.predict.geometry.shapes import Lines
from headwater.kernels.predict.lines.contribution import GREATEST, contribution, erring
from headwater.kernels.predict.lines.events import ADD, GIVE_UP, LIFE, PURGE, Keys, Updates
from headwater.kernels.predict.lines.store import LineState, LineStore
from headwater.model import END, SECOND

NAMES = {ADD: "add", LIFE: "life", GIVE_UP: "give up", PURGE: "purge"}
LONG = 1000 * SECOND

Row = tuple[str, float] | tuple[str, float, float] | tuple[str, float, float, float]


def updates(rows: list[Row], heartbeat_s: float = 10) -> Updates:
    """Updates from (sensor, second, value, slope); value and slope may be left out."""
    filled = [(*row, 0.0, 0.0)[:4] for row in rows]
    return Updates(
        np.array([ord(row[0]) - ord("a") for row in filled], np.int64),
        np.array([round(row[1] * SECOND) for row in filled], np.int64),
        np.array([row[2] for row in filled], np.float64).reshape(-1, 1),
        np.array([row[3] for row in filled], np.float64).reshape(-1, 1),
        np.zeros(len(rows)),
        np.full(len(rows), round(heartbeat_s * SECOND)),
    )


def words(state: LineState, events: np.ndarray) -> list[str]:
    """Events as "add a5 5-15"."""
    found = []
    for what, slot, start, end, _ in events.tolist():
        name = f"{chr(ord('a') + state.key[slot])}{state.lines.t0[slot] / SECOND:g}"
        found.append(f"{NAMES[what]} {name} {start / SECOND:g}-{end / SECOND:g}")
    return found


def events_of(
    rows: list[Row], *, until_s: float = 0, heartbeat_s: float = 10, within_us: int = LONG, **options: Any
) -> list[str]:
    """What happens in one step."""
    store = LineStore(1, within_us, **options)
    state, happened = store.step(store.start(), updates(rows, heartbeat_s), round(until_s * SECOND))
    return words(state, happened.events)


# --- lives ------------------------------------------------------------------------------------------------------------


def test_a_line_lives_until_the_next_update_of_its_sensor():
    assert events_of([("a", 0), ("b", 3), ("a", 4)]) == [
        "add a0 0-10",
        "add b3 3-13",
        "life a0 0-4",
        "add a4 4-14",
    ]


def test_a_line_lives_no_longer_than_its_heartbeat():
    assert events_of([("a", 0), ("a", 10), ("a", 30)]) == ["add a0 0-10", "add a10 10-20", "add a30 30-40"]


def test_of_two_updates_at_one_time_the_later_has_the_life():
    assert events_of([("a", 5), ("a", 5)]) == ["add a5 5-15", "life a5 5-5", "add a5 5-15"]


@pytest.mark.parametrize("buffer", [None, 5])
def test_a_line_is_purged_when_the_watermark_is_past_its_end_and_the_window(buffer: int | None):
    store = LineStore(1, 3 * SECOND, buffer=buffer)
    state, _ = store.step(store.start(), updates([("a", 0), ("b", 1), ("a", 2)]), 3 * SECOND)
    none = updates([])
    same, happened = store.step(state, none, 5 * SECOND)
    assert same is state and not len(happened.events)
    state, happened = store.step(state, none, 5 * SECOND + 1)
    assert words(state, happened.events) == ["purge a0 0-2"]
    state, happened = store.step(state, none, 1000 * SECOND)
    assert sorted(words(state, happened.events)) == ["purge a2 2-12", "purge b1 1-11"]
    assert state.last.tolist()[:2] == [-1, -1]


def test_a_sensor_that_was_silent_begins_anew():
    store = LineStore(1, 0)
    state, _ = store.step(store.start(), updates([("a", 0)] * 100), SECOND)
    state, _ = store.step(state, updates([]), 100 * SECOND)
    state, happened = store.step(state, updates([("a", 200)]), 201 * SECOND)
    assert words(state, happened.events) == ["add a200 200-210"]
    assert len(state.key) == 16, "slots that nobody uses are given back"


def test_a_heartbeat_beyond_all_times_never_runs_out():
    store = LineStore(1, SECOND)
    one = updates([("a", 5)])._replace(heartbeat_us=np.array([np.iinfo(np.int64).max]))
    state, happened = store.step(store.start(), one, END)
    assert happened.events.tolist() == [[ADD, 0, 5 * SECOND, END, 5 * SECOND]]
    assert state.stored[0]


# --- contributions ----------------------------------------------------------------------------------------------------


def lines(*parts: tuple[float, float, list[float], list[float]]) -> Lines:
    """Lines from start, end, values at the start, slopes."""
    start = np.array([round(part[0] * SECOND) for part in parts])
    end = np.array([round(part[1] * SECOND) for part in parts])
    values, slopes = (np.array([part[column] for part in parts], np.float64) for column in (2, 3))
    return Lines(start, start, end, values, slopes, np.zeros(len(parts)))


def test_lines_that_cross_in_the_middle_err():
    # The areas before and after the crossing are equal: the paper's |∫ f − g| is 0, and the update would go first.
    both = lines((0, 10, [0.0], [1.0]), (10, 20, [5.0], [0.0]))
    assert erring(both, 0, 1) == 25.0
    assert contribution(both, 0, -1, 1) == 25.0


def test_lines_that_cross_early_err_by_two_triangles():
    both = lines((0, 4, [-1.0], [1.0]), (4, 8, [0.0], [0.0]))
    assert erring(both, 0, 1) == 0.5 + 4.5


def test_dimensions_add_up():
    both = lines((0, 2, [1.0, -1.0], [0.0, 1.0]), (2, 4, [0.0, 0.0], [0.0, 0.0]))
    assert erring(both, 0, 1) == 2.0 + 1.0


def test_the_better_neighbour_counts_and_a_last_line_is_worth_everything():
    three = lines((0, 2, [0.0], [0.0]), (2, 4, [3.0], [0.0]), (4, 6, [4.0], [0.0]))
    assert contribution(three, 1, 0, 2) == 2.0
    assert contribution(three, 1, -1, 0) == 6.0
    assert contribution(three, 1, 0, -1) == np.inf


def test_an_empty_life_is_worth_nothing():
    assert contribution(lines((5, 5, [7.0], [1.0]), (5, 9, [0.0], [0.0])), 0, -1, 1) == 0.0


@pytest.mark.parametrize("values", [(1e308, -1e308), (1e200, -1e200), (1e308, 1.0)])
def test_an_error_beyond_all_numbers_is_still_less_than_that_of_a_last_line(values: tuple[float, float]):
    both = lines((0, 100, [values[0]], [-values[0]]), (100, 200, [values[1]], [values[0]]))
    assert contribution(both, 0, -1, 1) == GREATEST < np.inf


# --- a buffer that is full --------------------------------------------------------------------------------------------


def test_the_first_line_of_a_sensor_is_covered_by_the_next():
    # a0 errs by 1 · 10 with a10, and a10 by 3 · 10 with a0 or a20: a0 goes, a10 answers for it.
    assert events_of([("a", 0, 0), ("a", 10, 1), ("b", 15), ("a", 20, 4)], buffer=3) == [
        "add a0 0-10",
        "add a10 10-20",
        "add b15 15-25",
        "give up a0 0-10",
        "life a10 0-20",
        "add a20 20-30",
    ]


def test_a_line_in_the_middle_is_covered_by_the_former_if_that_errs_less():
    assert events_of([("a", 0, 0), ("a", 9, 1), ("b", 10), ("a", 15, 5)], buffer=3)[3:] == [
        "add b10 10-20",
        "life a9 9-15",
        "give up a9 9-15",
        "life a0 0-15",
        "add a15 15-25",
    ]


def test_a_line_in_the_middle_is_covered_by_the_new_one_if_that_errs_less():
    assert events_of([("a", 0, 0), ("a", 9, 4), ("b", 10), ("a", 15, 5)], buffer=3)[3:] == [
        "add b10 10-20",
        "life a9 9-15",
        "give up a9 9-15",
        "add a15 9-25",
    ]


def test_a_line_that_crosses_its_neighbours_is_not_the_least():
    # a10 swings through the value of a0 and a20: worth 25, by the paper's formula 0. b1 and b11 are worth 10, then 30.
    rows: list[Row] = [("a", 0), ("b", 1), ("a", 10, -5, 1), ("b", 11, 1), ("a", 20), ("b", 21)]
    assert events_of(rows, buffer=5)[5:] == ["give up b1 1-11", "life b11 1-21", "add b21 21-31"]
    rows[3] = ("b", 11, 3)
    assert events_of(rows, buffer=5)[5:] == ["give up a10 10-20", "life a0 0-20", "add b21 21-31"]


def test_a_last_line_goes_to_its_former_one_which_the_next_update_cuts():
    rows: list[Row] = [("a", 0), ("a", 5), ("b", 6), ("a", 8)]
    found = {tuple(events_of(rows, buffer=2, give_up=GiveUp.RANDOM, seed=seed)[3:6]) for seed in range(40)}
    assert ("give up a5 5-15", "life a0 0-15", "add b6 6-16") in found
    assert ("give up a0 0-5", "life a5 0-15", "add b6 6-16") in found
    seed = next(
        seed
        for seed in range(40)
        if "give up a5 5-15" in events_of(rows[:3], buffer=2, give_up=GiveUp.RANDOM, seed=seed)
    )
    assert "life a0 0-8" in events_of(rows, buffer=2, give_up=GiveUp.RANDOM, seed=seed)


def test_last_lines_go_only_when_there_are_no_others_the_oldest_first():
    assert events_of([("b", 0), ("a", 1), ("c", 2)], buffer=2)[2:] == ["give up b0 0-10", "add c2 2-12"]


def test_of_last_lines_of_one_time_that_of_the_smallest_key_goes():
    rows: list[Row] = [("a", 0), ("b", 0), ("c", 0)]
    assert events_of(rows, buffer=2)[2:] == ["give up a0 0-10", "add c0 0-10"]
    store = LineStore(1, LONG, buffer=2)
    keys = Keys(np.array([7, 5, 6]), np.arange(3))
    state, happened = store.step(store.start(), updates(rows), SECOND, keys)
    assert words(state, happened.events)[2:] == ["give up b0 0-10", "add c0 0-10"]
    # The new one is the smallest: it is itself given up, and nothing is told of it.
    state, happened = store.step(
        store.start(), updates(rows), SECOND, Keys(np.array([2, 1, 0]), np.arange(3))
    )
    assert words(state, happened.events) == ["add a0 0-10", "add b0 0-10"]
    assert happened.updates_given_up == 1
    assert state.last.tolist()[2] == -1


@pytest.mark.parametrize(
    ("give_up", "expected"),
    [
        (GiveUp.LEAST, ["add a0 0-10", "give up a0 0-10", "add b1 1-11", "give up b1 1-11", "add a2 2-12"]),
        (GiveUp.OLDEST, ["add a0 0-10", "give up a0 0-10", "add b1 1-11", "give up b1 1-11", "add a2 2-12"]),
        (GiveUp.RANDOM, ["add a0 0-10", "give up a0 0-10", "add b1 1-11", "give up b1 1-11", "add a2 2-12"]),
        (GiveUp.NEWEST, ["add a0 0-10", "life a0 0-2"]),
    ],
)
def test_room_for_one_line_and_two_sensors(give_up: GiveUp, expected: list[str]):
    assert events_of([("a", 0), ("b", 1), ("a", 2)], buffer=1, give_up=give_up) == expected


def test_room_for_one_line_and_one_sensor():
    # The former line errs over its life as much as it errs; its only neighbour is the new one.
    assert events_of([("a", 0), ("a", 4)], buffer=1) == [
        "add a0 0-10",
        "life a0 0-4",
        "give up a0 0-4",
        "add a4 0-14",
    ]


def test_of_two_updates_at_one_time_the_one_without_a_life_goes_and_leaves_nothing():
    store = LineStore(1, LONG, buffer=2)
    state, happened = store.step(store.start(), updates([("a", 0), ("b", 5), ("b", 5)]), 6 * SECOND)
    assert words(state, happened.events)[2:] == ["life b5 5-5", "give up b5 5-5", "add b5 5-15"]
    assert (happened.updates_given_up, happened.seconds_given_up) == (1, 0)


def test_a_refused_update_still_ends_its_former_line_and_nobody_covers_for_it():
    rows: list[Row] = [("a", 0), ("a", 5), ("a", 6)]
    store = LineStore(1, SECOND, buffer=1, give_up=GiveUp.NEWEST)
    state, happened = store.step(store.start(), updates(rows), 6 * SECOND)
    assert words(state, happened.events) == ["add a0 0-10", "life a0 0-5"]
    assert (happened.updates_given_up, happened.seconds_given_up) == (2, 0)
    state, happened = store.step(state, updates([("a", 7)]), 8 * SECOND)
    assert words(state, happened.events) == ["purge a0 0-5", "add a7 7-17"]


def test_the_oldest_goes_and_is_covered():
    assert events_of([("a", 0), ("b", 1), ("a", 2), ("b", 3)], buffer=3, give_up=GiveUp.OLDEST)[3:] == [
        "add a2 2-12",
        "life b1 1-3",
        "give up a0 0-2",
        "life a2 0-12",
        "add b3 3-13",
    ]


def test_what_is_over_is_purged_before_anything_is_given_up():
    assert events_of([("a", 0), ("b", 1), ("c", 12.5)], within_us=2 * SECOND, buffer=2) == [
        "add a0 0-10",
        "add b1 1-11",
        "purge a0 0-10",
        "add c12.5 12.5-22.5",
    ]


def test_a_purged_line_is_no_neighbour_any_more():
    # a0 is gone when b12 comes, so a10 is compared with a11 alone and goes, though a0 was just like it.
    rows: list[Row] = [("a", 0, 1), ("a", 10, 1), ("a", 11, 3), ("b", 12), ("b", 13, 9)]
    assert events_of(rows, within_us=SECOND, buffer=3)[3:] == [
        "add a11 11-21",
        "purge a0 0-10",
        "add b12 12-22",
        "life b12 12-13",
        "purge a10 10-11",
        "add b13 13-23",
    ]
    assert events_of(rows, within_us=2 * SECOND, buffer=3)[3:8] == [
        "add a11 11-21",
        "give up a0 0-10",
        "life a10 0-11",
        "add b12 12-22",
        "life b12 12-13",
    ]


def test_parts_of_a_second_are_counted_once_they_make_a_whole_one():
    store = LineStore(1, LONG, buffer=1)
    state, seconds = store.start(), []
    for second in (0, 0.4, 0.8, 1.2):
        state, happened = store.step(state, updates([("a", second)]), round(second * SECOND))
        seconds.append(happened.seconds_given_up)
    # Lives handed on: 0.4 s, then 0.8 s (what was handed on is handed on again), then 1.2 s.
    assert seconds == [0, 0, 1, 1]
    assert state.handed_on_us == 2_400_000


def test_a_life_handed_on_may_be_longer_than_any_heartbeat():
    rows: list[Row] = [("a", second) for second in range(0, 50, 5)]
    assert events_of(rows, buffer=1)[-1] == "add a45 0-55"
