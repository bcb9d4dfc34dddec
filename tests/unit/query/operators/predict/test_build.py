"""SUPPRESS and PREDICT built in Python are those that the text says."""

from datetime import timedelta

import numpy as np
import pytest

import headwater as hw
from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import Quantity, Unit
from headwater.query.operators.predict.build import predict
from headwater.query.operators.suppress.build import suppress, suppressing

LINES = suppressing("x", "y", tolerance=25, heartbeat="30 SECONDS")


def said(text: str):
    script, errors = parse(text)
    assert errors == []
    (statement,) = script.statements
    return statement


def query(text: str):
    return said(f"CREATE QUERY q AS SELECT {text};")


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (suppress("q", "cars", "x", "y", tolerance="25 METERS", heartbeat="30 SECONDS"),
         "* FROM cars SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS)"),
        (suppress("q", "cars", "my x", tolerance=0.5, heartbeat=timedelta(minutes=1), using="constant", columns="\"my x\"", where="x > 1"),
         '"my x" FROM cars WHERE x > 1 SUPPRESS ("my x" TOLERANCE 0.5 HEARTBEAT 60 SECONDS USING CONSTANT)'),
        (suppress("q", "cars", "x", tolerance=Quantity(1, Unit.KM), heartbeat="1 MINUTE", using="LEAST SQUARES 5"),
         "* FROM cars SUPPRESS (x TOLERANCE 1 KM HEARTBEAT 1 MINUTE USING LEAST SQUARES 5)"),
        (suppress("q", "cars", "x", tolerance=np.float64(0.5), heartbeat="1 MINUTE", using="DOUBLE EXPONENTIAL 0.5, 1"),
         "* FROM cars SUPPRESS (x TOLERANCE 0.5 HEARTBEAT 1 MINUTE USING DOUBLE EXPONENTIAL 0.5, 1)"),
        (suppress("q", "cars", "x", tolerance=0, heartbeat="1 MINUTE", using="KALMAN 0.1, -2"),
         "* FROM cars SUPPRESS (x TOLERANCE 0 HEARTBEAT 1 MINUTE USING KALMAN 0.1, -2)"),
        (suppress("q", "cars", "x", tolerance=1, heartbeat="1 MINUTE", using="CONSTANT", forget=timedelta(hours=1)),
         "* FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 MINUTE USING CONSTANT FORGET 3600 SECONDS)"),
        (predict("q", "cars", "x < 5", suppress=suppressing("x", tolerance=1, heartbeat="1 MINUTE", forget="1 DAY")),
         "* FROM cars SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 MINUTE FORGET 1 DAY) PREDICT (x < 5)"),
        (predict("q", "rooms", "temperature < 50"), "* FROM rooms PREDICT (temperature < 50)"),
        (predict("q", "rooms", "t < 50 AND h > 3", probability=0.9, every="1 SECOND", columns="key, ends", where="t > 0"),
         "key, ends FROM rooms WHERE t > 0 PREDICT (t < 50 AND h > 3 PROBABILITY >= 0.9 EVERY 1 SECOND)"),
        (predict("q", "rooms", "t < 50", certainty="may", tentative=True, ahead=timedelta(seconds=5)),
         "* FROM rooms PREDICT (t < 50 MAY TENTATIVE AHEAD 5 SECONDS)"),
        (predict("q", "rooms", "t < 50", certainty=Certainty.MUST, tentative=False, buffer=100, give_up="least"),
         "* FROM rooms PREDICT (t < 50 MUST VALIDATED BUFFER 100 GIVE UP LEAST)"),
        (predict("q", "rooms", "t < 50", buffer=np.int64(100), give_up=GiveUp.RANDOM, seed=-7),
         "* FROM rooms PREDICT (t < 50 BUFFER 100 GIVE UP RANDOM -7)"),
        (predict("q", "cars", "ABS(a.x - b.x) <= 400", pairs=("a", "b"), within="3 SECONDS", certainty="MUST", suppress=LINES),
         "* FROM cars SUPPRESS (x, y TOLERANCE 25 HEARTBEAT 30 SECONDS) "
         "PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 400 WITHIN 3 SECONDS MUST)"),
        (predict("q", ["cars", "my buses"], 'DISTANCE(a, "pairs") < 5', pairs=("a", "pairs"), within="0 SECONDS", suppress=LINES),
         '* FROM cars, "my buses" SUPPRESS (x, y TOLERANCE 25 HEARTBEAT 30 SECONDS) '
         'PREDICT (PAIRS a, "pairs" WHERE DISTANCE(a, "pairs") < 5 WITHIN 0 SECONDS)'),
    ],
)  # fmt: skip
def test_a_built_query_is_the_tree_of_the_text(built, text) -> None:
    assert built == query(text)
    assert show(built) == show(query(text))
    assert said(show(built)) == built


