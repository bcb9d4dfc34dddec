"""Time follows honest rows and does not follow liars."""

import numpy as np

from headwater.hosts.zone.clock import LEAP, MOST_CLUSTERS, InputClock, clusters_of, merge_clusters
from headwater.model import BEGINNING, SECOND

DAY = LEAP
NOW = 1_000 * DAY


def after(clock: InputClock, *times: int) -> InputClock:
    return clock.after(clusters_of(np.array(times, np.int64)))


def started() -> InputClock:
    return after(InputClock(), *range(NOW, NOW + 5))


def test_an_input_begins_at_its_fifth_row() -> None:
    clock = InputClock()
    for i in range(4):
        clock = after(clock, NOW + i * SECOND)
        assert clock.reached == BEGINNING
    clock = after(clock, NOW + 4 * SECOND)
    assert clock.reached == NOW + 4 * SECOND
    assert len(clock.held) == 0


def test_a_row_years_ahead_does_not_move_time() -> None:
    clock = after(started(), NOW + 10, NOW + 3 * 365 * DAY)
    assert clock.reached == NOW + 10
    clock = after(clock, NOW + 20)
    assert clock.reached == NOW + 20
    assert clock.held.tolist() == [[NOW + 3 * 365 * DAY, NOW + 3 * 365 * DAY, 1, 1]]


def test_the_first_row_may_lie() -> None:
    clock = after(InputClock(), NOW + 4 * 365 * DAY)
    clock = after(clock, *range(NOW, NOW + 4))
    assert clock.reached == NOW + 3
    assert clock.held[:, 2].tolist() == [1]


def test_liars_in_the_middle_of_a_file_are_contradicted_by_the_rows_after_them() -> None:
    lies = [NOW + 365 * DAY + i for i in range(20)]
    clock = after(InputClock(), *range(NOW, NOW + 30), *lies, *range(NOW + 30, NOW + 60))
    assert clock.reached == NOW + 59
    assert clock.held[:, 2].tolist() == [20]


def test_a_real_gap_is_believed_at_the_fifth_row_beyond_it() -> None:
    later = NOW + 400 * DAY
    clock = started()
    for i in range(4):
        clock = after(clock, later + i)
        assert clock.reached == NOW + 4
    clock = after(clock, later + 4)
    assert clock.reached == later + 4
    assert len(clock.held) == 0


def test_a_real_gap_inside_a_file_is_believed_however_much_came_before_it() -> None:
    later = NOW + 400 * DAY
    clock = after(InputClock(), *range(NOW, NOW + 1000), *range(later, later + 5))
    assert clock.reached == later + 4


def test_a_gap_is_believed_even_when_a_liar_was_held_before() -> None:
    clock = after(started(), NOW + 5000 * DAY)
    later = NOW + 400 * DAY
    clock = after(clock, *range(later, later + 5))
    assert clock.reached == later + 4
    assert clock.held[:, :3].tolist() == [[NOW + 5000 * DAY, NOW + 5000 * DAY, 1]]


def test_one_broken_clock_among_several_stations_is_held_for_good() -> None:
    clock = started()
    for i in range(1, 50):
        clock = after(clock, NOW + i * SECOND, NOW + i * SECOND + 1, NOW + 365 * DAY + i * SECOND)
        assert clock.reached == NOW + i * SECOND + 1
    assert clock.held[:, 2].sum() == 49


def test_sparse_rows_do_not_freeze_time() -> None:
    clock = started()
    for week in range(1, 11):
        clock = after(clock, NOW + week * 7 * DAY)
    assert clock.reached == NOW + 6 * 7 * DAY


#  What came, and then silence for PATIENCE ticks:
#
#  event_time   now          + 4 years
#  rows         a b                          a and b agree: time goes to b
#  rows                          x           one row: nothing moves, and nothing is late
#  rows         a                x           two that do not agree: nothing moves
#  rows         a b              x           time goes to b; x is held for as long as it is alone
#  rows         c d (at last)    x y         c and d came after x and y and speak against them: time goes to d, for good
#  rows         a b              x y         nobody speaks against x and y: b, and y after another silence, as after a gap


FAR = NOW + 4 * 365 * DAY


def test_two_first_rows_that_agree_are_believed_after_silence() -> None:
    clock = after(InputClock(), NOW, NOW + SECOND)
    assert clock.reached == BEGINNING
    clock = clock.after_silence()
    assert clock.reached == NOW + SECOND
    assert len(clock.held) == 0


def test_one_row_is_never_believed_for_silence_alone() -> None:
    for first in (InputClock(), started()):
        clock = after(first, FAR)
        assert clock.after_silence() is clock
    clock = after(after(InputClock(), FAR), NOW)
    assert clock.after_silence() is clock
    clock = after(clock, NOW + SECOND).after_silence()
    assert clock.reached == NOW + SECOND
    assert clock.held[:, :3].tolist() == [[FAR, FAR, 1]]
    assert clock.after_silence() is clock


def test_silence_does_not_bear_out_what_later_rows_contradicted() -> None:
    liars = after(InputClock(), FAR, FAR + SECOND)
    for clock in (after(liars, NOW, NOW + SECOND), after(after(liars, NOW), NOW + SECOND)):
        believed = clock.after_silence()
        assert believed.reached == NOW + SECOND
        assert believed.after_silence() is believed
    clock = after(after(started(), FAR, FAR + SECOND), NOW + SECOND)
    assert clock.after_silence() is clock


def test_rows_beyond_a_gap_are_believed_after_a_silence_of_their_own() -> None:
    clock = after(InputClock(), NOW, NOW + SECOND, FAR, FAR + SECOND)
    clock = clock.after_silence()
    assert clock.reached == NOW + SECOND
    clock = clock.after_silence()
    assert clock.reached == FAR + SECOND
    assert len(clock.held) == 0


def test_a_first_row_of_long_ago_does_not_keep_silence_from_bearing_out_the_others() -> None:
    clock = after(after(InputClock(), SECOND), NOW, NOW + SECOND).after_silence()
    assert clock.reached == NOW + SECOND
    assert len(clock.held) == 0


def test_a_liar_from_before_does_not_speak_for_or_against_rows_beyond_a_gap() -> None:
    later = NOW + 30 * DAY
    clock = after(after(started(), FAR), *range(NOW, NOW + 100))
    clock = after(clock, later, later + SECOND).after_silence()
    assert clock.reached == later + SECOND
    assert clock.held[:, :3].tolist() == [[FAR, FAR, 1]]


def test_clusters_are_runs_without_a_gap_longer_than_a_leap() -> None:
    times = np.array([5 * DAY, 0, DAY, 5 * DAY + 1, 2 * DAY], np.int64)
    assert clusters_of(times).tolist() == [[0, 2 * DAY, 3, 0], [5 * DAY, 5 * DAY + 1, 2, 3]]
    parts = [clusters_of(times[:2]), clusters_of(times[2:])]
    assert merge_clusters(parts)[:, :3].tolist() == clusters_of(times)[:, :3].tolist()


def test_the_number_of_held_clusters_is_bounded() -> None:
    many = clusters_of(np.arange(0, 3 * MOST_CLUSTERS) * 10 * DAY)
    assert len(many) == MOST_CLUSTERS
    assert many[:, 2].sum() == 3 * MOST_CLUSTERS
