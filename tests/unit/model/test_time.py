import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import (
    END,
    SECOND,
    UNITS,
    format_duration,
    format_instant,
    format_instants,
    parse_instant,
)
from tests.unit.model.making import often

SIX = 1_769_839_200 * SECOND  # 2026-01-31 06:00 UTC


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01", 0),
        ("2026-01-31T06:00:00Z", SIX),
        ("2026-01-31 06:00:00", SIX),
        ("2026-01-31T07:00:00+01:00", SIX),
        ("2026-01-31T06:00", SIX),
        (" 2026-01-31T06:00:00.5Z ", SIX + 500_000),
        ("2026-01-31T06:00:00.000001Z", SIX + 1),
        ("1969-12-31T23:59:59.999999Z", -1),
    ],
)
def test_instants_are_read(text: str, instant: int):
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-02-30", "06:00:00", "2026-01-31T25:00:00Z", "31.01.2026"]
)
def test_what_is_not_an_instant_is_refused(text: str):
    with pytest.raises(ValueError):
        parse_instant(text)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (SIX, "2026-01-31T06:00:00Z"),
        (SIX + 500_000, "2026-01-31T06:00:00.500000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_instants_are_written(instant: int, text: str):
    assert format_instant(instant) == text


@often
@given(st.lists(st.integers(-(10**15), 10**16) | st.integers(-1000, 1000).map(lambda s: s * SECOND)))
def test_a_column_is_written_as_its_instants_and_read_back(instants: list[int]):
    texts = format_instants(np.array(instants, np.int64)).tolist()
    assert texts == [format_instant(i) for i in instants]
    assert [parse_instant(text) for text in texts] == instants


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0 SECONDS"),
        (1, "0.000001 SECONDS"),
        (500_000, "0.5 SECONDS"),
        (30 * SECOND, "30 SECONDS"),
        (90 * SECOND, "90 SECONDS"),
        (60 * SECOND, "1 MINUTES"),
        (7200 * SECOND, "2 HOURS"),
        (3 * 86_400 * SECOND, "3 DAYS"),
    ],
)
def test_durations_are_written_in_the_largest_unit_that_fits(duration: int, text: str):
    assert format_duration(duration) == text


def test_units_count_microseconds():
    assert UNITS == {
        "SECONDS": 1_000_000,
        "MINUTES": 60_000_000,
        "HOURS": 3_600_000_000,
        "DAYS": 86_400_000_000,
    }
    assert END + 1000 * UNITS["DAYS"] < 2**63
