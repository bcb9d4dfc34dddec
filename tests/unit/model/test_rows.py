from functools import cmp_to_key

import numpy as np
from hypothesis import given

from headwater.model import (
    Column,
    ColumnType,
    Rows,
    coded,
    compacted,
    join_columns,
    join_rows,
    order_of,
    same_as_previous,
    strings,
)
from tests.unit.model.making import any_rows, often

STRING, DOUBLE, BIGINT = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.BIGINT
BOOLEAN, TIMESTAMP, ID = ColumnType.BOOLEAN, ColumnType.TIMESTAMP, ColumnType.ID


def test_a_column_gives_back_what_it_was_made_of():
    assert Column.of(DOUBLE, [1.5, None, -2]).tolist() == [1.5, None, -2.0]
    assert Column.of(BIGINT, [2**60, None]).tolist() == [2**60, None]
    assert Column.of(BOOLEAN, [True, None, False]).tolist() == [True, None, False]
    assert Column.of(STRING, ["b", None, "", "a", "b"]).tolist() == ["b", None, "", "a", "b"]
    assert Column.of(TIMESTAMP, [1_000_000]).tolist() == [1_000_000]
    assert Column.of(ID, ["0" * 32]).tolist() == ["0" * 32]


def test_every_type_may_be_empty():
    for kind in ColumnType:
        column = Column.of(kind, [])
        assert (len(column), column.values.dtype, column.tolist()) == (0, kind.dtype, [])


def test_under_a_null_lies_zero():
    for kind, item in [(DOUBLE, 7.0), (BIGINT, 7), (BOOLEAN, True), (STRING, "z"), (TIMESTAMP, 7)]:
        column = Column.of(kind, [item, None])
        assert column.values[1] == 0
        assert column.is_valid.tolist() == [True, False]


def test_a_column_without_nulls_has_no_mask():
    assert Column.of(DOUBLE, [1.0]).valid is None
    assert strings(["a"]).valid is None
    assert Column.of(DOUBLE, [1.0]).is_valid.tolist() == [True]


def test_strings_are_codes_into_sorted_names():
    column = strings(["pear", "apple", None, "pear", "Ärger", "𝄞"])
    assert column.names is not None
    assert column.names.tolist() == [
        "apple",
        "pear",
        "Ärger",
        "𝄞",
    ]  # by code point, not by a language's rules
    assert column.values.tolist() == [1, 0, 0, 1, 2, 3]


def test_coded_sorts_a_dictionary_that_is_not():
    column = coded(np.array([0, 2, 1, 0]), np.array(["c", "a", "b"], object))
    assert column.tolist() == ["c", "b", "a", "c"]
    assert column.names is not None and column.names.tolist() == ["a", "b", "c"]
    with_null = coded(np.array([9, 1]), np.array(["c", "a"], object), np.array([False, True]))
    assert with_null.tolist() == [None, "a"]
    assert coded(np.array([0, 0]), np.array([], object), np.array([False, False])).tolist() == [None, None]


def test_compacted_forgets_names_that_no_row_uses():
    column = strings(["a", "b", None, "c"]).take(np.array([3, 2]))
    small = compacted(column)
    assert small.tolist() == ["c", None]
    assert small.names is not None and small.names.tolist() == ["c"]
    assert compacted(Column.of(DOUBLE, [1.0])).tolist() == [1.0]


def test_rows_take_select_and_having():
    rows = Rows.of({"a": Column.of(BIGINT, [1, 2, 3]), "b": strings(["x", None, "z"])})
    assert rows.take(np.array([2, 0])).tolist() == [{"a": 3, "b": "z"}, {"a": 1, "b": "x"}]
    assert rows.take(np.array([False, True, False])).tolist() == [{"a": 2, "b": None}]
    assert rows.take(slice(1, None)).count == 2
    assert list(rows.select(["b"]).columns) == ["b"]
    assert rows.having(a=Column.of(DOUBLE, [0, 0, 0])).types == {"a": DOUBLE, "b": STRING}
    assert "b" in rows and "c" not in rows and len(rows) == 3


def test_rows_without_columns_keep_their_count():
    assert Rows({}, 5).take(slice(0, 2)).count == 2
    assert Rows({}, 5).take(np.array([True, False, True, True, False])).count == 3


def test_joining_unites_dictionaries():
    joined = join_columns([strings(["b", None]), strings([]), strings(["a", "b"])])
    assert joined.tolist() == ["b", None, "a", "b"]
    assert joined.names is not None and joined.names.tolist() == ["a", "b"]
    assert join_columns([Column.nulls(STRING, 2), strings(["a"])]).tolist() == [None, None, "a"]


def test_joining_rows_fills_a_missing_column_with_nulls():
    left = Rows.of({"a": Column.of(BIGINT, [1]), "b": strings(["x"])})
    right = Rows.of({"a": Column.of(BIGINT, [2])})
    assert join_rows([left, right]).tolist() == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    assert join_rows([right, left]).tolist() == [{"a": 2, "b": None}, {"a": 1, "b": "x"}]


def test_joining_nothing_keeps_the_columns():
    empty = Rows.empty({"a": BIGINT})
    assert join_rows([empty, empty]).types == {"a": BIGINT}


def test_order_is_by_time_then_by_the_next_columns_with_null_first():
    rows = Rows.of(
        {
            "at": Column.of(TIMESTAMP, [5, 5, 5, 1, 5]),
            "key": strings(["b", "a", None, "z", "b"]),
            "value": Column.of(DOUBLE, [2.0, 0.0, 0.0, 0.0, None]),
        }
    )
    assert order_of(rows, ("at", "key", "value")).tolist() == [3, 2, 1, 4, 0]


def test_order_of_one_column_and_of_few_rows():
    assert order_of(Rows.of({"at": Column.of(TIMESTAMP, [2, 1, 2])}), ("at",)).tolist() == [1, 0, 2]
    assert order_of(Rows.empty({"at": TIMESTAMP, "key": STRING}), ("at", "key")).tolist() == []
    one = Rows.of({"at": Column.of(TIMESTAMP, [1]), "key": strings([None])})
    assert order_of(one, ("at", "key")).tolist() == [0]


def test_negative_zero_and_zero_are_a_tie():
    rows = Rows.of({"v": Column.of(DOUBLE, [0.0, -0.0]), "w": Column.of(BIGINT, [2, 1])})
    assert order_of(rows, ("v", "w")).tolist() == [1, 0]


@often
@given(any_rows())
def test_order_is_pythons_order_of_tuples_with_null_first(rows: Rows):
    names = list(rows.columns)
    lists = [rows[name].tolist() for name in names]

    def compare(i: int, j: int) -> int:
        for column in lists:
            a, b = column[i], column[j]
            if a != b:
                return -1 if a is None or (b is not None and a < b) else 1
        return 0

    assert order_of(rows, names).tolist() == sorted(range(rows.count), key=cmp_to_key(compare))


def test_same_as_previous_tells_null_from_zero():
    rows = Rows.of({"a": Column.of(DOUBLE, [None, None, 0.0, 0.0]), "b": strings(["x", "x", "x", "x"])})
    assert same_as_previous(rows, ("a", "b")).tolist() == [False, True, False, True]
    assert same_as_previous(rows.take(slice(0, 0)), ("a",)).tolist() == []
