import pickle
from dataclasses import replace

import numpy as np
import pytest

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.kernel import CorrelateKernel
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Circle,
    Column,
    ColumnType,
    PlaceColumns,
    Rows,
    StreamSchema,
    join_rows,
    strings,
)

STRING, DOUBLE, TIMESTAMP = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.TIMESTAMP

SCHEMA = StreamSchema(
    "weather",
    (("station", STRING), ("at", TIMESTAMP), ("a", DOUBLE), ("b", DOUBLE), ("c", DOUBLE)),
    time="at",
    key="station",
)
PLACED = StreamSchema(
    "weather",
    (("station", STRING), ("at", TIMESTAMP), ("x", DOUBLE), ("y", DOUBLE), ("a", DOUBLE), ("b", DOUBLE)),
    time="at",
    key="station",
    place=PlaceColumns("x", "y"),
)
POSITIVE = Interval(low=0.0, low_open=True)


def readings(*items: tuple[str, str, float]) -> Rows:
    """Rows of one reading each: (station, attribute, seconds), of value 1."""
    columns = {
        "station": strings([station for station, _, _ in items]),
        "at": Column.of(TIMESTAMP, [int(at * SECOND) for _, _, at in items]),
    }
    for name in "abc":
        columns[name] = Column.of(DOUBLE, [1.0 if attribute == name else None for _, attribute, _ in items])
    return Rows.of(columns)


def placed(*items: tuple[str, float, float, float, float | None, float | None]) -> Rows:
    """Rows of (station, seconds, x, y, a, b)."""
    station, at, x, y, a, b = zip(*items, strict=True)
    return Rows.of(
        {
            "station": strings(station),
            "at": Column.of(TIMESTAMP, [int(t * SECOND) for t in at]),
            "x": Column.of(DOUBLE, x),
            "y": Column.of(DOUBLE, y),
            "a": Column.of(DOUBLE, a),
            "b": Column.of(DOUBLE, b),
        }
    )


def asking(attributes: str, *, name: str = "q", emit: Emit = Emit.LATEST, **options) -> Subscription:
    clauses = tuple(Clause(f"{n}{i}", n, POSITIVE, group=i) for i, n in enumerate(attributes))
    return Subscription(
        name, repr((attributes, emit, options)), 0, clauses, 30 * SECOND, emit=emit, **options
    )


def of(count: int, attribute: str = "a", *, emit: Emit = Emit.LATEST, **options) -> Subscription:
    """`count OF attribute > 0`."""
    clauses = tuple(Clause(f"{attribute}{i}", attribute, POSITIVE, group=0) for i in range(count))
    return Subscription("q", repr((count, options)), 0, clauses, 30 * SECOND, emit=emit, **options)


def answers(subscription: Subscription, *steps: Rows, schema: StreamSchema = SCHEMA) -> list[dict]:
    kernel = CorrelateKernel(schema, [subscription])
    state, emitted = kernel.start(BEGINNING), []
    for rows in steps:
        step = kernel.step(state, rows, int(rows["at"].values[-1]) + 1)
        state = step.state
        emitted += [row for block in step.answers for row in block.rows.tolist()]
    return emitted


WORKED_EXAMPLE = readings(("s1", "a", 0), ("s2", "b", 10), ("s3", "c", 29), ("s1", "a", 30), ("s3", "c", 45))


def test_worked_example_latest():
    emitted = answers(asking("abc"), WORKED_EXAMPLE)
    assert [(row["event_time"], row["a0_time"], row["b1_time"], row["c2_time"]) for row in emitted] == [
        (29 * SECOND, 0, 10 * SECOND, 29 * SECOND),
        (30 * SECOND, 30 * SECOND, 10 * SECOND, 29 * SECOND),
    ]
    assert emitted[0] == {
        "query": "q",
        "event_time": 29 * SECOND,
        "match_id": emitted[0]["match_id"],
        "a0": 1.0,
        "a0_key": "s1",
        "a0_time": 0,
        "b1": 1.0,
        "b1_key": "s2",
        "b1_time": 10 * SECOND,
        "c2": 1.0,
        "c2_key": "s3",
        "c2_time": 29 * SECOND,
    }


