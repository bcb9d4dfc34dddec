import pytest

from headwater.kernels.fence.choices import Detect
from headwater.model import ColumnType, PlaceColumns, QueriesRefused
from headwater.query.checking.check import check
from headwater.query.operators.fence.operator import FenceOperator
from headwater.query.planning.plan import compile_text

STREAMS = """
CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y BIGINT, kind STRING, PLACE (x, y));
CREATE STREAM trucks (truck BIGINT KEY, at TIMESTAMP TIME, east DOUBLE, north DOUBLE, PLACE (east, north));
CREATE FENCES zones (name BIGINT KEY, kind STRING);
"""


def fencing(text: str) -> FenceOperator:
    found = check(f"{STREAMS}CREATE QUERY q AS SELECT * FROM cars {text};").queries["q"].operator
    assert isinstance(found, FenceOperator)
    return found


def test_the_defaults_are_enter_and_exit_and_an_hour():
    checked = fencing("FENCE (zones)")
    assert checked.detect == (Detect.ENTER, Detect.EXIT)
    assert checked.forget_us == 3_600_000_000
    assert not checked.moving and not checked.roaming


def test_the_order_of_words_does_not_matter():
    assert fencing("FENCE (zones DETECT CROSS, ENTER)") == fencing("FENCE (zones DETECT ENTER, CROSS)")


@pytest.mark.parametrize(
    ("text", "roaming"),
    [
        ("FENCE (cars RADIUS 5)", True),
        ("WHERE kind = 'a' FENCE (cars WHERE kind = 'a' RADIUS 5)", True),
        ("FENCE (cars WHERE kind = 'a' RADIUS 5)", False),
        ("WHERE x > 1 FENCE (cars WHERE x > 1.0 RADIUS 5)", False),
        ("FENCE (trucks RADIUS 5)", False),
    ],
)
def test_pairs_roam_if_both_sides_are_alike(text: str, roaming: bool):
    assert fencing(text).roaming is roaming


def test_answers_have_a_key_and_a_place():
    schema = check(f"{STREAMS}CREATE QUERY q AS SELECT * FROM cars FENCE (zones);").queries["q"].schema
    assert schema.key == "object" and schema.place == PlaceColumns("x", "y")
    assert dict(schema.columns) == {
        "event_time": ColumnType.TIMESTAMP,
        "change": ColumnType.STRING,
        "object": ColumnType.STRING,
        "fence": ColumnType.BIGINT,
        "x": ColumnType.DOUBLE,
        "y": ColumnType.BIGINT,
    }


def test_what_is_not_known_is_not_held_against_it():
    with pytest.raises(QueriesRefused) as refused:
        check(
            f"{STREAMS}CREATE FENCES broken (name STRING); CREATE QUERY q AS SELECT * FROM cars FENCE (broken);"
        )
    assert [error.code for error in refused.value.errors] == ["needs-key"]


def test_objects_are_spread_over_zones_and_those_with_moving_fences_are_shared():
    text = STREAMS + "".join(
        f"CREATE QUERY {name} AS SELECT * FROM {source} FENCE ({fences});"
        for name, source, fences in (
            ("still", "cars", "zones"),
            ("moving", "cars", "trucks RADIUS 5"),
            ("roaming", "cars", "cars RADIUS 5"),
        )
    )
    plan = compile_text(f"{text} CREATE QUERY plain AS SELECT object FROM moving;", zones=3)
    assert plan.query("still").spread == ("id",) and not plan.query("still").shared
    assert plan.query("moving").shared and plan.query("roaming").shared and plan.query("plain").shared


def test_read_by_a_pattern_it_lives_in_one_zone():
    text = f"""{STREAMS}
    CREATE QUERY still AS SELECT * FROM cars FENCE (zones);
    CREATE QUERY visits AS SELECT * FROM still MATCH_RECOGNIZE (
      PARTITION BY object PATTERN (A B) DEFINE A AS change = 'enter', B AS change = 'exit');"""
    plan = compile_text(text, zones=3)
    assert not plan.query("still").spread and not plan.query("still").shared


def test_only_what_is_looked_at_travels():
    plan = compile_text(f"{STREAMS}CREATE QUERY q AS SELECT * FROM cars WHERE x > 0 FENCE (zones);")
    assert plan.columns_read("cars") == ("id", "at", "x", "y")
    assert str(plan.useful_rows("cars")) != "None"
