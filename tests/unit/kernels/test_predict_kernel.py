"""What PREDICT answers, worked out by hand: when answers begin and end, when they are told, cut and withdrawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwater.kernels.predict import columns, pair_queries
from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Column,
    ColumnType,
    Rows,
    StreamSchema,
    content_ids,
)
from tests.laws.kernel_laws import restored

COLUMNS = (
    ("sensor", ColumnType.STRING),
    ("at", ColumnType.TIMESTAMP),
    ("x", ColumnType.DOUBLE),
    ("y", ColumnType.DOUBLE),
    ("x_slope", ColumnType.DOUBLE),
    ("y_slope", ColumnType.DOUBLE),
    ("tolerance", ColumnType.DOUBLE),
    ("heartbeat", ColumnType.DOUBLE),
)
SCHEMA = StreamSchema("updates", COLUMNS, "at", "sensor")
NEAR = Difference(0, 0, 1, 0, Comparator.LESS_EQUAL, 1.0)


def alias(name: str, source: int | None = None) -> Alias:
    return Alias(name, source, ("x", "y"), ("x_slope", "y_slope"), "tolerance", "heartbeat")


PAIRS = PredictQuery(
    "q", "print", 0, None, (alias("a"), alias("b")), (NEAR,), 0, Certainty.LINE, 0.0,
    False, None, None, None, GiveUp.LEAST, 0, False, None,
)  # fmt: skip
COLD = replace(PAIRS, aliases=(alias("a"),), conditions=(Value(0, 0, Comparator.LESS, 5.0),))


def update(sensor, at, x, slope=0.0, y=0.0, y_slope=0.0, tolerance=0.0, heartbeat=20.0):
    return (sensor, at, x, y, slope, y_slope, tolerance, heartbeat)


def rows(*updates, schema: StreamSchema = SCHEMA) -> Rows:
    lists = list(zip(*updates, strict=True)) if updates else [[]] * len(schema.columns)
    return Rows.of(
        {
            name: Column.of(kind, [round(t * SECOND) for t in values] if name == "at" else values)
            for (name, kind), values in zip(schema.columns, lists, strict=True)
        }
    )


def steps(kernel: PredictKernel, *parts, state=None):
    """Step with updates and watermarks (seconds, END: the end); the state, what is told, what is counted."""
    state = kernel.start(BEGINNING) if state is None else state
    answers, counts = [], {}
    for batch, watermark in parts:
        step = kernel.step(state, batch, END if watermark == END else round(watermark * SECOND))
        state = step.state
        for block in step.answers:
            answers += block.rows.tolist()
        for name, amount in step.counts.items():
            counts[name] = counts.get(name, 0) + amount
    return state, answers, counts


def answers_of(query: PredictQuery, *updates, at: float | int = END, **options) -> list[dict]:
    return steps(PredictKernel(SCHEMA, [query], **options), (rows(*updates), at))[1]


def spans(answers: list[dict]) -> list[tuple]:
    """Time, keys, begins and ends, in seconds."""
    return [
        (
            row["event_time"] / SECOND,
            *(row[name] for name in row if name.endswith("key")),
            row["begins"] / SECOND,
            row["ends"] / SECOND,
        )
        for row in answers
    ]


MEETING = (update("s1", 0, 0.0), update("s2", 0, 10.0, -1.0))
"""The second sensor comes down to the first one at second 10: nearer than 1 from 9 to 11."""


def test_the_example_of_the_paper_becomes_true_at_one():
    query = replace(PAIRS, within_us=4 * SECOND)
    answers = answers_of(
        query, update("s1", 0, 0.0, 1.0, heartbeat=10), update("s2", 0, -3.0, 2.0, heartbeat=10)
    )
    assert spans(answers) == [(10, "s1", "s2", 1, 10)]
    assert [row["probability"] for row in answers] == [1.0]
    assert [row["withdrawn"] for row in answers] == [False]


def test_an_answer_begins_and_ends_without_new_rows_and_is_emitted_once_time_is_past_its_end():
    kernel = PredictKernel(SCHEMA, [PAIRS])
    state, answers, _ = steps(kernel, (rows(*MEETING), 5), (rows(), 9.5), (rows(), 11))
    assert answers == []
    _, answers, _ = steps(kernel, (rows(), 11.000001), (rows(), END), state=state)
    assert spans(answers) == [(11, "s1", "s2", 9, 11)]


def test_a_later_update_cuts_an_answer():
    assert spans(answers_of(PAIRS, *MEETING, update("s2", 10, 100.0))) == [(10, "s1", "s2", 9, 10)]


def test_a_later_update_may_leave_nothing():
    assert answers_of(PAIRS, *MEETING, update("s1", 5, 100.0)) == []


def test_of_two_updates_at_one_time_the_later_counts():
    first, second = update("s2", 0, 10.0, -1.0), update("s2", 0, 20.0, -1.0)
    assert spans(answers_of(PAIRS, MEETING[0], first, second)) == [(20, "s1", "s2", 19, 20)]
    tentative = answers_of(replace(PAIRS, tentative=True), MEETING[0], first, second)
    assert spans(tentative) == [(0, "s1", "s2", 19, 20)]


def test_tentative_answers_are_emitted_when_made_and_withdrawn_when_nothing_is_left():
    answers = answers_of(replace(PAIRS, tentative=True), *MEETING, update("s2", 5, 100.0))
    assert spans(answers) == [(0, "s1", "s2", 9, 11), (5, "s1", "s2", 9, 11)]
    assert [row["withdrawn"] for row in answers] == [False, True]
    assert len({row["match_id"] for row in answers}) == 1
    assert [row["probability"] for row in answers] == [1.0, 1.0]


def test_tentative_answers_are_cut():
    answers = answers_of(replace(PAIRS, tentative=True), *MEETING, update("s2", 10, 100.0))
    assert spans(answers) == [(0, "s1", "s2", 9, 11), (10, "s1", "s2", 9, 10)]
    assert [row["withdrawn"] for row in answers] == [False, False]


def test_a_change_after_the_end_of_a_tentative_answer_is_not_emitted():
    answers = answers_of(replace(PAIRS, tentative=True), *MEETING, update("s2", 12, 100.0))
    assert spans(answers) == [(0, "s1", "s2", 9, 11)]


@pytest.mark.parametrize(
    ("ahead", "changed", "expected"),
    [
        (3, None, [(6, False)]),
        (30, None, [(0, False)]),
        (3, 5, []),
        (3, 6, []),
        (3, 7, [(6, False), (7, True)]),
        (3, 10, [(6, False), (10, False)]),
        (0, None, [(9, False)]),
    ],
)
def test_ahead_emits_an_answer_some_time_before_it_begins_if_it_still_holds(ahead, changed, expected):
    query = replace(PAIRS, tentative=True, ahead_us=ahead * SECOND)
    updates = (*MEETING,) if changed is None else (*MEETING, update("s2", changed, 100.0))
    for watermarks in ([END], [3, 6, 6.5, 7.5, 10, END]):
        parts, after = [], -1.0
        for watermark in watermarks:
            until = np.inf if watermark == END else watermark
            parts.append((rows(*(u for u in updates if after <= u[1] < until)), watermark))
            after = until
        answers = steps(PredictKernel(SCHEMA, [query]), *parts)[1]
        assert [(row["event_time"] / SECOND, row["withdrawn"]) for row in answers] == expected


def test_every_tick_of_event_time_says_how_far_an_answer_is_certain():
    query = replace(PAIRS, every_us=SECOND)
    expected = [(9, "s1", "s2", 9, 9), (10, "s1", "s2", 9, 10), (11, "s1", "s2", 9, 11)]
    assert spans(answers_of(query, *MEETING)) == expected
    kernel = PredictKernel(SCHEMA, [query])
    state, answers, _ = steps(kernel, (rows(*MEETING), 9))
    assert answers == []
    state, answers, _ = steps(kernel, (rows(), 9.5), (rows(), 10), state=state)
    assert spans(answers) == expected[:1]
    _, answers, _ = steps(kernel, (rows(update("s2", 10, 100.0)), END), state=state)
    assert spans(answers) == [(10, "s1", "s2", 9, 10)]


def test_ticks_between_begin_and_end_only():
    fast = (update("s1", 0, 0.0), update("s2", 0, 10.5, -4.0))  # from 2.375 to 2.875
    assert spans(answers_of(replace(PAIRS, every_us=SECOND), *fast)) == [(2.875, "s1", "s2", 2.375, 2.875)]


def test_two_joins_hold_together():
    query = replace(
        PAIRS,
        aliases=(alias("a"), alias("b"), alias("c")),
        conditions=(NEAR, Difference(1, 0, 2, 0, Comparator.LESS_EQUAL, 1.0)),
    )
    answers = answers_of(query, *MEETING, update("s3", 0, 0.5))
    assert spans(answers) == [
        (10.5, "s1", "s2", "s3", 9, 10.5),
        (10.5, "s1", "s3", "s2", 8.5, 10.5),
        (10.5, "s2", "s3", "s1", 8.5, 10.5),
        (10.5, "s3", "s2", "s1", 9, 10.5),
        (11, "s2", "s1", "s3", 9, 11),
        (11, "s3", "s1", "s2", 9, 11),
    ]
    cut = answers_of(query, *MEETING, update("s3", 0, 0.5), update("s1", 10, 50.0))
    assert [span[0] for span in spans(cut)] == [10] * 6


def test_three_joins_in_a_circle():
    query = replace(
        PAIRS,
        aliases=(alias("a"), alias("b"), alias("c")),
        conditions=(
            NEAR,
            Difference(1, 0, 2, 0, Comparator.LESS_EQUAL, 1.0),
            Difference(2, 0, 0, 0, Comparator.LESS_EQUAL, 1.0),
        ),
    )
    answers = answers_of(query, *MEETING, update("s3", 3, 0.5))
    assert len(answers) == 6
    assert {span[-2:] for span in spans(answers)} == {(9, 10.5)}
    assert answers_of(query, *MEETING, update("s3", 0, -1.5)) == []


def test_value_conditions_of_one_alias_decide_who_takes_it():
    query = replace(PAIRS, conditions=(NEAR, Value(0, 0, Comparator.LESS, 5.0)))
    assert spans(answers_of(query, update("s1", 0, 5.2), update("s2", 0, 4.5))) == [(20, "s2", "s1", 0, 20)]
    assert spans(answers_of(query, update("s1", 0, 4.5), update("s2", 0, 5.2))) == [(20, "s1", "s2", 0, 20)]
    both = answers_of(query, update("s1", 0, 4.5), update("s2", 0, 4.2))
    assert spans(both) == [(20, "s1", "s2", 0, 20), (20, "s2", "s1", 0, 20)]
    same = replace(query, conditions=(*query.conditions, Value(1, 0, Comparator.LESS, 5.0)))
    assert spans(answers_of(same, update("s1", 0, 4.5), update("s2", 0, 4.2))) == [(20, "s1", "s2", 0, 20)]


def test_a_sensor_never_pairs_with_itself():
    query = replace(PAIRS, within_us=5 * SECOND)
    assert answers_of(query, update("s1", 0, 0.0), update("s1", 3, 0.0)) == []


def test_the_smaller_key_comes_first_whichever_arrived_first():
    answers = answers_of(PAIRS, update("z", 0, 0.0), update("b", 1, 0.0), update("k", 2, 0.5))
    assert [span[1:3] for span in spans(answers)] == [("b", "z"), ("k", "z"), ("b", "k")]


def test_pieces_are_answers_of_their_own():
    query = replace(PAIRS, conditions=(Difference(0, 0, 1, 0, Comparator.GREATER_EQUAL, 1.0),))
    answers = answers_of(query, *MEETING)
    assert spans(answers) == [(9, "s1", "s2", 0, 9), (20, "s1", "s2", 11, 20)]
    assert len({row["match_id"] for row in answers}) == 2


def test_nothing_is_less_than_nothing_apart():
    equal = (update("s1", 0, 0.0), update("s2", 1, 0.0))
    none = Difference(0, 0, 1, 0, Comparator.LESS, 0.0)
    assert answers_of(replace(PAIRS, conditions=(none,)), *equal) == []
    some = replace(none, comparator=Comparator.LESS_EQUAL)
    assert spans(answers_of(replace(PAIRS, conditions=(some,)), *equal)) == [(20, "s1", "s2", 1, 20)]


def test_a_condition_on_one_alias():
    answers = answers_of(COLD, update("s1", 0, 10.0, -1.0), update("s2", 1, 4.0, 1.0), update("s3", 1, 7.0))
    assert spans(answers) == [(2, "s2", 1, 2), (20, "s1", 5, 20)]
    assert [row["update_time"] for row in answers] == [SECOND, 0]


def test_distance_over_both_dimensions():
    query = replace(PAIRS, conditions=(Distance(0, 1, False, 5.0),))
    answers = answers_of(query, update("s1", 0, 0.0), update("s2", 0, 10.0, -1.0, y=3.0))
    assert spans(answers) == [(14, "s1", "s2", 6, 14)]


def test_rows_that_are_no_updates_are_counted():
    bad = (
        update("s1", 0, None),
        update("s1", 1, 0.0, None),
        update(None, 2, 0.0),
        update("s1", 3, 0.0, tolerance=-1.0),
        update("s1", 4, 0.0, heartbeat=0.0),
        update("s1", 5, 0.0, tolerance=None),
    )
    _, answers, counts = steps(PredictKernel(SCHEMA, [COLD]), (rows(*bad, update("s1", 6, 0.0)), END))
    assert spans(answers) == [(26, "s1", 6, 26)]
    assert counts == {"not_updates:q": 6}


def test_conditions_on_rows_come_first():
    even = replace(COLD, where=0)
    kernel = PredictKernel(SCHEMA, [even], [lambda batch: batch["y"].values > 0])
    _, answers, _ = steps(kernel, (rows(update("s1", 0, 0.0), update("s2", 0, 0.0, y=1.0)), END))
    assert [row["key"] for row in answers] == ["s2"]


def test_identities_are_those_of_the_content():
    (row,) = answers_of(replace(PAIRS, name="near"), *MEETING)
    parts = [
        Column.of(ColumnType.STRING, ["near"]),
        Column.of(ColumnType.STRING, ["s1"]),
        Column.of(ColumnType.TIMESTAMP, [0]),
        Column.of(ColumnType.STRING, ["s2"]),
        Column.of(ColumnType.TIMESTAMP, [0]),
        Column.of(ColumnType.BIGINT, [0]),
    ]
    assert row["match_id"] == content_ids(parts).tolist()[0]


def test_the_polygon_is_emitted_on_request():
    query = replace(PAIRS, within_us=SECOND, polygon=True)
    still = answers_of(query, update("s1", 1, 0.0, heartbeat=4), update("s2", 2, 0.0, heartbeat=2))
    # Seconds after the updates at 1 and 2: both lives, and not further apart than one second.
    assert [row["polygon"] for row in still] == ["((0, 0), (2, 0), (4, 2), (2, 2))"]


def test_two_streams():
    schema = replace(SCHEMA, columns=(*COLUMNS, ("source", ColumnType.BIGINT)))
    query = replace(PAIRS, aliases=(alias("a", 0), alias("b", 1)))
    batch = rows(
        (*update("s1", 0, 0.0), 0),
        (*update("s1", 0, 10.0, -1.0), 1),
        (*update("s2", 0, 0.5), 0),
        (*update("s3", 4, 0.0), 1),
        schema=schema,
    )
    _, answers, _ = steps(PredictKernel(schema, [query]), (batch, END))
    assert spans(answers) == [
        (10.5, "s2", "s1", 8.5, 10.5),
        (11, "s1", "s1", 9, 11),
        (20, "s1", "s3", 4, 20),
        (20, "s2", "s3", 4, 20),
    ]


def test_a_state_comes_back_from_bytes_and_new_queries_see_only_what_follows():
    kernel = PredictKernel(SCHEMA, [PAIRS])
    state, _, _ = steps(kernel, (rows(*MEETING), 5))
    other = replace(PAIRS, name="other", fingerprint="other")
    both = PredictKernel(SCHEMA, [other, PAIRS])
    loaded = restored(kernel, state, both, since=5 * SECOND)
    _, answers, _ = steps(both, (rows(update("s3", 6, 0.0), update("s4", 6, 0.0)), END), state=loaded)
    assert sorted((row["query"], *span) for row, span in zip(answers, spans(answers), strict=True)) == [
        ("other", 26, "s3", "s4", 6, 26),
        ("q", 11, "s1", "s2", 9, 11),
        ("q", 11, "s2", "s3", 9, 11),
        ("q", 11, "s2", "s4", 9, 11),
        ("q", 20, "s1", "s3", 6, 20),
        ("q", 20, "s1", "s4", 6, 20),
        ("q", 26, "s3", "s4", 6, 26),
    ]


def test_queries_of_the_same_updates_share_their_lines():
    kernel = PredictKernel(
        SCHEMA, [PAIRS, replace(PAIRS, name="r"), replace(PAIRS, name="s", within_us=SECOND)]
    )
    state, answers, _ = steps(kernel, (rows(*MEETING), END))
    assert len(state.by_place.everything.sources) == 2
    assert sorted(row["query"] for row in answers) == ["q", "r", "s"]


# --- a little world ---------------------------------------------------------------------------------------------------


def world(seed: int, sensors: int, seconds: int, size: float = 20.0):
    random = np.random.default_rng(seed)
    found = []
    for at in range(seconds):
        for number in range(sensors):
            if random.random() < 0.3:
                x, y = random.uniform(0, size, 2).round(1)
                slope, y_slope = random.uniform(-2, 2, 2).round(1)
                found.append(
                    update(
                        f"s{number:02}",
                        at + round(number / sensors, 3),
                        x,
                        slope,
                        y,
                        y_slope,
                        heartbeat=float(random.integers(1, 9)),
                    )
                )
    return found


BOX = replace(
    PAIRS,
    conditions=(NEAR, Difference(0, 1, 1, 1, Comparator.LESS_EQUAL, 2.0)),
    within_us=SECOND,
)
QUERIES = {
    "box": BOX,
    "tentative": replace(BOX, tentative=True),
    "ahead": replace(BOX, tentative=True, ahead_us=SECOND),
    "ticks": replace(BOX, every_us=SECOND),
    "far": replace(BOX, conditions=(Difference(0, 0, 1, 0, Comparator.GREATER, 15.0),)),
    "one": replace(COLD, within_us=0),
    "ordered": replace(BOX, conditions=(*BOX.conditions, Value(0, 0, Comparator.LESS, 10.0))),
    "three": replace(
        BOX,
        aliases=(alias("a"), alias("b"), alias("c")),
        conditions=(NEAR, Difference(1, 1, 2, 1, Comparator.LESS_EQUAL, 1.0)),
        within_us=0,
    ),
    "bounded": replace(BOX, buffer=6),
    "bounded tentative": replace(BOX, buffer=6, tentative=True),
    "distance": replace(BOX, conditions=(Distance(0, 1, False, 2.0),)),
}


@pytest.mark.parametrize("name", QUERIES)
def test_neither_the_cut_into_steps_nor_the_index_nor_a_trip_through_bytes_changes_anything(name):
    query, updates = QUERIES[name], world(7, 9, 12)
    whole = answers_of(query, *updates)
    assert whole
    assert answers_of(query, *updates, index=False) == whole
    assert answers_second_by_second(query, updates) == whole


@pytest.mark.parametrize("name", QUERIES)
def test_how_few_pairs_and_rows_are_at_hand_at_once_changes_nothing(name, monkeypatch):
    query, updates = QUERIES[name], world(7, 9, 12)
    whole = answers_of(query, *updates)
    monkeypatch.setattr(pair_queries, "_DESK", 2)
    monkeypatch.setattr(columns, "SLICE", 3)
    monkeypatch.setattr(columns, "BLOCK", 7)
    assert answers_of(query, *updates) == whole
    assert answers_second_by_second(query, updates) == whole


def answers_second_by_second(query: PredictQuery, updates: list) -> list[dict]:
    """What is told step by step, some of them with a trip through bytes in between."""
    kernel = PredictKernel(SCHEMA, [query])
    state, answers = kernel.start(BEGINNING), []
    for second in range(40):
        batch = rows(*(u for u in updates if second <= u[1] < second + 1))
        state, more, _ = steps(kernel, (batch, second + 1), state=state)
        answers += more
        if second % 3 == 0:
            state = restored(kernel, state)
    return answers


@pytest.mark.parametrize("name", QUERIES)
def test_zones_share_the_answers_without_doubles(name):
    query, updates = QUERIES[name], world(8, 9, 8, size=200.0 if name == "box" else 20.0)
    if name == "box":  # many tiles
        query = replace(query, conditions=(replace(NEAR, bound=2.0),))
    whole = answers_of(query, *updates)
    parts = [answers_of(replace(query, share=(zone, 3)), *updates) for zone in range(3)]
    assert sorted(str(row) for part in parts for row in part) == sorted(map(str, whole))
    assert sum(map(bool, parts)) > 1 or name not in ("box", "far", "one")


@pytest.mark.parametrize("many", [1, 128, 129, 130, 600])
def test_each_of_many_tentative_rows_is_emitted_once(many):
    """A line that is cut by the next one is told when it is made and when it is cut; the last one is not cut."""
    updates = [update("s1", second, float(second % 2)) for second in range(many)]
    answers = answers_of(replace(COLD, tentative=True), *updates)
    assert len(answers) == 2 * many - 1
    assert len({str(row) for row in answers}) == len(answers)


def test_a_full_buffer_gives_up_what_matters_least_and_says_so():
    query = replace(PAIRS, buffer=2, within_us=10 * SECOND)
    updates = (update("s1", 0, 0.0), update("s1", 2, 0.1), update("s1", 4, 0.0), update("s2", 6, 0.0))
    _, answers, counts = steps(PredictKernel(SCHEMA, [query]), (rows(*updates), END))
    assert counts["updates_given_up:q"] == 2
    assert counts["seconds_given_up:q"] == 6
    assert [span[1:3] for span in spans(answers)] == [("s1", "s2")]
