"""What bounds say of pairs that are only asked to be near is what their polygons say, or nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import Join, Lines, join_interval, join_of, workspace
from headwater.kernels.predict.geometry import bounds as bound
from headwater.kernels.predict.sources import empty_lines
from headwater.model import SECOND
from headwater_lab.bench.predict_kernel import PredictQuestion

LINES, PAIRS = 200, 3_000
NEAR_M = 150.0


def lines_of(seed: int, *, are_whole: bool, far: float = 0.0) -> Lines:
    """Lines that cross, some of them standing, some only in one dimension, some side by side; tolerances of all sizes."""
    rng = np.random.default_rng(seed)
    lines = empty_lines(LINES, 3)
    lines.t0[:] = lines.start[:] = 1_790_000_000 * SECOND + rng.integers(0, 20 * SECOND, LINES)
    lines.end[:] = lines.start + rng.integers(1, 30 * SECOND, LINES)
    lines.values[:] = rng.uniform(0, 900, (LINES, 3))
    lines.slopes[:] = rng.uniform(-30, 30, (LINES, 3))
    lines.slopes[::5] = 0.0
    lines.slopes[1::5, 0] = 0.0
    lines.slopes[2::10] = lines.slopes[2]
    if are_whole:
        lines.values[:], lines.slopes[:] = np.rint(lines.values / 50) * 50, np.rint(lines.slopes / 10) * 10
        lines.t0[:] = lines.start[:] = lines.start // SECOND * SECOND
        lines.end[:] = lines.start + np.rint((lines.end - lines.start) / SECOND + 1) * SECOND
    lines.values[:] += far
    lines.tolerance[:] = rng.choice([0.0, 25.0, 40.0, 75.0], LINES)
    return lines


def join_with(
    certainty: Certainty, comparator: Comparator, dimensions: tuple[str, ...], within_us: int
) -> Join:
    query = replace(PredictQuestion(NEAR_M, within_us).query(dimensions), certainty=certainty)
    conditions = tuple(replace(condition, comparator=comparator) for condition in query.conditions)
    return join_of(replace(query, conditions=conditions), 0, 1)


def said_of(
    lines: Lines, join: Join, pairs: list[list[int]], promised: np.ndarray
) -> list[tuple[float, int, int]]:
    """What bounds say of pairs, and from when until when."""
    sheet, said = bound.sheet_for(len(join.bound)), []
    for first in range(0, len(pairs), bound.SOME):
        some = pairs[first : first + bound.SOME]
        for place, (k, j) in enumerate(some):
            bound.write_down(sheet, place, lines, k, j, join, promised)
        bound.find_bounds(sheet, join, len(some))
        columns = sheet.reshape(-1, bound.SOME)
        for place, (k, j) in enumerate(some):
            zero = int(max(lines.t0[k], lines.t0[j]))
            came, begins, ends = columns[[bound.CAME, bound.BEGINS, bound.ENDS], place].tolist()
            is_near = came == bound.NEAR
            said.append((came, zero + int(begins) if is_near else 0, zero + int(ends) if is_near else 0))
    return said


@pytest.mark.parametrize("far", [0.0, 5e6])
@pytest.mark.parametrize("are_whole", [False, True])
@pytest.mark.parametrize("dimensions", [("x",), ("x", "y"), ("x", "y", "z")])
@pytest.mark.parametrize("comparator", [Comparator.LESS_EQUAL, Comparator.LESS])
@pytest.mark.parametrize("certainty", [Certainty.LINE, Certainty.MAY, Certainty.MUST])
def test_bounds_say_what_the_polygon_says(certainty, comparator, dimensions, are_whole, far):
    sure = near = 0
    for within_us in (0, 700_000, 3 * SECOND, 3_600 * SECOND):
        lines = lines_of(within_us % 97, are_whole=are_whole, far=far)
        join = join_with(certainty, comparator, dimensions, within_us)
        work = workspace(join)
        pairs = np.random.default_rng(4).integers(0, LINES, (PAIRS, 2)).tolist()
        for (k, j), said in zip(pairs, said_of(lines, join, pairs, lines.end.copy()), strict=True):
            if said[0] != bound.UNSURE:
                found, begins, ends = join_interval(lines, k, lines, j, join, 0, work)
                assert (found, begins, ends) == (said[0] == bound.NEAR, *said[1:])
                sure += 1
                near += found
    # Whole numbers touch often, and what only touches is for the polygon.
    assert sure > (0.75 if are_whole else 0.9) * 4 * PAIRS
    assert near > 100


def test_lives_that_were_promised_longer_change_nothing_but_what_is_unsure():
    lines, join = (
        lines_of(3, are_whole=False),
        join_with(Certainty.LINE, Comparator.LESS_EQUAL, ("x", "y"), 3 * SECOND),
    )
    pairs = np.random.default_rng(5).integers(0, LINES, (PAIRS, 2)).tolist()
    as_cut = said_of(lines, join, pairs, lines.end.copy())
    as_promised = said_of(lines, join, pairs, lines.end + 30 * SECOND)
    for one, other in zip(as_cut, as_promised, strict=True):
        assert bound.UNSURE in (one[0], other[0]) or one == other


def test_lives_of_no_length_are_left_to_the_polygon():
    lines = lines_of(8, are_whole=False)
    lines.values[:], lines.slopes[:] = 0.0, 1.0
    lines.start[:] = lines.t0[:] = lines.t0[0]
    lines.end[:] = lines.start + 5 * SECOND
    lines.end[1] = lines.start[1]
    join = join_with(Certainty.LINE, Comparator.LESS_EQUAL, ("x", "y"), 3 * SECOND)
    pairs = [[0, 1], [1, 0], [0, 2]]
    said = [came for came, _, _ in said_of(lines, join, pairs, lines.end + SECOND)]
    assert said == [bound.UNSURE, bound.UNSURE, bound.NEAR]
    work = workspace(join)
    assert [join_interval(lines, k, lines, j, join, 0, work)[0] for k, j in pairs] == [False, False, True]


def test_what_cannot_be_reckoned_with_is_left_to_the_polygon():
    join = join_with(Certainty.LINE, Comparator.LESS_EQUAL, ("x", "y"), 3 * SECOND)
    for change in ({"values": 1e120}, {"slopes": 1e120}, {"slopes": 1e-95}, {"tolerance": 1e120}):
        lines = lines_of(6, are_whole=False)
        lines.start[:], lines.end[:] = lines.t0, lines.t0 + 30 * SECOND
        for name, value in change.items():
            getattr(lines, name)[1] = value
        lines.values[0] = lines.values[2] = 0.0
        lines.values[1] = change.get("values", 0.0)
        lines.slopes[0] = 0.0
        assert said_of(lines, join, [[0, 1], [1, 0]], lines.end.copy()) == [(bound.UNSURE, 0, 0)] * 2
    lines = lines_of(6, are_whole=False)
    for _ in range(2):
        assert said_of(lines, join, [[0, 2]], lines.end.copy())[0][0] != bound.UNSURE
        lines.values[2] = lines.values[0] + 149.0
    assert said_of(lines, join, [[0, 2]], lines.end + 2**41)[0][0] == bound.UNSURE
