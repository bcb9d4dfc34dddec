"""Rows come out in order, late ones are told, and nothing depends on how they were batched."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.hosts.zone import Arrivals, Program, fetch_from, load_zone, save_zone
from headwater.hosts.zone import queue as queues
from headwater.hosts.zone.clock import LEAP, clusters_of
from headwater.hosts.zone.queue import Queue, QueueState, Release, Unit
from headwater.model import BEGINNING, END, SECOND, Column, ColumnType, Rows, StreamSchema, strings
from headwater.query.planning.plan import compile_text

SCHEMA = StreamSchema(
    "weather",
    (("station", ColumnType.STRING), ("at", ColumnType.TIMESTAMP), ("value", ColumnType.DOUBLE)),
    time="at",
    key="station",
    late_us=10 * SECOND,
)
COLUMNS = ("station", "at", "value")
START = 1_000_000 * SECOND


def rows(*items: tuple[str, float, float]) -> Rows:
    return Rows.of(
        {
            "station": strings([key for key, _, _ in items]),
            "at": Column.of(ColumnType.TIMESTAMP, [START + round(second * SECOND) for _, second, _ in items]),
            "value": Column.of(ColumnType.DOUBLE, [value for _, _, value in items]),
        }
    )


def unit(number: int, *items: tuple[str, float, float], source: str = "weather") -> Unit:
    these = rows(*items)
    return Unit(source, number, 0, clusters_of(these["at"].values), these)


def first_rows(source: str = "weather") -> Unit:
    """Enough rows, long ago, for the input's time to be believed."""
    return unit(-1, *((source[0], -60.0 + i / 10, 0.0) for i in range(5)), source=source)


def seconds(these: Rows) -> list[tuple[str, float]]:
    return [(row["station"], (row["at"] - START) / SECOND) for row in these.tolist() if row["at"] >= START]


def run(queue: Queue, *steps: list[Unit]) -> tuple[QueueState, list[Release]]:
    state, releases = begun(queue), []
    for step in steps:
        state, release = queue.step(state, step)
        releases.append(release)
    return state, releases


def begun(queue: Queue) -> QueueState:
    return queue.step(queue.start(), [first_rows(name) for name in queue.inputs], now=0)[0]


def test_rows_are_handed_over_in_order_once_the_watermark_has_passed_them() -> None:
    #  event_time   0    5   12   20       LATE 10
    #  watermark after file 0: 10, so 0 and 5 go; 12 and 20 wait
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    state, (first,) = run(queue, [unit(0, ("b", 5, 1), ("a", 20, 1), ("c", 0, 1), ("d", 12, 1))])
    assert seconds(first.rows) == [("c", 0), ("b", 5)]
    assert first.watermark == START + 10 * SECOND
    _, last = queue.step(state, [], end=True)
    assert seconds(last.rows) == [("d", 12), ("a", 20)]
    assert last.watermark == END


def test_equal_times_go_by_key_and_then_by_the_other_columns() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    _, releases = run(queue, [unit(0, ("b", 0, 1), ("a", 0, 2), ("a", 0, 1), ("z", 60, 0), ("z", 61, 0))])
    assert [(r["station"], r["value"]) for r in releases[0].rows.tolist()][-3:] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
    ]


def test_late_is_decided_by_file_and_not_by_batch() -> None:
    #  file 0 reaches 30, so the border is 20: in file 1, 19 is late and 20 is not
    one = unit(0, ("a", 28, 0), ("a", 29, 0), ("a", 30, 0))
    two = unit(1, ("b", 19, 0), ("b", 20, 0), ("b", 50, 0))
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    _, together = run(queue, [one, two])
    _, apart = run(queue, [one], [two])
    assert seconds(together[0].late) == seconds(apart[1].late) == [("b", 19)]


def test_a_file_is_not_late_to_itself() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    _, (release,) = run(queue, [unit(0, ("a", 100, 0), ("a", 0, 0), ("a", 101, 0))])
    assert release.late.count == 0
    assert seconds(release.rows) == [("a", 0)]


