import numpy as np
import pytest

from headwater.kernels.correlate import window as window_of_rows
from headwater.kernels.correlate.window import Window
from headwater.kernels.growing_array import GrowingArray
from headwater.model import Column, ColumnType, Rows, strings

STRING, BIGINT = ColumnType.STRING, ColumnType.BIGINT


def rows(*items: tuple[str | None, int | None]) -> Rows:
    return Rows.of(
        {"who": strings([who for who, _ in items]), "n": Column.of(BIGINT, [number for _, number in items])}
    )


def test_what_is_appended_to_an_old_tape_does_not_show_on_a_newer_one():
    start = GrowingArray.of(np.array([1, 2]))
    one = start.append(np.array([3]))
    other = start.append(np.array([4, 5]))
    assert start.shown.tolist() == [1, 2]
    assert one.shown.tolist() == [1, 2, 3]
    assert other.shown.tolist() == [1, 2, 4, 5]
    assert one.append(np.array([6])).shown.tolist() == [1, 2, 3, 6]


def test_a_tape_that_is_appended_to_again_and_again_is_not_copied_each_time():
    tape = GrowingArray.of(np.empty(0, np.int64))
    buffers = set()
    for n in range(5000):
        tape = tape.append(np.array([n])).drop(1 if n > 10 else 0)
        buffers.add(id(tape.buffer))
    assert tape.shown.tolist() == list(range(4989, 5000))
    assert len(buffers) <= 6


def test_a_window_numbers_its_rows_on_and_on():
    window = Window.empty({"who": STRING, "n": BIGINT}, first=100)
    window = window.append(rows(("b", 1), ("a", 2))).append(rows(("c", None), (None, 4)))
    assert (window.first, window.end) == (100, 104)
    later = window.drop_before(101)
    assert (later.first, later.end) == (101, 104)
    assert later.take("who", np.array([103, 101, 102])).tolist() == [None, "a", "c"]
    assert later.take("n", np.array([103, 101, 102])).tolist() == [4, 2, None]
    assert window.take("who", np.array([100])).tolist() == ["b"]


def test_names_that_no_row_uses_are_left_out_when_there_are_more_of_them():
    window = Window.empty({"who": STRING, "n": BIGINT})
    most = 0
    for n in range(2_000):
        window = window.append(rows((f"name {n}", n), ("always", n))).drop_before(2 * n - 20)
        names = window.tracks["who"].names
        assert names is not None
        most = max(most, len(names.texts))
    assert most <= 2 * 24 + 64 + 2
    assert window.take("who", np.array([3998, 3999, 3996])).tolist() == ["name 1999", "always", "name 1998"]


def test_names_that_come_later_do_not_show_in_an_older_window():
    older = Window.empty({"who": STRING, "n": BIGINT}).append(rows(("m", 1), (None, 2)))
    newer = older.append(rows(("a", 3), ("z", 4)))
    assert older.take("who", np.array([0, 1])).tolist() == ["m", None]
    assert newer.take("who", np.array([3, 0, 2, 1])).tolist() == ["z", "m", "a", None]
    names = newer.take("who", np.array([3, 0, 2, 1])).names
    assert names is not None and names.tolist() == ["a", "m", "z"]


def test_a_column_that_rows_lack_is_null():
    window = Window.empty({"who": STRING, "n": BIGINT}).append(rows(("a", 1)).select(["n"]))
    assert window.take("who", np.array([0])).tolist() == [None]


def test_identities_are_equal_where_values_are():
    window = Window.empty({"who": STRING, "n": BIGINT}, hashed="who").append(
        rows(("a", 7), ("b", 7), (None, None), ("", 7))
    )
    window = window.append(rows(("a", 8)))
    a, b, null, empty, again = window.tracks["who"].identities.tolist()
    assert a == again and len({a, b, null, empty}) == 4
    assert window.tracks["n"].identities.tolist() == [7, 7, 0, 7, 8]


def test_a_name_that_comes_again_after_many_others_is_the_same_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(window_of_rows, "MOST_RECENT", 2)
    window = Window.empty({"who": STRING, "n": BIGINT}, hashed="who")
    for _ in range(3):
        window = window.append(rows(("c", 1), ("a", 2))).append(rows(("b", 3), ("d", None), (None, 4)))
    names = window.tracks["who"].names
    assert names is not None and len(names.texts) > 4
    for count in (1, 2, 15):
        column = window.take("who", np.arange(count))
        assert column.tolist() == (["c", "a", "b", "d", None] * 3)[:count]
        assert column.names is not None and column.names.tolist() == sorted(set(column.names.tolist()))
    identities = window.tracks["who"].identities.tolist()
    assert identities == identities[:5] * 3 and len(set(identities)) == 5