def test_several_sources_are_names_or_the_queries_themselves() -> None:
    cars = hw.suppress("car lines", "cars", "x", tolerance=25, heartbeat="30 SECONDS")
    built = hw.predict(
        "q", [cars, "buses"], "ABS(a.x - b.x) <= 4", pairs=("a", "b"), within="3 SECONDS", suppress=LINES
    )
    text = (
        '* FROM "car lines", buses SUPPRESS (x, y TOLERANCE 25 HEARTBEAT 30 SECONDS) '
        "PREDICT (PAIRS a, b WHERE ABS(a.x - b.x) <= 4 WITHIN 3 SECONDS)"
    )
    assert built == query(text)
    assert hw.predict("q", cars, "x < 4") == query('* FROM "car lines" PREDICT (x < 4)')
    again = hw.suppress("q", cars, "x", tolerance=5, heartbeat="1 DAY")
    assert again == query('* FROM "car lines" SUPPRESS (x TOLERANCE 5 HEARTBEAT 1 DAY)')


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: suppress("q", "s", tolerance=1, heartbeat="1 DAY"), "suppress needs a dimension"),
        (lambda: suppress("q", "s", "x", tolerance="much", heartbeat="1 DAY"), "expected"),
        (lambda: suppress("q", "s", "x", tolerance=float("nan"), heartbeat="1 DAY"), "not a number"),
        (lambda: suppress("q", "s", "x", tolerance=1, heartbeat=30), "is not a duration"),
        (lambda: suppress("q", "s", "x", tolerance=1, heartbeat="1 DAY", using="GUESS"), "expected"),
        (lambda: predict("q", "s", "x <"), "expected"),
        (lambda: predict("q", (), "x < 1"), "predict needs a source"),
        (lambda: predict("q", "s", "x < 1", certainty="MUST", probability=0.5), "contradict each other"),
        (lambda: predict("q", "s", "x < 1", certainty="MIGHT"), "'MIGHT' is not a certainty"),
        (lambda: predict("q", "s", "x < 1", give_up="YOUNGEST"), "cannot be given up"),
        (lambda: predict("q", "s", "x < 1", give_up="RANDOM"), "need each other"),
        (lambda: predict("q", "s", "x < 1", give_up="LEAST", seed=3), "need each other"),
        (lambda: predict("q", "s", "x < 1", seed=3), "can only be used with give_up"),
        (lambda: predict("q", "s", "x < 1", buffer=1.5), "an integer"),
    ],
)
def test_what_cannot_be_built_is_refused(build, message) -> None:
    with pytest.raises(QueriesRefused) as caught:
        build()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("build", "message", "advice"),
    [
        (lambda: suppress("q", 5, "x", tolerance=1, heartbeat="1 DAY"), "source takes a text, not 5", "'cars'"),
        (lambda: suppress("q", "s", 5, tolerance=1, heartbeat="1 DAY"), "a dimension takes a text, not 5", "'x', 'y'"),
        (lambda: suppress("q", "s", "x", tolerance=None, heartbeat="1 DAY"), "None is not a number", "'25 METERS'"),
        (lambda: suppress("q", "s", "x", tolerance="x", heartbeat="1 DAY"), "expected", "x"),
        (lambda: suppress("q", "s", "x", tolerance=1, heartbeat=None), "None is not a duration", "'6 SECONDS'"),
        (lambda: suppress("q", "s", "x", tolerance=1, heartbeat="1 DAY", using=5), "using takes a text, not 5", "LEAST SQUARES 5"),
        (lambda: suppress("q", "s", "x", tolerance=1, heartbeat="1 DAY", where=5), "where takes a text, not 5", "where='x > 1'"),
        (lambda: predict(5, "s", "x < 1"), "name takes a text, not 5", ""),
        (lambda: predict("q", 5, "x < 1"), "source takes a text, not 5", "'cars'"),
        (lambda: predict("q", ["s", 5], "x < 1"), "source takes a text, not 5", "'cars'"),
        (lambda: predict("q", "s", 5), "condition takes a text, not 5", "'temperature > 50'"),
        (lambda: predict("q", "s", "x < 1", columns=5), "columns takes a text, not 5", "columns='*'"),
        (lambda: predict("q", "s", "x < 1", pairs=5), "pairs takes the names of aliases, not 5", "pairs=('a', 'b')"),
        (lambda: predict("q", "s", "x < 1", pairs=("a", 5)), "pairs takes the names of aliases", "pairs=('a', 'b')"),
        (lambda: predict("q", "s", "x < 1", within=5), "5 is not a duration", "'6 SECONDS'"),
        (lambda: predict("q", "s", "x < 1", certainty=5), "certainty takes a text, not 5", "certainty='MUST'"),
        (lambda: predict("q", "s", "x < 1", probability="x"), "'x' is not a number", "probability=0.9"),
        (lambda: predict("q", "s", "x < 1", tentative="yes"), "tentative takes True or False, not 'yes'", "VALIDATED"),
        (lambda: predict("q", "s", "x < 1", give_up=5), "give_up takes a text, not 5", "give_up='LEAST'"),
        (lambda: predict("q", "s", "x < 1", suppress="x"), "suppress takes the result of hw.suppressing, not 'x'", "hw.suppressing"),
    ],
)  # fmt: skip
def test_values_of_the_wrong_kind_are_refused_with_advice(build, message, advice) -> None:
    with pytest.raises(QueriesRefused) as caught:
        build()
    (error,) = caught.value.errors
    assert message in error.message
    assert advice in str(caught.value)
