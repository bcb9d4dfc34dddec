"""What Python gives as queries is taken alike by hw.check, hw.explain and hw.run, or refused in words."""

from typing import Any

import pytest

import headwater as hw
from headwater.model import QueriesRefused
from headwater.query.build import script
from headwater.query.python_input import script_of

CARS = hw.stream("cars", {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE"}, time="at", key="id")
FAST = hw.select("fast", "cars", where="x > 3")
TEXT = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE);
CREATE QUERY fast AS SELECT * FROM cars WHERE x > 3;
"""
LONG = hw.follow("around", "cars", "cars", radius="5 METERS", last="9 DAYS")
OPTIONS = [
    pytest.param(TEXT, id="a text"),
    pytest.param([CARS, FAST], id="a list"),
    pytest.param((s for s in (CARS, FAST)), id="a generator"),
    pytest.param(script(CARS, FAST), id="a script"),
]


@pytest.mark.parametrize("given", OPTIONS)
def test_a_text_and_what_builders_made_are_checked_alike(given: Any) -> None:
    found = hw.check(given)
    assert (list(found.streams), list(found.queries)) == (["cars"], ["fast"])


def test_a_text_and_what_builders_made_are_explained_alike() -> None:
    assert hw.explain([CARS, FAST]) == hw.explain(TEXT)


def test_one_query_alone_is_taken_and_says_which_stream_is_missing() -> None:
    assert script_of(FAST).statements == (FAST,)
    with pytest.raises(QueriesRefused) as refusal:
        hw.check(FAST)
    assert [error.code for error in refusal.value.errors] == ["unknown-stream"]
    assert "there is no stream named 'cars'" in str(refusal.value)
    assert "3 | FROM cars" in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (7, "queries are a text, or streams and queries from the builders, not 7"),
        (None, "queries are a text, or streams and queries from the builders, not None"),
        ([CARS, "fast"], "'fast' is neither a stream nor a query"),
        ([CARS, [FAST]], "is neither a stream nor a query"),
    ],
)
@pytest.mark.parametrize("take", [hw.check, hw.explain])
def test_anything_else_is_refused_in_words(take: Any, given: Any, words: str) -> None:
    with pytest.raises(QueriesRefused) as refusal:
        take(given)
    assert words in str(refusal.value)
    assert "pass a text, or streams and queries in a list" in str(refusal.value)


def test_how_long_a_follow_may_store_events_is_given_as_to_run() -> None:
    placed = hw.stream(
        "cars", {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE"}, time="at", key="id", place=("x", "y")
    )  # fmt: skip
    with pytest.raises(QueriesRefused) as refusal:
        hw.check([placed, LONG])
    assert [error.code for error in refusal.value.errors] == ["history-too-long"]
    assert list(hw.check([placed, LONG], most_history="30 DAYS").queries) == ["around"]
