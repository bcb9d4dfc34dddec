"""SUPPRESS and PREDICT: what a text says, and what stands in its way."""

from __future__ import annotations

import pytest

from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.kernels.suppress.choices import Predictor
from headwater.model import Span
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import Binary, Literal, Name, Quantity, Select, Unit
from headwater.query.operators.nearest.tree import Nearest
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.operators.predict.tree import Alias, Predict
from headwater.query.operators.suppress.tree import Dimension, Suppress


def select(text: str) -> Select:
    script, errors = parse(f"CREATE QUERY q AS SELECT * {text};")
    assert errors == []
    assert parse(show(script)) == (script, [])
    (statement,) = script.statements
    return statement.select


def operator(text: str):
    return select(f"FROM s {text}").operator


def seconds(amount: float) -> Quantity:
    return Quantity(amount, Unit.SECONDS)


class TestSuppress:
    def test_the_shortest_one(self) -> None:
        found = operator("SUPPRESS (x TOLERANCE 0.5 HEARTBEAT 30 SECONDS)")
        assert found == Suppress((Dimension("x"),), 0.5, seconds(30))

    @pytest.mark.parametrize(
        ("text", "predictor", "parameters"),
        [
            ("CONSTANT", Predictor.CONSTANT, ()),
            ("slope", Predictor.SLOPE, ()),
            ("LEAST SQUARES 5", Predictor.LEAST_SQUARES, (5,)),
            ("DOUBLE EXPONENTIAL 0.5, 1", Predictor.DOUBLE_EXPONENTIAL, (0.5, 1)),
            ("KALMAN 1e-3, -2", Predictor.KALMAN, (0.001, -2)),
        ],
    )
    def test_predictors(self, text: str, predictor: Predictor, parameters: tuple[float, ...]) -> None:
        found = operator(f"SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 1 MINUTE USING {text})")
        expected = Suppress(
            (Dimension("x"), Dimension("y")),
            Quantity(25, Unit.METERS),
            Quantity(1, Unit.MINUTES),
            predictor,
            parameters,
        )
        assert found == expected

    def test_forget_is_never_unless_it_is_written(self) -> None:
        found = operator("SUPPRESS (x TOLERANCE 0.5 FORGET 1 DAY HEARTBEAT 30 SECONDS)")
        assert found == Suppress((Dimension("x"),), 0.5, seconds(30), forget=Quantity(1, Unit.DAYS))
        assert operator("SUPPRESS (x TOLERANCE 0.5 HEARTBEAT 30 SECONDS)").forget is None

    def test_options_come_in_any_order(self) -> None:
        one = operator("SUPPRESS (x USING CONSTANT HEARTBEAT 1 MINUTE TOLERANCE 1)")
        assert one == operator("SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 MINUTE USING CONSTANT)")

    def test_its_words_are_names_too(self) -> None:
        found = operator("SUPPRESS (tolerance, heartbeat, using, forget TOLERANCE 1 HEARTBEAT 1 MINUTE)")
        names = [dimension.name for dimension in found.dimensions]
        assert names == ["tolerance", "heartbeat", "using", "forget"]

    def test_places_are_those_of_the_options(self) -> None:
        found = operator("SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 1 MINUTE USING KALMAN 1, 2)")
        assert found.place_of("TOLERANCE") == Span(1, 50, 19)
        assert found.place_of("HEARTBEAT") == Span(1, 70, 18)
        assert found.place_of("USING") == Span(1, 89, 17)
        assert found.dimensions[1].span == Span(1, 48, 1)


class TestPredict:
    def test_a_condition_on_single_updates(self) -> None:
        assert operator("PREDICT (t < 50)") == Predict((), Binary("<", Name("t"), Literal(50)))

    def test_pairs_with_everything(self) -> None:
        found = operator(
            "PREDICT (PAIRS a, b WHERE a.x < 5 WITHIN 3 SECONDS PROBABILITY >= 0.9 TENTATIVE AHEAD 5 SECONDS "
            "BUFFER 100 GIVE UP RANDOM -7)"
        )
        assert found == Predict(
            (Alias("a"), Alias("b")),
            Binary("<", Name("x", "a"), Literal(5)),
            seconds(3),
            Certainty.PROBABILITY,
            0.9,
            True,
            seconds(5),
            None,
            100,
            GiveUp.RANDOM,
            -7,
        )

    @pytest.mark.parametrize("word", ["MAY", "MUST"])
    def test_certainties(self, word: str) -> None:
        assert operator(f"PREDICT (t < 50 {word})").certainty is Certainty[word]

    @pytest.mark.parametrize("word", ["LEAST", "NEWEST", "OLDEST"])
    def test_what_is_given_up(self, word: str) -> None:
        found = operator(f"PREDICT (t < 50 GIVE UP {word} BUFFER 5)")
        assert (found.give_up, found.seed, found.buffer) == (GiveUp[word], None, 5)

    def test_when_it_is_emitted(self) -> None:
        assert operator("PREDICT (t < 50)").tentative is None
        node = operator("PREDICT (t < 50 VALIDATED EVERY 1 SECOND)")
        assert (node.tentative, node.every) == (False, seconds(1))
        assert operator("PREDICT (t < 50 EVERY 1 SECOND)").tentative is None

    def test_its_words_are_names_too(self) -> None:
        assert operator("PREDICT (may < 50 MAY)").condition == Binary("<", Name("may"), Literal(50))
        found = operator("PREDICT (PAIRS may, must WHERE may.every < 5 MUST WITHIN 1 SECOND)")
        assert [alias.name for alias in found.aliases] == ["may", "must"]
        assert operator('PREDICT ("pairs" < 50)').condition == Binary("<", Name("pairs"), Literal(50))


