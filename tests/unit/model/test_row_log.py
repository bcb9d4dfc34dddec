from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Column, ColumnType, Log, Rows, decode, encode, log_from, strings
from headwater.model.row_log import CHUNK_ROWS
from tests.unit.model.making import often


def rows_at(*times: int) -> Rows:
    return Rows.of(
        {"at": Column.of(ColumnType.TIMESTAMP, times), "name": strings([f"s{t % 3}" for t in times])}
    )


def test_an_empty_log_has_no_rows():
    assert Log().rows() is None
    assert Log().append(rows_at(), "at") == Log()
    assert Log().outline()["chunks"].shape == (0, 3)


def test_a_small_last_chunk_is_replaced_under_a_new_number():
    log = Log().append(rows_at(1, 5), "at").append(rows_at(3), "at")
    assert [(c.number, c.newest, c.rows["at"].tolist()) for c in log.chunks] == [(1, 5, [1, 5, 3])]
    assert log.next_number == 2


def test_a_large_piece_is_cut_into_chunks_and_large_chunks_stay():
    log = Log().append(rows_at(*range(CHUNK_ROWS + 10)), "at")
    assert [(c.number, c.rows.count) for c in log.chunks] == [(0, CHUNK_ROWS), (1, 10)]
    more = log.append(rows_at(*range(CHUNK_ROWS)), "at")
    assert [(c.number, c.rows.count) for c in more.chunks] == [(0, CHUNK_ROWS), (2, CHUNK_ROWS), (3, 10)]
    assert more.chunks[0] is log.chunks[0]


def test_rows_are_written_a_few_times_and_not_with_every_step_that_fills_a_chunk():
    log, written = Log(), 0
    for step in range(320):
        before = {c.number for c in log.chunks}
        log = log.append(rows_at(*range(100 * step, 100 * step + 100)), "at")
        written += sum(c.rows.count for c in log.chunks if c.number not in before)
        small = [c.rows.count for c in log.chunks if c.rows.count < CHUNK_ROWS // 2]
        assert small == [c.rows.count for c in log.chunks][len(log.chunks) - len(small) :]
        assert all(one > 2 * other for one, other in pairwise(small))
    assert written < 5 * 32_000
    assert log.rows()["at"].tolist() == list(range(32_000))


def test_a_chunk_carries_no_names_of_rows_in_other_chunks():
    many = [f"sensor-{n:05d}" for n in range(2 * CHUNK_ROWS + 10)]
    times = Column(ColumnType.TIMESTAMP, np.arange(len(many)))
    rows = Rows.of({"at": times, "name": strings(many)})
    log = Log().append(rows, "at")
    assert [len(c.rows["name"].names) for c in log.chunks] == [CHUNK_ROWS, CHUNK_ROWS, 10]
    few = log.append(rows.take(np.arange(5, 10)), "at")
    assert few.chunks[-1].rows["name"].names.tolist() == [*many[5:10], *many[-10:]]
    assert few.rows()["name"].tolist() == [*many, *many[5:10]]


def test_since_drops_whole_chunks_only():
    log = (
        Log()
        .append(rows_at(*range(CHUNK_ROWS)), "at")
        .append(rows_at(*range(CHUNK_ROWS, 2 * CHUNK_ROWS)), "at")
    )
    assert log.since(CHUNK_ROWS - 1) is log  # the newest row of chunk 0 is at this very instant
    assert [c.number for c in log.since(CHUNK_ROWS).chunks] == [1]
    assert log.since(CHUNK_ROWS).next_number == 2
    assert log.since(10 * CHUNK_ROWS).rows() is None


def test_a_log_comes_back_from_its_outline_and_chunks():
    log = Log().append(rows_at(*range(CHUNK_ROWS)), "at").append(rows_at(7, 8), "at")
    outline = decode(encode(log.outline()))
    saved = {c.number: decode(encode(c.trees()[0])) for c in log.chunks}
    back = log_from(outline, saved)
    assert back.next_number == log.next_number
    assert [(c.number, c.newest) for c in back.chunks] == [(c.number, c.newest) for c in log.chunks]
    assert back.rows().tolist() == log.rows().tolist()
    as_rows = {c.number: c.rows for c in log.chunks}
    assert log_from(outline, as_rows).rows().tolist() == log.rows().tolist()


@often
@given(st.lists(st.lists(st.integers(0, 1000), max_size=5), max_size=12), st.integers(0, 1000))
def test_a_log_keeps_what_was_appended_and_small_chunks_are_halves_of_one_another(
    pieces: list[list[int]], bound: int
):
    log = Log()
    numbers: list[int] = []
    for piece in pieces:
        log = log.append(rows_at(*piece), "at")
        numbers += [c.number for c in log.chunks if c.number not in numbers]
    rows = log.rows()
    assert (rows["at"].tolist() if rows else []) == [t for piece in pieces for t in piece]
    assert numbers == sorted(set(numbers))
    assert all(one.rows.count > 2 * other.rows.count for one, other in pairwise(log.chunks))
    assert all(c.newest == np.max(c.rows["at"].values) for c in log.chunks)
    stored = log.since(bound).rows()
    later = [t for t in (rows["at"].tolist() if rows else []) if t >= bound]
    assert set(later) <= set(stored["at"].tolist() if stored else [])
