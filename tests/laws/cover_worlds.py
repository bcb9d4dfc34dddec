"""Boxes and operators, drawn so that covering is neither rare nor certain."""

from __future__ import annotations

from hypothesis import strategies as st

from headwater.model import Box, Circle, Filter, Operator, Polygon, Region
from tests.laws.oracles.cover import Cells

SIDE = {1: 12, 2: 8, 3: 5, 4: 4}
MOST_ROWS = 14


@st.composite
def questions(draw: st.DrawFn) -> tuple[Cells, list[Cells]]:
    """A box of cells and rows; often a box cut to pieces, some of which are moved or lost."""
    columns = draw(st.integers(1, 4))
    side = SIDE[columns]
    box = ((0, side - 1),) * columns
    if draw(st.booleans()):
        return box, draw(st.lists(_cells(columns, side), max_size=MOST_ROWS))
    pieces = [box]
    for _ in range(draw(st.integers(0, MOST_ROWS))):
        piece = pieces.pop(draw(st.integers(0, len(pieces) - 1)))
        column = draw(st.integers(0, columns - 1))
        first, last = piece[column]
        at = draw(st.integers(first, last))
        low, high = (first, at), (at + 1, last)
        pieces += [(*piece[:column], end, *piece[column + 1 :]) for end in (low, high) if end[0] <= end[1]]
    if draw(st.booleans()):
        at = draw(st.integers(0, len(pieces) - 1))
        pieces[at : at + 1] = draw(st.lists(_cells(columns, side), max_size=3))
    return box, draw(st.permutations(pieces))


@st.composite
def _cells(draw: st.DrawFn, columns: int, side: int) -> Cells:
    ends = [sorted(draw(st.tuples(*[st.integers(-1, side)] * 2))) for _ in range(columns)]
    return tuple((first, last) for first, last in ends)


@st.composite
def regions(draw: st.DrawFn, *, geographic: bool) -> Region | None:
    """Small regions near one another; geographic ones often at the date line or near a pole."""
    kind = draw(st.sampled_from(["none", "box", "box", "circle", "polygon"]))
    if kind == "none":
        return None
    scale = 10.0 if geographic else 1.0
    base_x, base_y = draw(st.sampled_from([(0, 0), (165, 0), (-175, 60)])) if geographic else (0, 0)
    numbers = st.integers(-2, 3).map(lambda n: n * scale)
    x, y = base_x + draw(numbers), base_y + draw(numbers)
    if kind == "circle":
        radius = draw(st.sampled_from([0.5, 1.0, 2.0, 4.0])) * (1_100_000 if geographic else 1)
        return Circle(_lon(x) if geographic else x, y, radius, geographic)
    across, along = (draw(st.integers(0 if kind == "box" else 1, 4)) * scale for _ in range(2))
    if kind == "box":
        west, east = (_lon(x), _lon(x + across)) if geographic else (x, x + across)
        return Box(west, max(y, -90.0), east, min(y + along, 90.0), geographic)
    top = draw(st.integers(-1, 2)) * scale
    return Polygon(
        ((x, y), (x + across, y), (x + across, y + along), (x + top, y + along + scale)), geographic
    )


@st.composite
def families(draw: st.DrawFn) -> tuple[Operator, list[Operator]]:
    """Operators of one make over one or two attributes, with regions of all kinds; the first asks for less than most."""
    geographic = draw(st.booleans())
    attributes = "ab"[: draw(st.integers(1, 2))]
    operator = draw(_operators(attributes, geographic, st.just((2, 4)), regions(geographic=geographic)))
    others: list[Operator] = []
    for _ in range(draw(st.integers(1, 3))):
        near = [one.region for one in operator.filters] if draw(st.booleans()) else [None]
        areas = st.one_of(st.sampled_from(near), regions(geographic=geographic))
        at = draw(st.sampled_from([3, 3, 3, 1, 5]))
        # Two by two they share out the values of the first attribute, so that it takes both.
        others += [draw(_operators(attributes, geographic, ends, areas)) for ends in _halves(at)]
    return operator, others


def _halves(at: int) -> list[st.SearchStrategy[tuple[int, int]]]:
    return [st.just((0, at)), st.just((at, 5))]


def _operators(
    attributes: str,
    geographic: bool,
    ranges: st.SearchStrategy[tuple[int, int]],
    areas: st.SearchStrategy[Region | None],
) -> st.SearchStrategy[Operator]:
    filters = [
        st.builds(
            lambda attribute, ends, region: Filter(attribute, *map(float, ends), region=region),
            st.just(attribute),
            ranges if attribute == attributes[0] else st.just((2, 4)),
            areas,
        )
        for attribute in attributes
    ]
    return st.builds(lambda *made: Operator("s", made, within_us=1, geographic=geographic), *filters)


def _lon(x: float) -> float:
    return (x + 180.0) % 360.0 - 180.0
