"""NEAREST and CREATE POINTS: every choice made, or every error at its place."""

from __future__ import annotations

import pytest

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.model import ColumnType, PlaceColumns, PointsSchema, QueriesRefused, QueryError
from headwater.query.build import script, stream
from headwater.query.checking.catalogue import CheckedQuery
from headwater.query.checking.check import check
from headwater.query.language.limits import LONGEST_US
from headwater.query.operators.nearest.build import each_of, highest, nearest, points
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.planning.fingerprints import fingerprints

STREAMS = (
    "CREATE STREAM panels (id STRING KEY, at TIMESTAMP TIME, solar DOUBLE, volts BIGINT, station STRING, on BOOLEAN, x DOUBLE, y "
    "DOUBLE, PLACE (x, y)); CREATE STREAM cars (at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, speed DOUBLE, PLACE (lon, lat) GEOGRAPHIC); "
    "CREATE STREAM odd (at TIMESTAMP TIME, id BIGINT KEY, rank DOUBLE, change DOUBLE, distance DOUBLE, point DOUBLE, key DOUBLE); "
    "CREATE POINTS profiles (id STRING KEY, solar DOUBLE, volts DOUBLE); CREATE POINTS spots (no BIGINT KEY, x DOUBLE, y DOUBLE);\n"
)  # fmt: skip
S, D, B, T = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.TIMESTAMP


def text(inside: str, columns: str = "*", source: str = "panels", streams: str = STREAMS) -> str:
    return f"{streams}CREATE QUERY q AS SELECT {columns} FROM {source}\nNEAREST (\n{inside})"


def query(inside: str, columns: str = "*", source: str = "panels") -> CheckedQuery:
    return check(text(inside, columns, source)).queries["q"]


def neighbourhood(inside: str, source: str = "panels", columns: str = "*") -> NearestOperator:
    found = query(inside, columns, source).operator
    assert isinstance(found, NearestOperator)
    return found


def refused(inside: str, columns: str = "*", source: str = "panels") -> tuple[QueryError, ...]:
    return errors_of(text(inside, columns, source))


def errors_of(given: str) -> tuple[QueryError, ...]:
    with pytest.raises(QueriesRefused) as caught:
        check(given)
    return caught.value.errors


