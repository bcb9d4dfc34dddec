"""CORRELATE queries as operators of a network, and what a network cannot carry."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from headwater.apps.plan.operator_words import operator_in_words
from headwater.apps.plan.operators import read_operators
from headwater.model import SECOND, Circle, Filter, Operator, QueriesRefused

STREAM = """CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, temperature DOUBLE, wind DOUBLE, battery BIGINT,
  open BOOLEAN, note STRING, PLACE (lon, lat) GEOGRAPHIC);
"""


def operator(clauses: str) -> Operator:
    text = f"{STREAM}CREATE QUERY q AS SELECT * FROM weather CORRELATE ({clauses});"
    return read_operators(text).operators["q"]


def filters(clauses: str) -> tuple[Filter, ...]:
    return operator(clauses).filters


def test_ranges_become_closed_intervals_on_doubles():
    requested = filters(
        "temperature < 5 AS a, temperature > 5 AS b, temperature <= 5 AS c, temperature BETWEEN -1 AND 2 AS d, "
        "temperature = 3 AS e, battery > 5 AS f, open = TRUE AS g WITHIN 30 SECONDS"
    )
    assert [(one.low, one.high) for one in requested] == [
        (-math.inf, math.nextafter(5.0, -math.inf)), (math.nextafter(5.0, math.inf), math.inf), (-math.inf, 5.0),
        (-1.0, 2.0), (3.0, 3.0), (math.nextafter(5.0, math.inf), math.inf), (1.0, 1.0),
    ]  # fmt: skip


def test_windows_distances_and_regions_are_the_querys():
    made = operator("temperature < 5, wind > 3 WITHIN 30 SECONDS, 500 METERS INSIDE CIRCLE (7, 45, 5 KM)")
    assert (made.subscription, made.within_us, made.within_m) == ("q", 30 * SECOND, 500.0)
    assert made.geographic
    assert {one.region for one in made.filters} == {Circle(7.0, 45.0, 5000.0, geographic=True)}


def test_a_bound_clause_finds_its_sensor_anywhere_and_the_others_are_inside():
    bound, free = filters("'s1'.temperature < 5, wind > 3 WITHIN 1 SECOND INSIDE CIRCLE (7, 45, 5 KM)")
    assert (bound.keys, bound.region) == (("s1",), None)
    assert (free.keys, free.region) == (None, Circle(7.0, 45.0, 5000.0, geographic=True))
    bound, free = filters("'s1'.temperature < 5, wind > 3 WITHIN 1 SECOND INSIDE SENSORS ('s2', 's3', 's2')")
    assert (bound.keys, free.keys) == (("s1",), ("s2", "s3"))


def test_n_of_and_distinct_sensors_are_groups():
    assert [one.group for one in filters("wind > 3, 2 OF temperature < 5 WITHIN 1 SECOND")] == [-1, 1, 1]
    assert [one.group for one in filters("wind > 3, temperature < 5 DISTINCT SENSORS WITHIN 1 SECOND")] == [
        0,
        0,
    ]
    assert [one.group for one in filters("wind > 3, 1 OF temperature < 5 WITHIN 1 SECOND")] == [-1, -1]


def test_other_answers_are_taken_as_readings_and_said_so():
    text = STREAM + "".join(
        f"CREATE QUERY {name} AS SELECT * FROM weather CORRELATE (wind > 1 WITHIN 1 SECOND {emit});\n"
        for name, emit in (("a", "EMIT READINGS"), ("b", ""), ("c", "EMIT ALL"))
    )
    requested = read_operators(text)
    assert list(requested.operators) == ["a", "b", "c"]
    assert requested.taken_as_readings == ("b", "c")


def test_numbered_keys_are_texts():
    text = """CREATE STREAM s (id BIGINT KEY, at TIMESTAMP TIME, a DOUBLE, b DOUBLE);
    CREATE QUERY q AS SELECT * FROM s CORRELATE (7.a > 1, b > 1 WITHIN 1 SECOND INSIDE SENSORS (8, 9));"""
    assert [one.keys for one in read_operators(text).operators["q"].filters] == [("7",), ("8", "9")]


PLAIN = "CREATE QUERY plain AS SELECT * FROM weather CORRELATE (wind > 1 WITHIN 1 SECOND);\n"
PATTERN = "MATCH_RECOGNIZE (PATTERN (a b) WITHIN 1 MINUTE DEFINE a AS wind > 1)"

REFUSED = {
    "WHERE": ("SELECT * FROM weather WHERE wind > 2 CORRELATE (wind > 1 WITHIN 1 SECOND)", "WHERE tests whole rows", "clauses"),
    "texts": ("SELECT * FROM weather CORRELATE (note = 'x' WITHIN 1 SECOND)", "'note' is STRING", "a number for each text"),
    "SELECT": ("SELECT * FROM weather", "a plain SELECT", "CORRELATE"),
    "patterns": (f"SELECT * FROM weather {PATTERN}", "MATCH_RECOGNIZE processes rows", "where they arrive"),
    "nearest": ("SELECT * FROM weather NEAREST (1 TO HIGHEST wind OVER 1 HOUR)", "NEAREST processes rows", "where they arrive"),
    "answers": ("SELECT * FROM plain CORRELATE (wind > 1 WITHIN 1 SECOND)", "it reads the answers of 'plain'", "read the stream"),
    "streams": ("SELECT * FROM roads CORRELATE (cars > 1 WITHIN 1 SECOND)", "'q' reads 'roads' and 'plain' reads 'weather'", "one at a time"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_network_cannot_carry_is_refused_with_its_place(case):
    query, words, advice = REFUSED[case]
    roads = "CREATE STREAM roads (road STRING KEY, at TIMESTAMP TIME, cars DOUBLE);\n"
    with pytest.raises(QueriesRefused) as refused:
        read_operators(f"{STREAM}{roads}{PLAIN}CREATE QUERY q AS {query};")
    (error,) = refused.value.errors
    assert error.code == "not-for-a-network"
    assert error.span is not None
    assert words in error.message
    assert advice in " ".join(error.advice)


def test_a_stream_without_a_key_has_no_sensors():
    text = "CREATE STREAM s (at TIMESTAMP TIME, a DOUBLE); CREATE QUERY q AS SELECT * FROM s CORRELATE (a > 1 WITHIN 1 SECOND);"
    with pytest.raises(QueriesRefused) as refused:
        read_operators(text)
    assert [error.code for error in refused.value.errors] == ["needs-key"]


def test_all_of_it_is_reported_at_once():
    text = (
        f"{STREAM}CREATE QUERY a AS SELECT * FROM weather; CREATE QUERY b AS SELECT * FROM weather {PATTERN};"
    )
    with pytest.raises(QueriesRefused) as refused:
        read_operators(text)
    assert len(refused.value.errors) == 2


@pytest.mark.parametrize(
    ("clauses", "words"),
    [
        ("wind < 0.1 WITHIN 1 SECOND", "wind below 0.1"),
        ("temperature < 0, wind >= 0.3 WITHIN 1 MINUTE", "temperature below 0, wind at least 0.3, less than 1 minute apart"),
        ("3 OF wind > 7 WITHIN 1 MINUTE, 2 KM", "3 of wind above 7, less than 1 minute apart, closer than 2 km"),
        ("'s1'.wind BETWEEN 1 AND 2 WITHIN 1 MINUTE", "wind from 1 to 2 of 's1'"),
        ("wind = 2 WITHIN 1 MINUTE INSIDE BOX (6, 45, 7, 46)", "wind is 2 inside the box from (6, 45) to (7, 46)"),
    ],
)  # fmt: skip
def test_an_operator_in_words_is_what_was_written(clauses, words):
    assert operator_in_words(operator(clauses)) == words


def test_a_part_of_an_operator_says_what_must_be_there_and_what_may():
    cold, wind, snow = Filter("temperature", high=0.0), Filter("wind", low=3.0), Filter("snow", low=1.0)

    def words(*requested: Filter) -> str:
        return operator_in_words(Operator("q", requested, 60 * SECOND))

    assert (
        words(replace(cold, needed=False), replace(wind, needed=False))
        == "temperature at most 0 or wind at least 3"
    )
    assert words(cold, replace(wind, needed=False), replace(snow, returned=False)) == (
        "temperature at most 0, snow at least 1 (only tested), perhaps wind at least 3, less than 1 minute apart"
    )
    assert words(cold) == "temperature at most 0"
    assert words(replace(cold, high=math.inf)) == "temperature"
