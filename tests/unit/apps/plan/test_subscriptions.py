"""Network and queries held against one another; readings for the sensors of a network."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from headwater.apps.overlay import Standing, simulate
from headwater.apps.plan import sensor_day as day_module
from headwater.apps.plan.refusals import PlanRefused
from headwater.apps.plan.sensor_day import generated_day, recorded_day
from headwater.apps.plan.subscriptions import Question, read_question
from headwater.model import DataError, HeadwaterError, LimitReached, Source, parse_instant

QUERIES = """CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE, temperature DOUBLE, wind DOUBLE, snow DOUBLE, note STRING,
  PLACE (lon, lat) GEOGRAPHIC);
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (temperature < 0, wind > 3 WITHIN 1 MINUTE EMIT READINGS);
"""


def ask(tmp_path, queries: str = QUERIES, **changed: Any) -> Question:
    sensors = [
        {"key": "s1", "attributes": ["temperature", "wind"], "node": "a", "place": [7, 45]},
        {"key": "s2", "attributes": ["temperature"], "node": "b", "place": [7.1, 45]},
    ]
    users = [
        {"name": "u", "node": "b", "queries": ["frost"]},
        {"name": "v", "node": "a", "queries": ["frost"]},
    ]
    parts = {"nodes": ["a", "b"], "links": [["a", "b"]], "sensors": sensors, "users": users} | changed
    (tmp_path / "net.json").write_text(json.dumps(parts))
    return read_question(queries, "q.hw", str(tmp_path / "net.json"))


def refused(tmp_path, queries: str = QUERIES, **changed: Any) -> HeadwaterError:
    with pytest.raises(HeadwaterError) as error:
        ask(tmp_path, queries, **changed)
    return error.value


def test_a_query_may_be_of_two_users_and_has_a_name_for_each(tmp_path):
    question = ask(tmp_path)
    assert [(one.name, one.node) for one in question.subscriptions] == [("u/frost", "b"), ("v/frost", "a")]
    assert [(source.key, source.attribute) for source in question.sources] == [
        ("s1", "temperature"), ("s1", "wind"), ("s2", "temperature"),
    ]  # fmt: skip
    assert not list(question.unanswerable())


def test_an_unknown_query_is_refused_and_the_nearest_offered(tmp_path):
    error = refused(tmp_path, users=[{"name": "u", "node": "b", "queries": ["frost", "frosts"]}])
    assert error.code == "unknown-query"
    assert "did you mean 'frost'?" in error.advice
    assert "users[0].queries[1]" in (error.where() or "")


def test_the_names_of_a_user_and_a_query_fit_into_a_message_together(tmp_path):
    name = "q" * 60
    text = QUERIES.replace("frost", name)
    assert ask(tmp_path, text, users=[{"name": "ü" * 97, "node": "b", "queries": [name]}]).subscriptions
    error = refused(tmp_path, text, users=[{"name": "ü" * 98, "node": "b", "queries": [name]}])
    assert error.code == "wrong-field"
    assert "together is longer than 255 bytes: it has 257" in error.message
    assert "users[0].queries[0]" in (error.where() or "")


def test_a_query_of_nobody_is_refused(tmp_path):
    error = refused(tmp_path, users=[{"name": "u", "node": "b", "queries": []}])
    assert (error.code, error.message) == ("query-of-nobody", "no user has the query 'frost'")


def test_sensors_measure_columns_of_the_stream(tmp_path):
    sensor = {"key": "s", "node": "a", "place": [7, 45]}
    error = refused(tmp_path, sensors=[sensor | {"attributes": ["wnd"]}])
    assert error.code == "unknown-column"
    assert "did you mean 'wind'?" in error.advice
    for attribute, words in (("note", "is STRING"), ("station", "is not measured")):
        error = refused(tmp_path, sensors=[sensor | {"attributes": [attribute]}])
        assert error.code == "wrong-field"
        assert words in error.message


def test_places_are_needed_where_they_are_requested_and_lie_on_the_globe(tmp_path):
    nowhere = [{"key": "s1", "attributes": ["temperature", "wind"], "node": "a"}]
    assert ask(tmp_path, sensors=nowhere).sources[0] == Source("s1", "temperature")
    near = QUERIES.replace("1 MINUTE", "1 MINUTE, 2 KM")
    error = refused(tmp_path, near, sensors=nowhere)
    assert error.code == "sensor-without-place"
    assert "sensors[0]" in (error.where() or "")
    error = refused(tmp_path, sensors=[nowhere[0] | {"place": [45, 97]}])
    assert (error.code, "places on the globe" in error.message) == ("wrong-field", True)


def test_errors_of_both_files_are_reported_together(tmp_path):
    error = refused(tmp_path, QUERIES.replace("wind > 3", "wnd > 3"), links=[["a", "c"]])
    assert isinstance(error, PlanRefused)
    assert "error[unknown-column]" in str(error)
    assert "error[unknown-node]" in str(error)


@pytest.mark.parametrize(
    ("clauses", "why"),
    [
        ("snow > 1", "no sensor measures 'snow'"),
        ("'s2'.wind > 1", "no sensor 's2' measures 'wind'"),
        (
            "wind > 1 WITHIN 1 MINUTE INSIDE CIRCLE (8, 45, 1 KM)",
            "no sensor inside its region measures 'wind'",
        ),
    ],
)
def test_the_user_is_informed_of_what_nobody_measures(tmp_path, clauses, why):
    window = "" if "WITHIN" in clauses else " WITHIN 1 MINUTE"
    text = f"{QUERIES}CREATE QUERY q AS SELECT * FROM weather CORRELATE ({clauses}{window});"
    users = [{"name": "u", "node": "b", "queries": ["frost", "q"]}]
    question = ask(tmp_path, text, users=users)
    dropped = list(question.unanswerable())
    assert [(one.user, one.query, words) for one, words in dropped] == [("u", "q", why)]
    day = generated_day(question.sources, [])
    standing = [Standing(one.name, one.node, one.operator) for one in question.subscriptions]
    messages = simulate(question.network, "exact", standing, day.recorded).tells
    assert len(messages) == 1, (
        "the network itself tells the user of what the report calls dropped, and of nothing else"
    )
    assert messages[0].subscription == "u/q"


# --- readings ---------------------------------------------------------------------------------------------------------


def test_rows_are_readings_of_the_sensors_that_there_are(tmp_path):
    question = ask(tmp_path)
    (tmp_path / "day.csv").write_text(
        "station,at,temperature,wind\n"
        "s1,2026-01-01T00:00:10Z,1.5,\n"
        "s2,2026-01-01T00:00:00Z,-1,9\n"  # s2 has no wind in the network
        "s3,2026-01-01T00:00:05Z,4,4\n"
        "s1,soon,4,4\n"
        "s1,2026-01-01T00:00:00Z,2,7\n"
        "s1,2026-01-01T00:00:00Z,3,\n"  # says another thing for the same time
        ",2026-01-01T00:00:09Z,3,3\n"
    )
    day = recorded_day([str(tmp_path / "day.csv")], question.stream, question.sources)
    start = parse_instant("2026-01-01")
    readings = day.recorded.readings
    assert [(int(s), (int(t) - start) // 10**6, float(v), int(n)) for s, t, v, n in zip(*readings, strict=True)] == [
        (0, 0, 3.0, 0), (1, 0, 7.0, 0), (2, 0, -1.0, 0), (0, 10, 1.5, 1),
    ]  # fmt: skip
    assert day.origin == "6 recorded rows in 1 file"
    assert list(day.left_out) == [
        "1 bad row (the first: bad-time: 'soon' is not a timestamp (column 'at'))",
        "2 rows of sensors that the network does not have (the first: 's3')",
        "1 value that the sensor does not measure in the network",
        "1 reading of a sensor for a time that it had already reported",
    ]


def test_keys_may_be_numbers(tmp_path):
    text = """CREATE STREAM s (id BIGINT KEY, at TIMESTAMP TIME, a BIGINT);
    CREATE QUERY q AS SELECT * FROM s CORRELATE (a > 1 WITHIN 1 SECOND);"""
    sensors = [{"key": 12, "attributes": ["a"], "node": "a"}, {"key": 7, "attributes": ["a"], "node": "b"}]
    question = ask(tmp_path, text, sensors=sensors, users=[{"name": "u", "node": "a", "queries": ["q"]}])
    (tmp_path / "day.jsonl").write_text(
        '{"id": 7, "at": 1, "a": 3}\n{"id": 12, "at": 2, "a": 4}\n{"id": 1, "at": 2, "a": 4}\n'
    )
    readings = recorded_day(
        [str(tmp_path / "day.jsonl")], question.stream, question.sources
    ).recorded.readings
    assert readings.source.tolist() == [1, 0]
    assert readings.value.tolist() == [3.0, 4.0]


def test_an_input_without_a_reading_of_the_network_is_refused(tmp_path):
    question = ask(tmp_path)
    (tmp_path / "day.csv").write_text("station,at,temperature,wind\nx,2026-01-01,1,1\n")
    with pytest.raises(DataError) as error:
        recorded_day([str(tmp_path / "day.csv")], question.stream, question.sources)
    assert error.value.code == "no-readings"
    assert "'x'" in error.value.advice[0]
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError) as error:
        recorded_day([str(tmp_path / "empty")], question.stream, question.sources)
    assert error.value.code == "no-files"


def test_readings_have_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(day_module, "MOST_READINGS", 3)
    question = ask(tmp_path)
    with pytest.raises(LimitReached):
        generated_day(question.sources, [])


def test_a_generated_day_is_the_same_for_the_same_seed_and_meets_the_queries(tmp_path):
    text = f"{QUERIES}CREATE QUERY q AS SELECT * FROM weather CORRELATE (snow BETWEEN 40 AND 60 WITHIN 1 MINUTE);"
    sensors = [{"key": "s", "attributes": ["temperature", "snow"], "node": "a", "place": [7, 45]}]
    users = [{"name": "u", "node": "b", "queries": ["frost", "q"]}]
    question = ask(tmp_path, text, sensors=sensors, users=users)
    operators = [one.operator for one in question.subscriptions]
    one, again, other = (generated_day(question.sources, operators, seed=seed).recorded for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one.readings, again.readings, strict=True))
    assert not np.array_equal(one.readings.value, other.readings.value)
    assert np.all(np.diff(one.readings.time) >= 0)
    snow = one.readings.value[one.readings.source == 1]
    asked_for = np.count_nonzero((snow >= 40) & (snow <= 60))
    assert 0.1 < asked_for / len(snow) < 0.9
    assert len(snow) > 130
