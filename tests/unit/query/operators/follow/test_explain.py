"""The plan of a FOLLOW and of what stands behind it, in words."""

from __future__ import annotations

import pytest

from headwater.query.explaining.explain import explain
from headwater.query.planning.plan import compile_text

STREAMS = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE STREAM phones (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE FENCES zones (name STRING KEY);
CREATE POINTS marks (id BIGINT KEY, x DOUBLE, y DOUBLE);
CREATE QUERY near AS SELECT * FROM cars FOLLOW (phones RADIUS 5 LAST 20 SECONDS);
"""


def follow(downstream: str) -> str:
    """What is told of a FOLLOW with some query behind it."""
    output = explain(compile_text(f"{STREAMS}CREATE QUERY q AS SELECT * FROM near {downstream};", zones=4))
    return next(section for section in output.split("\n\n") if section.startswith("query near"))


@pytest.mark.parametrize(
    "downstream", ["FENCE (zones FORGET 1 MINUTE)", "FENCE (near RADIUS 2 DETECT INSIDE FORGET 1 MINUTE)"]
)
def test_a_fence_looks_back_over_its_forget_and_does_not_depend_on_where_it_begins(downstream: str) -> None:
    output = follow(downstream)
    assert (
        "20 seconds from before an interest begins, and 1 minute more for the downstream windows\n" in output
    )
    assert "  complete      strong: " in output
    assert "events of the last 80 seconds: " in output


def test_what_a_sensor_sends_depends_on_where_it_begins() -> None:
    assert "  complete      weak: what 'q' finds" in follow(
        "SUPPRESS (x TOLERANCE 1 HEARTBEAT 4 SECONDS USING CONSTANT)"
    )


@pytest.mark.parametrize(
    "downstream",
    [
        "MATCH_RECOGNIZE (MEASURES B.x AS b PATTERN (B) WITHIN 10 SECONDS DEFINE B AS x > PREV(x))",
        "MATCH_RECOGNIZE (MEASURES MATCH_NUMBER() AS n AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) WITHIN 10 SECONDS)",
        "MATCH_RECOGNIZE (AFTER MATCH SKIP TO NEXT ROW PATTERN (^ A B) WITHIN 10 SECONDS)",
        "NEAREST (2 TO HIGHEST x OVER 10 SECONDS USING PROBABLE 0.1 EMIT CHANGES)",
    ],
)
def test_what_looks_beyond_its_window_counts_or_chooses_by_chance_is_weak(downstream: str) -> None:
    assert "  complete      weak: what 'q' finds" in follow(downstream)


def test_explain_of_queries_downstream_of_a_follow_needs_no_points() -> None:
    assert "10 seconds more for the downstream windows" in follow(
        "NEAREST (1 TO EACH OF marks BY (x, y) OVER 10 SECONDS)"
    )


def test_events_are_stored_once_for_all_who_look_at_them() -> None:
    text = f"""{STREAMS}
      CREATE STREAM trams (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, load DOUBLE, PLACE (x, y));
      CREATE QUERY longer AS SELECT * FROM cars WHERE x > 0 FOLLOW (cars RADIUS 5 LAST 1 MINUTE);
      CREATE QUERY both AS SELECT * FROM cars, trams FOLLOW (phones RADIUS 5 LAST 30 SECONDS);
      CREATE QUERY live AS SELECT * FROM cars FOLLOW (phones RADIUS 9);"""
    output = explain(compile_text(text, zones=4))
    assert (
        "  events   cars: the last 1 minute, 34 bytes each, stored once in each of 4 zones for near, longer, both, live\n"
        "           trams: the last 30 seconds, 42 bytes each, stored once in each of 4 zones for both\n"
    ) in output
    assert (
        "events of the last 30 seconds: 34 bytes each of cars and 42 bytes each of trams, once for all"
        in output
    )
    assert "  kernel        follow:phones in cars, trams\n" in output
