"""The benchmark of NEAREST: its objects, what follows from them, and that wrong answers are noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from headwater.apps.text_columns import aligned
from headwater.hosts.local.streaming import stream_local
from headwater.kernels.nearest.choices import Algorithm
from headwater.model import Column, ColumnType, DataError, Rows
from headwater.query.planning.plan import compile_text
from headwater_lab.bench import nearest, nearest_real
from headwater_lab.bench.measuring import BenchOptions
from headwater_lab.bench.nearest_kernel import differing, lost_share, run_kernel, sample, wrong_points
from headwater_lab.bench.nearest_native import nearest_of_batch
from headwater_lab.bench.nearest_objects import (
    ATTRIBUTES,
    FIRST_TIME,
    GAP_US,
    LATE_S,
    Objects,
    arrivals,
    batches,
    clusters,
    make_objects,
    make_points,
    point_rows,
    recorded,
    uniform,
    write_objects,
    write_points,
)
from headwater_lab.bench.nearest_questions import NearestQuestion
from headwater_lab.bench.nearest_real import read_numbers, real_world
from headwater_lab.bench.nearest_truth import Enters, contenders, distances, emitted, expected, together

WORLDS = [uniform(), clusters(seed=7), recorded(np.arange(40.0).reshape(10, 4))]


# --- objects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_attributes_lie_between_zero_and_one_and_depend_on_the_seed_alone(world) -> None:
    objects, points = make_objects(world, 2_000, seed=3), make_points(world, 50, seed=3)
    assert objects.values.shape == (2_000, len(ATTRIBUTES)) and points.shape == (50, len(ATTRIBUTES))
    for values in (objects.values, points):
        assert values.min() >= 0 and values.max() <= 1
    again = make_objects(world, 2_000, seed=3)
    assert (again.at == objects.at).all() and (again.values == objects.values).all()
    assert not (make_objects(world, 2_000, seed=4).values == objects.values).all()


def test_a_window_holds_as_many_objects_as_it_says_and_no_two_have_one_time() -> None:
    at = make_objects(uniform(), 20_000, seed=3).at
    assert (np.diff(at) > 0).all() and at[0] > FIRST_TIME
    held = np.searchsorted(at, at + 4_000 * GAP_US) - np.arange(len(at))
    assert np.abs(held[:15_000] - 4_000).max() < 200


def test_clusters_lie_around_two_centres() -> None:
    one, other = np.random.default_rng(7).random((2, len(ATTRIBUTES)))
    values = make_objects(clusters(seed=7), 20_000, seed=3).values
    spread = make_objects(uniform(), 20_000, seed=3).values

    def near(values):
        return np.minimum(np.linalg.norm(values - one, axis=1), np.linalg.norm(values - other, axis=1)).mean()

    assert near(values) < near(spread)


def test_recorded_rows_are_stretched_and_a_column_that_never_changes_is_zero() -> None:
    rows = np.array([[2.0, 5.0, -1.0, 0.0], [4.0, 5.0, 1.0, 1.0], [3.0, 5.0, 0.0, 0.5]])
    drawn = recorded(rows).draw(np.random.default_rng(1), 200)
    assert sorted(map(tuple, np.unique(drawn, axis=0).tolist())) == [
        (0.0, 0.0, 0.0, 0.0),
        (0.5, 0.0, 0.5, 0.5),
        (1.0, 0.0, 1.0, 1.0),
    ]


def test_no_object_arrives_later_than_the_stream_allows() -> None:
    objects = make_objects(uniform(), 5_000, seed=3)
    at = objects.at[arrivals(objects, seed=3)]
    behind_us = np.maximum.accumulate(at) - at
    assert 0 < behind_us.max() < LATE_S * 1_000_000


def test_a_kernel_gets_the_objects_in_order_with_their_numbers() -> None:
    objects = make_objects(uniform(), 100, seed=3)
    parts = list(batches(objects, range(10, 55, 20)))
    assert [rows["id"].values.tolist() for rows in parts] == [
        list(range(10, 30)), list(range(30, 50)), list(range(50, 55)),
    ]  # fmt: skip
    assert parts[2]["c"].values.tolist() == objects.values[50:55, 2].tolist()
    assert parts[2]["at"].values.tolist() == objects.at[50:55].tolist()


def test_files_hold_objects_and_points_as_they_arrive(tmp_path: Path) -> None:
    objects = make_objects(uniform(), 100, seed=3)
    order = arrivals(objects, seed=3)
    files = write_objects(objects, order, tmp_path / "rows", 4)
    ids = [number for file in files for number in pq.read_table(file)["id"].to_pylist()]
    assert ids == order.tolist()
    first = pq.read_table(files[0]).to_pylist()[0]
    assert first["b"] == objects.values[order[0], 1]
    points = make_points(uniform(), 5, seed=3)
    assert (
        pq.read_table(write_points(points, tmp_path / "points.parquet"))["d"].to_pylist()
        == points[:, 3].tolist()
    )


# --- recorded objects -------------------------------------------------------------------------------------------------


def test_numbers_of_a_csv_are_its_first_columns_and_lines_without_are_left_out(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(nearest_real, "LEAST_ROWS", 2)
    file = tmp_path / "panels.csv"
    file.write_text("a,b,c,d,e\n1,2,3,4,x\n1,2,,4,x\n5,6,7,8.5,y\n1,2,3\n1,2,nan,4,z\n")
    assert read_numbers(file).tolist() == [[1, 2, 3, 4], [5, 6, 7, 8.5]]


@pytest.mark.parametrize("text", ["", "1,2,3,4\n", "a,b,c,d\n" * 2_000])
def test_a_csv_with_too_few_numbers_is_refused(tmp_path, text) -> None:
    file = tmp_path / "panels.csv"
    file.write_text(text)
    with pytest.raises(
        DataError, match=r"no objects can be drawn from '.*panels\.csv': . lines have numbers"
    ):
        real_world(file)


def test_a_csv_that_is_not_there_is_refused(tmp_path) -> None:
    with pytest.raises(DataError, match="No such file"):
        real_world(tmp_path / "panels.csv")


def test_without_a_csv_and_without_the_data_sets_there_is_no_real_world(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HEADWATER_DATA", str(tmp_path))
    assert real_world(None) is None


# --- what follows from the objects ------------------------------------------------------------------------------------


def by_definition(at, distance, k, window_us, limit=None) -> dict[int, int]:
    """Which objects are told and when: everything sorted at every instant."""
    told_at: dict[int, int] = {}
    remaining: list[int] = []
    for instant in np.unique(np.concatenate([at, at + window_us])).tolist():
        if limit is None:
            remaining = [row for row in range(len(at)) if at[row] <= instant < at[row] + window_us]
        else:
            remaining = [row for row in remaining if instant < at[row] + window_us]
            remaining += [row for row in range(len(at)) if at[row] == instant]
        remaining = sorted(remaining, key=lambda row: (distance[row], -row))[:limit]
        for row in remaining[:k]:
            told_at.setdefault(row, instant)
    return told_at


@pytest.mark.parametrize("seed", range(60))
def test_expected_answers_are_those_of_a_sort_at_every_instant(seed) -> None:
    random = np.random.default_rng(seed)
    count, k, window_us = (int(random.integers(low, high)) for low, high in ((1, 50), (1, 6), (2, 40)))
    at = np.sort(random.integers(0, 100, count))
    # Few different places: ties of distance as well as of time.
    values = random.integers(0, int(random.integers(2, 30)), (count, 1)) / 4
    objects, points = Objects(at, values), np.zeros((1, 1))
    distance = distances(objects, points[0])
    for limit in (None, k + int(random.integers(0, 4))):
        found = expected(objects, points, [0], k=k, window_us=window_us, limit=limit)
        pairs = dict(zip(found.number.tolist(), found.at.tolist(), strict=True))
        assert pairs == by_definition(at, distance, k, window_us, limit)
        assert found.point.tolist() == [0] * len(found)


def test_few_objects_are_contenders() -> None:
    objects = make_objects(uniform(), 20_000, seed=3)
    distance = distances(objects, make_points(uniform(), 1, seed=3)[0])
    chosen = contenders(objects.at, distance, 3, 2_000 * GAP_US)
    assert 3 < len(chosen) < 500


def test_the_nearest_of_a_batch_are_numbered_in_the_stream_and_the_newer_of_two_wins() -> None:
    objects = Objects(np.arange(6), np.array([[0.0], [3.0], [1.0], [2.0], [2.0], [9.0]]))
    points = np.array([[0.0]])
    assert nearest_of_batch(objects, slice(1, 6), points, 0, 2).tolist() == [2, 4]


def test_answers_are_compared_point_by_point() -> None:
    must = enters([(0, 1, 10), (0, 2, 20), (3, 1, 10)])
    assert differing(must, enters([(3, 1, 10), (0, 2, 20), (0, 1, 10), (5, 5, 5)]), [0, 3]) == []
    assert differing(must, enters([(0, 1, 10), (0, 2, 21), (3, 1, 10)]), [0, 3]) == [0]
    assert differing(must, enters([(0, 1, 10), (0, 2, 20)]), [0, 3]) == [3]
    assert must.share_in(enters([(0, 1, 99), (3, 1, 10)])) == pytest.approx(2 / 3)
    assert len(must.before(20)) == 2 and len(must.since(20)) == 1
    assert together([]).share_in(must) == 1.0


def enters(rows) -> Enters:
    return Enters(*np.array(rows, np.int64).reshape(-1, 3).T)


def test_answers_have_point_key_and_event_time() -> None:
    whole = {"point": [4, 5], "key": [17, 18], "event_time": [100, 200]}
    block = Rows.of({name: Column(ColumnType.BIGINT, np.array(items)) for name, items in whole.items()})
    found = emitted([block])
    assert (found.point.tolist(), found.number.tolist(), found.at.tolist()) == ([4, 5], [17, 18], [100, 200])


# --- the kernel -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", Algorithm, ids=lambda algorithm: algorithm.value)
def test_a_run_emits_what_follows_and_wrong_answers_are_noticed(algorithm) -> None:
    objects, points = make_objects(uniform(), 1_500, seed=3), make_points(uniform(), 12, seed=3)
    run = run_kernel(NearestQuestion(3, algorithm, window_objects=400), points, objects, fill=500)
    assert (run.queries, run.objects) == (12, 1_000)
    assert run.candidates >= 3 and run.tests > 0 and run.state_bytes > 0
    assert wrong_points(run, points, objects, seed=3) == []
    assert wrong_points(run, points[::-1], objects, seed=3) == sample(12, seed=3)
    lost = lost_share(run, points, objects, fill=500, seed=3)
    assert lost is None if algorithm.exact else lost is not None and lost < 0.1


def test_columns_stand_under_one_another() -> None:
    assert aligned([("data", "k"), ("uniform", "81")]) == ["data      k", "uniform  81"]


# --- the benchmark itself ---------------------------------------------------------------------------------------------


@pytest.fixture
def tiny(monkeypatch):
    sizes = {"KS": (1, 9), "QUERIES": 6, "MANY_QUERIES": 30, "FILL": 500, "FILL_RA": 500, "OBJECTS_RA": 400}
    for name, size in {**sizes, "OBJECTS_MANY": 600}.items():
        monkeypatch.setattr(nearest, name, size)
    monkeypatch.setattr(
        nearest, "NearestQuestion", lambda k, algorithm: NearestQuestion(k, algorithm, window_objects=400)
    )
    monkeypatch.setenv("HEADWATER_DATA", "nowhere")


def test_algorithms_are_compared_for_every_k_and_kind_of_objects(tiny) -> None:
    said: list[str] = []
    report = nearest.run_nearest(BenchOptions(1_200, cases=("a",)), say=said.append)
    assert report.failures == []
    assert [figure.name for figure in report.figures] == [
        "a: 6 queries, k = 9, EXACT, uniform",
        "a: RAPF over RA, the least",
        "a: PA over RA, the least",
    ]
    assert len(said) == 2 * 2 * 3 and said[0] == "uniform, 6 queries, k = 1, RA"
    assert report.notes[0].startswith("(a) no recorded objects: --real FILE")
    lines = [line.split() for line in report.notes if line.startswith("    ")]
    assert lines[0][:4] == ["data", "algorithm", "k", "objects/s"]
    assert [line[:3] for line in lines[1:4]] == [["uniform", name, "1"] for name in ("RA", "RAPF", "PA")]
    assert len(lines) == 1 + 2 * 2 * 3 + 1


def test_many_queries_are_compared_with_few(tiny) -> None:
    report = nearest.run_nearest(BenchOptions(1_200, cases=("b",)), say=lambda line: None)
    assert report.failures == []
    assert [(figure.name, figure.required) for figure in report.figures] == [
        ("b: 30 queries, k = 9, EXACT, uniform", ">= 30,000"),
        ("b: cost of an object, 30 queries over 6", "<= 12"),
    ]


def test_wrong_answers_of_the_kernel_fail_the_benchmark(tiny, monkeypatch) -> None:
    monkeypatch.setattr(
        nearest,
        "run_kernel",
        lambda *given, **more: replace(run_kernel(*given, **more), answers=together([])),
    )
    report = nearest.run_nearest(BenchOptions(1_200, cases=("b",)), say=lambda line: None)
    assert len(report.failures) == 4
    assert "k = 9: RAPF reports wrong answers for point" in report.failures[0]
    assert report.failures[1] == "uniform, k = 9: there are no answers at all"


def test_the_text_and_the_kernel_have_the_same_question(tmp_path) -> None:
    objects, points = make_objects(uniform(), 600, seed=3), make_points(uniform(), 5, seed=3)
    question = NearestQuestion(3, Algorithm.RAPF, window_objects=2_000)
    plan = compile_text(question.text()).with_sets({"points": point_rows(points)})
    (near,) = [query.operator for query in plan.queries]
    query = question.query(points)
    assert (near.k, near.attributes, near.window_us) == (query.k, query.attributes, query.window_us)
    assert near.exact and near.algorithm is query.algorithm
    files = write_objects(objects, arrivals(objects, seed=3), tmp_path / "rows", 3)
    arrived = [("objects", str(file)) for file in files]
    blocks = [rows for step in stream_local(plan, arrived) for rows in step.answers]
    must = expected(objects, points, range(5), k=3, window_us=question.window_us)
    assert differing(must, emitted(blocks), range(5)) == []
