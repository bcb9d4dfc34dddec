"""FOLLOW: what a text says, and what stands in its way."""

from __future__ import annotations

import pytest

from headwater.kernels.follow.choices import Update
from headwater.model import QueryError, Span
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import Binary, Literal, Name, Quantity, Select, Unit
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.nearest.tree import Nearest
from headwater.query.operators.suppress.tree import Suppress


def select(text: str) -> Select:
    script, errors = parse(f"CREATE QUERY q AS SELECT * {text};")
    assert errors == []
    assert parse(show(script)) == (script, [])
    (statement,) = script.statements
    return statement.select


def followed(inside: str) -> Follow:
    found = select(f"FROM s FOLLOW ({inside})").operator
    assert isinstance(found, Follow)
    return found


def refused(inside: str) -> QueryError:
    script, (error,) = parse(f"CREATE QUERY q AS SELECT * FROM s FOLLOW ({inside});")
    assert script.statements == ()
    return error


def metres(amount: float) -> Quantity:
    return Quantity(amount, Unit.METERS)


def minutes(amount: float) -> Quantity:
    return Quantity(amount, Unit.MINUTES)


class TestFollow:
    def test_the_shortest_one(self) -> None:
        assert followed("cars RADIUS 500") == Follow("cars", radius=metres(500))

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("RADIUS 0.5 KM", {"radius": Quantity(0.5, Unit.KM)}),
            ("box 400, 0.3 KM", {"box": (metres(400), Quantity(0.3, Unit.KM))}),
            ("SHAPE area", {"shape": "area"}),
            ("RADIUS -1", {"radius": metres(-1)}),
        ],
    )
    def test_what_is_near(self, text: str, expected: dict[str, object]) -> None:
        assert followed(f"cars {text}") == Follow("cars", **expected)

    @pytest.mark.parametrize("word", ["", "UPDATE "])
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("ALWAYS", {"update": Update.ALWAYS}),
            ("EVERY 2 MINUTES", {"update": Update.EVERY, "every": minutes(2)}),
            ("MOVED 100", {"update": Update.MOVED, "moved": metres(100)}),
            ("MOVED 1 KM", {"update": Update.MOVED, "moved": Quantity(1, Unit.KM)}),
            ("QUALITY 0.5, 1", {"update": Update.QUALITY, "quality": (0.5, 1)}),
            ("QUALITY 0.5, -1 OVER 3 MINUTES", {"update": Update.QUALITY, "quality": (0.5, -1), "over": minutes(3)}),
        ],
    )  # fmt: skip
    def test_when_an_interest_moves(self, word: str, text: str, expected: dict[str, object]) -> None:
        assert followed(f"cars RADIUS 5 {word}{text}") == Follow("cars", radius=metres(5), **expected)

    def test_all_else_in_any_order(self) -> None:
        found = followed(
            "cars WHERE speed > 3 RADIUS 5 EMIT INTERESTS BEST EFFORT 7 DELIVER EACH FORGET 2 MINUTES LAST 3 MINUTES"
        )
        assert found == Follow(
            "cars",
            Binary(">", Name("speed"), Literal(3)),
            metres(5),
            last=minutes(3),
            forget=minutes(2),
            each=True,
            best_effort=7,
            interests=True,
        )
        assert followed("cars RADIUS 5 DELIVER ONCE").each is False

    def test_its_words_are_names_too(self) -> None:
        found = select(
            "FROM follow, update WHERE radius > moved FOLLOW (shape WHERE forget = always AND running SHAPE last LAST 1 MINUTE)"
        )
        assert (found.source, found.further_sources) == ("follow", ("update",))
        assert isinstance(found.operator, Follow)
        assert (found.operator.focals, found.operator.shape) == ("shape", "last")

    def test_operators_come_before_and_after_it(self) -> None:
        found = select(
            "FROM s SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 MINUTE) FOLLOW (cars RADIUS 5) NEAREST (1 TO HIGHEST x OVER 1 HOUR)"
        )
        assert [type(operator) for operator in (*found.chain, found.operator)] == [Suppress, Follow, Nearest]

    def test_places_are_those_of_the_options(self) -> None:
        found = followed("cars RADIUS 5 METERS UPDATE QUALITY 0.5, 1 OVER 3 MINUTES BEST EFFORT -7")
        assert found.span == Span(1, 35, 6)
        assert found.place_of("focals") == Span(1, 43, 4)
        assert found.place_of("RADIUS") == Span(1, 48, 15)
        assert found.place_of("QUALITY") == Span(1, 71, 29)
        assert found.place_of("BEST EFFORT") == Span(1, 101, 14)
        assert found.place_of("FORGET") == found.span


@pytest.mark.parametrize(
    ("inside", "message", "advice"),
    [
        ("cars", "expected BOX, RADIUS, SHAPE or WHERE, but found ')'", "first give the region around an object"),
        ("cars WHERE x > 3", "expected BOX, RADIUS or SHAPE", "first give the region around an object"),
        ("cars LAST 3 MINUTES RADIUS 5", "but found 'LAST'", "the other options come after it"),
        ("cars RADIUS 5, LAST 3 MINUTES", "but found ','", "without commas"),
        ("cars RADIUS 5 MOVD 3", "but found 'MOVD'", "did you mean 'MOVED'?"),
        ("cars RADIUS 5 BOX 3, 4", "RADIUS and BOX contradict each other", "remove one of them"),
        ("cars RADIUS 5 RADIUS 6", "RADIUS appears here twice", "remove one of them"),
        ("cars RADIUS 5 ALWAYS UPDATE ALWAYS", "ALWAYS appears here twice", "remove one of them"),
        ("cars RADIUS 5 EVERY 1 DAY UPDATE MOVED 3", "EVERY and MOVED contradict each", "remove one of them"),
        ("cars RADIUS 5 UPDATE SOMETIMES", "expected ALWAYS, EVERY, MOVED or QUALITY", "write UPDATE ALWAYS"),
        ("cars RADIUS 5 DELIVER TWICE", "expected EACH or ONCE", "write DELIVER ONCE"),
        ("cars RADIUS 5 EMIT READINGS", "expected INTERESTS", "write EMIT INTERESTS"),
        ("cars RADIUS 5 BEST EFFORT 1.5", "BEST EFFORT takes an integer", "without a decimal point"),
        ("cars RADIUS 5 LAST 30", "expected a unit such as SECONDS", ""),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_reported_with_advice(inside: str, message: str, advice: str) -> None:
    error = refused(inside)
    assert message in error.message
    assert advice in " ".join(error.advice)


def test_a_condition_after_an_operator_is_reported_at_its_place():
    for operators in (
        "FOLLOW (cars RADIUS 5)",
        "FOLLOW (cars RADIUS 5) CORRELATE (v > 1 WITHIN 1 DAY)",
        "FENCE (zones)",
    ):
        _, (error,) = parse(f"CREATE QUERY q AS SELECT * FROM events {operators} WHERE v > 1;")
        assert "but found 'WHERE'" in error.message
        assert "FROM events WHERE size > 1 FOLLOW (…)" in " ".join(error.advice)