class TestChoices:
    def test_every_choice_is_made(self) -> None:
        assert neighbourhood("10 TO (1, 2) BY (solar, volts) OVER 1 HOUR") == NearestOperator(
            k=10,
            metric=Metric.EUCLIDEAN,
            attributes=("solar", "volts"),
            aliases=("solar", "volts"),
            point=(1.0, 2.0),
            points=None,
            weights=None,
            window_us=3_600_000_000,
            window_rows=None,
            per=None,
            ties=False,
            exact=True,
            algorithm=None,
            sigma=None,
            emission=Emission.ENTERS,
            every_us=None,
            columns_carried=(("solar", "solar"), ("volts", "volts")),
        )

    def test_every_choice_can_be_written(self) -> None:
        assert neighbourhood(
            "3 TO EACH OF profiles BY (solar AS sun, volts) WEIGHTED (1, 0.5) OVER 40000 ROWS PER station WITH TIES "
            "USING PROBABLE 0.001 ALGORITHM PA EMIT EVERY 10 SECONDS"
        ) == NearestOperator(
            k=3,
            metric=Metric.EUCLIDEAN,
            attributes=("solar", "volts"),
            aliases=("sun", "volts"),
            point=None,
            points="profiles",
            weights=(1.0, 0.5),
            window_us=None,
            window_rows=40_000,
            per="station",
            ties=True,
            exact=False,
            algorithm=Algorithm.PA,
            sigma=0.001,
            emission=Emission.EVERY,
            every_us=10_000_000,
            columns_carried=(("station", "station"), ("sun", "solar"), ("volts", "volts")),
        )

    @pytest.mark.parametrize(
        ("inside", "source", "metric", "attributes", "point"),
        [
            ("1 TO (7, 45) BY PLACE OVER 1 HOUR", "panels", Metric.EUCLIDEAN, ("x", "y"), (7.0, 45.0)),
            ("1 TO (7, 45) BY PLACE OVER 1 HOUR", "cars", Metric.GEOGRAPHIC, ("lon", "lat"), (7.0, 45.0)),
            (
                "1 TO (7, 145) BY (lon, lat) OVER 1 HOUR",
                "cars",
                Metric.EUCLIDEAN,
                ("lon", "lat"),
                (7.0, 145.0),
            ),
            ("1 TO EACH OF spots BY PLACE OVER 1 HOUR", "panels", Metric.EUCLIDEAN, ("x", "y"), None),
            ("1 TO HIGHEST speed OVER 1 HOUR", "cars", Metric.HIGHEST, ("speed",), None),
            ("1 TO LOWEST lat OVER 1 HOUR", "cars", Metric.LOWEST, ("lat",), None),
        ],
    )
    def test_what_near_means(self, inside, source, metric, attributes, point) -> None:
        found = neighbourhood(inside, source)
        assert (found.metric, found.attributes, found.point) == (metric, attributes, point)

    def test_exact_may_be_written(self) -> None:
        found = neighbourhood("1 TO HIGHEST solar OVER 1 HOUR USING EXACT ALGORITHM RA")
        assert (found.exact, found.algorithm, found.sigma) == (True, Algorithm.RA, None)

    @pytest.mark.parametrize(
        "inside",
        [
            "10000 TO HIGHEST solar OVER 1 ROWS", "1 TO HIGHEST solar OVER 1000000000 ROWS", "1 TO HIGHEST solar OVER 36500 DAYS",
            "1 TO (1) BY (solar) WEIGHTED (1e-300) OVER 1 DAY", "1 TO (-1e308) BY (solar) OVER 0.000001 SECONDS",
            "1 TO HIGHEST solar OVER 1 DAY PER at", "1 TO HIGHEST solar OVER 1 DAY PER on",
            "1 TO HIGHEST solar OVER 1 DAY USING PROBABLE 0.999999", "1 TO HIGHEST solar OVER 1 DAY EMIT EVERY 36500 DAYS",
        ],
    )  # fmt: skip
    def test_what_is_unusual_but_makes_sense(self, inside: str) -> None:
        assert query(inside)

    def test_the_longest_time_is_allowed(self) -> None:
        assert neighbourhood("1 TO HIGHEST solar OVER 36500 DAYS").window_us == LONGEST_US


