"""For how long a FOLLOW may keep events, as people say it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from headwater.model import SECOND, QueriesRefused
from headwater.query.checking.history_limit import MOST_HISTORY_US, most_history_us
from headwater.query.planning.plan import compile_text

TEXT = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));
CREATE QUERY near AS SELECT * FROM cars FOLLOW (cars RADIUS 5 LAST 90 SECONDS);
CREATE QUERY close AS SELECT * FROM near FENCE (near RADIUS 1 FORGET 30 SECONDS);
"""


def test_it_is_a_text_or_pythons_own_and_a_day_by_default() -> None:
    assert [most_history_us(given) for given in ("7 DAYS", timedelta(hours=1), None)] == [
        7 * 86_400 * SECOND,
        3_600 * SECOND,
        MOST_HISTORY_US,
    ]


@pytest.mark.parametrize(
    ("given", "code"),
    [("7 METERS", "not-a-duration"), (timedelta(-1), "negative-duration"), ("soon", "syntax")],
)
def test_anything_else_is_refused(given: str | timedelta, code: str) -> None:
    with pytest.raises(QueriesRefused) as refused:
        most_history_us(given)
    assert [error.code for error in refused.value.errors] == [code]


def test_as_much_as_is_allowed_may_be_stored_and_nothing_more() -> None:
    assert compile_text(TEXT, most_history_us=120 * SECOND).query("near").before_us == 30 * SECOND + 1
    with pytest.raises(QueriesRefused):
        compile_text(TEXT, most_history_us=120 * SECOND - 1)
