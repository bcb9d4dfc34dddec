"""The plan in words."""

from __future__ import annotations

import pytest

from headwater.kernels.clauses import Interval
from headwater.model import Box, Circle, ColumnType, Polygon
from headwater.query.explaining.explain import explain
from headwater.query.language.words import (
    duration_in_words,
    interval_in_words,
    length_in_words,
    listed,
    region_in_words,
    size_in_words,
)
from headwater.query.operators.correlate.words import bytes_per_row
from headwater.query.planning.plan import compile_text

TEXT = """CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, temperature DOUBLE, humidity DOUBLE, wind DOUBLE,
  note STRING, PLACE (lon, lat) GEOGRAPHIC) LATE 10 SECONDS IDLE 1 MINUTES;
CREATE STREAM cars (id BIGINT KEY, at TIMESTAMP TIME, speed DOUBLE) DEDUPLICATE LATE 5 SECONDS DROP;
CREATE STREAM unread (at TIMESTAMP TIME);
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (
  temperature BETWEEN -5 AND 0, humidity >= 80, 3 OF wind < 2 AS calm
  WITHIN 30 SECONDS, 500 METERS INSIDE CIRCLE (7.17, 45.87, 5 KM));
CREATE QUERY storm AS SELECT wind, wind_key AS station FROM weather WHERE humidity > 90 CORRELATE (
  wind > 20, 's1'.temperature <= 4.5 WITHIN 1 MINUTES INSIDE CIRCLE (7.17, 45.87, 5 KM));
CREATE QUERY loud AS SELECT wind * 2 AS twice FROM storm WHERE wind > 30;
CREATE QUERY fast AS SELECT * FROM cars;
"""


def sections(text: str, zones: int = 4) -> dict[str, str]:
    output = explain(compile_text(text, zones=zones)).rstrip("\n").split("\n\n")
    return {section.split("\n", 1)[0]: section for section in output}


class TestStreams:
    def test_what_travels_and_what_is_filtered_where(self) -> None:
        lines = sections(TEXT)["stream weather"].split("\n")
        assert lines[1:5] == [
            "  columns       station (key), at (time), lon (place), lat (place), temperature, humidity, wind",
            "  left out      note (needed by no query)",
            "  lateness      rows more than 10 seconds before the latest time seen are late: they go to the late output",
            "  idle          an input that is silent for 1 minute is ignored",
        ]
        words = " ".join(" ".join(lines[5:]).split())
        box = "lon BETWEEN 7.10542 AND 7.23458 AND lat BETWEEN 45.825033 AND 45.914967"
        assert words.startswith(
            f"filter {box} AND (temperature BETWEEN -5.0 AND 0.0 OR humidity >= 80.0 OR wind < 2.0)"
            f" OR humidity > 90 AND {box} AND wind > 20.0 OR humidity > 90 AND (station = 's1' AND temperature <= 4.5)"
            " evaluated before Python: in Catalyst for a DataFrame, in the reader for files; other rows only advance time"
            " in Spark SQL"
        )
        assert "`humidity` >= 80.0D" in words

    def test_a_stream_of_which_every_row_is_used(self) -> None:
        assert sections(TEXT)["stream cars"].split("\n") == [
            "stream cars",
            "  columns     id (key), at (time), speed",
            "  lateness    rows more than 5 seconds before the latest time seen are late: dropped and counted",
            "  duplicates  rows equal in every column count once",
            "  filter      none: some query uses every row",
        ]

    def test_a_stream_that_nobody_reads(self) -> None:
        assert sections(TEXT)["stream unread"] == "stream unread\n  read by  no query: its rows are not read"

    def test_what_spark_cannot_say_is_decided_in_python(self) -> None:
        text = "CREATE STREAM s (at TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT * FROM s WHERE {};"
        alone = " ".join(sections(text.format("SIN(a) > 0"))["stream s"].split())
        beside = " ".join(sections(text.format("SIN(a) > 0 AND a > 1"))["stream s"].split())
        assert alone.endswith(
            "filter SIN(a) > 0 evaluated in Python, before rows are routed: it cannot be written in Spark SQL;"
            " other rows only advance time"
        )
        assert beside.endswith("which is all that Spark SQL can express; the rest is evaluated in Python")


