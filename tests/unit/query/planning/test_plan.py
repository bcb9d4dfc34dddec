"""What a plan says: fingerprints, zones, shapes, columns that travel, kernels."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
from dataclasses import replace

import pytest

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.kernel import CorrelateKernel
from headwater.kernels.correlate.subscription import Emit
from headwater.model import (
    SECOND,
    Answers,
    Circle,
    Column,
    ColumnType,
    QueriesRefused,
    Rows,
    Span,
    content_ids,
    strings,
)
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import Literal, Script
from headwater.query.operators.union import CorrelateOperator
from headwater.query.planning.plan import compile_script, compile_text
from headwater.query.planning.query_plan import QueryPlan
from headwater.query.planning.zones import zone_of
from tests.unit.query.planning.plans import PLANE, WEATHER, correlate, some_queries

BARE = "CREATE STREAM bare (at TIMESTAMP TIME, a DOUBLE, b DOUBLE, c DOUBLE, d DOUBLE);\n"
FROST = """CREATE QUERY frost AS SELECT * FROM weather CORRELATE (
  temperature BETWEEN -5 AND 0, humidity >= 80 WITHIN 30 SECONDS, 500 METERS INSIDE CIRCLE (7.17, 45.87, 5 KM));
"""


def print_of(text: str, name: str = "q") -> str:
    return compile_text(text).query(name).fingerprint


class TestQueryPlans:
    def test_a_query_is_planned_with_its_operator(self) -> None:
        plan = compile_text(WEATHER + FROST, zones=4)
        (query,) = plan.queries
        infinite = float("inf")
        assert query == QueryPlan(
            name="frost",
            reads="weather",
            fingerprint=query.fingerprint,
            zone_key="region Circle(x=7.17, y=45.87, radius_m=5000.0, geographic=True)",
            shape=0,
            operator=CorrelateOperator(
                clauses=(
                    Clause("temperature", "temperature", Interval(-5.0, 0.0), group=0),
                    Clause("humidity", "humidity", Interval(80.0, infinite), group=1),
                ),
                within_us=30 * SECOND,
                within_m=500.0,
                region=Circle(7.17, 45.87, 5000.0, geographic=True),
                sensors=None,
                distinct_sensors=False,
                emit=Emit.LATEST,
                limit=None,
            ),
            where=None,
            schema=query.schema,
        )
        assert plan.stream("frost") is query.schema
        assert plan.stream("weather").late_us == 10 * SECOND

    def test_queries_come_after_what_they_read(self) -> None:
        text = "CREATE QUERY c AS SELECT a FROM b; CREATE QUERY b AS SELECT a FROM bare;" + BARE
        plan = compile_text(text)
        assert [query.name for query in plan.queries] == ["b", "c"]
        assert [plan.root_streams(name) for name in ("bare", "b", "c")] == [("bare",)] * 3

    def test_a_refused_text_gives_all_its_errors_with_its_file(self) -> None:
        with pytest.raises(QueriesRefused) as caught:
            compile_text(
                "CREATE QUERY q AS SELECT * FROM nowhere; CREATE QUERY r AS SELECT * FROM s LIMIT;",
                file="alerts.hw",
            )
        first, second = caught.value.errors
        assert (first.code, second.code) == ("unknown-stream", "syntax")
        assert str(caught.value).split("\n")[1] == "  alerts.hw:1:33"

    def test_a_script_without_places_is_refused_with_places_in_its_printed_form(self) -> None:
        script, _ = parse(WEATHER + "CREATE QUERY q AS SELECT nothing FROM weather;")
        with pytest.raises(QueriesRefused) as caught:
            compile_script(Script(tuple(replace(s, span=None) for s in script.statements)))
        (error,) = caught.value.errors
        assert error.code == "unknown-column"
        assert isinstance(error.span, Span)
        line = caught.value.text.split("\n")[error.span.line - 1]
        assert line[error.span.column - 1 :].startswith("nothing")

    def test_a_script_and_its_text_give_the_same_queries(self) -> None:
        script, _ = parse(WEATHER + FROST)
        assert compile_script(script).queries == compile_text(WEATHER + FROST).queries


class TestFingerprints:
    BASE = WEATHER + correlate("q", "wind <= 2 WITHIN 30 SECONDS", source="weather")

    def test_spaces_comments_order_lateness_and_other_queries_do_not_count(self) -> None:
        base = print_of(self.BASE)
        assert len(base) == 32
        assert print_of(self.BASE.replace(" ", "  ").replace("\n", " -- so it is\n")) == base
        assert print_of(self.BASE.replace("LATE 10 SECONDS", "LATE 1 MINUTES DROP IDLE 5 SECONDS")) == base
        assert print_of(self.BASE + FROST) == base
        assert print_of(FROST + self.BASE) == base

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("wind <= 2", "wind < 2"),
            ("wind <= 2", "wind <= 2.5"),
            ("30 SECONDS", "31 SECONDS"),
            ("SELECT *", "SELECT wind"),
            ("FROM weather", "FROM weather WHERE wind > 0"),
            ("GEOGRAPHIC", ""),
            ("wind DOUBLE", "wind BIGINT"),
            ("QUERY q", "QUERY r"),
        ],
    )
    def test_meaning_counts(self, old: str, new: str) -> None:
        name = "r" if new == "QUERY r" else "q"
        assert print_of(self.BASE.replace(old, new), name) != print_of(self.BASE)

    def test_what_is_read_counts(self) -> None:
        text = self.BASE + "CREATE QUERY second AS SELECT wind FROM q;"
        changed = text.replace("wind <= 2", "wind <= 3")
        assert print_of(text, "second") != print_of(changed, "second")
        assert print_of(text, "q") != print_of(changed, "q")


class TestZones:
    def test_a_zone_is_the_same_everywhere(self) -> None:
        assert [zone_of("query frost", zones) for zones in (1, 2, 8)] == [0, 0, 4]
        assert zone_of("region Circle(x=7.17, y=45.87, radius_m=5000.0, geographic=True)", 8) == 1

    def test_the_same_region_is_the_same_zone(self) -> None:
        text = (
            PLANE
            + correlate("one", "a > 1 WITHIN 1 SECONDS INSIDE CIRCLE (0, 0, 5 KM)")
            + correlate("two", "b > 1 WITHIN 9 SECONDS INSIDE CIRCLE (0, 0.0, 5000)")
            + correlate("three", "a > 1 WITHIN 1 SECONDS INSIDE CIRCLE (0, 1, 5 KM)")
            + correlate("four", "a > 1 WITHIN 1 SECONDS SENSORS (2, 1, 2)")
            + correlate("five", "b > 1 WITHIN 2 SECONDS SENSORS (1, 2)")
            + correlate("six", "a > 1 WITHIN 1 SECONDS")
        )
        keys = {query.name: query.zone_key for query in compile_text(text).queries}
        assert keys == {
            "one": "region Circle(x=0.0, y=0.0, radius_m=5000.0, geographic=False)",
            "two": "region Circle(x=0.0, y=0.0, radius_m=5000.0, geographic=False)",
            "three": "region Circle(x=0.0, y=1.0, radius_m=5000.0, geographic=False)",
            "four": "sensors [1, 2]",
            "five": "sensors [1, 2]",
            "six": "query six",
        }

    def test_a_chain_lives_where_it_begins(self) -> None:
        text = (
            PLANE
            + correlate("first", "a > 1 WITHIN 1 SECONDS EMIT READINGS")
            + "CREATE QUERY second AS SELECT key, value, x, y FROM first WHERE value > 2;"
            + correlate("third", "value > 1 WITHIN 1 SECONDS INSIDE BOX (0, 0, 1, 1)", source="second")
            + "CREATE QUERY plain AS SELECT a FROM plane;"
        )
        plan = compile_text(text, zones=64)
        assert {query.name: query.zone_key for query in plan.queries} == {
            "first": "query first",
            "second": "query first",
            "third": "query first",
            "plain": "query plain",
        }
        assert plan.zone_of("third") == plan.zone_of("first") == zone_of("query first", 64)


class TestShapes:
    def test_queries_that_answer_alike_share_a_shape(self) -> None:
        text = (
            PLANE
            + correlate("one", "a > 1 WITHIN 1 SECONDS")
            + correlate("two", "a < 1 WITHIN 9 SECONDS EMIT ALL")
            + correlate("three", "a > 1 WITHIN 1 SECONDS", select="a, a_key, a_time")
            + correlate("four", "a > 1 WITHIN 1 SECONDS", select="a * 2 AS a")
            + correlate("five", "a > 1 WITHIN 1 SECONDS", select="a * 2.0 AS a")
            + correlate("six", "a > 1 WITHIN 1 SECONDS EMIT READINGS")
            + correlate("seven", "c > 1 AS a WITHIN 1 SECONDS")
            + correlate("eight", "b > 1 AS a WITHIN 1 SECONDS")
        )
        plan = compile_text(text)
        # Three is one written out; four and five differ in how they are written, which is enough to be two.
        assert [query.shape for query in plan.queries] == [0, 0, 0, 1, 2, 3, 0, 4]
        assert [p.shape for p in plan.projections] == [0, 1, 2, 3, 4]
        assert [plan.queries[3].kind, plan.queries[3].shape] == ["correlate", 1]

    def test_answers_are_projected(self) -> None:
        select = "a * 2 AS twice, a_key, event_time - a_time AS age, 'x' AS letter, NULL AS nothing"
        plan = compile_text(PLANE + correlate("q", "a > 1 WITHIN 1 SECONDS", select=select))
        query = strings(["q", "q"])
        answers = Rows.of(
            {
                "query": query,
                "event_time": Column.of(ColumnType.TIMESTAMP, [3 * SECOND, 4 * SECOND]),
                "match_id": content_ids([query]),
                "a": Column.of(ColumnType.DOUBLE, [1.5, None]),
                "a_key": Column.of(ColumnType.BIGINT, [7, 8]),
                "a_time": Column.of(ColumnType.TIMESTAMP, [SECOND, 4 * SECOND]),
                "a_x": Column.of(ColumnType.DOUBLE, [0.0, 0.0]),
                "a_y": Column.of(ColumnType.DOUBLE, [0.0, 0.0]),
            }
        )
        found = plan.project(Answers(0, answers))
        ids = answers["match_id"].tolist()
        assert found.tolist() == [
            {
                "query": "q",
                "event_time": 3 * SECOND,
                "match_id": ids[0],
                "twice": 3.0,
                "a_key": 7,
                "age": 2.0,
                "letter": "x",
                "nothing": None,
            },
            {
                "query": "q",
                "event_time": 4 * SECOND,
                "match_id": ids[1],
                "twice": None,
                "a_key": 8,
                "age": 0.0,
                "letter": "x",
                "nothing": None,
            },
        ]
        assert {n: k for n, k in found.types.items() if n in plan.stream("q").types} == plan.stream("q").types


class TestKeptColumns:
    def columns_of(self, streams: str, *queries: str) -> tuple[str, ...]:
        return compile_text(streams + "".join(queries)).columns_read(streams.split()[2])

    def test_all_up_to_the_last_one_needed(self) -> None:
        assert self.columns_of(BARE, correlate("q", "b > 1 WITHIN 1 SECONDS", source="bare")) == (
            "at",
            "a",
            "b",
        )

    def test_where_counts_and_so_does_every_query(self) -> None:
        one = correlate("one", "a > 1 WITHIN 1 SECONDS", source="bare")
        two = correlate("two", "a > 1 WITHIN 1 SECONDS", source="bare", where="WHERE c + 1 > 2")
        assert self.columns_of(BARE, one) == ("at", "a")
        assert self.columns_of(BARE, one, two) == ("at", "a", "b", "c")

    def test_the_place_travels_and_key_and_time_stand_in_front_of_the_order(self) -> None:
        assert self.columns_of(PLANE, correlate("q", "a > 1 WITHIN 1 SECONDS")) == (
            "id",
            "at",
            "a",
            "b",
            "x",
            "y",
        )
        late = "CREATE STREAM late (a DOUBLE, b DOUBLE, at TIMESTAMP TIME, id STRING KEY);"
        assert self.columns_of(late, correlate("q", "a > 1 WITHIN 1 SECONDS", source="late")) == (
            "a",
            "at",
            "id",
        )

    def test_a_plain_select_and_deduplicate_need_everything(self) -> None:
        everything = ("at", "a", "b", "c", "d")
        assert self.columns_of(BARE, "CREATE QUERY q AS SELECT a FROM bare WHERE b > 1;") == everything
        deduplicated = BARE.replace(");", ") DEDUPLICATE;")
        assert (
            self.columns_of(deduplicated, correlate("q", "a > 1 WITHIN 1 SECONDS", source="bare"))
            == everything
        )

    def test_a_stream_that_nobody_reads_keeps_its_time(self) -> None:
        text = BARE + PLANE + correlate("q", "a > 1 WITHIN 1 SECONDS")
        assert compile_text(text).columns_read("bare") == ("at",)
        assert compile_text(text).useful_rows("bare") == Literal(False)


class TestBadRows:
    UPDATES = "".join(
        f"CREATE STREAM {name} (s STRING KEY, at TIMESTAMP TIME, v DOUBLE, v_slope DOUBLE, tolerance DOUBLE, heartbeat BIGINT);"
        for name in ("u", "w")
    )
    LIMITS = ("tolerance < 0", "heartbeat <= 0")

    def bad(self, stream: str, *queries: str) -> tuple[str, ...]:
        plan = compile_text(self.UPDATES + "".join(f"CREATE QUERY {query};" for query in queries))
        return tuple(show(bad.holds) for bad in plan.bad_rows(stream))

    def test_only_predict_needs_updates(self) -> None:
        suppress = "q AS SELECT * FROM u SUPPRESS (v TOLERANCE 1 HEARTBEAT 1 SECOND)"
        assert self.bad("u", "p AS SELECT * FROM u WHERE v > 1", suppress) == ()
        assert self.bad("u", f"{suppress} PREDICT (v > 1)") == ()
        assert self.bad("u", "q AS SELECT * FROM u PREDICT (v > 1)") == self.LIMITS

    def test_every_stream_that_is_read_together_counts(self) -> None:
        pairs = "q AS SELECT * FROM u, w PREDICT (PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 0 SECONDS)"
        assert self.bad("u", pairs) == self.bad("w", pairs) == self.LIMITS

    def test_where_says_which_rows_are_needed(self) -> None:
        first = "p AS SELECT * FROM u WHERE v > 1 PREDICT (v > 1)"
        again = "q AS SELECT * FROM u WHERE v > 1 PREDICT (v > 2)"
        other = "r AS SELECT * FROM u WHERE s = 'a' PREDICT (v > 1)"
        assert self.bad("u", first, again) == tuple(f"{limit} AND v > 1" for limit in self.LIMITS)
        assert self.bad("u", first, again, other) == tuple(
            f"{limit} AND (v > 1 OR s = 'a')" for limit in self.LIMITS
        )
        assert self.bad("u", first, "r AS SELECT * FROM u PREDICT (v > 1)") == self.LIMITS


class TestPickling:
    def test_a_plan_comes_back_equal_and_without_places(self) -> None:
        plan = compile_text(
            WEATHER + correlate("q", "wind < 1 WITHIN 1 SECONDS", source="weather", where="WHERE wind > 0")
        )
        back = pickle.loads(pickle.dumps(plan))
        assert back == plan
        assert back is not plan
        where = back.query("q").where
        assert where is not None and where.span is None

    def test_plans_sent_twice_share_their_kernels(self) -> None:
        plan = compile_text(WEATHER + FROST)
        first, second = (pickle.loads(pickle.dumps(plan)) for _ in range(2))
        assert first.groups(0)[0].kernel is second.groups(0)[0].kernel

    def test_another_process_makes_the_same_of_it(self) -> None:
        plan = compile_text(WEATHER + FROST, zones=8)
        script = (
            "import pickle, sys; plan = pickle.loads(sys.stdin.buffer.read());"
            "print(plan.query('frost').fingerprint, plan.zone_of('frost'))"
        )
        run = subprocess.run(
            [sys.executable, "-c", script], input=pickle.dumps(plan), capture_output=True, check=True
        )
        assert run.stdout.decode().split() == [plan.query("frost").fingerprint, "1"]

    def test_thousands_of_queries_stay_small(self) -> None:
        plan = compile_text(PLANE + some_queries(random.Random(1), 2000))
        assert len(pickle.dumps(plan)) < 400_000
        assert len(plan.projections) <= 4


class TestGroups:
    CHAIN = (
        PLANE
        + BARE
        + "CREATE QUERY third AS SELECT value FROM second;"
        + correlate("second", "value > 2 WITHIN 1 SECONDS", source="first", select="value")
        + correlate("other", "a > 5 WITHIN 1 SECONDS", source="bare")
        + correlate("first", "a > 1 WITHIN 1 SECONDS EMIT READINGS")
        + "CREATE QUERY rest AS SELECT a FROM plane WHERE a > 0;"
    )

    def test_a_group_comes_after_the_group_it_reads(self) -> None:
        groups = compile_text(self.CHAIN).groups(0)
        assert [(group.name, group.reads, group.queries) for group in groups] == [
            ("correlate:plane", "plane", ("first",)),
            ("select:plane", "plane", ("rest",)),
            ("correlate:bare", "bare", ("other",)),
            ("correlate:first", "first", ("second",)),
            ("select:second", "second", ("third",)),
        ]

    def test_every_query_is_in_the_groups_of_its_zone_and_of_no_other(self) -> None:
        plan = compile_text(self.CHAIN, zones=5)
        found = {name: zone for zone in range(5) for group in plan.groups(zone) for name in group.queries}
        assert found == {query.name: plan.zone_of(query.name) for query in plan.queries}

    def test_kernels_are_made_once(self) -> None:
        plan = compile_text(PLANE + correlate("q", "a > 1 WITHIN 1 SECONDS"))
        (group,) = plan.groups(0)
        assert isinstance(group.kernel, CorrelateKernel)
        assert plan.groups(0)[0] is group

    def test_equal_conditions_are_one(self) -> None:
        text = PLANE + "".join(
            correlate(f"q{i}", "a > 1 WITHIN 1 SECONDS", where=where)
            for i, where in enumerate(["WHERE b = 1", "", "WHERE b = 1.0", "WHERE b = 1"])
        )
        (group,) = compile_text(text).groups(0)
        assert isinstance(group.kernel, CorrelateKernel)
        assert [s.where for s in group.kernel.subscriptions] == [0, None, 1, 0]
