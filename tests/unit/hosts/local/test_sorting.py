from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.hosts.local.sorting import Sorter
from headwater.model import END, Column, ColumnType, Rows, StreamSchema, strings

TYPES = (("at", ColumnType.TIMESTAMP), ("key", ColumnType.STRING), ("value", ColumnType.DOUBLE))
CARS, BIKES = (StreamSchema(name, TYPES, time="at", key="key") for name in ("cars", "bikes"))

ITEMS = st.lists(
    st.tuples(
        st.sampled_from(["cars", "bikes"]),
        st.integers(0, 12),
        st.none() | st.sampled_from("abc"),
        st.floats(-1, 1),
    ),
    max_size=60,
)


def rows(items):
    return Rows.of(
        {
            "at": Column.of(ColumnType.TIMESTAMP, [at for at, _, _ in items]),
            "key": strings([key for _, key, _ in items]),
            "value": Column.of(ColumnType.DOUBLE, [value for _, _, value in items]),
        }
    )


@settings(deadline=None)
@given(items=ITEMS, piece=st.integers(1, 20), memory=st.integers(1, 80), chunk=st.integers(1, 10))
def test_slices_hold_every_row_once_and_in_time(items, piece, memory, chunk):
    with Sorter([CARS, BIKES], memory_rows=memory, chunk_rows=chunk) as sorter:
        for start in range(0, len(items), piece):
            for stream in ("cars", "bikes"):
                some = [item[1:] for item in items[start : start + piece] if item[0] == stream]
                if some:
                    sorter.add(stream, rows(some))
        found = []
        before = -1
        for slices, border in sorter.slices():
            for stream, parts in slices.items():
                for part in parts:
                    times = part["at"].tolist()
                    assert all(before <= at < border for at in times)
                    found += [(stream, *row.values()) for row in part.tolist()]
            before = border
    assert before == END

    def order(item):
        return item[0], item[1], item[2] or "", item[3]

    assert sorted(found, key=order) == sorted(items, key=order)


def test_what_was_written_aside_goes_away_with_the_sorter(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Sorter([CARS], memory_rows=2, chunk_rows=1) as sorter:
        sorter.add("cars", rows([(2, "a", 1.0), (1, None, 0.5)]))
        sorter.add("cars", rows([(1, "b", 2.0)]))
        assert len(list(tmp_path.iterdir())) == 1
        slices = [(parts["cars"][0].tolist() if parts else [], border) for parts, border in sorter.slices()]
    assert [border for _, border in slices] == [2, END]
    assert list(tmp_path.iterdir()) == []
