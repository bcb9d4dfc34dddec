"""Expected rows against actual ones: what is equal, what is missing, and what is most similar."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.model import ColumnType, LimitReached
from headwater.testing.cases import Table
from headwater.testing.matching import can_be, cell_matches, compare

D, B, S, T = ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.STRING, ColumnType.TIMESTAMP
TYPES = {"event_time": T, "a": D, "n": S}


@pytest.mark.parametrize(
    ("cell", "value", "kind"),
    [
        ("0.3", 0.1 + 0.2, D),
        ("1000000000", 1000000000.5, D),
        ("3", 3.0, D),
        ("3.0", 3, B),
        ("~1.5", 1.54, D),
        ("~-10.4", -10.400000000000002, D),
        ("~2", 2.5, D),
        ("NULL", None, D),
        ("", None, S),
        ("…", None, D),
        ("...", "x", S),
        ("007", "007", S),
        ("TRUE", True, ColumnType.BOOLEAN),
        ("2026-01-01T07:00+01:00", "2026-01-01T06:00:00Z", T),
        ("number", "bad-number: no", "part"),
    ],
)
def test_cells_that_match(cell: str, value: Any, kind: ColumnType) -> None:
    assert cell_matches(cell, value, kind)


@pytest.mark.parametrize(
    ("cell", "value", "kind"),
    [
        ("0.3", 0.3000001, D),
        ("1e-13", 3e-12, D),
        ("9007199254740993", 9007199254740992, B),
        ("9" * 400, 1.0, D),
        ("~1.5", 1.56, D),
        ("~2", 2.51, D),
        ("NULL", 0.0, D),
        ("0", None, D),
        ("NULL", "NULL", S),
        ("7", "007", S),
        ("false", True, ColumnType.BOOLEAN),
        ("2026-01-01T06:00:00Z", "2026-01-01T06:00:00.000001Z", T),
    ],
)
def test_cells_that_do_not_match(cell: str, value: Any, kind: ColumnType) -> None:
    assert not cell_matches(cell, value, kind)


@pytest.mark.parametrize(
    ("cell", "kind", "possible"),
    [
        ("1e3", D, True),
        ("~1.", D, False),
        ("~1", B, True),
        ("x", D, False),
        ("soon", T, False),
        ("x", S, True),
        ("yes", ColumnType.BOOLEAN, False),
    ],
)
def test_what_a_column_can_have(cell: str, kind: ColumnType, possible: bool) -> None:
    assert can_be(cell, kind) is possible


def table(*lines: str, more: bool = False, in_order: bool = False) -> Table:
    cells = [tuple(cell.strip() for cell in line.split(",")) for line in lines]
    return Table(cells[0], tuple(cells[1:]), more=more, in_order=in_order)


def rows(*values: tuple[str, float | None]) -> list[dict[str, Any]]:
    return [
        {"event_time": f"2026-01-01T06:00:0{place}Z", "n": name, "a": number}
        for place, (name, number) in enumerate(values)
    ]


def test_order_does_not_matter_and_each_row_answers_one_line() -> None:
    found = compare(table("n, a", "y, 2", "x, 1", "x, 1"), rows(("x", 1.0), ("y", 2.0), ("x", 1.0)), TYPES)
    assert found.is_equal
    found = compare(table("n, a", "x, 1", "x, 1"), rows(("x", 1.0), ("y", 1.0)), TYPES)
    assert (found.matched, found.missing, found.unexpected, found.similar) == (
        ((0, 0),),
        (1,),
        (1,),
        ((1, 1),),
    )


def test_a_line_with_any_value_leaves_rows_to_lines_that_need_them() -> None:
    assert compare(
        table("n, a", "…, …", "x, …", "x, ~1"), rows(("x", 1.01), ("x", 5.0), ("y", 3.0)), TYPES
    ).is_equal
    found = compare(
        table("n, a", "…, 1", "x, …", "…, ~1.0"), rows(("x", 1.0), ("y", 1.0), ("y", 1.01)), TYPES
    )
    assert found.is_equal


def test_as_many_lines_as_possible_find_a_row() -> None:
    found = compare(
        table("n, a", "…, ~1", "x, ~1.0", "x, …"), rows(("x", 1.01), ("x", 1.4), ("y", 9.0)), TYPES
    )
    assert (len(found.matched), found.unexpected) == (2, (2,))


def test_the_most_similar_row_stands_beside_a_missing_line() -> None:
    expected = table("event_time, n, a", "2026-01-01T06:00:01Z, x, 5", "2026-01-01T07:00:00Z, z, 7")
    found = compare(expected, rows(("x", 1.0), ("x", 2.0)), TYPES)
    assert (found.missing, found.unexpected, found.similar) == ((0, 1), (0, 1), ((0, 1),))


def test_more_rows_may_be_there_if_the_table_says_so() -> None:
    assert compare(table("n", "x", more=True), rows(("x", 1.0), ("y", 2.0)), TYPES).is_equal
    assert not compare(table("n", "z", more=True), rows(("x", 1.0)), TYPES).is_equal


def test_a_table_in_order_is_in_order_of_event_time() -> None:
    assert compare(table("n", "x", "y", in_order=True), rows(("x", 1.0), ("y", 2.0)), TYPES).is_equal
    found = compare(table("n", "y", "x", in_order=True), rows(("x", 1.0), ("y", 2.0)), TYPES)
    assert (found.out_of_order, found.missing, found.is_equal) == (True, (), False)
    at_once = [{**row, "event_time": "2026-01-01T06:00:00Z"} for row in rows(("x", 1.0), ("y", 2.0))]
    assert compare(table("n", "y", "x", in_order=True), at_once, TYPES).is_equal


def test_many_rows_that_have_other_texts_are_compared_by_what_is_exact() -> None:
    many = [
        {"event_time": f"2026-01-01T06:{n // 60:02d}:{n % 60:02d}Z", "n": "x", "a": n + 0.04}
        for n in range(3_000)
    ]
    lines = (f"2026-01-01T07:{n // 60:02d}:{n % 60:02d}+01:00, x, ~{n}.0" for n in range(3_000))
    assert compare(table("event_time, n, a", *lines), many, TYPES).is_equal


def test_too_many_pairs_are_refused_and_not_half_compared() -> None:
    many = [{"event_time": "2026-01-01T06:00:00Z", "n": "x", "a": n + 0.04} for n in range(2_100)]
    with pytest.raises(LimitReached):
        compare(table("a", *(f"~{n}.0" for n in range(2_100))), many, TYPES)


def test_many_rows_are_compared_in_time() -> None:
    many = [("x", float(number)) for number in range(5_000)]
    expected = table("n, a", *(f"x, {number}" for number in range(4_999)), "x, -1")
    found = compare(expected, rows(*many), TYPES)
    assert (found.missing, found.unexpected) == ((4_999,), (4_999,))