def test_worked_example_readings():
    emitted = answers(asking("abc", emit=Emit.READINGS), WORKED_EXAMPLE)
    assert [(row["event_time"], row["attribute"], row["reading_time"]) for row in emitted] == [
        (29 * SECOND, "a", 0),
        (29 * SECOND, "b", 10 * SECOND),
        (29 * SECOND, "c", 29 * SECOND),
        (30 * SECOND, "a", 30 * SECOND),
    ]
    assert list(emitted[0]) == [
        "query",
        "event_time",
        "match_id",
        "attribute",
        "key",
        "reading_time",
        "value",
    ]


def test_worked_example_all():
    emitted = answers(asking("abc", emit=Emit.ALL), WORKED_EXAMPLE)
    assert [(row["event_time"], row["a0_time"]) for row in emitted] == [
        (29 * SECOND, 0),
        (30 * SECOND, 30 * SECOND),
    ]


def test_a_reading_exactly_a_window_ago_is_too_old():
    assert answers(asking("ab"), readings(("s1", "a", 0), ("s2", "b", 30))) == []
    assert len(answers(asking("ab"), readings(("s1", "a", 0.000001), ("s2", "b", 30)))) == 1


def test_places_exactly_as_far_apart_as_allowed_are_too_far():
    rows = placed(("s1", 0, 0.0, 0.0, 1.0, None), ("s2", 1, 3.0, 4.0, None, 1.0))
    assert answers(asking("ab", within_m=5.0), rows, schema=PLACED) == []
    (emitted,) = answers(asking("ab", within_m=5.000001), rows, schema=PLACED)
    assert (emitted["a0_x"], emitted["a0_y"], emitted["b1_x"], emitted["b1_y"]) == (0.0, 0.0, 3.0, 4.0)


def test_one_row_may_serve_two_clauses_with_different_attributes():
    (emitted,) = answers(asking("ab"), placed(("s1", 5, 0.0, 0.0, 2.0, 3.0)), schema=PLACED)
    assert (emitted["a0"], emitted["b1"], emitted["a0_time"], emitted["b1_time"]) == (
        2.0,
        3.0,
        5 * SECOND,
        5 * SECOND,
    )


def test_no_reading_serves_two_clauses():
    assert answers(asking("aa"), readings(("s1", "a", 0))) == []
    emitted = answers(asking("aa"), readings(("s1", "a", 0), ("s1", "a", 1)))
    assert [(row["a0_time"], row["a1_time"]) for row in emitted] == [(SECOND, 0)]


def test_n_of_wants_different_sensors_latest_first():
    same = readings(("s1", "a", 0), ("s1", "a", 1), ("s1", "a", 2))
    assert answers(of(2), same) == []
    emitted = answers(of(2), join_rows([same, readings(("s2", "a", 3))]))
    assert [(row["a0_key"], row["a0_time"], row["a1_key"], row["a1_time"]) for row in emitted] == [
        ("s2", 3 * SECOND, "s1", 2 * SECOND)
    ]


def test_all_gives_each_set_of_n_of_once():
    emitted = answers(of(2, emit=Emit.ALL), readings(("s1", "a", 0), ("s2", "a", 1), ("s3", "a", 2)))
    assert [(row["a0_key"], row["a1_key"]) for row in emitted] == [("s2", "s1"), ("s3", "s2"), ("s3", "s1")]


def test_distinct_sensors_apply_to_all_clauses():
    rows = placed(
        ("s1", 0, 0.0, 0.0, 1.0, 1.0), ("s1", 1, 0.0, 0.0, 1.0, 1.0), ("s2", 2, 0.0, 0.0, None, 1.0)
    )
    emitted = answers(asking("ab", distinct_sensors=True), rows, schema=PLACED)
    assert [(row["a0_key"], row["a0_time"], row["b1_key"]) for row in emitted] == [("s1", SECOND, "s2")]


def test_a_later_choice_gives_way_when_the_rest_would_be_left_without():
    # The latest a and the latest b are both of s2; a comes first, so it keeps s2 only if b has another sensor.
    rows = placed(("s1", 0, 0.0, 0.0, 1.0, None), ("s2", 1, 0.0, 0.0, 1.0, 1.0))
    (emitted,) = answers(asking("ab", distinct_sensors=True), rows, schema=PLACED)
    assert (emitted["a0_key"], emitted["b1_key"]) == ("s1", "s2")


