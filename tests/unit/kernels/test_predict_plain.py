"""The short cuts of PREDICT for pairs that are only asked to be near say what the geometry says, and rows are in order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import (
    Join,
    Lines,
    join_interval,
    join_of,
    join_probability,
    workspace,
)
from headwater.kernels.predict.geometry.chances import ordered
from headwater.kernels.predict.geometry.plain import LAID, UNSETTLED, lay_out, plain_chance, plain_interval
from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.ordering import FEW, by_places, in_order
from headwater.kernels.predict.sources import empty_lines
from headwater.model import BEGINNING, END, SECOND, Column, ColumnType, Rows, StreamSchema
from headwater_lab.bench.predict_kernel import PredictQuestion

LINES, PAIRS = 60, 400
WITHIN_US = 3 * SECOND


FAR = pytest.mark.parametrize("far", [0.0, 5e6, 4e10])
"""How far from zero values are: the eastings and northings of a map, and beyond."""


def lines_of(seed: int, far: float) -> Lines:
    """Lines that cross, some of them standing, some with whole numbers, and tolerances of all sizes."""
    rng = np.random.default_rng(seed)
    lines = empty_lines(LINES, 2)
    lines.t0[:] = lines.start[:] = 1_790_000_000 * SECOND + rng.integers(0, 20 * SECOND, LINES)
    lines.end[:] = lines.start + rng.integers(1, 30 * SECOND, LINES)
    lines.values[:] = rng.uniform(0, 900, (LINES, 2))
    lines.slopes[:] = rng.uniform(-30, 30, (LINES, 2))
    lines.slopes[::5] = 0.0
    lines.slopes[1::5, 0] = 0.0
    lines.values[::3], lines.slopes[::3] = np.rint(lines.values[::3]), np.rint(lines.slopes[::3])
    lines.values[:] += far
    lines.tolerance[:] = rng.choice([0.0, 25.0, 40.0, 300.0], LINES)
    return lines


def join_with(certainty: Certainty, comparator: Comparator) -> Join:
    query = replace(PredictQuestion(400.0, WITHIN_US).query(("x", "y")), certainty=certainty)
    conditions = tuple(replace(condition, comparator=comparator) for condition in query.conditions)
    return join_of(replace(query, conditions=conditions), 0, 1)


def times_of(lines: Lines, k: int, j: int) -> tuple[int, tuple[int, int, int, int]]:
    """A pair's instant, and its lives after it."""
    zero = int(max(lines.t0[k], lines.t0[j]))
    ends = (lines.start[k], lines.end[k], lines.start[j], lines.end[j])
    return zero, tuple(int(time) - zero for time in ends)


@FAR
@pytest.mark.parametrize("comparator", [Comparator.LESS_EQUAL, Comparator.LESS])
@pytest.mark.parametrize("certainty", [Certainty.LINE, Certainty.MAY, Certainty.MUST])
def test_a_pair_laid_out_begins_and_ends_as_the_geometry_says(
    certainty: Certainty, comparator: Comparator, far: float
):
    lines, join = lines_of(3, far), join_with(certainty, comparator)
    laid, work, answers = np.empty((2, LAID)), workspace(join), 0
    for k, j in np.random.default_rng(4).integers(0, LINES, (PAIRS, 2)).tolist():
        zero, times = times_of(lines, k, j)
        early, late = zero - int(lines.t0[k]), zero - int(lines.t0[j])
        found, begins, ends = False, 0, 0
        if lay_out(lines, k, j, join, laid):
            found, begins, ends = plain_interval(laid, 2, early, late, times, WITHIN_US, work)
        expected = join_interval(lines, k, lines, j, join, 0, work)
        assert (found, *((zero + begins, zero + ends) if found else (0, 0))) == expected
        answers += found
    assert 20 < answers < PAIRS


@FAR
@pytest.mark.parametrize("certainty", [Certainty.LINE, Certainty.MAY])
def test_a_probability_without_a_search_is_that_of_the_search(certainty: Certainty, far: float):
    lines, join = lines_of(5, far), join_with(certainty, Comparator.LESS_EQUAL)
    laid, work, between, unsettled = np.empty((2, LAID)), workspace(join), 0, 0
    for k, j in np.random.default_rng(6).integers(0, LINES, (PAIRS, 2)).tolist():
        both = float(lines.tolerance[k] + lines.tolerance[j])
        if both == 0.0 or not join_interval(lines, k, lines, j, join, 0, work)[0]:
            continue
        zero, times = times_of(lines, k, j)
        early, late = zero - int(lines.t0[k]), zero - int(lines.t0[j])
        lay_out(lines, k, j, join, laid)
        wide, narrow = ordered(lines.tolerance[k], lines.tolerance[j])
        chance = plain_chance(laid, 2, early, late, times, WITHIN_US, wide, narrow, both, work)
        if chance == UNSETTLED:
            unsettled += 1
            continue
        assert chance == pytest.approx(join_probability(lines, k, lines, j, join, 0, work), abs=3e-9)
        between += 0.0 < chance < 1.0
    assert between > 20 and unsettled < 20