class TestPoints:
    def test_points_are_in_the_catalogue(self) -> None:
        catalogue = check(text("1 TO HIGHEST solar OVER 1 DAY"))
        assert set(catalogue.points) == {"profiles", "spots"}  # used or not
        assert catalogue.points["spots"].schema == PointsSchema(
            "spots", (("no", B), ("x", D), ("y", D)), "no"
        )
        assert catalogue.points["spots"].schema.types == {"no": B, "x": D, "y": D}
        assert catalogue.points["spots"].tree.name == "spots"

    def test_points_may_have_more_columns_than_are_used(self) -> None:
        assert neighbourhood("1 TO EACH OF profiles BY (volts) OVER 1 DAY").attributes == ("volts",)

    def test_points_may_be_created_after_the_query(self) -> None:
        given = (
            text("1 TO EACH OF later BY (solar) OVER 1 DAY") + ";CREATE POINTS later (id INT KEY, solar INT)"
        )
        assert check(given).queries["q"].answers[0] == ("point", B)

    @pytest.mark.parametrize(
        ("given", "code", "column", "message"),
        [
            ("p (solar DOUBLE)", "needs-key", 1, "no column is the KEY of the points 'p'"),
            ("p (id STRING KEY, no BIGINT KEY)", "two-key-columns", 33, "points 'p' have 2 KEY columns"),
            ("p (id DOUBLE KEY)", "key-type", 18, "the KEY column 'id' is DOUBLE"),
            ("p (id STRING KEY, at TIMESTAMP TIME)", "wrong-points", 33, "points have no time, but 'at' is marked TIME"),
            ("p (id STRING KEY, at TIMESTAMP)", "attribute-not-numeric", 33, "the coordinates of points are numbers, but 'at' is"),
            ("p (id STRING KEY, label STRING)", "attribute-not-numeric", 33, "the coordinates of points are numbers, but 'label'"),
            ("p (id STRING KEY, x DOUBLE, x DOUBLE)", "duplicate-name", 43, "points 'p' have two columns named 'x'"),
            ("q (id STRING KEY, x DOUBLE)", "duplicate-name", 1, "there is a query named 'q' already"),
            ("panels (id STRING KEY, x DOUBLE)", "duplicate-name", 1, "there is a stream named 'panels' already"),
            ("spots (id STRING KEY, x DOUBLE)", "duplicate-name", 1, "there are points named 'spots' already"),
        ],
    )  # fmt: skip
    def test_points_that_cannot_be_read_are_reported_at_their_place(
        self, given, code, column, message
    ) -> None:
        (error,) = errors_of(text("1 TO HIGHEST solar OVER 1 DAY") + f";\nCREATE POINTS {given};")
        assert (error.code, error.advice != ()) == (code, True)
        assert error.message.startswith(message)
        assert error.span is not None
        assert (error.span.line, error.span.column) == (5, column)

    def test_broken_points_are_not_held_against_the_query(self) -> None:
        for broken in (
            "p (solar DOUBLE)",
            "p (id STRING KEY, solar STRING)",
            "p (id STRNG KEY, solar DOUBLE)",
        ):
            (error,) = errors_of(text("1 TO EACH OF p BY (solar) OVER 1 DAY") + f";\nCREATE POINTS {broken};")
            assert error.span is not None and error.span.line == 5

    def test_points_that_have_a_name_twice_are_checked_too(self) -> None:
        errors = errors_of(text("1 TO HIGHEST solar OVER 1 DAY") + "; CREATE POINTS spots (x DOUBLE);")
        assert [error.code for error in errors] == ["duplicate-name", "needs-key"]

    def test_a_text_of_points_alone_has_no_query(self) -> None:
        (error,) = errors_of("CREATE POINTS p (id STRING KEY, x DOUBLE);")
        assert error.code == "empty-script"

    def test_points_are_not_read(self) -> None:
        (error,) = errors_of(STREAMS + "CREATE QUERY q AS SELECT * FROM spots")
        assert (error.code, error.message) == ("wrong-source", "'spots' are points, but queries read streams")
        assert error.span is not None and error.span.column == 33
        assert error.advice == (
            "read a stream and find what is near each point: NEAREST (1 TO EACH OF spots …)",
        )

    def test_an_unknown_stream_is_not_taken_for_points(self) -> None:
        (error,) = errors_of(STREAMS + "CREATE QUERY q AS SELECT * FROM spot")
        assert error.code == "unknown-stream"
        assert error.advice == ("known streams: cars, odd, panels",)


