"""Which rows are of use to a plan, and to which of its zones."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from headwater.kernels.clauses import Interval
from headwater.model import (
    END,
    SECOND,
    Column,
    ColumnType,
    Rows,
    StreamSchema,
    order_of,
)
from headwater.query.expressions import condition
from headwater.query.language.printer import show
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.useful_rows import join_intervals
from tests.unit.query.planning.plans import PLANE, WEATHER, correlate, some_queries


class TestUsefulRows:
    def useful(self, *queries: str, stream: str = "plane") -> str | None:
        found = compile_text(PLANE + WEATHER + "".join(queries)).useful_rows(stream)
        return None if found is None else show(found)

    def test_a_reading_for_some_clause(self) -> None:
        assert self.useful(
            correlate("q", "a BETWEEN 0 AND 1, b > 2, sent < TIMESTAMP '2026-01-01' WITHIN 1 SECONDS")
        ) == ("a BETWEEN 0.0 AND 1.0 OR b >= 3 OR sent < TIMESTAMP '2026-01-01T00:00:00Z'")
        assert self.useful(
            correlate("q", "open = TRUE, note = 'x', battery = 3 WITHIN 1 SECONDS", source="weather"),
            stream="weather",
        ) == ("open = TRUE OR battery = 3 OR note = 'x'")

    def test_where_and_the_box_around_a_region_are_needed_too(self) -> None:
        query = correlate("q", "a < 1 WITHIN 1 SECONDS INSIDE CIRCLE (0, 0, 5)", where="WHERE a + c > 3")
        assert self.useful(query) == (
            "a + c > 3 AND x BETWEEN -5.001 AND 5.001 AND y BETWEEN -5.001 AND 5.001 AND a < 1.0"
        )

    def test_a_box_across_the_date_line_is_two(self) -> None:
        query = correlate("q", "wind < 1 WITHIN 1 SECONDS INSIDE BOX (170, -10, -170, 10)", source="weather")
        assert self.useful(query, stream="weather") == (
            "(lon BETWEEN 170.0 AND 180.0 AND lat BETWEEN -10.0 AND 10.0"
            " OR lon BETWEEN -180.0 AND -170.0 AND lat BETWEEN -10.0 AND 10.0) AND wind < 1.0"
        )

    def test_a_clause_bound_to_a_sensor_is_not_bound_to_the_region(self) -> None:
        query = correlate("q", "7.b = 3, a < 1 WITHIN 1 SECONDS INSIDE BOX (0, 0, 1, 1)")
        assert self.useful(query) == (
            "id = 7 AND b = 3 OR x BETWEEN 0.0 AND 1.0 AND y BETWEEN 0.0 AND 1.0 AND a < 1.0"
        )

    def test_sensors_are_listed(self) -> None:
        assert (
            self.useful(correlate("q", "a < 1 WITHIN 1 SECONDS SENSORS (3, 1)")) == "id IN (3, 1) AND a < 1.0"
        )

    def test_overlapping_ranges_of_queries_are_joined(self) -> None:
        queries = [
            correlate(name, f"a {conditions} WITHIN 1 SECONDS")
            for name, conditions in [
                ("q", "BETWEEN 0 AND 2"),
                ("r", "BETWEEN 1 AND 3"),
                ("s", "> 10"),
                ("t", "= 2"),
            ]
        ]
        assert self.useful(*queries) == "a BETWEEN 0.0 AND 3.0 OR a > 10.0"

    def test_a_plain_select_uses_what_its_where_lets_through(self) -> None:
        assert (
            self.useful("CREATE QUERY q AS SELECT a FROM plane WHERE a > 1 OR b IS NULL;")
            == "a > 1 OR b IS NULL"
        )
        assert self.useful("CREATE QUERY q AS SELECT a FROM plane;") is None

    def test_many_queries_are_represented_by_their_hull(self) -> None:
        queries = [
            correlate(
                f"q{i}",
                f"a BETWEEN {10 * i} AND {10 * i + 1}, b = {i} WITHIN 1 SECONDS INSIDE BOX ({i}, 0, {i + 1}, 1)",
            )
            for i in range(30)
        ]
        assert self.useful(*queries) == (
            "x BETWEEN 0.0 AND 30.0 AND y BETWEEN 0.0 AND 1.0 AND (a BETWEEN 0.0 AND 291.0 OR b BETWEEN 0 AND 29)"
        )
        everywhere = correlate("all", "c > 1 WITHIN 1 SECONDS")
        assert self.useful(*queries, everywhere) == "a BETWEEN 0.0 AND 291.0 OR b BETWEEN 0 AND 29 OR c > 1.0"

    def test_a_hull_of_both_sides_is_any_value(self) -> None:
        queries = [
            correlate(
                f"q{i}", f"a {'<' if i % 2 else '>'} {i if i % 2 else 100 - i}, b = {i * 2} WITHIN 1 SECONDS"
            )
            for i in range(60)
        ]
        assert self.useful(*queries) == "a IS NOT NULL OR b BETWEEN 0 AND 118"

    def test_whole_numbers_are_compared_with_whole_numbers(self) -> None:
        """9007199254740993 is greater than 9007199254740992.0, but not once it is rounded."""
        assert (
            self.useful(correlate("q", "b > 9007199254740992.0 WITHIN 1 SECONDS")) == "b >= 9007199254740993"
        )
        assert self.useful(correlate("q", "b BETWEEN 0.5 AND 1e300 WITHIN 1 SECONDS")) == "b >= 1"

    def test_a_circle_as_large_as_numbers_go(self) -> None:
        found = self.useful(correlate("q", "a > 1 WITHIN 1 SECONDS INSIDE CIRCLE (0, 0, 1e308)"))
        assert found is not None
        assert re.fullmatch(r"x BETWEEN -1\S*e\+308 AND 1\S*e\+308 AND y BETWEEN .* AND a > 1.0", found)

    def test_intervals_are_joined_where_they_meet(self) -> None:
        assert join_intervals([Interval(5, 9), Interval(0, 5, high_open=True)]) == [Interval(0, 9)]
        apart = [Interval(0, 5, high_open=True), Interval(5, 9, low_open=True)]
        assert join_intervals(apart) == apart
        assert join_intervals([Interval(0, 9, low_open=True), Interval(0, 2)]) == [Interval(0, 9)]

    @pytest.mark.parametrize("count", [3, 200])
    def test_dropping_a_useless_row_never_changes_an_answer(self, count: int) -> None:
        plan = compile_text(PLANE + some_queries(random.Random(count), count))
        rows = some_rows(np.random.default_rng(count), 4000, plan.stream("plane"))
        useful = plan.useful_rows("plane")
        assert useful is not None
        chosen = condition(useful)(rows)
        assert 0 < chosen.sum() < rows.count
        assert answers_of(plan, rows.take(chosen)) == answers_of(plan, rows)


class TestRouting:
    def test_rows_go_to_the_zones_that_use_them(self) -> None:
        text = (
            PLANE
            + correlate("west", "a > 1 WITHIN 1 SECONDS INSIDE BOX (0, 0, 1, 1)")
            + correlate("east", "a > 1 WITHIN 1 SECONDS INSIDE BOX (2, 0, 3, 1)")
            + "CREATE QUERY plain AS SELECT a FROM plane WHERE a > 8;"
        )
        plan = compile_text(text, zones=16)
        zones = [plan.zone_of(name) for name in ("west", "east", "plain")]
        assert len(set(zones)) == 3
        rows = Rows.of(
            {
                "id": Column.of(ColumnType.BIGINT, [1, 1, 1, 1]),
                "at": Column.of(ColumnType.TIMESTAMP, [0, 1, 2, 3]),
                "a": Column.of(ColumnType.DOUBLE, [2.0, 2.0, 0.0, 9.0]),
                "b": Column.of(ColumnType.BIGINT, [0, 0, 0, 0]),
                "x": Column.of(ColumnType.DOUBLE, [0.5, 2.5, 0.5, 9.0]),
                "y": Column.of(ColumnType.DOUBLE, [0.5, 0.5, 0.5, 0.5]),
            }
        )
        zones_using = plan.routing("plane")(rows)
        assert zones_using.shape == (16, 4)
        assert [zones_using[zone].tolist() for zone in zones] == [
            [True, False, False, False],
            [False, True, False, False],
            [False, False, False, True],
        ]
        assert zones_using.sum() == 3

    @pytest.mark.parametrize("count", [5, 100])
    def test_routed_rows_are_enough(self, count: int) -> None:
        text = PLANE + some_queries(random.Random(count), count)
        whole, cut = compile_text(text), compile_text(text, zones=7)
        rows = some_rows(np.random.default_rng(count), 3000, whole.stream("plane"))
        zones_using = cut.routing("plane")(rows)
        assert zones_using.mean() < 0.9
        assert answers_of(cut, rows, zones_using) == answers_of(whole, rows)


def some_rows(generator: np.random.Generator, count: int, schema: StreamSchema) -> Rows:
    """Rows in order, with NULLs; places on a grid, so that some lie on borders."""

    def column(kind: ColumnType, values: object) -> Column:
        valid = generator.random(count) > 0.1
        return Column(kind, np.where(valid, values, 0).astype(kind.dtype), valid)

    rows = Rows.of(
        {
            "id": Column(ColumnType.BIGINT, generator.integers(0, 5, count)),
            "at": Column(ColumnType.TIMESTAMP, np.sort(generator.integers(0, 300 * SECOND, count))),
            "a": column(ColumnType.DOUBLE, np.round(generator.uniform(0, 10, count), 2)),
            "b": column(ColumnType.BIGINT, generator.integers(0, 20, count)),
            "x": column(ColumnType.DOUBLE, generator.integers(-10, 60, count) / 10),
            "y": column(ColumnType.DOUBLE, generator.integers(-10, 30, count) / 10),
            "c": column(ColumnType.DOUBLE, np.round(generator.uniform(0, 10, count), 1)),
            "sent": Column.nulls(ColumnType.TIMESTAMP, count),
        }
    )
    return rows.take(order_of(rows, schema.order))


def answers_of(plan: Plan, rows: Rows, zones_using: object = None) -> list[tuple[object, ...]]:
    """The answers of a plan of queries that all read one stream; `zones_using` says which zone gets which rows."""
    found: list[tuple[object, ...]] = []
    for zone in range(plan.zones):
        given = rows if zones_using is None else rows.take(zones_using[zone])  # type: ignore[index]
        for group in plan.groups(zone):
            step = group.kernel.step(group.kernel.start(-END), given, END)
            for answers in step.answers:
                found += [tuple(row.values()) for row in plan.project(answers).tolist()]
    assert found
    return sorted(found, key=repr)
