"""FOLLOW: every choice made, what is behind it, and how far back that looks. Most errors are in `tests/golden/errors`."""

from __future__ import annotations

import pytest

from headwater.kernels.follow.choices import Update
from headwater.model import ColumnType, PlaceColumns, QueriesRefused, QueryError
from headwater.query.build import script, select, stream
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.check import check
from headwater.query.checking.lookback import downstream_windows_us, heartbeat_us
from headwater.query.language.tree import Binary, Literal, Name
from headwater.query.operators.correlate.build import correlate
from headwater.query.operators.follow.build import follow
from headwater.query.operators.follow.check import events_schema
from headwater.query.operators.follow.operator import FollowOperator
from headwater.query.operators.union import NearestOperator

STREAMS = (
    "CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, speed DOUBLE, PLACE (x, y)); "
    "CREATE STREAM bikes (id STRING KEY, time TIMESTAMP TIME, x DOUBLE, y DOUBLE, bell BOOLEAN, PLACE (x, y)); "
    "CREATE STREAM fires (fire BIGINT KEY, event_time TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)); "
    "CREATE STREAM phones (phone BIGINT KEY, at TIMESTAMP TIME, px DOUBLE, py DOUBLE, area STRING, PLACE (px, py));\n"
)
S, D, B, T, F = (
    ColumnType.STRING, ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.TIMESTAMP, ColumnType.BOOLEAN,
)  # fmt: skip
STAMPS = (("focal", B), ("interest", B), ("historical", F))
CARS = (("id", S), ("at", T), ("x", D), ("y", D), ("speed", D))
LINES = "SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS)"
SECOND = 1_000_000


def catalogue(text: str) -> Catalogue:
    return check(STREAMS + text)


def queries(text: str) -> dict[str, CheckedQuery]:
    return dict(catalogue(f"CREATE QUERY q AS SELECT {text};").queries)


def followed(inside: str) -> FollowOperator:
    found = queries(f"* FROM cars FOLLOW ({inside})")["q"].operator
    assert isinstance(found, FollowOperator)
    return found


def refused(text: str) -> tuple[QueryError, ...]:
    with pytest.raises(QueriesRefused) as caught:
        catalogue(text)
    return caught.value.errors


def selected(query: CheckedQuery) -> tuple[tuple[str, ColumnType], ...]:
    return tuple((name, kind) for name, _, kind in query.selected)


class TestChoices:
    def test_what_is_not_written_has_a_default(self) -> None:
        assert followed("phones RADIUS 0.5 KM") == FollowOperator(
            focals="phones",
            where=None,
            radius_m=500.0,
            box_m=None,
            shape=None,
            last_us=0,
            update=Update.ALWAYS,
            every_us=0,
            moved_m=0.0,
            precision=0.0,
            recall=0.0,
            over_us=0,
            forget_us=3600 * SECOND,
            each=False,
            best_effort=None,
            interests=False,
            events=("cars",),
        )

    def test_what_is_written_is_used(self) -> None:
        found = followed(
            "phones WHERE phone > 3 BOX 400, 0.3 KM LAST 5 SECONDS UPDATE QUALITY 0.5, 1 OVER 7 SECONDS FORGET 1 DAY "
            "DELIVER EACH BEST EFFORT 0 EMIT INTERESTS"
        )
        assert found == FollowOperator(
            focals="phones",
            where=Binary(">", Name("phone"), Literal(3)),
            radius_m=None,
            box_m=(400.0, 300.0),
            shape=None,
            last_us=5 * SECOND,
            update=Update.QUALITY,
            every_us=0,
            moved_m=0.0,
            precision=0.5,
            recall=1.0,
            over_us=7 * SECOND,
            forget_us=86400 * SECOND,
            each=True,
            best_effort=0,
            interests=True,
            events=("cars",),
        )

    @pytest.mark.parametrize(
        ("said", "over_us"),
        [("", 60 * SECOND), ("LAST 5 SECONDS", 5 * SECOND), ("LAST 0 SECONDS", 60 * SECOND)],
    )
    def test_quality_looks_back_as_far_as_last_or_a_minute(self, said: str, over_us: int) -> None:
        assert followed(f"phones RADIUS 5 QUALITY 0.5, 0.5 {said}").over_us == over_us

    def test_the_other_updates(self) -> None:
        every = followed("phones SHAPE area EVERY 2 SECONDS")
        assert (every.shape, every.update, every.every_us) == ("area", Update.EVERY, 2 * SECOND)
        moved = followed("phones RADIUS 5 MOVED 0 METERS")
        assert (moved.update, moved.moved_m, moved.over_us) == (Update.MOVED, 0.0, 0)