def test_the_slowest_input_holds_the_watermark() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["north", "south"])
    fast = unit(0, ("a", 0, 0), ("a", 1, 0), ("a", 100, 0), source="north")
    slow = unit(0, ("b", 0, 0), ("b", 1, 0), ("b", 40, 0), source="south")
    state, (first,) = run(queue, [fast])
    assert seconds(first.rows) == []
    _, second = queue.step(state, [slow])
    assert second.watermark == START + 30 * SECOND
    assert seconds(second.rows) == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_an_idle_input_stops_holding_the_others_back() -> None:
    schema = StreamSchema("weather", SCHEMA.columns, time="at", key="station", idle_us=60 * SECOND)
    queue = Queue(schema, COLUMNS, ["north", "south"])
    fast = unit(0, ("a", 0, 0), ("a", 1, 0), ("a", 100, 0), source="north")
    slow = unit(0, ("b", 0, 0), ("b", 1, 0), ("b", 40, 0), source="south")
    state, _ = queue.step(begun(queue), [fast, slow], now=0)
    newer = unit(1, ("a", 200, 0), source="north")
    state, held = queue.step(state, [newer], now=50 * SECOND)
    assert held.watermark == START + 40 * SECOND
    state, freed = queue.step(state, [unit(2, ("a", 201, 0), source="north")], now=70 * SECOND)
    assert freed.watermark == START + 201 * SECOND
    _, back = queue.step(state, [unit(1, ("b", 41, 0), source="south")], now=71 * SECOND)
    assert seconds(back.late) == [("b", 41)]


def test_the_only_input_of_a_stream_is_the_same_by_any_clock_and_by_none() -> None:
    schema = StreamSchema("weather", SCHEMA.columns, time="at", key="station", idle_us=60 * SECOND)
    queue = Queue(schema, COLUMNS, ["weather"])
    arrived = [unit(n, ("a", 40 * n, 0), ("b", 40 * n + 1, 0)) for n in range(5)]
    runs = []
    for clock in ([None] * 5, [0, 1, 2, 3, 4], [0, 3600, 7200, 0, 90]):
        state, watermarks, late = begun(queue), [], []
        for piece, now in zip(arrived, clock, strict=True):
            state, release = queue.step(state, [piece], now=None if now is None else now * SECOND)
            watermarks.append(release.watermark)
            late += seconds(release.late)
        runs.append((watermarks, late))
    assert runs[0] == runs[1] == runs[2]
    assert runs[0][0][-1] == START + 161 * SECOND


def test_when_all_inputs_are_idle_the_clock_alone_frees_what_the_slowest_held_back() -> None:
    schema = StreamSchema("weather", SCHEMA.columns, time="at", key="station", idle_us=60 * SECOND)
    queue = Queue(schema, COLUMNS, ["north", "south"])
    fast = unit(0, ("a", 0, 0), ("a", 1, 0), ("a", 100, 0), source="north")
    slow = unit(0, ("b", 0, 0), ("b", 1, 0), ("b", 40, 0), source="south")
    state, held = queue.step(begun(queue), [fast, slow], now=0)
    assert held.watermark == START + 40 * SECOND
    state, still = queue.step(state, [], now=60 * SECOND)
    assert still.watermark == START + 40 * SECOND
    _, freed = queue.step(state, [], now=61 * SECOND)
    assert freed.watermark == START + 100 * SECOND


def test_an_exact_repeat_is_one_row_where_the_stream_says_so() -> None:
    schema = StreamSchema("weather", SCHEMA.columns, time="at", key="station", deduplicate=True)
    queue = Queue(schema, COLUMNS, ["weather"])
    _, releases = run(queue, [unit(0, ("a", 0, 1), ("a", 0, 1), ("a", 0, 2), ("z", 50, 0))])
    assert [r["value"] for r in releases[0].rows.tolist() if r["station"] == "a"] == [1, 2]
    assert releases[0].repeated.count == 1


def test_a_row_years_ahead_waits_and_makes_nobody_late() -> None:
    future = 5 * 365 * LEAP / SECOND
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    state, releases = run(
        queue,
        [unit(0, ("a", 0, 0), ("a", 1, 0), ("a", 2, 0), ("x", future, 0))],
        [unit(1, ("a", 30, 0))],
    )
    assert [release.late.count for release in releases] == [0, 0]
    assert releases[1].watermark == START + 20 * SECOND
    assert releases[1].held.count == 1
    _, last = queue.step(state, [], end=True)
    assert seconds(last.rows) == [("a", 30), ("x", future)]


def test_rows_far_ahead_are_given_up_beyond_a_bound(monkeypatch) -> None:
    monkeypatch.setattr(queues, "MOST_HELD", 2)
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    far = 100 * LEAP / SECOND
    honest = [("a", float(i), 0.0) for i in range(10)]
    _, (release,) = run(
        queue, [unit(0, *honest, ("x", far, 0), ("x", far + 2, 0), ("x", far + 1, 0), ("a", 10, 0))]
    )
    assert seconds(release.given_up) == [("x", far + 2)]
    assert release.held.count == 2


