"""NEAREST and points built in Python are those that the text says."""

from datetime import timedelta

import numpy as np
import pytest

import headwater as hw
from headwater.kernels.nearest.choices import Emission
from headwater.model import ColumnType, QueriesRefused
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.operators.nearest.build import each_of, highest, lowest, nearest, points


def said(text: str):
    script, errors = parse(text)
    assert errors == []
    (statement,) = script.statements
    return statement


def operator(text: str, before: str = "SELECT * FROM panels"):
    return said(f"CREATE QUERY q AS {before} NEAREST ({text});")


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (nearest("q", "panels", 10, to=(0.31, 0.22), by=("solar", "volts"), over="1 HOUR"),
         "10 TO (0.31, 0.22) BY (solar, volts) OVER 1 HOUR"),
        (nearest("q", "panels", 1, to=[5], by="solar", over_rows=40_000), "1 TO (5) BY (solar) OVER 40000 ROWS"),
        (nearest("q", "panels", 1, to=(5,), by=("place",), over_rows=1), "1 TO (5) BY (place) OVER 1 ROWS"),
        (nearest("q", "panels", 3, to=(7.1, 45.8), by="PLACE", over=timedelta(minutes=2)),
         "3 TO (7.1, 45.8) BY PLACE OVER 120 SECONDS"),
        (nearest("q", "panels", 3, to=np.array([1.5, -2.0]), by=["solar", ("volts", "voltage")], over="1 DAY"),
         "3 TO (1.5, -2.0) BY (solar, volts AS voltage) OVER 1 DAY"),
        (nearest("q", "panels", 3, to=each_of("my points"), by=("a b", "by"), over="1 DAY", per="per"),
         '3 TO EACH OF "my points" BY ("a b", by) OVER 1 DAY PER per'),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", with_ties=True), "3 TO HIGHEST solar OVER 1 DAY WITH TIES"),
        (nearest("q", "panels", 3, to=lowest("solar", name="sun"), over="1 DAY", emit="changes"),
         "3 TO LOWEST solar AS sun OVER 1 DAY EMIT CHANGES"),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", emit=Emission.ENTERS),
         "3 TO HIGHEST solar OVER 1 DAY EMIT ENTERS"),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", every="10 SECONDS"),
         "3 TO HIGHEST solar OVER 1 DAY EMIT EVERY 10 SECONDS"),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", emit="EVERY", every=timedelta(seconds=10)),
         "3 TO HIGHEST solar OVER 1 DAY EMIT EVERY 10 SECONDS"),
        (nearest("q", "panels", 3, to=(1, 2), by=("solar", "volts"), weighted=(1, 0.5), over="1 DAY", using="EXACT"),
         "3 TO (1, 2) BY (solar, volts) WEIGHTED (1, 0.5) OVER 1 DAY USING EXACT"),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", using="exact algorithm rapf"),
         "3 TO HIGHEST solar OVER 1 DAY USING EXACT ALGORITHM RAPF"),
        (nearest("q", "panels", 3, to=highest("solar"), over="1 DAY", using="PROBABLE 0.001 ALGORITHM PA"),
         "3 TO HIGHEST solar OVER 1 DAY USING PROBABLE 0.001 ALGORITHM PA"),
    ],
)  # fmt: skip
def test_a_built_query_is_the_tree_of_the_text(built, text) -> None:
    assert built == operator(text)
    assert show(built) == show(operator(text))
    assert said(show(built)) == built


def test_columns_and_conditions_are_text_of_the_language() -> None:
    built = nearest(
        "q", "panels", 3, to=highest("solar"), over="1 DAY", columns="key, solar", where="volts > 1"
    )
    assert built == operator("3 TO HIGHEST solar OVER 1 DAY", "SELECT key, solar FROM panels WHERE volts > 1")


def test_built_points_are_the_tree_of_the_text() -> None:
    built = points("profiles", {"id": "string", "solar": ColumnType.DOUBLE, "n": "INT"}, key="id")
    assert built == said("CREATE POINTS profiles (id STRING KEY, solar DOUBLE, n BIGINT);")


def test_the_builders_have_names_in_the_package() -> None:
    assert (hw.points, hw.nearest, hw.each_of, hw.highest, hw.lowest) == (
        points,
        nearest,
        each_of,
        highest,
        lowest,
    )
    assert {"points", "nearest", "each_of", "highest", "lowest"} <= set(dir(hw))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: nearest("q", "p", 1, to=(1,), by="a"), "nearest needs over or over_rows"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", over_rows=3), "nearest needs over or over_rows"),
        (lambda: nearest("q", "p", 1, to=(1,), over="1 DAY"), "nearest needs by"),
        (lambda: nearest("q", "p", 1, to=(1,), by=(), over="1 DAY"), "by is empty"),
        (lambda: nearest("q", "p", 1, to=(), by="a", over="1 DAY"), "a point needs at least one number"),
        (lambda: nearest("q", "p", 1, to="profiles", by="a", over="1 DAY"), "'profiles' is not a point"),
        (lambda: nearest("q", "p", 1, to=highest("a"), by="a", over="1 DAY"), "highest and lowest already name their column"),
        (lambda: nearest("q", "p", 1, to=(float("nan"),), by="a", over="1 DAY"), "nan is not a number of the language"),
        (lambda: nearest("q", "p", 1, to=(float("inf"),), by="a", over="1 DAY"), "inf is not a number of the language"),
        (lambda: nearest("q", "p", 1, to=(2**63,), by="a", over="1 DAY"), "9223372036854775808 is not a number of the language"),
        (lambda: nearest("q", "p", 1, to=("x",), by="a", over="1 DAY"), "'x' is not a number"),
        (lambda: nearest("q", "p", 1, to=(True,), by="a", over="1 DAY"), "True is not a number"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", weighted=(float("nan"),), over="1 DAY"), "nan is not a number of"),
        (lambda: nearest("q", "p", 1.5, to=(1,), by="a", over="1 DAY"), "k takes an integer, not 1.5"),
        (lambda: nearest("q", "p", None, to=(1,), by="a", over="1 DAY"), "k takes an integer, not None"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over_rows=1.5), "over_rows takes an integer, not 1.5"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over=5), "5 is not a duration"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", using="RA"), "expected EXACT or PROBABLE"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", using="EXACT ALGORITHM RB"), "there is no algorithm"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", emit="ENTER"), "'ENTER' cannot be emitted"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", emit="EVERY"), "emit EVERY needs a time"),
        (lambda: nearest("q", "p", 1, to=(1,), by="a", over="1 DAY", emit="ENTERS", every="1 DAY"), "every emits the whole set"),
        (lambda: points("p", {"id": "STRING"}, key="name"), "there is no column named 'name' for key"),
        (lambda: points("p", {"id": "STRNG"}, key="id"), "there is no type named 'STRNG'"),
    ],
)  # fmt: skip
def test_what_the_language_cannot_say_is_refused(build, message) -> None:
    with pytest.raises(QueriesRefused) as caught:
        build()
    (error,) = caught.value.errors
    assert error.message.startswith(message)


def test_points_and_numbers_may_be_given_as_they_are_at_hand():
    spots = hw.points("spots", {"id": "STRING", "v": "DOUBLE"}, key="id")
    by_name = hw.nearest("q", "s", 3, to=hw.each_of("spots"), by=("v",), over_rows=10)
    assert (
        hw.nearest("q", "s", np.int64(3), to=hw.each_of(spots), by=("v",), over_rows=np.int32(10)) == by_name
    )