class TestQueries:
    def test_a_query_with_everything(self) -> None:
        assert sections(TEXT)["query frost"].split("\n") == [
            "query frost",
            "  reads     weather",
            "  clauses   temperature      from -5 to 0",
            "            humidity         at least 80",
            "            calm_1 … calm_3  wind below 2, 3 of different sensors",
            "  together  less than 30 seconds apart, every two closer than 500 m, inside the circle of 5 km around (7.17, 45.87)",
            "  answers   for each row that completes a match, the latest one",
            "  columns   temperature, temperature_key, temperature_time, humidity, humidity_key, humidity_time, calm_1, calm_1_key,",
            "            calm_1_time, calm_2, calm_2_key, calm_2_time, calm_3, calm_3_key, calm_3_time",
            "  zone      1 of 4 (from 0), by its region: queries on the same region share it, and rows elsewhere are not sent here",
            "  kernel    correlate:weather",
            "  state     rows that match a clause, of the last 1 minute: 52 bytes a row, once for all queries of the kernel",
            "            176 bytes for the query itself, and 65 bytes for each match of its clauses in that time",
        ]

    def test_a_query_whose_latest_matches_are_enough(self) -> None:
        assert sections(TEXT)["query storm"].split("\n")[2:] == [
            "  where     humidity > 90",
            "  clauses   wind         above 20",
            "            temperature  at most 4.5, of sensor 's1'",
            "  together  less than 1 minute apart, inside the circle of 5 km around (7.17, 45.87)",
            "  answers   for each row that completes a match, the latest one",
            "  columns   wind, station",
            "  zone      1 of 4 (from 0), by its region: queries on the same region share it, and rows elsewhere are not sent here",
            "  kernel    correlate:weather",
            "  state     rows that match a clause, of the last 1 minute: 52 bytes a row, once for all queries of the kernel",
            "            80 bytes for the query itself",
        ]

    def test_a_query_that_reads_a_query(self) -> None:
        assert sections(TEXT)["query loud"].split("\n") == [
            "query loud",
            "  reads    storm",
            "  where    wind > 30",
            "  answers  each row for which WHERE holds",
            "  columns  twice",
            "  zone     1 of 4 (from 0), in the zone of 'storm', so its answers need not travel",
            "  kernel   select:storm",
            "  state    none",
        ]

    @pytest.mark.parametrize(
        ("emit", "output"),
        [
            ("EMIT READINGS", "each reading that belongs to a match, once"),
            ("EMIT ALL", "every match, at most 1,000 for each row"),
            ("EMIT ALL LIMIT 3 PER ROW", "every match, at most 3 for each row"),
        ],
    )
    def test_what_is_answered(self, emit: str, output: str) -> None:
        text = (
            "CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, a DOUBLE);"
            f"CREATE QUERY q AS SELECT * FROM s CORRELATE (a > 1 DISTINCT SENSORS WITHIN 2 HOURS SENSORS ('x', 'y') {emit});"
        )
        lines = sections(text, zones=1)["query q"].split("\n")
        assert lines[3:5] == [
            "  together  less than 2 hours apart, all of different sensors, of the sensors x, y",
            f"  answers   {output}",
        ]
        assert lines[-1].endswith(
            "48 bytes for the query itself, and 65 bytes for each match of its clauses in that time"
        )

    def test_bytes_of_a_row_are_the_widths_of_what_an_answer_can_need(self) -> None:
        plan = compile_text(TEXT)
        (frost,) = (query.operator for query in plan.queries if query.name == "frost")
        assert frost is not None
        # station 4 (a code), at 8, lon and lat 16, three attributes 24
        assert bytes_per_row(plan.stream("weather"), [frost]) == 52


class TestShared:
    def test_a_few_queries(self) -> None:
        assert sections(TEXT)["shared"].split("\n") == [
            "shared",
            "  zones    3 queries in zone 1, 1 query in zone 2",
            "  regions  2 queries inside the circle of 5 km around (7.17, 45.87)",
            "  kernels  3 for 4 queries: one for each zone, kind and source",
            "  clauses  7, 5 of them different: equal clauses are matched once",
            "  shapes   4: queries with the same columns are computed together",
        ]

    def test_thousands_are_counted(self) -> None:
        stream = "CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, a DOUBLE, PLACE (x, y));\n"
        text = stream + "".join(
            f"CREATE QUERY q{i} AS SELECT * FROM s CORRELATE (a > {i % 50} WITHIN 30 SECONDS INSIDE CIRCLE ({i % 10}, 0, 1));\n"
            for i in range(1200)
        )
        output = explain(compile_text(text, zones=2))
        assert output.count("\nquery q") == 5
        assert len(output) < 5000
        assert "1,195 more queries of kernel correlate:s\n  named  q5, q6, q7," in output
        assert "q16 and 1,183 more\n" in output
        assert "57.4 KB for the queries themselves\n" in output
        assert "  clauses  1,200, 50 of them different: equal clauses are matched once\n" in output
        assert "           and the same for 5 more regions\n" in output
        assert "  shapes   1: " in output

    def test_a_text_is_explained_as_well_as_a_plan(self) -> None:
        assert explain(TEXT) == explain(compile_text(TEXT))