class TestColumns:
    def test_the_stamps_are_last_in_answers_first_in_all_and_not_read(self) -> None:
        found = queries("* FROM cars FOLLOW (phones RADIUS 5)")["q"]
        assert found.answers == (*CARS, *STAMPS)
        assert selected(found) == (*STAMPS, *CARS)
        assert found.schema.columns == (("event_time", T), *CARS)
        assert (found.schema.key, found.schema.place) == ("id", PlaceColumns("x", "y"))
        assert (found.reads, found.further_reads, found.downstream_of) == ("cars", ("phones",), "q")

    def test_focals_that_are_events_are_read_once(self) -> None:
        found = queries("* FROM bikes, cars FOLLOW (cars RADIUS 5)")["q"]
        assert (found.reads, found.further_reads) == ("bikes", ("cars",))
        assert dict(found.answers)["focal"] is S

    def test_events_of_several_sources_are_the_union_of_their_columns(self) -> None:
        found = queries("* FROM cars, bikes WHERE bell OR source = 'cars' FOLLOW (phones RADIUS 5)")["q"]
        union = (("source", S), *CARS, ("time", T), ("bell", F))
        assert selected(found) == (*STAMPS, *union)
        assert found.schema.columns == (("event_time", T), *union)
        assert (found.schema.key, found.schema.place) == ("id", PlaceColumns("x", "y"))
        assert isinstance(found.operator, FollowOperator) and found.operator.events == ("cars", "bikes")
        assert found.further_reads == ("bikes", "phones")

    def test_a_key_is_one_that_all_sources_have(self) -> None:
        streams = catalogue("CREATE QUERY q AS SELECT * FROM cars;").streams
        cars, bikes, fires = (streams[name].schema for name in ("cars", "bikes", "fires"))
        assert events_schema([cars]) is cars
        assert events_schema([cars, bikes]).key == "id"
        both = events_schema([cars, fires])
        assert (both.name, both.time, both.key) == ("cars, fires", "event_time", None)
        assert both.columns == (("event_time", T), ("source", S), *CARS, ("fire", B))

    def test_a_select_list_names_stamps_which_readers_do_not_see(self) -> None:
        text = "speed, focal, historical AS old, CASE WHEN historical THEN speed END AS was FROM cars FOLLOW (phones RADIUS 5)"
        found = queries(text)["q"]
        assert selected(found) == (("speed", D), ("focal", B), ("old", F), ("was", D))
        assert found.schema.columns == (("event_time", T), ("speed", D))

    def test_downstream_operators_have_their_own_columns_and_the_stamps(self) -> None:
        found = queries("* FROM cars FOLLOW (phones RADIUS 5) CORRELATE (speed > 3 AS fast WITHIN 1 MINUTE)")
        fast = (("fast", D), ("fast_key", S), ("fast_time", T))
        assert list(found) == ["q/FOLLOW", "q"]
        assert found["q"].answers == (*fast, ("fast_x", D), ("fast_y", D), *STAMPS)
        assert selected(found["q"]) == (*STAMPS, *fast)
        assert (found["q"].downstream_of, found["q/FOLLOW"].downstream_of) == ("q/FOLLOW", "q/FOLLOW")

    def test_what_a_nearest_carries_leaves_the_stamps_out(self) -> None:
        found = queries(
            "focal, at, speed FROM cars FOLLOW (phones RADIUS 5) NEAREST (3 TO HIGHEST speed OVER 1 HOUR)"
        )["q"]
        assert isinstance(found.operator, NearestOperator)
        assert found.operator.columns_carried == (("speed", "speed"), ("at", "at"))
        assert found.answers[-4:] == (("at", T), *STAMPS)

    def test_interests_have_columns_of_their_own(self) -> None:
        found = queries("* FROM cars FOLLOW (phones RADIUS 5 EMIT INTERESTS)")["q"]
        expected = (
            ("focal", B), ("interest", B), ("begins", T), ("ends", T), ("px", D), ("py", D), ("events", B),
            ("historical_events", B), ("precision", D), ("recall", D),
        )  # fmt: skip
        assert found.answers == expected
        assert selected(found) == expected


