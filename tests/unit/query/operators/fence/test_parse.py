import pytest

from headwater.kernels.fence.choices import Detect
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import CreateFences, CreateQuery, Quantity, Unit
from headwater.query.operators.fence.tree import Fence

BEGIN = "CREATE QUERY q AS SELECT * FROM cars "


def fence(text: str) -> Fence:
    script, errors = parse(BEGIN + text)
    assert not errors, errors
    (query,) = script.statements
    assert isinstance(query, CreateQuery) and isinstance(query.select.operator, Fence)
    return query.select.operator


def test_fences_alone():
    assert fence("FENCE (zones)") == Fence("zones")


def test_every_option_in_any_order():
    one = fence("FENCE (trucks WHERE open FORGET 10 MINUTES DETECT cross, Enter RADIUS 5 KM)")
    other = fence("FENCE (trucks WHERE open RADIUS 5 KM DETECT CROSS, ENTER FORGET 10 MINUTES)")
    assert one == other
    assert one.detect == (Detect.CROSS, Detect.ENTER)
    assert one.radius == Quantity(5, Unit.KM)
    assert one.forget == Quantity(10, Unit.MINUTES)


def test_lengths_without_unit_are_metres():
    assert fence("FENCE (trucks BOX 400, 300)").box == (
        Quantity(400, Unit.METERS),
        Quantity(300, Unit.METERS),
    )


def test_words_of_fence_stay_usable_as_names():
    node = fence("FENCE (enter WHERE exit > cross SHAPE outside DETECT OUTSIDE)")
    assert (node.fences, node.shape, node.detect) == ("enter", "outside", (Detect.OUTSIDE,))


def test_fences_are_declared_like_points():
    script, errors = parse("CREATE FENCES zones (name STRING KEY, speed BIGINT);")
    assert not errors
    (fences,) = script.statements
    assert isinstance(fences, CreateFences)
    assert [(column.name, column.key) for column in fences.columns] == [("name", True), ("speed", False)]
    assert parse(show(script))[0] == script


@pytest.mark.parametrize(
    "text",
    [
        "FENCE (zones)",
        "FENCE (z WHERE a = 'b' DETECT INSIDE)",
        "FENCE (t BOX 1 KM, 2 DETECT EXIT FORGET 1 DAY)",
    ],
)
def test_what_is_printed_is_read_again(text: str):
    node = fence(text)
    assert fence(show(node)) == node
