"""SUPPRESS, sample by sample: what is sent, why, with which slope; ties, samples of one time, NULLs, numbers without end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.kernel import SuppressKernel, SuppressState
from headwater.kernels.suppress.question import SuppressQuery
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Column,
    ColumnType,
    Rows,
    StreamSchema,
    content_ids,
    encode,
    strings,
)

STRING, DOUBLE, TIMESTAMP = (
    ColumnType.STRING,
    ColumnType.DOUBLE,
    ColumnType.TIMESTAMP,
)
CARS = StreamSchema(
    "cars", (("car", STRING), ("at", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE)), time="at", key="car"
)
METER = StreamSchema("meter", (("at", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE)), time="at")


def question(
    predictor: Predictor = Predictor.SLOPE,
    *parameters: float,
    name: str = "q",
    tolerance: float = 1.0,
    heartbeat: float = 1000.0,
    dimensions: tuple[str, ...] = ("x",),
    where: int | None = None,
    forget: float | None = None,
) -> SuppressQuery:
    fingerprint = repr((predictor, parameters, tolerance, heartbeat, dimensions, where, forget))
    return SuppressQuery(
        name,
        fingerprint,
        len(dimensions),
        where,
        dimensions,
        tolerance,
        round(heartbeat * SECOND),
        predictor,
        parameters,
        None if forget is None else round(forget * SECOND),
    )


def rows_of(samples: Sequence[tuple[Any, ...]], car: str | None = "a") -> Rows:
    """Rows of (second, x, [y, [car]])."""
    filled = [(*sample, *(0.0, car)[len(sample) - 2 :]) for sample in samples]
    return Rows.of(
        {
            "car": strings([sample[3] for sample in filled]),
            "at": Column.of(TIMESTAMP, [round(sample[0] * SECOND) for sample in filled]),
            "x": Column.of(DOUBLE, [sample[1] for sample in filled]),
            "y": Column.of(DOUBLE, [sample[2] for sample in filled]),
        }
    )


def updates(
    query: SuppressQuery, *samples: tuple[Any, ...], schema: StreamSchema = CARS
) -> list[dict[str, Any]]:
    kernel = SuppressKernel(schema, [query])
    step = kernel.step(kernel.start(BEGINNING), rows_of(samples), END)
    return [row for block in step.answers for row in block.rows.tolist()]


def lines(query: SuppressQuery, *samples: tuple[Any, ...]) -> list[tuple[float, float, float, str]]:
    """Second, value, slope and reason of what is sent."""
    return [
        (row["event_time"] / SECOND, row["x"], row["x_slope"], row["reason"])
        for row in updates(query, *samples)
    ]


class TestSending:
    def test_an_update_has_the_columns_of_its_stream_and_a_line(self):
        query = question(tolerance=25.0, heartbeat=30, dimensions=("x", "y"))
        (row,) = updates(query, (3, 60.0, 30.0, "car20"))
        identity = row.pop("match_id")
        assert len(identity) == 32
        assert list(row.items()) == [
            ("query", "q"),
            ("event_time", 3 * SECOND),
            ("car", "car20"),
            ("x", 60.0),
            ("y", 30.0),
            ("x_slope", 0.0),
            ("y_slope", 0.0),
            ("tolerance", 25.0),
            ("heartbeat", 30.0),
            ("reason", "first"),
        ]

    def test_a_sample_at_the_tolerance_is_not_sent_and_one_beyond_is(self):
        assert lines(question(Predictor.CONSTANT), (0, 5.0), (1, 6.0), (2, 4.0), (3, 6.0001)) == [
            (0, 5.0, 0.0, "first"),
            (3, 6.0001, 0.0, "tolerance"),
        ]

    def test_tolerance_zero_sends_whatever_is_not_just_as_the_line_says(self):
        query = question(Predictor.CONSTANT, tolerance=0.0)
        assert [line[0] for line in lines(query, (0, 0.0), (1, 0.0), (2, -0.0), (3, 1e-200))] == [0, 3]

    def test_a_heartbeat_is_due_just_when_it_has_passed(self):
        query = question(Predictor.CONSTANT, heartbeat=10)
        samples = [(0, 1.0), (9.999999, 1.0), (10, 1.0), (19, 1.0), (21, 1.0)]
        assert [line[0::3] for line in lines(query, *samples)] == [
            (0, "first"),
            (10, "heartbeat"),
            (21, "heartbeat"),
        ]

    def test_where_both_are_so_the_reason_is_the_tolerance(self):
        query = question(Predictor.CONSTANT, heartbeat=10)
        assert lines(query, (0, 1.0), (10, 9.0))[-1][3] == "tolerance"

    def test_several_dimensions_are_one_distance(self):
        query = question(Predictor.CONSTANT, tolerance=5.0, dimensions=("x", "y"))
        sent = updates(query, (0, 0.0, 0.0), (1, 3.0, 4.0), (2, 3.1, 4.0), (3, 3.1, -1.1))
        assert [(row["x"], row["y"]) for row in sent] == [(0.0, 0.0), (3.1, 4.0), (3.1, -1.1)]

    def test_sensors_do_not_know_one_another(self):
        query = question(Predictor.CONSTANT)
        sent = updates(query, (0, 0.0, 0.0, "a"), (0, 9.0, 0.0, "b"), (1, 0.5, 0.0, "a"), (1, 3.0, 0.0, "b"))
        assert [(row["car"], row["x"]) for row in sent] == [("a", 0.0), ("b", 9.0), ("b", 3.0)]

    def test_samples_of_one_time_are_taken_one_after_the_other(self):
        sent = updates(question(), (0, 0.0), (1, 4.0), (1, 8.0), (1, 8.5))
        assert [(row["event_time"], row["x"], row["x_slope"]) for row in sent] == [
            (0, 0.0, 0.0),
            (SECOND, 4.0, 4.0),
            (SECOND, 8.0, 0.0),
        ]
        assert len({row["match_id"] for row in sent}) == 3

    def test_a_line_that_is_followed_is_not_sent_again(self):
        assert [line[0] for line in lines(question(), *[(t, 3.0 * t) for t in range(100)])] == [0, 1]

    def test_a_stream_without_a_key_is_one_sensor(self):
        rows = rows_of([(0, 0.0), (1, 0.5), (2, 7.0)]).select(("at", "x", "y"))
        kernel = SuppressKernel(METER, [question(Predictor.CONSTANT)])
        step = kernel.step(kernel.start(BEGINNING), rows, END)
        assert list(step.answers[0].rows.columns)[:4] == ["query", "event_time", "match_id", "x"]
        assert step.answers[0].rows["x"].tolist() == [0.0, 7.0]


class TestForgetting:
    def test_silent_for_just_forget_is_not_forgotten_and_longer_is(self):
        query = question(Predictor.CONSTANT, forget=10)
        assert [line[0::3] for line in lines(query, (0, 1.0), (10, 1.0), (20.000001, 1.0))] == [
            (0, "first"),
            (20.000001, "first"),
        ]

    def test_it_goes_by_the_last_sample_and_not_by_the_last_update(self):
        query = question(Predictor.CONSTANT, forget=10)
        assert len(lines(query, *[(t, 1.0) for t in range(0, 100, 9)])) == 1

    @pytest.mark.parametrize(
        "query",
        [
            question(Predictor.SLOPE, forget=5),
            question(Predictor.LEAST_SQUARES, 3, forget=5),
            question(Predictor.DOUBLE_EXPONENTIAL, 0.5, 0.5, forget=5),
            question(Predictor.KALMAN, 1.0, 1.0, forget=5),
        ],
        ids=lambda query: query.predictor.name,
    )
    def test_a_predictor_begins_anew(self, query: SuppressQuery):
        alone = lines(query, (20, 7.0), (21, 9.0), (22, 30.0))
        after = lines(query, (0, 0.0), (1, 5.0), (2, 50.0), (20, 7.0), (21, 9.0), (22, 30.0))
        assert after[-len(alone) :] == alone
        assert alone[0] == (20, 7.0, 0.0, "first")

    def test_who_is_forgotten_in_a_step_and_comes_again_in_it_is_stored(self):
        kernel = SuppressKernel(CARS, [question(Predictor.CONSTANT, forget=2)])
        state = kernel.step(kernel.start(BEGINNING), rows_of([(0, 1.0)]), SECOND).state
        step = kernel.step(state, rows_of([(9, 1.0), (10, 1.0)]), 11 * SECOND)
        assert step.answers[0].rows["reason"].tolist() == ["first"]
        assert len(step.state.sensors[0]) == 1
        assert kernel.step(step.state, rows_of([(12, 1.0)]), END).answers == ()


class TestSlopes:
    def test_constant_has_none(self):
        assert lines(question(Predictor.CONSTANT), (0, 0.0), (2, 6.0))[-1] == (2, 6.0, 0.0, "tolerance")

    def test_slope_is_that_of_the_last_two_samples_also_of_those_not_sent(self):
        assert lines(question(), (0, 0.0), (2, 1.0), (4, 7.0))[-1] == (4, 7.0, 3.0, "tolerance")

    def test_slope_of_two_samples_of_one_time_is_zero(self):
        assert lines(question(), (0, 0.0), (1, 0.5), (1, 9.0))[-1] == (1, 9.0, 0.0, "tolerance")

    def test_least_squares_fits_the_last_n(self):
        query = question(Predictor.LEAST_SQUARES, 3)
        sent = lines(query, (0, 100.0), (1, 0.0), (2, 0.0), (3, 6.0))
        assert sent[1][2] == -100.0  # two are all there are
        assert sent[-1] == (3, 6.0, 3.0, "tolerance")

    def test_least_squares_of_one_time_is_zero(self):
        assert lines(question(Predictor.LEAST_SQUARES, 3), (5, 0.0), (5, 9.0), (5, 99.0))[-1][2] == 0.0

    def test_double_exponential_starts_with_the_first_two_and_smooths_then(self):
        query = question(Predictor.DOUBLE_EXPONENTIAL, 0.5, 0.25)
        sent = lines(query, (0, 0.0), (2, 8.0), (4, 32.0))
        assert sent[1][2] == 4.0
        # Level 0.5 * 32 + 0.5 * (8 + 4 * 2) = 24, trend 0.25 * (24 - 8) / 2 + 0.75 * 4 = 5.
        assert sent[2] == (4, 32.0, 5.0, "tolerance")

    def test_double_exponential_keeps_its_trend_at_a_second_sample_of_one_time(self):
        sent = lines(question(Predictor.DOUBLE_EXPONENTIAL, 0.5, 0.25), (0, 0.0), (2, 8.0), (2, 32.0))
        assert sent[-1] == (2, 32.0, 4.0, "tolerance")

    def test_kalman_knows_no_velocity_before_the_second_time(self):
        sent = lines(question(Predictor.KALMAN, 1.0, 4.0), (0, 0.0), (0, 2.0), (2, 8.0))
        assert [line[2] for line in sent] == [0.0, 0.0, 3.5]  # from the mean of the two first ones

    def test_kalman_comes_to_the_velocity_of_a_line_under_noise(self):
        noise = np.random.default_rng(1).normal(0, 1.0, 400)
        sent = lines(
            question(Predictor.KALMAN, 1e-6, 1.0, heartbeat=50),
            *[(t, 2.0 * t + noise[t]) for t in range(400)],
        )
        assert all(abs(slope - 2.0) < 0.05 for second, _, slope, _ in sent if second > 100)

    @pytest.mark.parametrize(
        "query",
        [
            question(Predictor.SLOPE),
            question(Predictor.LEAST_SQUARES, 3),
            question(Predictor.DOUBLE_EXPONENTIAL, 0.9, 0.9),
            question(Predictor.KALMAN, 1.0, 1.0),
        ],
        ids=lambda query: query.predictor.name,
    )
    def test_numbers_without_end_are_survived(self, query: SuppressQuery):
        big = 1.7e308
        sent = lines(
            query, (0, -big), (0.000001, big), (0.000002, -big), (5, 1.0), (6, 2.0), (7, 3.0), (8, 50.0)
        )
        assert all(np.isfinite(slope) for _, _, slope, _ in sent)
        assert sent[-1][1] == 50.0


class TestRows:
    def test_rows_without_a_key_or_a_number_are_no_samples_and_are_counted(self):
        rows = rows_of([(0, 1.0), (1, None), (2, 9.0, 0.0, None), (3, 1.0)])
        kernel = SuppressKernel(
            CARS, [question(Predictor.CONSTANT), question(dimensions=("y",), name="other")]
        )
        step = kernel.step(kernel.start(BEGINNING), rows, END)
        assert step.counts == {
            "not_samples:q": 2,
            "not_samples:other": 1,
            "samples:q": 2,
            "updates:q": 1,
            "samples:other": 3,
            "updates:other": 1,
        }

    def test_only_rows_of_the_condition_are_samples(self):
        kernel = SuppressKernel(
            CARS, [question(Predictor.CONSTANT, where=0)], [lambda rows: rows["y"].values > 0]
        )
        rows = rows_of([(0, 1.0, 0.0), (1, 5.0, 1.0), (2, None, 0.0), (3, 9.0, 1.0)])
        step = kernel.step(kernel.start(BEGINNING), rows, END)
        assert step.answers[0].rows["x"].tolist() == [5.0, 9.0]
        assert step.counts == {"samples:q": 2, "updates:q": 2}

    def test_updates_of_several_queries_come_by_row_and_then_by_query(self):
        kernel = SuppressKernel(CARS, [question(name="z"), question(name="b", tolerance=5.0)])
        step = kernel.step(kernel.start(BEGINNING), rows_of([(0, 0.0), (1, 3.0), (2, 99.0)]), END)
        rows = step.answers[0].rows
        assert list(zip(rows["query"].tolist(), rows["x"].tolist(), strict=True)) == [
            ("z", 0.0),
            ("b", 0.0),
            ("z", 3.0),
            ("z", 99.0),
            ("b", 99.0),
        ]

    def test_an_identity_is_that_of_query_time_key_and_values(self):
        (row,) = updates(question(dimensions=("x", "y")), (3, 60.0, 30.0, "car20"))
        parts = [
            strings(["q"]),
            Column.of(TIMESTAMP, [3 * SECOND]),
            strings(["car20"]),
            Column.of(DOUBLE, [60.0]),
            Column.of(DOUBLE, [30.0]),
        ]
        assert content_ids(parts).tolist() == [row["match_id"]]

    def test_no_rows_no_updates(self):
        kernel = SuppressKernel(CARS, [question()])
        step = kernel.step(kernel.start(BEGINNING), Rows({}, 0), 5)
        assert (step.answers, step.complete_until, step.counts) == ((), 5, {})


class TestState:
    def test_many_keys_are_one_record_each_in_every_query(self):
        kernel = SuppressKernel(CARS, [question(), question(Predictor.KALMAN, 1.0, 1.0, name="k")])
        state = kernel.start(BEGINNING)
        for second in range(5):
            rows = rows_of([(second, float(n), 0.0, f"car {n + second}") for n in range(1000)])
            state = kernel.step(state, rows, (second + 1) * SECOND).state
        assert [len(store) for store in state.sensors] == [1004, 1004]

    def test_a_step_writes_the_sensors_that_it_has_samples_of(self):
        kernel = SuppressKernel(CARS, [question()])
        rows = rows_of([(0, float(n), 0.0, f"car {n}") for n in range(5000)])
        state = kernel.step(kernel.start(BEGINNING), rows, SECOND).state
        again = kernel.step(state, rows_of([(1, 3.0, 0.0, "car 7"), (1, 3.0, 0.0, "new")]), 2 * SECOND).state
        (before,), (after,) = (kernel.save(part).stores.values() for part in (state, again))
        assert after.runs[0] is before.runs[0]
        assert [len(run) for run in after.runs] == [5000, 2]

    def test_what_is_saved_does_not_follow_the_sensors_that_were_forgotten(self):
        few, many = (_saved_after(sensors) for sensors in (2_000, 20_000))
        assert few < 600
        assert abs(many - few) <= 16  # the number of the next run is a longer one

    def test_only_the_sensors_of_the_last_forget_are_stored(self):
        kernel = SuppressKernel(CARS, [question(forget=2)])
        state = kernel.start(BEGINNING)
        for second in range(10):
            rows = rows_of([(second, 1.0, 0.0, f"car {second} {n}") for n in range(100)])
            state = kernel.step(state, rows, (second + 1) * SECOND).state
        assert len(state.sensors[0]) == 200  # of 8 and 9; those of 7 are more than two seconds old
        assert len(kernel.step(state, Rows({}, 0), 10 * SECOND + 1).state.sensors[0]) == 100
        assert len(kernel.step(state, Rows({}, 0), 11 * SECOND).state.sensors[0]) == 100
        assert len(kernel.step(state, Rows({}, 0), END).state.sensors[0]) == 0

    def test_a_changed_query_begins_anew_and_the_others_go_on(self):
        old = [question(), question(name="other")]
        kernel = SuppressKernel(CARS, old)
        state = kernel.step(kernel.start(BEGINNING), rows_of([(0, 0.0), (1, 2.0)]), 2 * SECOND).state
        changed = SuppressKernel(CARS, [question(tolerance=7.0), old[1]])
        loaded: SuppressState = changed.load(kernel.save(state), 0)
        step = changed.step(loaded, rows_of([(1, 8.0), (3, 6.0), (4, 9.0)]), END)
        rows = step.answers[0].rows.tolist()
        # The second query knows the line through (1, 2) and (0, 0); the first has never seen a sample before 2.
        assert [(row["query"], row["event_time"] / SECOND, row["reason"]) for row in rows] == [
            ("other", 1.0, "tolerance"),
            ("q", 3.0, "first"),
            ("other", 3.0, "tolerance"),
            ("other", 4.0, "tolerance"),
        ]


def _saved_after(sensors: int) -> int:
    """Bytes of a state after so many sensors came, a hundred at a time, and were forgotten."""
    kernel = SuppressKernel(
        CARS, [question(forget=2), question(Predictor.KALMAN, 1.0, 1.0, name="k", forget=1)]
    )
    state = kernel.start(BEGINNING)
    for second in range(sensors // 100):
        rows = rows_of([(second, 1.0, 0.0, f"car {second} {n}") for n in range(100)])
        state = kernel.step(state, rows, (second + 1) * SECOND).state
    state = kernel.step(state, Rows({}, 0), (sensors // 100 + 10) * SECOND).state
    saved = kernel.save(state)
    runs = [encode(tree) for store in saved.stores.values() for run in store.runs for tree in run.trees()]
    outlines = [encode(store.outline()) for store in saved.stores.values()]
    return sum(map(len, [encode(saved.values), *outlines, *runs]))