class TestBehind:
    def test_all_that_reads_it_runs_downstream_of_it(self) -> None:
        found = catalogue(
            "CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 5);"
            "CREATE QUERY fast AS SELECT id, x, y FROM near WHERE speed > 3;"
            f"CREATE QUERY lines AS SELECT * FROM fast {LINES};"
            "CREATE QUERY plain AS SELECT * FROM cars;"
        ).queries
        downstream_of = {name: query.downstream_of for name, query in found.items()}
        assert downstream_of == {"near": "near", "fast": "near", "lines": "near", "plain": None}
        assert found["lines"].answers[-3:] == STAMPS

    def test_operators_before_it_run_on_everything(self) -> None:
        found = queries(f"* FROM cars {LINES} FOLLOW (phones RADIUS 5) PREDICT (x < 5)")
        downstream_of = {name: query.downstream_of for name, query in found.items()}
        assert downstream_of == {"q/SUPPRESS": None, "q/2 FOLLOW": "q/2 FOLLOW", "q": "q/2 FOLLOW"}
        follow = found["q/2 FOLLOW"].operator
        assert isinstance(follow, FollowOperator) and follow.events == ("q/SUPPRESS",)

    def test_a_where_before_several_sources_is_that_of_follow(self) -> None:
        found = queries(
            "* FROM cars, bikes WHERE bell FOLLOW (phones RADIUS 5) CORRELATE (speed > 3 WITHIN 1 MINUTE)"
        )
        assert (found["q/FOLLOW"].where, found["q"].where) == (Name("bell"), None)

    def test_what_reads_a_broken_follow_is_not_refused_as_well(self) -> None:
        (error,) = refused(
            "CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 0);"
            "CREATE QUERY far AS SELECT * FROM near NEAREST (3 TO HIGHEST speed OVER 5 ROWS);"
            "CREATE QUERY stamped AS SELECT * FROM near WHERE focal = 3;"
        )
        assert error.code == "empty-region"

    def test_what_reads_broken_lines_or_interests_is_not_refused_as_well(self) -> None:
        broken = refused(
            "CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 5);"
            f"CREATE QUERY lines AS SELECT * FROM near WHERE no_column > 3 {LINES};"
            "CREATE QUERY some AS SELECT * FROM lines WHERE x > 3;"
            "CREATE QUERY low AS SELECT * FROM some PREDICT (x < 5);"
        )
        assert [error.code for error in broken] == ["unknown-column"]
        read = refused(
            "CREATE QUERY lives AS SELECT * FROM cars FOLLOW (phones RADIUS 5 EMIT INTERESTS);"
            "CREATE QUERY some AS SELECT * FROM lives; CREATE QUERY more AS SELECT * FROM some;"
        )
        assert [error.code for error in read] == ["wrong-chain"]

    def test_a_place_that_was_refused_is_not_missing(self) -> None:
        text = "CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x STRING, y DOUBLE, PLACE (x, y));"
        (error,) = refused(f"{text} CREATE QUERY q AS SELECT * FROM s FOLLOW (s RADIUS 5);")
        assert error.code == "place-not-numeric"

    def test_a_circle_by_way_of_focals_is_one(self) -> None:
        (error,) = refused(
            "CREATE QUERY a AS SELECT * FROM cars FOLLOW (b RADIUS 5); CREATE QUERY b AS SELECT * FROM a;"
        )
        assert (error.code, "'a' reads 'b' reads 'a'" in error.message) == ("cyclic-query", True)


