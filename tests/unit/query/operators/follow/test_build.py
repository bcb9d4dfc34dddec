"""FOLLOW built in Python is that which the text says."""

from datetime import timedelta

import numpy as np
import pytest

import headwater as hw
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import Quantity, Unit
from headwater.query.operators.follow.build import follow

CARS = hw.stream("cars", {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE"}, time="at")


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
        (follow("q", "s", "cars", radius=500), "* FROM s FOLLOW (cars RADIUS 500)"),
        (follow("q", CARS, CARS, radius="5 KM", columns="focal, id", where="x > 1"),
         "focal, id FROM cars WHERE x > 1 FOLLOW (cars RADIUS 5 KM)"),
        (follow("q", ["s", "my events", CARS], "my cars", box=(np.float64(4), "3 KM"), focals_where="speed > 3"),
         '* FROM s, "my events", cars FOLLOW ("my cars" WHERE speed > 3 BOX 4.0, 3 KM)'),
        (follow("q", "s", "cars", shape="an area", last=timedelta(minutes=30), always=True, deliver="once"),
         '* FROM s FOLLOW (cars SHAPE "an area" LAST 1800 SECONDS UPDATE ALWAYS DELIVER ONCE)'),
        (follow("q", "s", "cars", radius=Quantity(5, Unit.KM), every="10 SECONDS", forget="1 DAY", deliver="EACH"),
         "* FROM s FOLLOW (cars RADIUS 5 KM EVERY 10 SECONDS FORGET 1 DAY DELIVER EACH)"),
        (follow("q", "s", "cars", radius=5, moved="100 METERS", best_effort=np.int64(7), interests=True),
         "* FROM s FOLLOW (cars RADIUS 5 MOVED 100 METERS BEST EFFORT 7 EMIT INTERESTS)"),
        (follow("q", "s", "cars", radius=5, quality=(0.5, 1), over="3 MINUTES"),
         "* FROM s FOLLOW (cars RADIUS 5 QUALITY 0.5, 1 OVER 3 MINUTES)"),
    ],
)  # fmt: skip
def test_a_built_query_is_the_tree_of_the_text(built, text) -> None:
    assert built == query(text)
    assert show(built) == show(query(text))
    assert said(show(built)) == built


def test_follow_is_a_word_of_the_package() -> None:
    assert hw.follow("q", "s", "cars", radius=5) == query("* FROM s FOLLOW (cars RADIUS 5)")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: follow("q", "s", "cars"), "follow takes exactly one of radius, box and shape"),
        (lambda: follow("q", "s", "cars", radius=5, shape="area"), "follow takes exactly one of"),
        (lambda: follow("q", "s", "cars", radius="far"), "expected"),
        (lambda: follow("q", "s", "cars", radius=float("nan")), "not a number"),
        (lambda: follow("q", "s", "cars", box=(5,)), "box takes a width and a height"),
        (lambda: follow("q", (), "cars", radius=5), "follow needs a source"),
        (lambda: follow("q", "s", "cars", radius=5, last=30), "is not a duration"),
        (lambda: follow("q", "s", "cars", radius=5, focals_where="x >"), "expected"),
        (lambda: follow("q", "s", "cars", radius=5, every="1 DAY", moved=3), "contradict each other"),
        (lambda: follow("q", "s", "cars", radius=5, quality=0.5), "quality takes a precision and a recall"),
        (lambda: follow("q", "s", "cars", radius=5, over="1 DAY"), "over can only be used with quality"),
        (lambda: follow("q", "s", "cars", radius=5, deliver="TWICE"), "is not a way to deliver"),
        (lambda: follow("q", "s", "cars", radius=5, best_effort=1.5), "an integer"),
    ],
)
def test_what_cannot_be_built_is_refused(build, message) -> None:
    with pytest.raises(QueriesRefused) as caught:
        build()
    assert message in str(caught.value)
