from datetime import timedelta

import numpy as np
import pytest

from headwater.kernels.correlate.subscription import Emit
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.operators.correlate.build import (
    above,
    at_least,
    at_most,
    below,
    between,
    box,
    circle,
    correlate,
    equal,
    polygon,
    sensors,
)
from headwater.query.operators.correlate.text import area_text, clause_text


def said(text: str):
    found, errors = parse(text)
    assert errors == []
    return found.statements[0]


def test_a_correlation_built_is_the_correlation_written():
    built = correlate(
        "frost",
        "weather",
        between("temperature", -5, 0),
        at_least("humidity", 80, sensor="s1"),
        at_most("wind", 2.5, name="calm"),
        "3 OF dew > 1 AS dew",
        within="30 SECONDS",
        distance="500 METERS",
        inside=circle(7.17, 45.87, "5 KM"),
        distinct_sensors=True,
        emit="all",
        limit=5,
        columns="temperature, wind * 3.6 AS kmh",
        where="station <> 's9'",
    )
    assert built == said(
        """CREATE QUERY frost AS SELECT temperature, wind * 3.6 AS kmh FROM weather WHERE station <> 's9' CORRELATE (
             temperature BETWEEN -5 AND 0, 's1'.humidity >= 80, wind <= 2.5 AS calm, 3 OF dew > 1 AS dew
             DISTINCT SENSORS WITHIN 30 SECONDS, 500 METERS INSIDE CIRCLE (7.17, 45.87, 5 KM) EMIT ALL LIMIT 5 PER ROW)"""
    )


@pytest.mark.parametrize(
    ("clause", "text"),
    [
        (between("a", 1, 2.5), "a BETWEEN 1 AND 2.5"),
        (between("a", np.float64(-1.5), np.int64(2)), "a BETWEEN -1.5 AND 2"),
        (at_least("a", 1), "a >= 1"),
        (at_most("a", 1), "a <= 1"),
        (above("a", 1), "a > 1"),
        (below("a", 1, count=3, name="cold"), "3 OF a < 1 AS cold"),
        (equal("a", "it's", sensor=7), "7.a = 'it''s'"),
        (above("a.b; DROP", 1), '"a.b; DROP" > 1'),
    ],
)
def test_a_clause_built_is_the_clause_written(clause, text):
    assert correlate("q", "s", clause, within="1 DAY") == correlate("q", "s", text, within="1 DAY")
    assert clause_text(clause) == text


@pytest.mark.parametrize(
    ("area", "text"),
    [
        (circle(1, 2, 500), "CIRCLE (1, 2, 500 METERS)"),
        (circle(np.float64(1.5), 2, "5 KM"), "CIRCLE (1.5, 2, 5 KM)"),
        (box(-1, -2, 3, 4), "BOX (-1, -2, 3, 4)"),
        (polygon((0, 0), (1, 0), (0, 1)), "POLYGON ((0, 0), (1, 0), (0, 1))"),
        (sensors("s1", 2), "SENSORS ('s1', 2)"),
    ],
)
def test_an_area_built_is_the_area_written(area, text):
    given = {"within": "1 DAY"}
    assert correlate("q", "s", "a > 1", inside=area, **given) == correlate(
        "q", "s", "a > 1", inside=text, **given
    )
    assert area_text(area) == text


def test_durations_and_lengths_come_in_many_ways():
    whole = correlate("q", "s", "a > 1", within=timedelta(seconds=90), distance=500)
    assert show(whole.select.operator.within) == "90 SECONDS"
    assert show(whole.select.operator.distance) == "500 METERS"
    part = correlate("q", "s", "a > 1", within=timedelta(milliseconds=1500), emit=Emit.LATEST)
    assert show(part.select.operator.within) == "1.5 SECONDS"
    assert part.select.operator.emit is Emit.LATEST


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: correlate("q", "s", "a >", within="1 DAY"), "expected an expression, but the statement ends\n  clause:1:4"),
        (lambda: correlate("q", "s", "a > 1", within="1 FORTNIGHT"), "duration:1:3"),
        (lambda: correlate("q", "s", within="1 DAY"), "correlate needs a clause"),
        (lambda: correlate("q", "s", "a > 1", within="1 DAY", emit="LAST"), "did you mean 'LATEST'?"),
        (lambda: correlate("q", "s", "a > 1", within="1 DAY", inside="SQUARE (1)"), "inside:1:1"),
        (lambda: between("a", float("nan"), 1), "nan is not a number of the language"),
        (lambda: circle(0, 0, float("inf")), "inf is not a number of the language"),
        (lambda: at_least("a", 2**63), "9223372036854775808 is not a number of the language"),
    ],
)  # fmt: skip
def test_a_piece_that_cannot_be_read_is_shown(build, message):
    with pytest.raises(QueriesRefused) as caught:
        build()
    assert message in str(caught.value)