def test_a_best_instant_on_an_edge_along_which_nothing_changes_is_left_to_the_search():
    lines, join = empty_lines(2, 2), join_of(PredictQuestion(50.0, 60 * SECOND).query(("x", "y")), 0, 1)
    lines.t0[:] = lines.start[:] = 9 * SECOND, 6 * SECOND
    lines.end[:] = 30 * SECOND + 1, 12 * SECOND + 1
    lines.values[:] = (-75.0, 100.0), (-75.0, 150.0)
    lines.slopes[:] = (25.0, 25.0), (25.0 / 3.0, 25.0)
    lines.tolerance[:] = 25.0
    laid, work = np.empty((2, LAID)), workspace(join)
    zero, times = times_of(lines, 0, 1)
    assert lay_out(lines, 0, 1, join, laid)
    late = zero - int(lines.t0[1])
    assert plain_chance(laid, 2, 0, late, times, 60 * SECOND, 25.0, 25.0, 50.0, work) == UNSETTLED
    assert 0.0 <= join_probability(lines, 0, lines, 1, join, 0, work) <= 1.0


def test_rows_are_put_in_the_order_of_the_places_of_their_lines():
    rng = np.random.default_rng(8)
    for count, lines, aliases in ((FEW - 1, 50, 2), (FEW, 50, 2), (3 * FEW, 9_000, 2), (3 * FEW, 2**21, 3)):
        place = rng.permutation(lines)
        chosen = tuple(rng.integers(0, lines, count) for _ in range(aliases))
        expected = np.lexsort([place[line] for line in reversed(chosen)])
        assert by_places(chosen, place).tolist() == expected.tolist()


def test_many_rows_are_put_in_the_order_of_all_their_columns():
    rng = np.random.default_rng(7)
    for count in (FEW - 1, FEW, 3 * FEW):
        far = rng.choice(np.array([-(2**62), -5, 0, 2**62]), count)
        columns = [
            rng.integers(-3, 3, count),
            far,
            rng.integers(0, 50, count),
            np.zeros(count, np.int64),
            np.arange(count),
        ]
        assert in_order(columns).tolist() == np.lexsort(columns[::-1]).tolist()


@pytest.mark.parametrize("every_us", [None, SECOND])
@pytest.mark.parametrize("tentative", [False, True])
def test_a_column_that_nobody_reads_is_left_out_and_all_others_are_the_same(every_us, tentative):
    names = ("x", "y", "x_slope", "y_slope", "tolerance", "heartbeat")
    kinds = [("id", ColumnType.BIGINT), ("event_time", ColumnType.TIMESTAMP)]
    kinds += [(name, ColumnType.DOUBLE) for name in names]
    schema = StreamSchema("updates", tuple(kinds), time="event_time", key="id")
    numbers = {"x": [0.0, 390.0, 500.0], "y": [0.0] * 3, "x_slope": [0.0] * 3, "y_slope": [0.0] * 3}
    numbers |= {"tolerance": [25.0] * 3, "heartbeat": [30.0] * 3}
    columns = {name: Column(ColumnType.DOUBLE, np.array(values)) for name, values in numbers.items()}
    columns["id"] = Column(ColumnType.BIGINT, np.arange(3))
    columns["event_time"] = Column(ColumnType.TIMESTAMP, np.arange(3) * SECOND)
    row_numbers = []
    read = [
        None,
        {"a_key", "b_key"},
        {"b_time", "begins"},
        {"a_time", "ends", "withdrawn"},
        {"probability"},
        set(),
    ]
    for reads in read:
        query = PredictQuestion(400.0, WITHIN_US, reads=None if reads is None else frozenset(reads)).query(
            ("x", "y")
        )
        kernel = PredictKernel(
            schema, [replace(query, tentative=tentative, every_us=None if tentative else every_us)]
        )
        (answers,) = kernel.step(kernel.start(BEGINNING), Rows.of(columns).select(schema.types), END).answers
        row_numbers.append({name: answers.rows[name].tolist() for name in answers.rows.columns})
    whole = row_numbers[0]
    assert 0.5 < whole["probability"][0] < 1.0
    for reads, some in zip(read[1:], row_numbers[1:], strict=True):
        assert some == {name: whole[name] for name in ("query", "event_time", "match_id", *sorted(reads))}