class TestAnswerColumns:
    @pytest.mark.parametrize(
        ("inside", "starred", "answered"),
        [
            ("1 TO (1, 2) BY (solar, volts) OVER 1 DAY",
             "change key object_time distance solar volts", "change key object_time distance solar volts"),
            ("1 TO (1, 2) BY (solar, volts AS v) OVER 1 DAY PER station EMIT EVERY 1 DAY",
             "station rank key object_time distance solar v", "rank key object_time distance station solar v"),
            ("1 TO EACH OF profiles BY (volts) OVER 1 DAY PER station EMIT CHANGES",
             "point station change key object_time distance volts", "point change key object_time distance station volts"),
            ("1 TO EACH OF spots BY PLACE OVER 1 DAY PER id",
             "point change key object_time distance x y", "point change key object_time distance x y"),
            ("1 TO HIGHEST solar OVER 1 DAY PER solar", "solar change key object_time", "change key object_time solar"),
            ("1 TO HIGHEST solar AS s OVER 1 DAY PER solar", "solar change key object_time s", "change key object_time solar s"),
        ],
    )  # fmt: skip
    def test_what_a_star_means_and_what_the_kernel_answers(self, inside, starred, answered) -> None:
        found = query(inside)
        assert [name for name, _, _ in found.selected] == starred.split()
        assert [name for name, _ in found.answers] == answered.split()

    def test_types(self) -> None:
        found = query("1 TO EACH OF spots BY PLACE OVER 1 DAY PER station EMIT EVERY 1 DAY")
        assert dict(found.answers) == {
            "point": B, "rank": B, "key": S, "object_time": T, "distance": D, "station": S, "x": D, "y": D,
        }  # fmt: skip

    def test_a_stream_without_a_key_gives_none(self) -> None:
        found = query("1 TO LOWEST speed OVER 1 DAY", source="cars")
        assert [name for name, _ in found.answers] == ["change", "object_time", "speed"]
        assert found.schema.key is None

    def test_a_select_list_may_name_other_columns_of_the_stream(self) -> None:
        found = query(
            "1 TO (1) BY (solar) OVER 1 DAY",
            "station || 'x' AS s, distance, x + volts AS n, station, event_time AS e",
        )
        assert isinstance(found.operator, NearestOperator)
        assert found.operator.columns_carried == (
            ("solar", "solar"),
            ("station", "station"),
            ("x", "x"),
            ("volts", "volts"),
        )
        assert [name for name, _ in found.answers] == [
            "change", "key", "object_time", "distance", "solar", "station", "x", "volts",
        ]  # fmt: skip
        assert [(name, kind) for name, _, kind in found.selected] == [
            ("s", S), ("distance", D), ("n", D), ("station", S), ("e", T),
        ]  # fmt: skip

    def test_its_own_columns_come_before_those_of_the_stream(self) -> None:
        found = query("1 TO (1) BY (change AS c) OVER 1 DAY", "change, distance, rank", "odd")
        assert [kind for _, _, kind in found.selected] == [S, D, D]
        assert isinstance(found.operator, NearestOperator)
        assert found.operator.columns_carried == (("c", "change"), ("rank", "rank"))

    def test_a_column_that_is_not_answered_belongs_to_the_stream(self) -> None:
        found = query("1 TO HIGHEST change AS c OVER 1 DAY", "distance, point", "odd")
        assert isinstance(found.operator, NearestOperator)
        assert found.operator.columns_carried == (
            ("c", "change"),
            ("distance", "distance"),
            ("point", "point"),
        )

    def test_an_unknown_column_of_the_select_list(self) -> None:
        (error,) = refused("1 TO (1) BY (solar) OVER 1 DAY", "distnce")
        assert error.code == "unknown-column"
        assert error.advice[-1] == "did you mean 'distance'?"

    def test_many_queries_of_one_form_share_their_columns(self) -> None:
        one = "NEAREST (1 TO (1) BY (solar) OVER 1 DAY);"
        two = "NEAREST (2 TO (9) BY (solar) OVER 3 ROWS EMIT CHANGES);"
        every = "NEAREST (2 TO (9) BY (solar) OVER 3 ROWS EMIT EVERY 1 DAY);"
        start = "SELECT * FROM panels"
        found = check(
            f"{STREAMS}CREATE QUERY a AS {start} {one} CREATE QUERY b AS {start} {two} CREATE QUERY c AS {start} {every}"
        ).queries
        assert found["a"].answers is found["b"].answers
        assert found["a"].selected is found["b"].selected
        assert found["a"].answers != found["c"].answers


