"""What a sensor node answers, mode by mode; a letter is an event of that type, the number behind it its time in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.pattern import node
from headwater.kernels.pattern.choices import Mode
from headwater.kernels.pattern.node import NodePattern, NodeScan, NodeState
from headwater.model import BEGINNING, END

UNRESTRICTED, FIRST, RECENT = Mode.UNRESTRICTED, Mode.FIRST, Mode.RECENT
S = 1_000_000

# --- the worked examples ----------------------------------------------------------------------------------------------


def test_unrestricted_gives_every_combination_of_one_event_per_element() -> None:
    #  time     1   2   3   4   5   6   7
    #  events   a   b   a   c   c   b   d
    #  match    a---b-------------------d      b2 lies before a3: no fourth match
    #  match    a-------------------b---d
    #  match            a-----------b---d
    found = matches_of("A B+ D", "a1 b2 a3 c4 c5 b6 d7", UNRESTRICTED, within_s=6)
    assert found == ["a1 b2 d7", "a1 b6 d7", "a3 b6 d7"]


def test_first_moves_on_with_the_earliest_event_of_each_type() -> None:
    #  time     1   2   3   4   5   6   7
    #  events   a   a   b   c   c   b   d
    #  match    a-------b---c-----------d
    assert matches_of("A B+ C+ D", "a1 a2 b3 c4 c5 b6 d7", FIRST, within_s=6) == ["a1 b3 c4 d7"]


def test_recent_stays_while_more_events_of_a_state_come_and_uses_the_latest() -> None:
    #  time     1   2   3   4   5   6   7
    #  events   a   a   b   c   c   b   d
    #  match        a---b-------c-------d      b6 comes when the state of B has been left
    assert matches_of("A B+ C+ D", "a1 a2 b3 c4 c5 b6 d7", RECENT, within_s=6) == ["a2 b3 c5 d7"]


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(Mode))
def test_within_holds_for_a_match_as_long_as_it(mode: Mode) -> None:
    #  time     1   2   3   4   5   6   7   8
    #  events   a                       d
    #  within   [-----------------------]      7 − 1 = 6
    assert matches_of("A D", "a1 d7", mode, within_s=6) == ["a1 d7"]
    assert matches_of("A D", "a1 d8", mode, within_s=6) == []


def test_first_never_looks_again_at_what_it_rejected() -> None:
    #  time     1   2   3   4   5   6   7   8
    #  events   a   a                       d
    #  first    [-----------------------]        a2 was rejected: the sequence of a1 was open
    assert matches_of("A D", "a1 a2 d8", FIRST, within_s=6) == []
    assert matches_of("A D", "a1 a2 d8", RECENT, within_s=6) == ["a2 d8"]
    assert matches_of("A D", "a1 a2 d8", UNRESTRICTED, within_s=6) == ["a2 d8"]


def test_the_event_that_finds_a_sequence_out_of_time_may_start_the_next() -> None:
    #  time     1  2 …  8  9
    #  events   a       a  d
    #  first    [----]  a--d
    assert matches_of("A D", "a1 a8 d9", FIRST, within_s=6) == ["a8 d9"]


@pytest.mark.parametrize(("mode", "match"), [(FIRST, "a1 b2 d7"), (RECENT, "a1 b3 d7")])
def test_a_sequence_starts_empty_after_a_match(mode: Mode, match: str) -> None:
    #  time     1   2   3   4 … 7   8   9
    #  events   a   b   b       d   b   d      d7 ends it: b8 and d9 have no a
    assert matches_of("A B D", "a1 b2 b3 d7 b8 d9", mode, within_s=60) == [match]


def test_later_events_of_a_bound_type_do_not_come_back_in_first_mode() -> None:
    #  time     1   2   3   4
    #  events   a   b   a   d
    #  match    a---b-------d
    assert matches_of("A B D", "a1 b2 a3 d4", RECENT, within_s=6) == ["a1 b2 d4"]


def test_rows_of_equal_time_follow_one_another_in_their_order() -> None:
    assert matches_of("A B", "b1 a1 b1", UNRESTRICTED, within_s=0) == ["a1 b1"]


# --- events that satisfy several elements -----------------------------------------------------------------------------


def test_no_event_serves_two_elements_of_one_match() -> None:
    #  rows     0    1    2
    #  satisfy  AB   AB   AB
    both = np.ones((2, 3), bool)
    assert scan(UNRESTRICTED, both, [0, 0, 0]) == [[0, 1], [0, 2], [1, 2]]
    assert scan(FIRST, both, [0, 0, 0]) == [[0, 1]]
    assert scan(RECENT, both, [0, 0, 0]) == [[0, 1]]


def test_recent_moves_on_rather_than_staying() -> None:
    #  rows     0   1   2    3
    #  satisfy  A   A   AB   A        row 2 could stay for A; it is B, and the match is made
    holds = np.array([[1, 1, 1, 1], [0, 0, 1, 0]], bool)
    assert scan(RECENT, holds, [0, 1, 2, 3]) == [[1, 2]]


@pytest.mark.parametrize("mode", list(Mode))
def test_a_pattern_of_one_element_is_every_event_of_it(mode: Mode) -> None:
    assert matches_of("A", "a1 b2 a3", mode, within_s=0) == ["a1", "a3"]


# --- the window -------------------------------------------------------------------------------------------------------


def test_a_full_window_gives_up_the_newest_event_of_the_first_sequence_and_keeps_the_initial_one() -> None:
    #  time     1   2   3   4   5
    #  events   a   b   b   b   d        room for three
    #  window   a   b   b
    #               b4 takes the place of b3
    found = matches_of("A B+ D", "a1 b2 b3 b4 d5", UNRESTRICTED, within_s=9, hold=3)
    assert found == ["a1 b2 d5", "a1 b4 d5", "1 dropped"]


def test_initial_events_are_given_up_last_and_the_oldest_first() -> None:
    #  time     1   2   3   4   5   6   7        room for three
    #  events   a   b   a   a   a   b   d
    #  window   a1  b2  a3                a4 takes the place of b2, a5 that of a1, b6 that of a3
    window = run("A B D", "a1 b2 a3 a4 a5 b6", UNRESTRICTED, within_s=9, hold=3).window
    assert window.time[:3].tolist() == [4 * S, 5 * S, 6 * S]
    found = matches_of("A B D", "a1 b2 a3 a4 a5 b6 d7", UNRESTRICTED, within_s=9, hold=3)
    assert found == ["a4 b6 d7", "a5 b6 d7", "3 dropped"]


def test_an_event_whose_only_forerunner_had_to_go_is_given_up_too() -> None:
    #  time     1   2   3   4            room for three
    #  events   a   a   b   c
    #  window   a1  a2  b3               b3 goes for c4, which then follows nothing
    state = run("A B C D", "a1 a2 b3 c4", UNRESTRICTED, within_s=9, hold=3)
    assert (state.held, state.dropped) == (2, 2)


def test_events_out_of_time_leave_the_window_before_anything_is_given_up() -> None:
    #  time     1   2   … 8   9
    #  events   a   b     a   b
    #  within   [------]          b2 follows no a but a1, and goes with it
    state = run("A B D", "a1 b2 a8 b9", UNRESTRICTED, within_s=6, hold=2)
    assert (state.held, state.dropped) == (2, 0)


@pytest.mark.parametrize("mode", list(Mode))
def test_time_alone_empties_the_window(mode: Mode) -> None:
    state = run("A B D", "a1 b2", mode, within_s=6)
    scanner = NodeScan(pattern_of("A B D", mode, within_s=6))
    nothing = np.empty(0, np.int64)
    assert scanner.step(state, np.empty((3, 0), bool), nothing, nothing, 7 * S).state.held == 2
    assert scanner.step(state, np.empty((3, 0), bool), nothing, nothing, 7 * S + 1).state.held == 0


@pytest.mark.parametrize("mode", list(Mode))
def test_an_event_that_no_sequence_waits_for_is_rejected(mode: Mode) -> None:
    assert run("A B D", "b1 d2 c3", mode, within_s=6).held == 0


# --- the choice -------------------------------------------------------------------------------------------------------


def test_a_seed_sends_one_combination_for_each_completing_event() -> None:
    events = "a1 b2 a3 c4 c5 b6 d7 d7"
    all_of_them = matches_of("A B+ D", events, UNRESTRICTED, within_s=6)
    for seed in range(20):
        chosen = matches_of("A B+ D", events, UNRESTRICTED, within_s=6, seed=seed)
        assert len(chosen) == 2
        assert set(chosen) <= set(all_of_them)
        assert chosen == matches_of("A B+ D", events, UNRESTRICTED, within_s=6, seed=seed)


def test_each_combination_is_chosen_about_as_often_as_the_others() -> None:
    #  time     1 1 1   2   3   4   5 5 5 …
    #  events   a a a   b   a   b   d d d …      seven combinations: three with b2, three with a1 and b4, one with a3
    events = "a1 a1 a1 b2 a3 b4" + " d5" * 3000
    chosen = matches_of("A B D", events, UNRESTRICTED, within_s=6, seed=5)
    times = [chosen.count(match) for match in sorted(set(chosen))]
    assert sorted(set(chosen)) == ["a1 b2 d5", "a1 b4 d5", "a3 b4 d5"]
    assert [round(count / 3000 * 7) for count in times] == [3, 3, 1]


def test_what_one_event_completes_beyond_the_bound_is_cut_and_counted() -> None:
    #  events   a × 1100, b × 1100, d       1,210,000 combinations
    events = "a1 " * 1100 + "b2 " * 1100 + "d3"
    answers = step_all(
        NodeScan(pattern_of("A B D", UNRESTRICTED, within_s=6, hold=4000)), *arrays("A B D", events)
    )
    assert len(answers.matches) == node.MOST_AT_ONCE
    assert answers.state.cut == 210_000


# --- against an enumeration, in any number of steps -------------------------------------------------------------------


@st.composite
def workloads(draw: st.DrawFn) -> tuple[int, int, list[int], list[tuple[bool, ...]], list[int]]:
    """Elements, within, times, for each row which elements it satisfies, and where steps end."""
    elements = draw(st.integers(1, 4))
    rows = draw(st.integers(0, 14))
    gaps = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    one = st.tuples(*[st.booleans()] * elements)
    holds = draw(st.lists(one, min_size=rows, max_size=rows))
    cuts = draw(st.lists(st.integers(0, rows), max_size=4))
    return elements, draw(st.integers(0, 12)), np.cumsum(gaps).tolist(), holds, sorted(cuts)


@pytest.mark.parametrize("mode", list(Mode))
@given(work=workloads(), hold=st.integers(3, 8))
def test_the_scan_gives_what_an_enumeration_gives_however_rows_are_split(
    mode: Mode, work: tuple[int, int, list[int], list[tuple[bool, ...]], list[int]], hold: int
) -> None:
    elements, within, times, holds, cuts = work
    roomy = NodePattern(elements, np.zeros(elements, bool), within, mode, hold=64)
    expected = ENUMERATIONS[mode](elements, within, times, holds)
    assert in_steps(roomy, times, holds, cuts)[0] == expected
    # A small window loses matches, and those it loses do not depend on the steps either.
    for pattern in (
        NodePattern(elements, np.ones(elements, bool), within, mode, hold=hold),
        NodePattern(elements, np.ones(elements, bool), within, mode, hold=hold, seed=3),
    ):
        found = in_steps(pattern, times, holds, cuts)
        assert found == in_steps(pattern, times, holds, [])
        assert set(found[0]) <= set(expected)


def enumerate_all(
    elements: int, within: int, times: Sequence[int], holds: Sequence[Sequence[bool]]
) -> list[tuple[int, ...]]:
    """Every increasing choice of rows that satisfies element by element, by last row and then by rows."""
    found = [
        rows
        for rows in combinations(range(len(times)), elements)
        if all(holds[row][element] for element, row in enumerate(rows))
        and times[rows[-1]] - times[rows[0]] <= within
    ]
    return sorted(found, key=lambda rows: (rows[-1], rows))


def enumerate_first(
    elements: int, within: int, times: Sequence[int], holds: Sequence[Sequence[bool]]
) -> list[tuple[int, ...]]:
    """From each start on: the earliest row for each next element; the search goes on behind the match or its time."""
    found, begin = [], 0
    while (first := _earliest(0, begin, len(times), holds)) is not None:
        late = next((i for i in range(first, len(times)) if times[i] - times[first] > within), len(times))
        bound, row = [first], first
        for element in range(1, elements):
            following = _earliest(element, row + 1, late, holds)
            if following is None:
                break
            bound.append(row := following)
        if len(bound) == elements:
            found.append(tuple(bound))
        begin = bound[-1] + 1 if len(bound) == elements else late
    return found


def enumerate_recent(
    elements: int, within: int, times: Sequence[int], holds: Sequence[Sequence[bool]]
) -> list[tuple[int, ...]]:
    """The rules, word by word, over a list of bound rows."""
    found: list[tuple[int, ...]] = []
    bound: list[int] = []
    for row, time in enumerate(times):
        if bound and time - times[bound[0]] > within:
            bound = []
        if holds[row][len(bound)]:
            bound = [*bound, row]
        elif bound and holds[row][len(bound) - 1]:
            bound = [*bound[:-1], row]
        if len(bound) == elements:
            found.append(tuple(bound))
            bound = []
    return found


ENUMERATIONS = {UNRESTRICTED: enumerate_all, FIRST: enumerate_first, RECENT: enumerate_recent}


def _earliest(element: int, begin: int, end: int, holds: Sequence[Sequence[bool]]) -> int | None:
    return next((row for row in range(begin, end) if holds[row][element]), None)


# --- how the tests speak ----------------------------------------------------------------------------------------------


def matches_of(
    pattern: str, events: str, mode: Mode, *, within_s: int, hold: int = 64, seed: int | None = None
) -> list[str]:
    """The matches, and how many events were dropped if any were."""
    scanner = NodeScan(pattern_of(pattern, mode, within_s=within_s, hold=hold, seed=seed))
    answers = step_all(scanner, *arrays(pattern, events))
    names = events.split()
    matches = [" ".join(names[row] for row in match) for match in answers.matches.tolist()]
    assert answers.ends.tolist() == [int(match.split()[-1][1:]) * S for match in matches]
    return matches + ([f"{answers.dropped} dropped"] if answers.dropped else [])


def run(pattern: str, events: str, mode: Mode, *, within_s: int, hold: int = 64) -> NodeState:
    """The state behind the last event, with no time passed since."""
    holds, time, row = arrays(pattern, events)
    scanner = NodeScan(pattern_of(pattern, mode, within_s=within_s, hold=hold))
    return scanner.step(scanner.start(), holds, time, row, int(time[-1])).state


def scan(mode: Mode, holds: np.ndarray, times: list[int]) -> list[list[int]]:
    """The matches as rows, within 6 s."""
    scanner = NodeScan(NodePattern(len(holds), np.zeros(len(holds), bool), 6 * S, mode))
    return step_all(scanner, holds, np.array(times, np.int64) * S, np.arange(len(times))).matches.tolist()


def pattern_of(
    text: str, mode: Mode, *, within_s: int, hold: int = 64, seed: int | None = None
) -> NodePattern:
    names = text.split()
    repeats = np.array([name.endswith("+") for name in names])
    return NodePattern(len(names), repeats, within_s * S, mode, hold, seed)


def arrays(pattern: str, events: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """`holds`, `time` and `row` of events like "a1 b2"."""
    names = events.split()
    holds = [[event[0] == element[0].lower() for event in names] for element in pattern.split()]
    time = np.array([int(event[1:]) for event in names], np.int64) * S
    return np.array(holds, bool), time, np.arange(len(names))


def step_all(scanner: NodeScan, holds: np.ndarray, time: np.ndarray, row: np.ndarray) -> node.NodeStep:
    return scanner.step(scanner.start(), holds, time, row, END)


def in_steps(
    pattern: NodePattern, times: Sequence[int], holds: Sequence[Sequence[bool]], cuts: Sequence[int]
) -> tuple[list[tuple[int, ...]], int]:
    """Matches and drops over several steps, the state saved and loaded between them, the inputs never changed."""
    scanner = NodeScan(pattern)
    satisfied = np.array(holds, bool).reshape(len(times), pattern.elements).T
    satisfied.setflags(write=False)
    time, row = np.array(times, np.int64), np.arange(len(times), dtype=np.int64)
    state, found, dropped = scanner.start(), [], 0
    borders = [0, *cuts, len(times)]
    for start, stop in pairwise(borders):
        part = slice(start, stop)
        for array in state.window:
            array.setflags(write=False)
        now = times[stop] if stop < len(times) else (END if times else BEGINNING)
        state, matches, ends, lost = scanner.step(state, satisfied[:, part], time[part], row[part], now)
        assert ends.tolist() == [times[match[-1]] for match in matches.tolist()]
        found += [tuple(match) for match in matches.tolist()]
        dropped += lost
        state = scanner.load(scanner.save(state))
    assert state.dropped == dropped
    return found, dropped