def test_a_bound_clause_looks_at_its_sensor_wherever_it_is():
    region = Circle(0.0, 0.0, 10.0)
    clauses = (Clause("a", "a", POSITIVE, sensor="far", group=0), Clause("b", "b", POSITIVE, group=1))
    subscription = Subscription("q", "", 0, clauses, 30 * SECOND, region=region)
    rows = placed(
        ("far", 0, 500.0, 0.0, 1.0, 1.0),
        ("near", 1, 10.0, 0.0, 1.0, 1.0),
        ("near", 2, 10.1, 0.0, 1.0, 1.0),
    )
    emitted = answers(subscription, rows, schema=PLACED)
    assert [(row["event_time"], row["a_key"], row["b_key"]) for row in emitted] == [(SECOND, "far", "near")]


def test_without_a_place_a_clause_that_needs_one_matches_nothing():
    rows = placed(("s1", 0, None, None, 1.0, 1.0))
    assert len(answers(asking("ab"), rows, schema=PLACED)) == 1
    assert answers(asking("ab", within_m=5.0), rows, schema=PLACED) == []
    assert answers(asking("ab", region=Circle(0.0, 0.0, 1e9)), rows, schema=PLACED) == []


def test_without_a_key_a_clause_whose_sensors_must_differ_matches_nothing():
    nameless = readings(("s1", "a", 0), ("s2", "a", 1)).having(station=strings([None, "s2"]))
    assert answers(of(2), nameless) == []


def test_a_stream_without_a_key_gives_no_keys():
    schema = replace(SCHEMA, key=None)
    (emitted,) = answers(asking("a"), readings(("s1", "a", 0)), schema=schema)
    assert emitted["a0_key"] is None


@pytest.mark.parametrize("emit", list(Emit))
def test_identities_are_the_same_however_rows_are_split(emit):
    subscription = asking("abc", emit=emit)
    whole = answers(subscription, WORKED_EXAMPLE)
    one_by_one = answers(subscription, *(WORKED_EXAMPLE.take(slice(n, n + 1)) for n in range(5)))
    assert one_by_one == whole
    assert len({row["match_id"] for row in whole}) == len(whole)


def test_equal_answers_to_equal_rows_have_different_identities():
    twice = readings(("s1", "a", 0), ("s2", "b", 1), ("s2", "b", 1))
    emitted = answers(asking("ab"), twice)
    first, second = ({**row, "match_id": None} for row in emitted)
    assert first == second
    assert emitted[0]["match_id"] != emitted[1]["match_id"]
    assert emitted[0]["match_id"] == answers(asking("ab"), twice.take(slice(0, 2)))[0]["match_id"]


def test_the_name_of_the_query_is_part_of_the_identity():
    emitted = [answers(asking("ab", name=name), WORKED_EXAMPLE) for name in ("one", "other")]
    assert not {row["match_id"] for row in emitted[0]} & {row["match_id"] for row in emitted[1]}


def test_limit_emits_the_latest_and_counts_the_rows_it_cut_at():
    rows = readings(("s1", "a", 0), ("s1", "a", 1), ("s1", "a", 2), ("s2", "b", 3), ("s2", "b", 4))
    kernel = CorrelateKernel(SCHEMA, [asking("ab", emit=Emit.ALL, limit=2)])
    step = kernel.step(kernel.start(BEGINNING), rows, END)
    (block,) = step.answers
    assert [(row["a0_time"], row["b1_time"]) for row in block.rows.tolist()] == [
        (2 * SECOND, 3 * SECOND),
        (SECOND, 3 * SECOND),
        (2 * SECOND, 4 * SECOND),
        (SECOND, 4 * SECOND),
    ]
    assert dict(step.counts) == {"limit_cuts": 2}


def test_queries_of_one_shape_share_a_block_in_the_order_of_rows():
    kernel = CorrelateKernel(
        SCHEMA, [asking("a", name="one"), asking("a", name="other"), asking("b", name="third")]
    )
    step = kernel.step(kernel.start(BEGINNING), readings(("s1", "a", 0), ("s2", "a", 1)), END)
    (block,) = step.answers
    assert block.rows["query"].tolist() == ["one", "other", "one", "other"]


def test_clauses_of_one_name_may_test_different_attributes():
    queries = [
        Subscription(name, name, 0, (Clause("v", attribute, POSITIVE),), SECOND)
        for name, attribute in (("one", "a"), ("other", "b"))
    ]
    kernel = CorrelateKernel(PLACED, queries)
    step = kernel.step(
        kernel.start(BEGINNING), placed(("s1", 0, 0.0, 0.0, 2.0, 3.0), ("s1", 1, 0.0, 0.0, 4.0, 5.0)), END
    )
    (block,) = step.answers
    assert [(row["query"], row["v"]) for row in block.rows.tolist()] == [
        ("one", 2.0),
        ("other", 3.0),
        ("one", 4.0),
        ("other", 5.0),
    ]