class TestWords:
    def test_ranges(self) -> None:
        infinite = float("inf")
        output = [
            interval_in_words(interval, ColumnType.DOUBLE)
            for interval in (
                Interval(1.0, 2.5),
                Interval(1.0, 1.0),
                Interval(-infinite, 2.0),
                Interval(-infinite, 2.0, high_open=True),
                Interval(0.1, infinite),
                Interval(0.1, infinite, low_open=True),
            )
        ]
        assert output == ["from 1 to 2.5", "is 1", "at most 2", "below 2", "at least 0.1", "above 0.1"]
        assert interval_in_words(Interval(1, 1), ColumnType.BOOLEAN) == "is TRUE"
        assert (
            interval_in_words(Interval(2**53 + 1, infinite), ColumnType.BIGINT) == "at least 9007199254740993"
        )
        assert (
            interval_in_words(Interval(0, infinite), ColumnType.TIMESTAMP) == "at least 1970-01-01T00:00:00Z"
        )

    def test_regions(self) -> None:
        assert region_in_words(Circle(7.17, 45.87, 500)) == "the circle of 500 m around (7.17, 45.87)"
        assert region_in_words(Box(0, 1, 2, 3)) == "the box from (0, 1) to (2, 3)"
        ring = Polygon(((0, 0), (4, 0), (4, 4)))
        assert region_in_words(ring) == "a polygon of 3 corners between (0, 0) and (4, 4)"

    def test_amounts(self) -> None:
        assert [duration_in_words(us) for us in (1_000_000, 90_000_000, 500_000, 86_400_000_000)] == [
            "1 second",
            "90 seconds",
            "0.5 seconds",
            "1 day",
        ]
        assert [length_in_words(m) for m in (0.5, 999, 1000, 1500)] == ["0.5 m", "999 m", "1 km", "1.5 km"]
        assert [size_in_words(n) for n in (52, 1500, 2_000_000, 3e9)] == [
            "52 bytes",
            "1.5 KB",
            "2 MB",
            "3 GB",
        ]
        assert listed(["a", "b", "c"], 2) == "a, b and 1 more"


class TestMemoryOfKeys:
    def test_so_many_keys_take_what_their_records_take(self):
        text = """CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, v DOUBLE);
        CREATE QUERY sent AS SELECT * FROM s SUPPRESS (v TOLERANCE 1 HEARTBEAT 30 SECONDS);"""
        output = explain(compile_text(text, zones=2), keys=2_000_000).split("\n\n")[-1].splitlines()
        assert output[0] == "memory for 2,000,000 keys that are stored, over all zones"
        assert output[1].startswith("  sent  80 bytes a key: 160 MB")

    def test_what_becomes_records_only_among_many_keys_is_counted_too(self):
        """FENCE with fences that move keeps few objects as columns."""
        text = """CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
        CREATE QUERY met AS SELECT * FROM s FENCE (s RADIUS 5 METERS FORGET 1 MINUTE);"""
        output = explain(compile_text(text, zones=2), keys=1_000_000).split("\n\n")[-1].splitlines()
        assert output[1].startswith("  met  256 bytes a key: 256 MB")

    def test_fences_of_a_set_take_nothing_by_key(self):
        text = """CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
        CREATE FENCES zones (name STRING KEY);
        CREATE QUERY entered AS SELECT * FROM s FENCE (zones);"""
        output = explain(compile_text(text, zones=2), keys=1000).split("\n\n")[-1].splitlines()
        assert output[1].startswith("  entered  88 bytes a key: 88 KB; and 8 bytes for each of its rows")

    def test_the_points_of_a_set_are_counted_by_the_point(self):
        """A record has the lengths of the lists of each point: explain does not know how many points there will be."""
        text = """CREATE STREAM s (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
        CREATE POINTS pts (name STRING KEY, x DOUBLE, y DOUBLE);
        CREATE QUERY near AS SELECT * FROM s NEAREST (3 TO EACH OF pts BY (x, y) OVER 100 ROWS PER id);"""
        output = explain(compile_text(text, zones=2), keys=1000).split("\n\n")[-1].splitlines()
        assert output[1].startswith(
            "  near  84 bytes a key: 84 KB with one point, and 8 KB for each further point; and 25 to 56 bytes"
        )

    def test_nothing_is_reported_where_nothing_is_stored_by_key(self):
        output = explain(compile_text(TEXT, zones=4), keys=5)
        assert output.endswith("over all zones\n  none: no query stores anything by key\n")
        assert "memory for" not in explain(compile_text(TEXT, zones=4))
