"""The demo's queries answer on its stations, every family of them, and each answer can be said."""

from __future__ import annotations

import json
from importlib.resources import files

import pyarrow.parquet as pq
import pytest

from headwater.apps.demo.answer_words import in_words
from headwater.apps.demo.feed import HISTORY_S, START
from headwater.apps.demo.run import last_of_each
from headwater.hosts.files import json_lines
from headwater.hosts.files.arrow import rows_to_arrow
from headwater.hosts.local import run_local
from headwater.model import SECOND
from headwater.query.planning.plan import compile_text, refuse_unbounded
from headwater.workloads import Valley

TEXT = (files("headwater.apps.demo") / "queries.hw").read_text()
QUERIES = [line.split()[2] for line in TEXT.splitlines() if line.startswith("CREATE QUERY")]
WATCHED_S = 2400  # twenty of our seconds


@pytest.fixture(scope="module")
def answers(tmp_path_factory) -> list[dict[str, object]]:
    file = tmp_path_factory.mktemp("valley") / "a.parquet"
    pq.write_table(
        rows_to_arrow(Valley().readings(START - HISTORY_S * SECOND, START + WATCHED_S * SECOND)), file
    )
    outputs = list(run_local(compile_text(TEXT), {"weather": [str(file)]}))
    return [
        json.loads(line) for part in outputs for rows in part.answers for line in json_lines(rows).to_pylist()
    ]


def test_every_query_answers_while_somebody_watches(answers) -> None:
    plan = compile_text(TEXT)
    refuse_unbounded(plan)
    assert {answer["query"] for answer in answers} == set(QUERIES)


@pytest.mark.parametrize("query", QUERIES)
def test_an_answer_of_each_query_is_reported_in_a_sentence(answers, query) -> None:
    said = in_words(next(answer for answer in answers if answer["query"] == query))
    assert said[:8].count(":") == 2
    assert " st-" in said


def test_a_gust_is_reported_with_its_station_and_its_winds() -> None:
    answer = {"query": "gust", "event_time": "2026-01-15T02:41:07.5Z", "station": "st-004"}
    assert in_words({**answer, "calm": 1.5, "peak": 4.25, "reports": 3}) == (
        "02:41:07  a gust at st-004: the wind rose 3 times, from 1.5 to 4.2 m/s, and dropped"
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "a storm is coming to st-099: above 12 m/s from 03:11:06 on"),
        (
            {"begins": "2026-01-15T03:05:20.123000Z"},
            "a storm at st-099: above 12 m/s until 03:25:20, as far as can be predicted",
        ),
        (
            {"begins": "2026-01-15T03:04:00Z", "ends": "2026-01-15T03:05:20.5Z"},
            "a storm at st-099: above 12 m/s from 03:04:00 to 03:05:20",
        ),
        ({"withdrawn": True}, "no storm at st-099 after all"),
    ],
)
def test_a_storm_is_announced_before_it_comes_while_it_lasts_and_when_it_is_withdrawn(fields, words) -> None:
    answer = {
        "query": "storm",
        "event_time": "2026-01-15T03:05:20.5Z",
        "station": "st-099",
        "begins": "2026-01-15T03:11:06.25Z",
        "ends": "2026-01-15T03:25:20Z",
        "withdrawn": False,
    }
    assert in_words({**answer, **fields}) == f"03:05:20  {words}"


def test_most_storms_are_predicted_and_not_too_many(answers) -> None:
    storms = [answer for answer in answers if answer["query"] == "storm"]
    ahead = [answer for answer in storms if str(answer["event_time"]) < str(answer["begins"])]
    assert 50 < len(storms) < 500
    assert 2 * len(ahead) > len(storms)


def test_gusts_can_be_told_from_what_the_stations_had_reported_before(answers) -> None:
    began = "2026-01-15T02:40:00"
    early = [answer for answer in answers if answer["query"] == "gust" and str(answer["event_time"]) < began]
    assert len(early) > 20


def test_the_last_answer_of_each_query_is_shown() -> None:
    rows = [
        {"query": query, "event_time": f"2026-01-15T02:41:{second:02d}Z", "n": n}
        for n, (query, second) in enumerate([("a", 3), ("b", 9), ("a", 7), ("c", 8), ("a", 5)])
    ]
    assert [answer["n"] for answer in last_of_each(rows)] == [2, 3, 1]
    assert last_of_each([]) == []