class TestReach:
    def test_windows_add_up_along_the_longest_path(self) -> None:
        found = catalogue(
            "CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 5);"
            "CREATE QUERY fast AS SELECT speed, speed_key AS id FROM near CORRELATE (speed > 3 WITHIN 10 SECONDS);"
            "CREATE QUERY faster AS SELECT * FROM fast WHERE speed > 9;"
            "CREATE QUERY rows AS SELECT * FROM faster MATCH_RECOGNIZE (PATTERN (A B) WITHIN 7 SECONDS DEFINE A AS speed > 3);"
            "CREATE QUERY top AS SELECT * FROM near NEAREST (3 TO HIGHEST speed OVER 12 SECONDS);"
            "CREATE QUERY other AS SELECT * FROM cars FOLLOW (phones RADIUS 5) NEAREST (3 TO HIGHEST speed OVER 1 HOUR);"
            "CREATE QUERY alone AS SELECT * FROM bikes FOLLOW (cars RADIUS 5);"
        )
        assert downstream_windows_us(found, "near") == 17 * SECOND
        assert downstream_windows_us(found, "other/FOLLOW") == 3600 * SECOND
        assert downstream_windows_us(found, "alone") == 0

    def test_a_prediction_looks_back_over_within_and_the_longest_heartbeat(self) -> None:
        found = catalogue(
            "CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 5);"
            f"CREATE QUERY a AS SELECT * FROM near {LINES};"
            "CREATE QUERY b AS SELECT * FROM near SUPPRESS (x, y TOLERANCE 1 HEARTBEAT 40 SECONDS);"
            "CREATE QUERY meet AS SELECT * FROM a, b PREDICT (PAIRS a, b WHERE DISTANCE(a, b) < 5 WITHIN 3 SECONDS);"
        )
        assert downstream_windows_us(found, "near") == 43 * SECOND

    def test_a_heartbeat_is_known_through_queries_that_hand_it_on(self) -> None:
        found = catalogue(
            f"CREATE QUERY lines AS SELECT * FROM cars {LINES};"
            "CREATE QUERY some AS SELECT id, x, x_slope, tolerance * 2 AS tolerance, heartbeat, y FROM lines WHERE x > 3;"
            "CREATE QUERY near AS SELECT * FROM some, lines FOLLOW (phones RADIUS 5);"
            "CREATE QUERY mixed AS SELECT * FROM some, cars FOLLOW (phones RADIUS 5);"
            "CREATE QUERY longer AS SELECT x, x_slope, tolerance, 60.0 AS heartbeat FROM lines;"
        ).queries
        known = {name: heartbeat_us(found, name) for name in (*found, "cars")}
        assert known == {
            "lines": 30 * SECOND, "some": 30 * SECOND, "near": 30 * SECOND, "mixed": None, "longer": None, "cars": None,
        }  # fmt: skip


def test_built_queries_are_checked_like_written_ones() -> None:
    columns = {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE", "speed": "DOUBLE"}
    cars = stream("cars", columns, time="at", key="id", place=("x", "y"))
    near = follow("near", cars, cars, radius=500, last="1 MINUTE")
    jam = correlate("jam", "near", "3 OF speed < 1", within="10 SECONDS")
    found = check(script(cars, near, jam, select("all", "jam"))).queries
    assert {name: query.downstream_of for name, query in found.items()} == dict.fromkeys(
        ("near", "jam", "all"), "near"
    )