class TestAsAStream:
    def test_its_key_is_the_key_and_its_time_the_event_time(self) -> None:
        found = query("1 TO (1, 2) BY PLACE OVER 1 DAY").schema
        assert (found.time, found.key, found.place) == ("event_time", "key", PlaceColumns("x", "y"))

    def test_a_place_under_other_names_is_none(self) -> None:
        assert query("1 TO (1, 2) BY (x AS a, y) OVER 1 DAY").schema.place is None

    def test_the_key_may_be_selected_under_the_name_it_had(self) -> None:
        assert query("1 TO HIGHEST solar OVER 1 DAY", "id, solar").schema.key == "id"
        assert query("1 TO HIGHEST solar OVER 1 DAY", "key AS id, solar").schema.key == "id"
        assert query("1 TO HIGHEST solar OVER 1 DAY", "solar").schema.key is None

    def test_a_point_is_not_a_key_whatever_the_key_was_called(self) -> None:
        streams = "CREATE STREAM s (point STRING KEY, at TIMESTAMP TIME, x DOUBLE); CREATE POINTS p (id STRING KEY, x DOUBLE);"
        found = check(text("1 TO EACH OF p BY (x) OVER 1 DAY", "point, x", "s", streams)).queries["q"]
        assert found.schema.key is None

    def test_queries_read_it(self) -> None:
        found = check(
            text("1 TO (1, 2) BY PLACE OVER 1 DAY")
            + "; CREATE QUERY r AS SELECT * FROM q NEAREST (3 TO LOWEST distance AS d OVER 1 DAY PER key);"
        ).queries["r"]
        assert [name for name, _, _ in found.selected] == ["change", "key", "object_time", "d"]


