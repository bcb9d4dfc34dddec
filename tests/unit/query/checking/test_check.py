"""Names, types and meaning: every error, at its place, all at once."""

from __future__ import annotations

import random
import re

import pytest

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.subscription import Emit
from headwater.model import (
    Box,
    Circle,
    ColumnType,
    PlaceColumns,
    Polygon,
    QueriesRefused,
    QueryError,
    Span,
    StreamSchema,
)
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.check import check
from headwater.query.language.parse import parse
from tests.unit.query.errors_page import examples

WEATHER = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, temperature DOUBLE,
  humidity DOUBLE, wind DOUBLE, battery BIGINT, note STRING, open BOOLEAN, sent TIMESTAMP, PLACE (lon, lat) GEOGRAPHIC)
  LATE 10 SECONDS IDLE 1 MINUTES;
"""
PLANE = (
    "CREATE STREAM plane (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, a DOUBLE, PLACE (x, y));\n"
)
BARE = "CREATE STREAM bare (at TIMESTAMP TIME, a DOUBLE, b DOUBLE);\n"


def checked(text: str) -> Catalogue:
    script, syntax = parse(text)
    return check(script, text, syntax=syntax)


def refused(text: str) -> tuple[QueryError, ...]:
    with pytest.raises(QueriesRefused) as caught:
        checked(text)
    return caught.value.errors


def codes(text: str) -> list[str]:
    return [error.code for error in refused(text)]


def query(statement: str, streams: str = WEATHER) -> CheckedQuery:
    return next(iter(checked(streams + statement).queries.values()))


def correlate(inside: str, source: str = "weather", streams: str = WEATHER) -> str:
    return f"{streams}CREATE QUERY q AS SELECT * FROM {source} CORRELATE ({inside});"


def said(error: QueryError) -> tuple[str, str, tuple[str, ...]]:
    return error.code, error.message, error.advice


class TestStreams:
    def test_a_stream_gets_its_schema(self) -> None:
        stream = checked(correlate("wind <= 2 WITHIN 1 SECONDS")).streams["weather"].schema
        assert stream == StreamSchema(
            "weather",
            (
                ("station", ColumnType.STRING),
                ("at", ColumnType.TIMESTAMP),
                ("lon", ColumnType.DOUBLE),
                ("lat", ColumnType.DOUBLE),
                ("temperature", ColumnType.DOUBLE),
                ("humidity", ColumnType.DOUBLE),
                ("wind", ColumnType.DOUBLE),
                ("battery", ColumnType.BIGINT),
                ("note", ColumnType.STRING),
                ("open", ColumnType.BOOLEAN),
                ("sent", ColumnType.TIMESTAMP),
            ),
            "at",
            "station",
            PlaceColumns("lon", "lat", geographic=True),
            10_000_000,
            False,
            60_000_000,
            False,
        )

    def test_every_error_of_a_stream_is_reported_at_once(self) -> None:
        text = (
            "CREATE STREAM s (k DOUBLE KEY, j STRING KEY, a TIMESTAMP TIME, b TIMESTAMP TIME, a DOUBLE, query STRING,\n"
            "  PLACE (j, z)) LATE -1 SECONDS IDLE 0 SECONDS;\n"
            "CREATE QUERY q AS SELECT * FROM s CORRELATE (a <= 0 WITHIN 1 SECONDS, 1 METERS);"
        )
        # The missing place of 's' was told already, so the query's distance is not held against it.
        assert codes(text) == [
            "key-type",
            "two-key-columns",
            "two-time-columns",
            "duplicate-name",
            "reserved-column",
            "place-not-numeric",
            "unknown-column",
            "negative-duration",
            "negative-duration",
            "type-mismatch",
        ]

    def test_a_stream_without_time_is_not_unknown_to_its_queries(self) -> None:
        text = "CREATE STREAM s (at TIMESTAMP, a DOUBLE); CREATE QUERY q AS SELECT nothing FROM s;"
        (error,) = refused(text)
        assert said(error) == (
            "no-time-column",
            "stream 's' has no TIME column",
            ("write at TIMESTAMP TIME",),
        )
        assert error.span == Span(1, 1, 15)

    def test_a_time_that_is_not_a_timestamp(self) -> None:
        (error,) = refused("CREATE STREAM s (at BIGINT TIME, a DOUBLE); CREATE QUERY q AS SELECT * FROM s;")
        assert said(error) == (
            "type-mismatch",
            "the TIME column 'at' is BIGINT",
            ("write at TIMESTAMP TIME",),
        )

    def test_event_time_may_be_the_time_of_a_stream(self) -> None:
        text = "CREATE STREAM s (event_time TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT * FROM s;"
        assert [name for name, _, _ in checked(text).queries["q"].selected] == ["a"]


class TestNames:
    def test_an_unknown_stream_is_reported_with_what_there_is(self) -> None:
        text = WEATHER + "CREATE QUERY q AS SELECT * FROM wether;"
        (error,) = refused(text)
        assert said(error) == (
            "unknown-stream",
            "there is no stream named 'wether'",
            ("known streams: weather", "did you mean 'weather'?"),
        )
        assert error.span == Span(4, 33, 6)

    def test_capitals_are_a_near_miss(self) -> None:
        (error,) = refused(WEATHER + "CREATE QUERY q AS SELECT * FROM WEATHER;")
        assert error.advice[-1] == "did you mean 'weather'?"

    def test_many_known_names_are_counted(self) -> None:
        streams = "".join(f"CREATE STREAM s{i:02} (at TIMESTAMP TIME);\n" for i in range(20))
        (error,) = refused(streams + "CREATE QUERY q AS SELECT * FROM nothing_like_it;")
        assert error.advice == (
            "known streams: s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s10, s11 and 8 more",
        )

    def test_names_that_a_broken_statement_may_have_made_are_not_unknown(self) -> None:
        text = "CREATE STREAM weather (station STRING KEY; CREATE QUERY q AS SELECT * FROM weather;"
        assert codes(text) == ["syntax"]

    def test_statements_may_come_in_any_order(self) -> None:
        text = (
            "CREATE QUERY c AS SELECT * FROM b; CREATE QUERY b AS SELECT * FROM a;\n"
            "CREATE QUERY a AS SELECT temperature FROM weather;" + WEATHER
        )
        assert list(checked(text).queries) == ["a", "b", "c"]

    def test_streams_and_queries_share_their_names(self) -> None:
        text = WEATHER + "CREATE QUERY weather AS SELECT * FROM weather;"
        (error,) = refused(text)
        assert said(error)[:2] == ("duplicate-name", "there is a stream named 'weather' already")

    def test_a_circle_is_reported_once(self) -> None:
        text = (
            WEATHER + "CREATE QUERY a AS SELECT * FROM b; CREATE QUERY b AS SELECT * FROM c;\n"
            "CREATE QUERY c AS SELECT * FROM a; CREATE QUERY d AS SELECT * FROM a;"
        )
        (error,) = refused(text)
        assert said(error)[:2] == (
            "cyclic-query",
            "queries cannot read one another in a cycle: 'a' reads 'b' reads 'c' reads 'a'",
        )

    def test_errors_come_in_the_order_of_the_text(self) -> None:
        text = (
            "CREATE QUERY one AS SELECT * FROM nowhere;\nCREATE STREAM s (a DOUBLE);\nCREATE QUERY two AS SELECT * FROM weather\n"
            "  CORRELATE (temprature <= 0, wind BETWEEN 2 AND 1 WITHIN 0 SECONDS);\n" + WEATHER
        )
        assert [(error.code, error.span and error.span.line) for error in refused(text)] == [
            ("unknown-stream", 1),
            ("no-time-column", 2),
            ("unknown-column", 4),
            ("empty-range", 4),
            ("zero-window", 4),
        ]


class TestClauses:
    def test_ranges_are_as_written(self) -> None:
        inside = (
            "temperature BETWEEN -5 AND 0, humidity >= 80, wind < 2, battery > 3, note = 'it''s wet', open = TRUE,"
            " sent <= TIMESTAMP '1970-01-01 00:00:01', lat = 2 * 3, lon <= 1 KM WITHIN 30 SECONDS"
        )
        correlation = checked(correlate(inside)).queries["q"].operator
        assert correlation is not None
        infinite = float("inf")
        assert correlation.clauses == (
            Clause("temperature", "temperature", Interval(-5.0, 0.0), group=0),
            Clause("humidity", "humidity", Interval(80.0, infinite), group=1),
            Clause("wind", "wind", Interval(-infinite, 2.0, high_open=True), group=2),
            Clause("battery", "battery", Interval(3, infinite, low_open=True), group=3),
            Clause("note", "note", None, "it's wet", group=4),
            Clause("open", "open", Interval(1, 1), group=5),
            Clause("sent", "sent", Interval(-infinite, 1_000_000), group=6),
            Clause("lat", "lat", Interval(6.0, 6.0), group=7),
            Clause("lon", "lon", Interval(-infinite, 1000.0), group=8),
        )

    def test_large_whole_numbers_stay_exact(self) -> None:
        correlation = checked(correlate(f"battery >= {2**53 + 1} WITHIN 1 SECONDS")).queries["q"].operator
        assert correlation is not None
        assert correlation.clauses[0].interval == Interval(2**53 + 1)
        assert isinstance(correlation.clauses[0].interval.low, int)

    def test_n_of_is_written_out(self) -> None:
        inside = "2 OF temperature <= 0 AS cold, 1 OF wind <= 2, 's7'.humidity >= 80 AS wet WITHIN 30 SECONDS"
        correlation = checked(correlate(inside)).queries["q"].operator
        assert correlation is not None
        assert [(c.name, c.attribute, c.sensor, c.group) for c in correlation.clauses] == [
            ("cold_1", "temperature", None, 0),
            ("cold_2", "temperature", None, 0),
            ("wind_1", "wind", None, 1),
            ("wet", "humidity", "s7", 2),
        ]

    def test_defaults_are_filled_in(self) -> None:
        latest = checked(correlate("wind <= 2 WITHIN 1.5 MINUTES, 0.5 KM")).queries["q"].operator
        every = checked(correlate("wind <= 2 WITHIN 1 SECONDS EMIT ALL")).queries["q"].operator
        few = checked(correlate("wind <= 2 WITHIN 1 SECONDS EMIT ALL LIMIT 7 PER ROW")).queries["q"].operator
        assert latest and every and few
        assert (latest.emit, latest.limit, latest.within_us, latest.within_m) == (
            Emit.LATEST,
            None,
            90_000_000,
            500.0,
        )
        assert (every.emit, every.limit, every.within_m) == (Emit.ALL, 1000, None)
        assert few.limit == 7

    @pytest.mark.parametrize(
        ("clause", "message"),
        [
            ("temperature BETWEEN 0 AND -5", "no 'temperature' (DOUBLE) lies between 0 and -5"),
            ("battery BETWEEN 2.2 AND 2.8", "no 'battery' (BIGINT) lies between 2.2 and 2.8"),
            ("battery = 2.5", "no 'battery' (BIGINT) is 2.5"),
            ("wind <= NULL", "no 'wind' compares with NULL"),
            ("wind BETWEEN 0 AND 1 / 0", "no 'wind' compares with NULL"),
        ],
    )
    def test_empty_ranges(self, clause: str, message: str) -> None:
        (error,) = refused(correlate(f"{clause} WITHIN 1 SECONDS"))
        assert said(error)[:2] == ("empty-range", message)

    @pytest.mark.parametrize(
        ("clause", "why"),
        [
            ("wind <> 0", "<> is not a range"),
            ("wind NOT BETWEEN 0 AND 1", "NOT BETWEEN gives two ranges"),
            ("wind < temperature", "a column must be compared with a constant"),
            ("note < 'b'", "'note' is STRING and can only be = 'text'"),
            ("open >= TRUE", "'open' is BOOLEAN and can only be = TRUE"),
        ],
    )
    def test_conditions_that_are_no_ranges(self, clause: str, why: str) -> None:
        (error,) = refused(correlate(f"{clause} WITHIN 1 SECONDS"))
        assert said(error)[:2] == ("not-a-range", f"the clause is not a range: {why}")

    @pytest.mark.parametrize(
        "clause",
        ["wind < 'a'", "note = 5", "open = 1", "sent > 5", "wind < 3 SECONDS", "battery BETWEEN 1 AND 'x'"],
    )
    def test_values_of_other_types(self, clause: str) -> None:
        assert codes(correlate(f"{clause} WITHIN 1 SECONDS")) == ["type-mismatch"]

    def test_two_clauses_of_one_name_need_as(self) -> None:
        (error,) = refused(correlate("wind <= 2, temperature <= 0, 's1'.wind >= 5 WITHIN 1 SECONDS"))
        assert said(error) == (
            "duplicate-name",
            "two clauses are named 'wind'",
            ("name one of them, as in wind <= 2 AS calm",),
        )
        assert error.span == Span(4, 81, 14)

    def test_columns_made_from_names_must_differ_too(self) -> None:
        assert codes(correlate("wind <= 2, note = 'a' AS wind_key WITHIN 1 SECONDS")) == ["duplicate-name"]
        assert codes(correlate("wind <= 2 AS event WITHIN 1 SECONDS")) == ["reserved-column"]
        assert codes(correlate("2 OF wind <= 2, lat > 0 AS wind_1 WITHIN 1 SECONDS")) == ["duplicate-name"]

    def test_the_same_mistake_in_two_queries_is_reported_twice(self) -> None:
        inside = "wind <= 2 AS event WITHIN 1 SECONDS"
        second = f"CREATE QUERY r AS SELECT * FROM weather CORRELATE ({inside});"
        assert codes(correlate(inside) + second) == ["reserved-column"] * 2


class TestWindowsAndBounds:
    @pytest.mark.parametrize(
        ("inside", "code"),
        [
            ("wind <= 2 WITHIN 0 SECONDS", "zero-window"),
            ("wind <= 2 WITHIN -1 SECONDS", "zero-window"),
            ("wind <= 2 WITHIN 0.0000001 SECONDS", "zero-window"),
            ("wind <= 2 WITHIN 36501 DAYS", "too-long"),
            ("wind <= 2 WITHIN 1 SECONDS, 0 METERS", "zero-distance"),
            ("wind <= 2 WITHIN 1 SECONDS, -1 KM", "zero-distance"),
            ("0 OF wind <= 2 WITHIN 1 SECONDS", "not-a-count"),
            ("wind <= 2 WITHIN 1 SECONDS EMIT ALL LIMIT 0 PER ROW", "not-a-count"),
            ("wind <= 2 WITHIN 1 SECONDS LIMIT 5 PER ROW", "limit-without-all"),
            ("wind <= 2 WITHIN 1 SECONDS EMIT READINGS LIMIT 5 PER ROW", "limit-without-all"),
            ("65 OF wind <= 2 WITHIN 1 SECONDS", "too-many-clauses"),
            ("6 OF wind <= 2, lat > 0 WITHIN 1 SECONDS, 5 METERS", "too-many-clauses"),
            ("note = 'a' WITHIN 1 SECONDS EMIT READINGS", "readings-of-text"),
            ("open = TRUE WITHIN 1 SECONDS EMIT READINGS", "readings-of-text"),
            ("2 OF 's1'.wind <= 2 WITHIN 1 SECONDS", "never-true"),
            ("3 OF wind <= 2 WITHIN 1 SECONDS INSIDE SENSORS ('a', 'b', 'a')", "never-true"),
            ("'a'.wind <= 2, 'a'.lat > 0 DISTINCT SENSORS WITHIN 1 SECONDS", "never-true"),
            ("wind <= 2, lat > 0 DISTINCT SENSORS WITHIN 1 SECONDS SENSORS ('a')", "never-true"),
            ("wind <= 2 WITHIN 1 SECONDS INSIDE SENSORS (1)", "type-mismatch"),
            ("1.wind <= 2 WITHIN 1 SECONDS", "type-mismatch"),
        ],
    )
    def test_refused(self, inside: str, code: str) -> None:
        assert codes(correlate(inside)) == [code]

    @pytest.mark.parametrize(
        "inside",
        [
            "64 OF wind <= 2 WITHIN 1 SECONDS",
            "6 OF wind <= 2 WITHIN 36500 DAYS, 5 METERS",
            "'a'.wind <= 2, lat > 0 DISTINCT SENSORS WITHIN 1 SECONDS SENSORS ('b')",
            "wind <= 2 WITHIN 0.000001 SECONDS",
        ],
    )
    def test_just_within(self, inside: str) -> None:
        assert list(checked(correlate(inside)).queries) == ["q"]

    def test_sensors_are_listed_once(self) -> None:
        correlation = (
            checked(correlate("a <= 2 WITHIN 1 SECONDS SENSORS (3, 1, 3)", "plane", PLANE))
            .queries["q"]
            .operator
        )
        assert correlation is not None
        assert correlation.sensors == (3, 1)

    def test_what_needs_a_key(self) -> None:
        inside = "2 OF a <= 0, 's1'.b <= 0 DISTINCT SENSORS WITHIN 1 SECONDS SENSORS ('a', 'b', 'c')"
        errors = refused(correlate(inside, "bare", BARE))
        assert [error.code for error in errors] == ["needs-key"] * 4
        assert errors[1].message == "n OF distinguishes sensors, but 'bare' has no KEY"

    def test_what_needs_a_place(self) -> None:
        errors = refused(correlate("a <= 0 WITHIN 1 SECONDS, 5 METERS INSIDE BOX (0, 0, 1, 1)", "bare", BARE))
        assert [error.message for error in errors] == [
            "a distance needs a place, but 'bare' has none",
            "INSIDE a region needs a place, but 'bare' has none",
        ]


class TestRegions:
    def region(self, area: str, source: str = "plane", streams: str = PLANE) -> object:
        clause = "a <= 0" if source == "plane" else "wind <= 2"
        correlation = (
            checked(correlate(f"{clause} WITHIN 1 SECONDS INSIDE {area}", source, streams))
            .queries["q"]
            .operator
        )
        assert correlation is not None
        return correlation.region

    def test_regions_are_shapes(self) -> None:
        assert self.region("CIRCLE (1, 2, 5 KM)") == Circle(1.0, 2.0, 5000.0)
        assert self.region("CIRCLE (1, 2, 5)") == Circle(1.0, 2.0, 5.0)
        assert self.region("BOX (0, 0, 0, 0)") == Box(0.0, 0.0, 0.0, 0.0)
        ring = ((0.0, 0.0), (4.0, 0.0), (4.0, 4.0))
        assert self.region("POLYGON ((0, 0), (4, 0), (4, 4))") == Polygon(ring)
        assert self.region("POLYGON ((0, 0), (4, 0), (4, 4), (0, 0))") == Polygon(ring)
        assert self.region("BOX (170, -10, -170, 10)", "weather", WEATHER) == Box(
            170.0, -10.0, -170.0, 10.0, geographic=True
        )

    @pytest.mark.parametrize(
        ("area", "message"),
        [
            ("CIRCLE (1, 2, 0)", "the radius of the CIRCLE is not greater than zero"),
            ("CIRCLE (1, 2, -5 KM)", "the radius of the CIRCLE is not greater than zero"),
            ("BOX (0, 2, 1, 1)", "the BOX has its south (2) above its north (1)"),
            ("BOX (2, 0, 1, 1)", "the BOX has its west (2) to the right of its east (1)"),
            ("POLYGON ((0, 0), (1, 1), (0, 0))", "the POLYGON has fewer than three corners"),
            ("POLYGON ((0, 0), (1, 1), (2, 2))", "the POLYGON has no area"),
            (
                "POLYGON ((0, 0), (4, 4), (4, 0), (1, 5))",
                "the POLYGON crosses or touches itself (self-intersection[2.5 2.5])",
            ),
        ],
    )
    def test_regions_without_a_place_inside(self, area: str, message: str) -> None:
        (error,) = refused(correlate(f"a <= 0 WITHIN 1 SECONDS INSIDE {area}", "plane", PLANE))
        assert said(error)[:2] == ("empty-region", message)

    @pytest.mark.parametrize(
        "area", ["CIRCLE (181, 0, 5)", "BOX (0, 0, 1, 90.5)", "POLYGON ((0, 0), (1, 0), (1, -91))"]
    )
    def test_places_that_are_not_on_earth(self, area: str) -> None:
        assert codes(correlate(f"wind <= 2 WITHIN 1 SECONDS INSIDE {area}")) == ["empty-region"]


class TestSelectLists:
    def columns(self, statement: str) -> list[tuple[str, ColumnType]]:
        return [(name, kind) for name, _, kind in query(statement).selected]

    def test_star_of_latest(self) -> None:
        found = query("CREATE QUERY q AS SELECT * FROM weather CORRELATE (battery > 3 WITHIN 1 SECONDS);")
        assert [(name, kind.value) for name, _, kind in found.selected] == [
            ("battery", "BIGINT"),
            ("battery_key", "STRING"),
            ("battery_time", "TIMESTAMP"),
        ]
        assert [name for name, _ in found.answers] == [
            "battery",
            "battery_key",
            "battery_time",
            "battery_lon",
            "battery_lat",
        ]

    def test_star_of_readings(self) -> None:
        statement = (
            "CREATE QUERY q AS SELECT * FROM weather CORRELATE (battery > 3 WITHIN 1 SECONDS EMIT READINGS);"
        )
        assert [(name, kind.value) for name, kind in self.columns(statement)] == [
            ("attribute", "STRING"),
            ("key", "STRING"),
            ("reading_time", "TIMESTAMP"),
            ("value", "DOUBLE"),
            ("lon", "DOUBLE"),
            ("lat", "DOUBLE"),
        ]

    def test_star_without_a_key_has_null_keys(self) -> None:
        found = query("CREATE QUERY q AS SELECT * FROM bare CORRELATE (a > 3 WITHIN 1 SECONDS);", BARE)
        assert [(name, kind.value) for name, _, kind in found.selected] == [
            ("a", "DOUBLE"),
            ("a_key", "STRING"),
            ("a_time", "TIMESTAMP"),
        ]

    def test_star_of_a_plain_select(self) -> None:
        found = query("CREATE QUERY q AS SELECT * FROM bare WHERE a > b;", BARE)
        assert [(name, kind.value) for name, _, kind in found.selected] == [
            ("at", "TIMESTAMP"),
            ("a", "DOUBLE"),
            ("b", "DOUBLE"),
        ]

    def test_expressions_get_their_types(self) -> None:
        statement = """CREATE QUERY q AS SELECT wind * 2 AS double_wind, wind_lon, event_time - wind_time AS age,
          wind > 1 AS windy, wind_key || '!' AS who, event_time AS happened
          FROM weather CORRELATE (wind <= 2, temperature < 0 WITHIN 1 SECONDS);"""
        assert [(name, kind.value) for name, kind in self.columns(statement)] == [
            ("double_wind", "DOUBLE"),
            ("wind_lon", "DOUBLE"),
            ("age", "DOUBLE"),
            ("windy", "BOOLEAN"),
            ("who", "STRING"),
            ("happened", "TIMESTAMP"),
        ]

    def test_every_error_of_a_list_is_reported(self) -> None:
        statement = (
            "CREATE QUERY q AS SELECT wind, wind, wind + 1, humidity, lat AS query, ABS('a') AS b, NOPE(1) AS c, match_id\n"
            "FROM weather WHERE temperature CORRELATE (wind <= 2 WITHIN 1 SECONDS);"
        )
        assert sorted(codes(WEATHER + statement)) == sorted(
            [
                "duplicate-name",
                "select-needs-name",
                "unknown-column",
                "reserved-column",
                "unknown-column",
                "wrong-arguments",
                "unknown-function",
                "reserved-column",
                "type-mismatch",
            ]
        )

    def test_where_must_be_a_condition(self) -> None:
        (error,) = refused(WEATHER + "CREATE QUERY q AS SELECT * FROM weather WHERE temperature + 1;")
        assert said(error)[:2] == ("type-mismatch", "WHERE needs a condition, but this is DOUBLE")


class TestQueriesAsStreams:
    def schema(self, statement: str) -> StreamSchema:
        return query(statement).schema

    def test_readings_keep_key_and_place(self) -> None:
        schema = self.schema(
            "CREATE QUERY q AS SELECT * FROM weather CORRELATE (wind <= 2 WITHIN 1 SECONDS EMIT READINGS);"
        )
        assert (schema.name, schema.time, schema.key) == ("q", "event_time", "key")
        assert schema.place == PlaceColumns("lon", "lat", geographic=True)
        assert [name for name, _ in schema.columns] == [
            "event_time",
            "attribute",
            "key",
            "reading_time",
            "value",
            "lon",
            "lat",
        ]

    def test_latest_has_no_key_until_one_is_selected(self) -> None:
        plain = self.schema("CREATE QUERY q AS SELECT * FROM weather CORRELATE (wind <= 2 WITHIN 1 SECONDS);")
        named = self.schema(
            "CREATE QUERY q AS SELECT wind_key AS station, wind_lon AS lon, wind_lat AS lat FROM weather"
            " CORRELATE (wind <= 2 WITHIN 1 SECONDS);"
        )
        assert (plain.key, plain.place) == (None, None)
        assert (named.key, named.place) == ("station", PlaceColumns("lon", "lat", geographic=True))

    def test_a_plain_select_keeps_what_it_selects(self) -> None:
        some = self.schema("CREATE QUERY q AS SELECT station, lon, temperature FROM weather;")
        texts = self.schema("CREATE QUERY q AS SELECT temperature AS station, lon, 'x' AS lat FROM weather;")
        assert (some.key, some.place, some.time) == ("station", None, "event_time")
        assert (texts.key, texts.place) == (None, None)

    def test_a_query_that_reads_a_broken_query_is_not_blamed(self) -> None:
        text = WEATHER + (
            "CREATE QUERY a AS SELECT nothing FROM weather; CREATE QUERY b AS SELECT * FROM a CORRELATE (x > 1 WITHIN 1 SECONDS);"
        )
        assert codes(text) == ["unknown-column"]


def test_any_words_give_a_catalogue_or_errors() -> None:
    """Statements with words put in, taken out and exchanged: nothing else is ever raised, and every error can be shown."""
    good = correlate(
        "2 OF wind <= 2.5 AS calm, 's1'.note = 'x' WITHIN 30 SECONDS, 5 KM INSIDE BOX (1, 2, 3, 4) EMIT ALL"
    )
    good += "CREATE QUERY r AS SELECT calm_1 * 2 AS twice, CASE WHEN calm_2 > 1 THEN ABS(-1) END AS c FROM q;"
    cut = re.compile(r"'[^']*'|\d+\.?\d*|\w+|[<>]=|[^\w\s]")
    words = sorted({word for _, example in examples() for word in cut.findall(example + good)})
    chance = random.Random(4)
    accepted = 0
    for _ in range(400):
        chosen = cut.findall(good)
        for _ in range(chance.randint(1, 2)):
            chosen[chance.randrange(len(chosen))] = chance.choice([*words, ""])
        text = " ".join(chosen)
        try:
            accepted += bool(checked(text).queries)
        except QueriesRefused as refusal:
            assert refusal.errors
            assert str(refusal).startswith("error[")
    assert 0 < accepted < 200


@pytest.mark.parametrize(
    "text",
    [
        "CREATE QUERY q AS SELECT " + ", ".join(f"nothing{i} AS n{i}" for i in range(2000)) + " FROM bare;",
        "".join(f"CREATE QUERY q{i} AS SELECT * FROM nothing{i};" for i in range(2000)),
        "CREATE QUERY q AS SELECT * FROM bare;" * 2000,
    ],
    ids=["columns", "streams", "names"],
)
def test_of_thousands_of_errors_the_first_are_reported_in_less_words_than_the_text_has(text: str):
    with pytest.raises(QueriesRefused) as refused:
        check(BARE + text)
    assert len(refused.value.errors) == 200
    assert str(refused.value).endswith("and at least 150 more errors in query")
    assert len(str(refused.value)) < len(text)


BROKEN = (
    "id STRING KEY, at TIMESTAMP TIME, x DOUBLE, PLACE (x, nothing)",
    "id STRING KEY, at TIMESTAMP TIME, x STRING, y STRING, PLACE (x, y)",
    "id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, x DOUBLE, PLACE (x, y)",
    "id STRING KEY, other STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)",
    "id STRING, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, nothing)",
    "id STRING KEY, at TIMESTAMP, x DOUBLE, y DOUBLE, PLACE (x, y)",
)
READERS = (
    "SELECT * FROM broken CORRELATE (x > 1 WITHIN 1 SECOND, 5 METERS)",
    "SELECT * FROM broken MATCH_RECOGNIZE (PARTITION BY id ORDER BY at PATTERN (a b) DEFINE a AS a.x > 1)",
    "SELECT * FROM broken NEAREST (3 TO (0, 0) BY PLACE OVER 1 HOUR)",
    "SELECT * FROM broken NEAREST (3 TO EACH OF spots BY PLACE OVER 1 HOUR)",
    "SELECT * FROM broken SUPPRESS (PLACE TOLERANCE 5 HEARTBEAT 1 MINUTE)",
    "SELECT * FROM broken SUPPRESS (x, y TOLERANCE 5 HEARTBEAT 1 MINUTE) PREDICT (x > 1 MUST)",
    "SELECT * FROM broken FOLLOW (vans RADIUS 5 LAST 1 MINUTE)",
    "SELECT * FROM vans FOLLOW (broken RADIUS 5 LAST 1 MINUTE)",
    "SELECT * FROM vans FOLLOW (broken RADIUS 5 LAST 1 MINUTE EMIT INTERESTS)",
    "SELECT * FROM broken FOLLOW (broken RADIUS 5 LAST 1 MINUTE) FENCE (zones)",
    "SELECT * FROM broken FENCE (zones)",
    "SELECT * FROM broken FENCE (vans RADIUS 5)",
    "SELECT * FROM vans FENCE (broken RADIUS 5)",
    "SELECT * FROM vans FENCE (broken SHAPE x)",
)


@pytest.mark.parametrize("columns", BROKEN)
@pytest.mark.parametrize("reader", READERS)
def test_whoever_reads_a_broken_stream_is_refused_not_asserted(columns: str, reader: str):
    with pytest.raises(QueriesRefused) as refused:
        check(
            f"""CREATE STREAM broken ({columns});
            CREATE STREAM vans (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
            CREATE POINTS spots (id STRING KEY, x DOUBLE, y DOUBLE);
            CREATE FENCES zones (name STRING KEY);
            CREATE QUERY first AS {reader};
            CREATE QUERY second AS SELECT * FROM first;"""
        )
    assert refused.value.errors[0].span.line == 1