class TestFrom:
    def test_operators_follow_one_another(self) -> None:
        found = select("FROM s SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 SECOND) PREDICT (x < 5)")
        assert found.chain == (Suppress((Dimension("x"),), 1, seconds(1)),)
        assert isinstance(found.operator, Predict)

    def test_any_operators_do(self) -> None:
        found = select(
            "FROM s MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS a > 1) NEAREST (1 TO HIGHEST a OVER 1 HOUR) PREDICT (x < 5)"
        )
        assert [type(one) for one in found.chain] == [MatchRecognize, Nearest]

    def test_several_sources(self) -> None:
        found = select('FROM s, "t t" WHERE x > 1 PREDICT (x < 5)')
        assert (found.source, found.further_sources) == ("s", ("t t",))
        assert found.source_span == Span(1, 33, 1)
        assert found.further_spans == (Span(1, 36, 5),)


@pytest.mark.parametrize(
    ("text", "column", "message", "advice"),
    [
        ("SUPPRESS (x TOLERANCE 1)", 35, "SUPPRESS without HEARTBEAT", "HEARTBEAT 30 SECONDS"),
        ("SUPPRESS (x HEARTBEAT 1 SECOND)", 35, "SUPPRESS without TOLERANCE", "TOLERANCE 0.5"),
        ("SUPPRESS (TOLERANCE 1 HEARTBEAT 1 SECOND)", 45, "SUPPRESS needs a dimension", "SUPPRESS (x, y TOLERANCE 1 HEARTBEAT 30 SECONDS)"),
        ("SUPPRESS (HEARTBEAT 1 SECOND TOLERANCE 1)", 45, "SUPPRESS needs a dimension", "list the columns to predict"),
        ("SUPPRESS (USING KALMAN 1, 1)", 45, "SUPPRESS needs a dimension", "list the columns to predict"),
        ("SUPPRESS ()", 45, "SUPPRESS needs a dimension", "list the columns to predict"),
        ("SUPPRESS (x, TOLERANCE 1)", 48, "a comma of SUPPRESS must be followed by a dimension, not by TOLERANCE", "then the options"),
        ("SUPPRESS (x 25 METERS)", 47, "expected FORGET, HEARTBEAT, TOLERANCE, USING, ')' or ','", "after the dimensions come"),
        ("SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 SECOND USING LINEAR)", 84, "expected CONSTANT", "write USING CONSTANT"),
        ("SUPPRESS (x TOLERANCE 1 TOLERANCE 2 HEARTBEAT 1 SECOND)", 59, "TOLERANCE appears here twice", "remove one"),
        ("SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 SECOND USING LEAST SQUARES 2.5)", 98, "takes an integer", "without"),
        ("PREDICT (t < 5 MAYBE)", 50, "found 'MAYBE'", "did you mean 'MAY'?"),
        ("PREDICT (t < 5, MUST)", 49, "found ','", "without commas"),
        ("PREDICT (t < 5 MAY MUST)", 54, "MAY and MUST contradict each other", "MAY or MUST or PROBABILITY"),
        ("PREDICT (t < 5 TENTATIVE VALIDATED)", 60, "contradict each other", "TENTATIVE or VALIDATED"),
        ("PREDICT (t < 5 BUFFER 1.5)", 57, "BUFFER takes an integer", "without"),
        ("SUPPRESS (x TOLERANCE HEARTBEAT 1 SECOND)", 57, "but found 'HEARTBEAT'", "TOLERANCE takes a number or a length"),
        ("SUPPRESS (x TOLERANCE 1 HEARTBEAT)", 68, "but found ')'", "HEARTBEAT takes a duration"),
        ("SUPPRESS (x USING LEAST SQUARES)", 66, "expected a number", "the number of samples to which the line is fitted: USING LEAST SQUARES 5"),
        ("SUPPRESS (x USING DOUBLE EXPONENTIAL 0.5)", 75, "expected ','", "the weights alpha and beta: USING DOUBLE EXPONENTIAL 0.5, 0.5"),
        ("SUPPRESS (x USING KALMAN)", 59, "expected a number", "KALMAN takes two numbers, the process noise q and the measurement noise r"),
        ("SUPPRESS (x USING KALMAN 1)", 61, "expected ','", "the measurement noise r: USING KALMAN 0.1, 1"),
        ("SUPPRESS (x USING KALMAN 1, y)", 63, "expected a number", "USING KALMAN 0.1, 1"),
        ("PREDICT (t < 5 PROBABILITY MAY)", 62, "expected '>='", "PROBABILITY >= 0.9"),
        ("PREDICT (t < 5 PROBABILITY >= MAY)", 65, "expected a number", "PROBABILITY >= 0.9"),
        ("PREDICT (t < 5 BUFFER MAY)", 57, "expected a number", "the number of updates to store: BUFFER 10000"),
        ("PREDICT (t < 5 BUFFER 9 GIVE UP RANDOM)", 73, "expected a number", "RANDOM takes a seed, any integer: GIVE UP RANDOM 7"),
        ("PREDICT (t < 5 GIVE UP ALL)", 58, "found 'ALL'", "write GIVE UP LEAST"),
        ("PREDICT (PAIRS a b WHERE a.t < 5)", 52, "expected WHERE or ','", "write PAIRS a, b WHERE"),
        ("PREDICT (pairs < 5)", 50, "found '<'", ""),
    ],
)  # fmt: skip
def test_an_error_says_where_what_and_what_to_do(text: str, column: int, message: str, advice: str) -> None:
    _, (error,) = parse(f"CREATE QUERY q AS SELECT * FROM s {text};")
    assert (error.code, error.span.column) == ("syntax", column)
    assert message in error.message
    assert advice in " ".join(error.advice)