ITEM = st.tuples(st.sampled_from("abc"), st.integers(0, 40).map(float), st.integers(0, 2).map(float))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.lists(ITEM, min_size=1, max_size=6), min_size=1, max_size=6), st.data())
def test_any_batching_of_the_same_files_gives_the_same_rows_and_the_same_late_rows(files, data) -> None:
    units = [unit(i, *items) for i, items in enumerate(files)]
    queue = Queue(SCHEMA, COLUMNS, ["weather"])

    def outcome(cuts: list[int]) -> tuple[list, list]:
        state, handed, late = queue.start(), [], []
        for start, stop in zip([0, *cuts], [*cuts, len(units)], strict=True):
            state, release = queue.step(state, units[start:stop])
            handed += release.rows.tolist()
            late += release.late.tolist()
        _, release = queue.step(state, [], end=True)
        return handed + release.rows.tolist(), late

    cuts = sorted(data.draw(st.lists(st.integers(0, len(units)), max_size=4)))
    whole_handed, whole_late = outcome([])
    handed, late = outcome(cuts)
    assert handed == whole_handed
    assert late == whole_late
    ordered = [(r["at"], r["station"], r["value"]) for r in handed]
    assert ordered == sorted(ordered)
    assert len(handed) + len(late) == sum(len(items) for items in files)


def test_a_step_changes_neither_state_nor_rows() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    came = unit(0, ("b", 5, 1), ("a", 20, 1), ("c", 0, 1))
    for column in came.rows.columns.values():
        column.values.setflags(write=False)
    state, _ = queue.step(queue.start(), [came])
    again, first = queue.step(state, [unit(1, ("a", 60, 1))])
    twice, second = queue.step(state, [unit(1, ("a", 60, 1))])
    assert first.rows.tolist() == second.rows.tolist()
    assert np.array_equal(again.waiting.outline()["chunks"], twice.waiting.outline()["chunks"])


def test_time_that_ticks_goes_on_with_the_clock_while_nothing_comes() -> None:
    #  event_time   0    5              LATE 10, both came at 100 s by the clock
    #  by the clock 100 s: watermark −5;  112 s: 12 s later, 7;  120 s: 15
    queue = Queue(SCHEMA, COLUMNS, ["weather"], tick_us=2 * SECOND)
    state = begun(queue)
    state, first = queue.step(state, [unit(0, ("a", 0.0, 1.0), ("a", 5.0, 2.0))], now=100 * SECOND)
    assert (first.watermark - START) / SECOND == -5
    state, second = queue.step(state, [], now=112 * SECOND)
    assert (second.watermark - START) / SECOND == 7
    assert seconds(second.rows) == [("a", 0.0), ("a", 5.0)]
    state, third = queue.step(state, [unit(1, ("a", 6.0, 3.0), ("a", 8.0, 4.0))], now=113 * SECOND)
    assert seconds(third.late) == [("a", 6.0)]  # time had gone on to 7
    assert (third.watermark - START) / SECOND == 7  # rows came: no tick, and never back
    _, fourth = queue.step(state, [], now=133 * SECOND)
    assert (fourth.watermark - START) / SECOND == 18  # from the last row on


def test_a_run_that_was_stopped_for_long_goes_on_where_it_was() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"], tick_us=2 * SECOND)
    state, _ = queue.step(begun(queue), [unit(0, ("a", 5.0, 2.0))], now=100 * SECOND)
    state, later = queue.step(state, [], now=9_000 * SECOND)
    assert (later.watermark - START) / SECOND == -5 + 10 * 2  # ten ticks at most
    _, then = queue.step(state, [], now=9_002 * SECOND)
    assert (then.watermark - START) / SECOND == -5 + 11 * 2


def test_without_ticks_time_stands_still_while_nothing_comes() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    state, _ = queue.step(begun(queue), [unit(0, ("a", 5.0, 2.0))], now=100 * SECOND)
    _, later = queue.step(state, [], now=900 * SECOND)
    assert (later.watermark - START) / SECOND == -5


