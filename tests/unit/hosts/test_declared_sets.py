"""The points of a plan: which columns, how many there is room for, and how many of them are audited."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headwater.hosts.declared_sets import (
    MEMORY_SHARE,
    most_points,
    probable_queries,
    sets_from_files,
    sets_from_tables,
    used_columns,
    used_points,
)
from headwater.model import LimitReached
from headwater.query.operators.nearest.plan import audited_points, expected_bytes
from headwater.query.planning.plan import Plan, compile_text

TEXT = """
CREATE STREAM s (k STRING KEY, at TIMESTAMP TIME, a DOUBLE, b DOUBLE, c DOUBLE);
CREATE POINTS marks (name STRING KEY, c DOUBLE, b DOUBLE, a DOUBLE);
CREATE POINTS others (number BIGINT KEY, a DOUBLE);
CREATE POINTS unused (name STRING KEY, a DOUBLE);
CREATE QUERY one AS SELECT * FROM s NEAREST (3 TO EACH OF marks BY (a) OVER 1 HOUR USING PROBABLE 0.01);
CREATE QUERY two AS SELECT * FROM s NEAREST (9 TO EACH OF marks BY (b) OVER 1000 ROWS);
CREATE QUERY three AS SELECT * FROM s NEAREST (2 TO EACH OF others BY (a) OVER 1 HOUR);
"""


@pytest.fixture
def plan() -> Plan:
    return compile_text(TEXT, zones=4)


def marks(count: int) -> pa.Table:
    columns = {name: [float(n) for n in range(count)] for name in "abc"}
    return pa.table({"name": [f"p{n}" for n in range(count)], **columns})


def others(count: int) -> pa.Table:
    return pa.table({"number": list(range(count)), "a": [float(n) for n in range(count)]})


def bytes_of(plan: Plan, name: str, count: int) -> int:
    near = plan.query(name).operator
    assert near is not None
    return expected_bytes(near, count)


def test_only_what_some_query_looks_at_is_read(plan):
    assert [schema.name for schema in used_points(plan)] == ["marks", "others"]
    assert used_columns(plan, plan.points[0]) == ("name", "b", "a")
    given = sets_from_tables(plan, {"marks": marks(3), "others": others(2)})
    assert {name: list(rows.columns) for name, rows in given.rows.items()} == {
        "marks": ["name", "b", "a"],
        "others": ["number", "a"],
    }
    assert given.bad.count == 0


def test_points_are_held_against_the_memory_there_is(plan):
    a_mark = bytes_of(plan, "one", 1) + bytes_of(plan, "two", 1)
    memory = int((100 * a_mark + bytes_of(plan, "three", 50)) / MEMORY_SHARE) + 2
    assert most_points(plan, plan.points[0], memory=int(100 * a_mark / MEMORY_SHARE) + 2) == 100
    sets_from_tables(plan, {"marks": marks(100), "others": others(50)}, memory=memory)
    with pytest.raises(LimitReached) as refused:
        sets_from_tables(plan, {"marks": marks(100), "others": others(51)}, memory=memory)
    assert (
        "'others' are too many for this machine: the first 51 of them are 51 standing queries ('three')"
        in str(refused.value)
    )


def test_a_refusal_says_how_many_what_they_need_what_there_is_and_what_to_do(plan):
    with pytest.raises(LimitReached) as refused:
        sets_from_tables(plan, {"marks": marks(1000), "others": others(1)}, memory=1_000_000)
    message, there, advice = str(refused.value).splitlines()
    needed = (bytes_of(plan, "one", 1000) + bytes_of(plan, "two", 1000)) / 1e6
    assert message == (
        "error[limit-reached]: the points 'marks' are too many for this machine: the first 1,000 of them are 2,000 standing"
        f" queries ('one', 'two') and need about {needed:.3g} MB"
    )
    assert there == "  there are 1 MB of memory, of which they may use 500 KB"
    assert "fewer points or a smaller k" in advice and "PROBABLE" in advice


def test_ten_million_points_are_refused_long_before_they_are_read(plan, tmp_path: Path, monkeypatch):
    for number in range(20):
        lines = "".join(f"p{number}-{n},1,2\n" for n in range(1000))
        (tmp_path / f"{number:02d}.csv").write_text("name,a,b\n" + lines)
    opened = []
    from headwater.hosts.files import points_reader

    read = points_reader.read_file
    monkeypatch.setattr(
        points_reader, "read_file", lambda request: opened.append(request.path) or read(request)
    )
    with pytest.raises(LimitReached, match="the first 3,000 of them"):
        room = int(2500 * (bytes_of(plan, "one", 1) + bytes_of(plan, "two", 1)) / MEMORY_SHARE)
        sets_from_files(plan, {"marks": [str(tmp_path)], "others": []}, memory=room)
    assert len(opened) == 3


def test_a_share_of_the_points_is_audited_where_a_loss_is_allowed(plan):
    assert [query.name for query in probable_queries(plan)] == ["one"]
    for count, parts in ((10, 1), (3000, 4)):
        given = sets_from_tables(plan, {"marks": marks(count), "others": others(1)})
        for share, least, most in ((1.0, count, count), (0.1, 1, count // 5)):
            (query,) = probable_queries(plan.with_sets(given.rows, audit=share))
            assert query.parts == parts
            assert least <= audited_points(query.operator, query) <= most
