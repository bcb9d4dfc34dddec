import pytest

import headwater as hw
from headwater.model import QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.tree import Script
from headwater.query.planning.plan import compile_script

CARS = hw.stream(
    "cars",
    {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE", "y": "DOUBLE"},
    time="at",
    key="id",
    place=("x", "y"),
)
ZONES = hw.fences("zones", {"name": "STRING", "speed": "BIGINT"}, key="name")


def read(text: str) -> object:
    script, errors = parse(text)
    assert not errors, errors
    return script.statements[0]


def test_fences_are_the_tree_of_their_text():
    assert read("CREATE FENCES zones (name STRING KEY, speed BIGINT);") == ZONES


def test_fence_is_the_tree_of_its_text():
    built = hw.fence(
        "q",
        CARS,
        ZONES,
        fences_where="speed <= 30",
        detect=["enter", "CROSS"],
        forget="10 MINUTES",
        where="x > 0",
    )
    text = "CREATE QUERY q AS SELECT * FROM cars WHERE x > 0 FENCE (zones WHERE speed <= 30 DETECT ENTER, CROSS FORGET 10 MINUTES);"
    assert read(text) == built
    assert compile_script(Script((CARS, ZONES, built))).query("q").kind == "fence"


def test_moving_fences():
    assert hw.fence("q", "cars", "cars", radius=20, columns="object, fence") == read(
        "CREATE QUERY q AS SELECT object, fence FROM cars FENCE (cars RADIUS 20 METERS);"
    )
    assert hw.fence("q", "cars", "trucks", box=(400, "1 KM"), detect="INSIDE") == read(
        "CREATE QUERY q AS SELECT * FROM cars FENCE (trucks BOX 400, 1 KM DETECT INSIDE);"
    )
    assert hw.fence("q", "cars", "trucks", shape="area") == read(
        "CREATE QUERY q AS SELECT * FROM cars FENCE (trucks SHAPE area);"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"radius": 5, "box": (3, 4)}, "radius and box contradict each other"),
        ({"box": (3,)}, "box takes a width and a height"),
        ({"detect": ()}, "detect is empty"),
        ({"detect": ("ENTER", "enter")}, "detect lists ENTER twice"),
        ({"detect": "LEAVE"}, "'LEAVE' cannot be detected"),
        ({"fences_where": "speed <"}, "expected"),
        ({"forget": 5}, "5 is not a duration"),
    ],
)
def test_what_the_language_does_not_say_is_refused(options: dict, message: str):
    with pytest.raises(QueriesRefused) as refused:
        hw.fence("q", "cars", "zones", **options)
    assert message in refused.value.errors[0].message


def test_a_key_that_is_not_a_column_is_refused():
    with pytest.raises(QueriesRefused):
        hw.fences("zones", {"name": "STRING"}, key="nmae")