def test_first_rows_that_agree_are_believed_after_five_silent_ticks() -> None:
    #  by the clock   100 s   103 s   108 s   112 s   113 s   123 s     LATE 10, a tick of 2 s
    #  event_time     0       1
    #  silence                [---------------------- five ticks: the two are believed, and time goes on from 1
    #  watermark      -       -       -       -       -9      1
    queue = Queue(SCHEMA, COLUMNS, ["weather"], tick_us=2 * SECOND)
    state, _ = queue.step(queue.start(), [unit(0, ("a", 0.0, 1.0))], now=100 * SECOND)
    state, _ = queue.step(state, [unit(1, ("b", 1.0, 1.0))], now=103 * SECOND)
    for now in (108, 112):
        state, release = queue.step(state, [], now=now * SECOND)
        assert (release.watermark, release.held.count) == (BEGINNING, 2)
    state, release = queue.step(state, [], now=113 * SECOND)
    assert ((release.watermark - START) / SECOND, release.held.count) == (-9, 0)
    state, release = queue.step(state, [], now=123 * SECOND)
    assert seconds(release.rows) == [("a", 0.0)]
    assert (release.watermark - START) / SECOND == 1


def test_a_first_row_that_lies_is_held_through_any_silence_and_makes_nobody_late() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"], tick_us=2 * SECOND)
    future = 5 * 365 * LEAP / SECOND
    state, _ = queue.step(queue.start(), [unit(0, ("x", future, 0.0))], now=100 * SECOND)
    for now in range(102, 500, 2):
        state, release = queue.step(state, [], now=now * SECOND)
        assert (release.watermark, release.held.count) == (BEGINNING, 1)
    state, release = queue.step(state, [unit(1, ("a", 0.0, 1.0), ("a", 1.0, 1.0))], now=500 * SECOND)
    assert release.late.count == 0
    state, release = queue.step(state, [], now=510 * SECOND)
    assert ((release.watermark - START) / SECOND, release.held.count) == (-9, 1)


def test_rows_that_come_begin_the_silence_anew() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"], tick_us=2 * SECOND)
    state = queue.start()
    for number, now in enumerate((100, 109, 118)):
        came = [unit(number, ("a", float(number), 1.0))]
        state, release = queue.step(state, came, now=now * SECOND)
        assert release.watermark == BEGINNING
    state, release = queue.step(state, [], now=127 * SECOND)
    assert release.watermark == BEGINNING
    _, release = queue.step(state, [], now=128 * SECOND)
    assert (release.watermark - START) / SECOND == 2 - 10


def test_without_ticks_silence_bears_out_nothing() -> None:
    queue = Queue(SCHEMA, COLUMNS, ["weather"])
    state, _ = queue.step(queue.start(), [unit(0, ("a", 0.0, 1.0), ("b", 1.0, 1.0))], now=100 * SECOND)
    _, release = queue.step(state, [], now=9_000 * SECOND)
    assert (release.watermark, release.held.count) == (BEGINNING, 2)


def test_silence_is_remembered_over_a_restart_and_a_step_run_again() -> None:
    text = "CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, value DOUBLE) LATE 10 SECONDS; "
    program = Program(
        compile_text(text + "CREATE QUERY all_of_it AS SELECT * FROM weather;"), tick_us=2 * SECOND
    )
    came = unit(0, ("a", 0.0, 1.0), ("b", 1.0, 1.0))
    state, _ = program.step(program.start(), Arrivals({"weather": [came]}, now=100 * SECOND))
    emitted = []
    for now in range(102, 128, 2):
        step = Arrivals({"weather": []}, now=now * SECOND)
        first, second = program.step(state, step), program.step(state, step)
        assert save_zone(program, first[0]).head == save_zone(program, second[0]).head
        emitted += [(now, row["station"]) for block in first[1].answers for row in block.tolist()]
        saved = save_zone(program, first[0])
        state = load_zone(program, saved.head, fetch_from(saved.cells()))
    # Believed at 110, when the watermark is −9: it passes 0 at 120 and 1 at 122.
    assert emitted == [(120, "a"), (122, "b")]


def test_an_input_that_leaves_and_comes_back_holds_nobody_back_and_goes_on_where_it_was() -> None:
    both = Queue(SCHEMA, COLUMNS, ["north", "south"])
    state, _ = both.step(
        begun(both), [unit(0, ("n", 0, 1), source="north"), unit(0, ("s", 5, 1), source="south")]
    )
    alone = Queue(SCHEMA, COLUMNS, ["north"])
    state, release = alone.step(alone.adopt(state), [unit(1, ("n", 60, 1), source="north")])
    assert (release.watermark - START) / SECOND == 50
    state, release = both.step(both.adopt(state), [unit(1, ("s", 55, 1), ("s", 45, 2), source="south")])
    assert seconds(release.late) == [("s", 45)]
    assert state.clocks["south"].reached == START + 55 * SECOND, "one row is enough: it is no new input"
    assert (release.watermark - START) / SECOND == 50