def test_names_new_to_a_later_step_do_not_disturb_older_rows():
    steps = [
        readings(("m", "a", 0)),
        readings(("z", "c", 1)),
        readings(("b", "b", 2)),
        readings(("a", "c", 3)),
    ]
    emitted = answers(asking("abc"), *steps)
    assert [(row["a0_key"], row["b1_key"], row["c2_key"]) for row in emitted] == [
        ("m", "b", "z"),
        ("m", "b", "a"),
    ]


def test_time_passes_without_rows():
    kernel = CorrelateKernel(SCHEMA, [asking("ab")])
    state = kernel.step(kernel.start(BEGINNING), readings(("s1", "a", 0)), SECOND).state
    assert state.window.end - state.window.first == 1
    step = kernel.step(state, Rows({}, 0), 30 * SECOND)
    assert (step.answers, step.complete_until) == ((), 30 * SECOND)
    assert step.state.window.end - step.state.window.first == 0
    assert step.state.log.chunks == ()


def test_a_kernel_without_subscriptions_answers_nothing():
    kernel = CorrelateKernel(SCHEMA, [])
    step = kernel.step(kernel.start(BEGINNING), WORKED_EXAMPLE, END)
    assert step.answers == ()
    assert kernel.load(kernel.save(step.state), 0).window.end == 0


def test_rows_before_the_start_are_not_for_these_queries():
    kernel = CorrelateKernel(SCHEMA, [asking("ab")])
    step = kernel.step(kernel.start(SECOND), readings(("s1", "a", 0), ("s2", "b", 1)), END)
    assert step.answers == ()


def test_kernels_travel():
    kernel = CorrelateKernel(SCHEMA, [asking("abc"), of(2)])
    copy = pickle.loads(pickle.dumps(kernel))
    emitted = [
        k.step(k.start(BEGINNING), WORKED_EXAMPLE, END).answers[0].rows.tolist() for k in (kernel, copy)
    ]
    assert emitted[0] == emitted[1]


def test_scarce_sensors_do_not_make_the_search_long():
    # Twenty readings of eleven sensors cannot serve twelve; trying all ways to find out would take longer than we have.
    rows = readings(*((f"s{n % 11}", "a", n) for n in range(20)))
    assert answers(of(12), rows) == []
    clauses = tuple(Clause(f"a{i}", "a", POSITIVE, group=i) for i in range(12))
    distinct = Subscription("q", "", 0, clauses, 30 * SECOND, distinct_sensors=True)
    assert answers(distinct, rows) == []
    assert answers(replace(distinct, emit=Emit.READINGS), rows) == []
    assert (
        len(
            answers(
                replace(distinct, emit=Emit.ALL, limit=3), readings(*((f"s{n}", "a", n) for n in range(13)))
            )
        )
        == 6
    )


def test_many_readings_of_few_sensors_are_not_all_looked_at():
    rows = readings(*((f"s{n % 2}", "a", n / 1000) for n in range(20_000)))
    assert answers(of(3), rows) == []
    assert len(answers(of(2), rows)) == 19_999


def test_state_does_not_grow_with_time():
    kernel = CorrelateKernel(SCHEMA, [asking("ab"), replace(of(2), name="two")])
    state = kernel.start(BEGINNING)
    for start in range(0, 40_000, 1000):
        rows = readings(*((f"s{n % 7}", "ab"[n % 2], n) for n in range(start, start + 1000)))
        state = kernel.step(state, rows, (start + 1000) * SECOND).state
        assert state.window.end - state.window.first == 29
    assert sum(chunk.rows.count for chunk in state.log.chunks) == 29
    assert len(state.memory.past_matches) == 14
    assert len(state.memory.places.lists.table) <= 8192


def test_inputs_may_be_read_only():
    rows = WORKED_EXAMPLE
    for column in rows.columns.values():
        for array in (column.values, column.valid):
            if array is not None:
                array.flags.writeable = False
    assert len(answers(asking("abc"), rows)) == 2
    assert np.array_equal(rows["at"].values, np.array([0, 10, 29, 30, 45]) * SECOND)