@pytest.mark.parametrize(
    ("inside", "code", "place", "message"),
    [
        ("0 TO (1) BY (solar) OVER 1 DAY", "not-a-count", 1, "0 nearest objects are requested"),
        ("-3 TO (1) BY (solar) OVER 1 DAY", "not-a-count", 1, "-3 nearest objects are requested"),
        ("10001 TO (1) BY (solar) OVER 1 DAY", "nearest-too-large", 1, "the 10,001 nearest are requested"),
        ("1 TO (1) BY (solar) OVER 0 ROWS", "not-a-count", 21, "a window of 0 ROWS is empty"),
        ("1 TO (1) BY (solar) OVER -5 ROWS", "not-a-count", 21, "a window of -5 ROWS is empty"),
        ("1 TO (1) BY (solar) OVER 1000000001 ROWS", "nearest-too-large", 21, "the window has 1,000,000,001 rows"),
        ("1 TO (1) BY (solar) OVER 0 SECONDS", "zero-window", 26, "the time of OVER is not longer than zero"),
        ("1 TO (1) BY (solar) OVER -1 DAY", "zero-window", 26, "the time of OVER is not longer than zero"),
        ("1 TO (1) BY (solar) OVER 36501 DAYS", "too-long", 26, "OVER is longer than a hundred years"),
        ("1 TO (1) BY (solar) OVER 5 KM", "not-a-duration", 26, "OVER needs a duration"),
        ("1 TO (1, 2, 3) BY (solar, volts) OVER 1 DAY", "wrong-point", 6, "the point has 3 numbers, but BY has 2 attributes"),
        ("1 TO (1) BY (solar, volts) OVER 1 DAY", "wrong-point", 6, "the point has 1 number, but BY has 2 attributes"),
        ("1 TO (1, 2) BY (solar) OVER 1 DAY", "wrong-point", 6, "the point has 2 numbers, but BY has 1 attribute"),
        ("1 TO (1) BY PLACE OVER 1 DAY", "wrong-point", 6, "the point has 1 number, but BY PLACE takes 2"),
        ("1 TO (1) BY (station) OVER 1 DAY", "attribute-not-numeric", 14, "NEAREST compares numbers, but 'station' is STRING"),
        ("1 TO (1) BY (on) OVER 1 DAY", "attribute-not-numeric", 14, "NEAREST compares numbers, but 'on' is BOOLEAN"),
        ("1 TO HIGHEST at OVER 1 DAY", "attribute-not-numeric", 14, "NEAREST compares numbers, but 'at' is TIMESTAMP"),
        ("1 TO (1) BY (slar) OVER 1 DAY", "unknown-column", 14, "there is no column named 'slar'"),
        ("1 TO LOWEST slar OVER 1 DAY", "unknown-column", 13, "there is no column named 'slar'"),
        ("1 TO (1) BY (solar) OVER 1 DAY PER staton", "unknown-column", 36, "there is no column named 'staton'"),
        ("1 TO (1, 2) BY (solar, solar AS s) OVER 1 DAY", "duplicate-name", 24, "'solar' appears here twice"),
        ("1 TO (1, 2) BY (solar, volts) WEIGHTED (1) OVER 1 DAY", "wrong-weights", 31, "WEIGHTED has 1 weight, but BY has 2"),
        ("1 TO (1) BY (solar) WEIGHTED (-1) OVER 1 DAY", "wrong-weights", 21, "the weight -1 is not greater than zero"),
        ("1 TO (1) BY (solar) WEIGHTED (0.0) OVER 1 DAY", "wrong-weights", 21, "the weight 0.0 is not greater than zero"),
        ("1 TO (1, 2) BY PLACE WEIGHTED (1, 1) OVER 1 DAY", "wrong-weights", 22, "WEIGHTED has no meaning here: a place has no"),
        ("1 TO HIGHEST solar WEIGHTED (1) OVER 1 DAY", "wrong-weights", 20, "WEIGHTED has no meaning here: there is one value"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE 0", "wrong-probability", 32, "PROBABLE 0: the probability"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE 1.0", "wrong-probability", 32, "PROBABLE 1.0: the probability"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE -0.1", "wrong-probability", 32, "PROBABLE -0.1: the probability"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING EXACT ALGORITHM PA", "wrong-algorithm", 32, "PA may lose an answer"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE 0.1 ALGORITHM RA", "wrong-algorithm", 32, "RA never loses an answer"),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE 0.1 ALGORITHM RAPF", "wrong-algorithm", 32, "RAPF never loses"),
        ("1 TO (1) BY (solar) OVER 1 DAY EMIT EVERY 0 SECONDS", "negative-duration", 43, "EVERY is not longer than zero"),
        ("1 TO (1) BY (solar) OVER 1 DAY EMIT EVERY -1 DAY", "negative-duration", 43, "EVERY is not longer than zero"),
        ("1 TO (1) BY (solar) OVER 1 DAY EMIT EVERY 5 METERS", "not-a-duration", 43, "EVERY needs a duration"),
        ("1 TO (1) BY (solar AS match_id) OVER 1 DAY", "reserved-column", 14, "every answer already has a column 'match_id'"),
        ("1 TO (1) BY (solar AS distance) OVER 1 DAY", "duplicate-name", 14, "two columns of the answer would be named 'distance'"),
        ("1 TO (1) BY (solar AS key) OVER 1 DAY", "duplicate-name", 14, "two columns of the answer would be named 'key'"),
        ("1 TO HIGHEST solar AS change OVER 1 DAY", "duplicate-name", 14, "two columns of the answer would be named 'change'"),
        ("1 TO (1, 2) BY (solar, volts AS solar) OVER 1 DAY", "duplicate-name", 24, "two columns of the answer would be named"),
        ("1 TO (1) BY (solar AS station) OVER 1 DAY PER station", "duplicate-name", 14, "two columns of the answer would be"),
        ("1 TO EACH OF profils BY (solar) OVER 1 DAY", "unknown-points", 14, "there are no points named 'profils'"),
        ("1 TO EACH OF cars BY (solar) OVER 1 DAY", "wrong-source", 14, "'cars' is a stream, but TO EACH OF takes points"),
        ("1 TO EACH OF q BY (solar) OVER 1 DAY", "wrong-source", 14, "'q' is a query, but TO EACH OF takes points"),
        ("1 TO EACH OF profiles BY (solar, x) OVER 1 DAY", "unknown-column", 34, "the points 'profiles' have no column named 'x'"),
        ("1 TO EACH OF odds BY (volts) OVER 1 DAY", "unknown-points", 14, "there are no points named 'odds'"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_reported_at_its_place(
    inside: str, code: str, place: int, message: str
) -> None:
    (error,) = refused(inside)
    assert error.code == code
    assert error.message.startswith(message)
    assert error.advice
    assert error.span is not None
    assert (error.span.line, error.span.column) == (4, place)


@pytest.mark.parametrize(
    ("source", "inside", "code", "place", "message"),
    [
        ("cars", "1 TO (181, 0) BY PLACE OVER 1 DAY", "wrong-point", 6, "(181, 0) is not a geographic place"),
        ("cars", "1 TO (0, -90.5) BY PLACE OVER 1 DAY", "wrong-point", 6, "(0, -90.5) is not a geographic place"),
        ("odd", "1 TO (0, 0) BY PLACE OVER 1 DAY", "needs-place", 13, "BY PLACE needs a place, but 'odd' has none"),
        ("cars", "1 TO EACH OF spots BY PLACE OVER 1 DAY", "unknown-column", 20, "the points 'spots' have no column named 'lon'"),
        ("odd", "1 TO HIGHEST rank OVER 1 DAY EMIT EVERY 1 DAY", "duplicate-name", 14, "two columns of the answer would be named"),
        ("odd", "1 TO (1) BY (distance) OVER 1 DAY", "duplicate-name", 14, "two columns of the answer would be named 'distance'"),
        ("odd", "1 TO LOWEST id OVER 1 DAY PER rank EMIT EVERY 1 DAY", "duplicate-name", 31, "two columns of the answer would be"),
        ("odd", "1 TO HIGHEST id OVER 1 DAY PER key", "duplicate-name", 32, "two columns of the answer would be named 'key'"),
    ],
)  # fmt: skip
def test_what_this_stream_cannot_answer(
    source: str, inside: str, code: str, place: int, message: str
) -> None:
    errors = refused(inside, source=source)
    assert {error.code for error in errors} == {code}
    assert errors[0].message.startswith(message)
    assert errors[0].advice
    assert errors[0].span is not None
    assert (errors[0].span.line, errors[0].span.column) == (4, place)


@pytest.mark.parametrize(
    ("inside", "advice"),
    [
        ("1 TO (1) BY (slar) OVER 1 DAY", ["known columns: at, id, on, solar, station, volts, x, y", "did you mean 'solar'?"]),
        ("1 TO EACH OF profils BY (solar) OVER 1 DAY", ["known points: profiles, spots", "did you mean 'profiles'?"]),
        ("1 TO EACH OF cars BY (solar) OVER 1 DAY", ["create points with another name: CREATE POINTS cars_points (id STRING KEY, …)"]),
        ("1 TO (1) BY (solar AS distance) OVER 1 DAY",
         ["every answer of this query has a column of this name", "name it with AS: BY (solar AS another_name)"]),
        ("1 TO HIGHEST solar AS key OVER 1 DAY",
         ["every answer of this query has a column of this name", "name it with AS: HIGHEST solar AS another_name"]),
        ("1 TO (1) BY (solar) OVER 1 DAY USING PROBABLE 0.1 ALGORITHM RA", ["write USING EXACT ALGORITHM RA, or ALGORITHM PA"]),
        ("1 TO (1) BY (solar) OVER 1 DAY USING EXACT ALGORITHM PA", ["write USING PROBABLE 0.001, or ALGORITHM RA or RAPF"]),
        ("10001 TO HIGHEST solar OVER 1 DAY", ["at most 10,000 are possible"]),
    ],
)  # fmt: skip
def test_the_advice_says_what_to_do(inside: str, advice: list[str]) -> None:
    (error,) = refused(inside)
    assert list(error.advice) == advice


def test_too_many_attributes() -> None:
    columns = ", ".join(f"c{number} DOUBLE" for number in range(65))
    streams = f"CREATE STREAM wide (at TIMESTAMP TIME, {columns});\n"

    def nearest_text(count: int) -> str:
        names = ", ".join(f"c{number}" for number in range(count))
        zeros = ", ".join("0" * count)
        return text(f"1 TO ({zeros}) BY ({names}) OVER 1 DAY", source="wide", streams=streams)

    assert check(nearest_text(64))
    (error,) = errors_of(nearest_text(65))
    assert (error.code, error.message) == ("nearest-too-large", "BY has 65 attributes")


def test_columns_of_a_place_cannot_be_renamed_by_as() -> None:
    streams = "CREATE STREAM s (at TIMESTAMP TIME, rank DOUBLE, y DOUBLE, PLACE (rank, y));\n"
    (error,) = errors_of(
        text("1 TO (1, 2) BY PLACE OVER 1 DAY EMIT EVERY 1 DAY", source="s", streams=streams)
    )
    assert error.code == "duplicate-name"
    assert error.advice[-1].startswith("give the column of PLACE another name in a query")


def test_the_key_of_points_is_not_a_coordinate() -> None:
    streams = "CREATE STREAM s (at TIMESTAMP TIME, n BIGINT); CREATE POINTS p (n BIGINT KEY);\n"
    (error,) = errors_of(text("1 TO EACH OF p BY (n) OVER 1 DAY", source="s", streams=streams))
    assert (error.code, error.message) == (
        "wrong-points",
        "'n' names the points of 'p', so it cannot be a coordinate",
    )


def test_all_errors_are_reported_at_once() -> None:
    errors = refused(
        "0 TO (1, 2, 3) BY (slar, station) WEIGHTED (0, 1) OVER 0 DAYS PER nowhere USING PROBABLE 2 EMIT EVERY 0 DAYS"
    )
    assert [error.code for error in errors] == [
        "not-a-count",
        "wrong-point",
        "unknown-column",
        "attribute-not-numeric",
        "wrong-weights",
        "zero-window",
        "unknown-column",
        "wrong-probability",
        "negative-duration",
    ]


def test_a_nearest_over_an_unknown_stream_is_still_looked_at() -> None:
    errors = errors_of(text("0 TO EACH OF nothing BY (a, a) OVER 0 DAYS", source="nowhere"))
    assert [error.code for error in errors] == [
        "unknown-stream",
        "not-a-count",
        "unknown-points",
        "duplicate-name",
        "zero-window",
    ]


def test_a_refused_place_causes_no_second_error() -> None:
    streams = "CREATE STREAM s (at TIMESTAMP TIME, x STRING, y DOUBLE, PLACE (x, y));\n"
    (error,) = errors_of(text("1 TO (1, 2) BY PLACE OVER 1 DAY", source="s", streams=streams))
    assert error.code == "place-not-numeric"


def test_what_is_built_is_checked_alike_without_a_place_in_a_text() -> None:
    built = script(
        stream("panels", {"at": "TIMESTAMP", "solar": "DOUBLE"}, time="at"),
        points("p", {"id": "STRING", "solar": "DOUBLE"}, key="id"),
        nearest("a", "panels", 0, to=each_of("p"), by="solar", over="1 DAY"),
        nearest("b", "panels", 1, to=highest("solr"), over_rows=0, per="x"),
    )
    with pytest.raises(QueriesRefused) as caught:
        check(built)
    assert [(error.code, error.span) for error in caught.value.errors] == [
        ("not-a-count", None),
        ("unknown-column", None),
        ("not-a-count", None),
        ("unknown-column", None),
    ]


class TestFingerprints:
    def fingerprint(self, points: str, inside: str = "1 TO EACH OF p BY (solar) OVER 1 DAY") -> str:
        return fingerprints(check(text(inside) + f"; CREATE POINTS p ({points})"))["q"]

    def test_more_coordinates_leave_it_as_it_is(self) -> None:
        assert self.fingerprint("id STRING KEY, solar DOUBLE") == self.fingerprint(
            "volts BIGINT, solar BIGINT, name STRING KEY"
        )

    def test_another_kind_of_name_is_another_query(self) -> None:
        assert self.fingerprint("id STRING KEY, solar DOUBLE") != self.fingerprint(
            "id BIGINT KEY, solar DOUBLE"
        )

    def test_points_that_it_does_not_use_are_none_of_its_business(self) -> None:
        inside = "1 TO HIGHEST solar OVER 1 DAY"
        assert self.fingerprint("id STRING KEY", inside) == self.fingerprint("id BIGINT KEY", inside)
