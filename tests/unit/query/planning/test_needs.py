"""What queries behind a FOLLOW need of its events: which hang together, how far back each looks, what it looks at."""

from __future__ import annotations

from headwater.kernels.follow.question import Need
from headwater.model import SECOND, Column, ColumnType, Rows
from headwater.query.planning.plan import compile_text

STREAMS = """
CREATE STREAM cars (car STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE STREAM events (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y));
CREATE QUERY near AS SELECT {} FROM events FOLLOW (cars RADIUS 5 METERS);
"""
RISES = "MATCH_RECOGNIZE (PARTITION BY id MEASURES A.v AS a {} PATTERN (A B) WITHIN 5 SECONDS DEFINE B AS v > A.v)"
FREELY = "AFTER MATCH SKIP TO NEXT ROW"


def needs(*queries: str, selected: str = "*") -> list[Need]:
    """Those of the operators, then that of FOLLOW itself."""
    text = STREAMS.format(selected) + "".join(
        f"CREATE QUERY q{number} AS SELECT * FROM {query};\n" for number, query in enumerate(queries)
    )
    _, group = compile_text(text).groups(0)  # the first keeps events
    (kernel_query,) = group.kernel.queries  # type: ignore[attr-defined]
    return list(kernel_query.needs)


def test_events_themselves_are_looked_at_one_by_one():
    assert needs() == [Need(0, 0, None, None, is_free=True)]


def test_a_pattern_looks_at_its_partition_as_far_back_as_its_window():
    pattern, itself = needs(f"near {RISES.format(FREELY)}")
    assert (pattern.part, pattern.windows_us, pattern.separates_by) == (0, 5 * SECOND, ("id",))
    assert pattern.is_free and not pattern.settles
    assert itself.part == 1


def test_a_pattern_that_consumes_depends_on_where_it_begins():
    pattern, _ = needs(f"near {RISES.format('')}")
    assert not pattern.is_free


def test_queries_that_read_one_another_hang_together_and_their_windows_add_up():
    then = "q0 MATCH_RECOGNIZE (MEASURES X.a AS a MATCH EVERY PATTERN (X ~> Y) WITHIN 7 SECONDS DEFINE Y AS a > X.a)"
    first, alone, itself = needs(f"near {RISES.format(FREELY)}", then, "near WHERE v > 1")
    assert {first.part, alone.part, itself.part} == {0, 1, 2}
    assert (first.windows_us, first.separates_by, first.settles, first.later_us) == (
        12 * SECOND,
        (),
        True,
        12 * SECOND,
    )
    assert (alone.windows_us, alone.separates_by) == (0, None)


def test_one_that_depends_on_where_it_begins_makes_its_sub_graph_so():
    first, alone, _ = needs(f"near {RISES.format('')}", "q0 WHERE a > 1", "near WHERE v > 1")
    assert not first.is_free
    assert alone.is_free


def test_what_a_query_takes_is_what_it_can_use():
    (some, _) = needs("near WHERE v > 1")
    values = Column.of(ColumnType.DOUBLE, [0.0, 2.0, None])
    assert some.takes is not None
    assert some.takes(Rows({"v": values}, 3)).tolist() == [False, True, False]


def test_conditions_on_columns_of_the_select_list_are_not_applied_to_events():
    (some, _) = needs("near WHERE w > 1", selected="v + 1 AS w")
    assert some.takes is None
    assert some.is_free
