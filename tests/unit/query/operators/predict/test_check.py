"""SUPPRESS and PREDICT: every choice made, or every error at its place. Most errors are in `tests/golden/errors`."""

from __future__ import annotations

import pytest

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.question import Alias, Difference, Distance, Value
from headwater.kernels.suppress.choices import Predictor
from headwater.model import ColumnType, PlaceColumns, QueriesRefused, QueryError, StreamSchema
from headwater.query.build import script, stream
from headwater.query.checking.catalogue import CheckedQuery
from headwater.query.checking.check import check
from headwater.query.operators.contract import Demand
from headwater.query.operators.predict.build import predict
from headwater.query.operators.predict.check import pieces_of
from headwater.query.operators.predict.operator import PredictOperator
from headwater.query.operators.predict.plan import alias_columns, make_predict_query
from headwater.query.operators.suppress.build import suppress, suppressing
from headwater.query.operators.suppress.operator import SuppressOperator
from headwater.query.operators.suppress.plan import make_suppress_query

STREAMS = (
    "CREATE STREAM cars (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y BIGINT, note STRING, speed DOUBLE, PLACE (x, y)); "
    "CREATE STREAM rooms (room STRING KEY, at TIMESTAMP TIME, t DOUBLE, t_slope DOUBLE, h DOUBLE, h_slope DOUBLE, tolerance DOUBLE, "
    "heartbeat BIGINT); CREATE STREAM halls (hall STRING KEY, at TIMESTAMP TIME, t DOUBLE, t_slope DOUBLE, tolerance DOUBLE, heartbeat "
    "DOUBLE); CREATE STREAM alone (at TIMESTAMP TIME, t DOUBLE, t_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE);\n"
)  # fmt: skip
S, D, B, T = ColumnType.STRING, ColumnType.DOUBLE, ColumnType.BIGINT, ColumnType.TIMESTAMP
LE, LT, GE, GT, EQ, NE = Comparator
EMISSIONS = (("begins", T), ("ends", T), ("probability", D), ("withdrawn", ColumnType.BOOLEAN))
CAR_LINES = "SUPPRESS (x, y TOLERANCE 25 METERS HEARTBEAT 30 SECONDS)"


def queries(text: str) -> dict[str, CheckedQuery]:
    return dict(check(f"{STREAMS}CREATE QUERY q AS SELECT {text};").queries)


def schema_of(stream: str) -> StreamSchema:
    return check(f"{STREAMS}CREATE QUERY q AS SELECT * FROM {stream};").streams[stream].schema


def suppressed(inside: str, source: str = "cars") -> SuppressOperator:
    found = queries(f"* FROM {source} SUPPRESS ({inside})")["q"].operator
    assert isinstance(found, SuppressOperator)
    return found


def predicted(inside: str, source: str = "rooms", columns: str = "*") -> PredictOperator:
    found = queries(f"{columns} FROM {source} PREDICT ({inside})")["q"].operator
    assert isinstance(found, PredictOperator)
    return found


def refused(text: str) -> tuple[QueryError, ...]:
    with pytest.raises(QueriesRefused) as caught:
        queries(text)
    return caught.value.errors


class TestSuppress:
    def test_every_choice_is_made(self) -> None:
        found = suppressed("x, y TOLERANCE 25 METERS HEARTBEAT 0.5 MINUTES")
        assert found == SuppressOperator(("x", "y"), 25.0, 30_000_000, Predictor.SLOPE, ())

    def test_forget_is_a_time_or_never(self) -> None:
        assert suppressed("x TOLERANCE 1 HEARTBEAT 1 SECOND").forget_us is None
        assert suppressed("x TOLERANCE 1 HEARTBEAT 1 SECOND FORGET 2 HOURS").forget_us == 7_200_000_000

    def test_a_tolerance_is_a_number_or_a_length(self) -> None:
        assert suppressed("speed TOLERANCE 0 HEARTBEAT 1 SECOND").tolerance == 0.0
        assert suppressed("y TOLERANCE 0.5 KM HEARTBEAT 1 SECOND").tolerance == 500.0

    @pytest.mark.parametrize(
        ("text", "predictor", "parameters"),
        [
            ("CONSTANT", Predictor.CONSTANT, ()),
            ("LEAST SQUARES 2", Predictor.LEAST_SQUARES, (2.0,)),
            ("DOUBLE EXPONENTIAL 1, 0.001", Predictor.DOUBLE_EXPONENTIAL, (1.0, 0.001)),
            ("KALMAN 0.1, 2", Predictor.KALMAN, (0.1, 2.0)),
        ],
    )
    def test_predictors(self, text: str, predictor: Predictor, parameters: tuple[float, ...]) -> None:
        found = suppressed(f"x TOLERANCE 1 HEARTBEAT 1 SECOND USING {text}")
        assert (found.predictor, found.parameters) == (predictor, parameters)

    def test_an_update_has_its_columns_key_and_place(self) -> None:
        found = queries(f"* FROM cars {CAR_LINES}")["q"]
        assert found.answers == (
            ("id", S), ("x", D), ("y", D), ("x_slope", D), ("y_slope", D), ("tolerance", D), ("heartbeat", D), ("reason", S),
        )  # fmt: skip
        assert (found.schema.key, found.schema.place) == ("id", PlaceColumns("x", "y"))

    def test_a_stream_without_key_is_one_sensor(self) -> None:
        found = queries("* FROM alone SUPPRESS (t TOLERANCE 1 HEARTBEAT 1 SECOND)")["q"]
        assert found.answers[0] == ("t", D)
        assert found.schema.key is None

    def test_the_query_of_its_kernel(self) -> None:
        checked = suppressed("x TOLERANCE 1 HEARTBEAT 1 SECOND USING KALMAN 1, 2")
        made = make_suppress_query(checked, name="q", fingerprint="f", shape=3, where=1)
        assert (made.name, made.fingerprint, made.shape, made.where) == ("q", "f", 3, 1)
        assert (made.dimensions, made.tolerance, made.heartbeat_us) == (("x",), 1.0, 1_000_000)
        assert (made.predictor, made.parameters) == (Predictor.KALMAN, (1.0, 2.0))

    def test_which_columns_it_looks_at(self) -> None:
        checked = suppressed("x TOLERANCE 1 HEARTBEAT 1 SECOND")
        (demand,) = checked.demands(schema_of("cars"), ("cars",), None)
        assert demand == Demand(None, frozenset({"x"}))


class TestConditions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("t < 50", [(LT, 50.0)]),
            ("50 > t", [(LT, 50.0)]),
            ("5 <= t", [(GE, 5.0)]),
            ("t = 1 + 2 * 2", [(EQ, 5.0)]),
            ("-1 <> t", [(NE, -1.0)]),
            ("t BETWEEN -1 AND 2", [(GE, -1.0), (LE, 2.0)]),
            ("t > 1 AND (t < 2 AND t <> 1.5)", [(GT, 1.0), (LT, 2.0), (NE, 1.5)]),
        ],
    )
    def test_on_single_updates(self, text: str, expected: list[tuple[Comparator, float]]) -> None:
        found = predicted(text)
        assert found.conditions == tuple(Value(0, 0, *pair) for pair in expected)
        assert (found.aliases, found.sources, found.dimensions) == (("",), (None,), (("t",),))
        assert not found.pairs

    def test_dimensions_are_counted_in_the_order_of_use(self) -> None:
        found = predicted("h < 1 AND t < 2 AND h > 0")
        assert found.dimensions == (("h", "t"),)
        assert [condition.dimension for condition in found.conditions] == [0, 1, 0]

    def test_pairs_of_one_stream(self) -> None:
        found = predicted(
            "PAIRS a, b WHERE ABS(a.t - b.h) <= 5 AND b.t < 9 AND 3 > ABS(b.h - a.h) WITHIN 3 SECONDS"
        )
        assert found.dimensions == (("t", "h"),)
        assert found.conditions == (
            Difference(0, 0, 1, 1, LE, 5.0),
            Value(1, 0, LT, 9.0),
            Difference(1, 1, 0, 1, LT, 3.0),
        )
        assert (found.aliases, found.sources, found.within_us) == (("a", "b"), (None, None), 3_000_000)

    def test_a_difference_between_two_bounds(self) -> None:
        found = predicted("PAIRS a, b WHERE ABS(a.t - b.t) BETWEEN 2 AND 5 WITHIN 0 SECONDS")
        assert found.conditions == (Difference(0, 0, 1, 0, GE, 2.0), Difference(0, 0, 1, 0, LE, 5.0))

    def test_a_distance_is_over_all_dimensions(self) -> None:
        found = predicted("PAIRS a, b WHERE b.h > 1 AND DISTANCE(b, a) < 5 WITHIN 0 SECONDS")
        assert found.dimensions == (("t", "h"),)
        assert found.conditions == (Value(1, 1, GT, 1.0), Distance(1, 0, True, 5.0))

    def test_meters_in_a_plane(self) -> None:
        text = f"* FROM cars {CAR_LINES} PREDICT (PAIRS a, b WHERE DISTANCE(a, b) <= 1 KM AND a.x < 5 METERS WITHIN 1 SECOND)"
        found = queries(text)["q"].operator
        assert found is not None
        assert found.conditions == (Distance(0, 1, False, 1000.0), Value(0, 0, LT, 5.0))

    def test_several_sources(self) -> None:
        found = predicted("PAIRS a, b WHERE ABS(a.h - b.t) = 5 AND a.t < 1 WITHIN 1 SECOND", "rooms, halls")
        assert (found.sources, found.dimensions) == ((0, 1), (("h", "t"), ("t",)))
        assert found.conditions == (Difference(0, 0, 1, 0, EQ, 5.0), Value(0, 1, LT, 1.0))

    def test_three_aliases_of_one_stream(self) -> None:
        found = predicted(
            "PAIRS a, b, c WHERE ABS(a.t - c.t) < 1 AND ABS(c.t - b.t) < 1 WITHIN 1 SECOND", "halls"
        )
        assert found.sources == (None, None, None)

    @pytest.mark.parametrize(
        ("text", "pieces"),
        [("<= 1", 1), ("< 1", 1), (">= 1", 2), ("> 0", 2), ("= 1", 2), ("= 0", 1), ("<> 1", 3), ("<> 0", 2)],
    )
    def test_pieces_of_a_difference(self, text: str, pieces: int) -> None:
        (condition,) = predicted(f"PAIRS a, b WHERE ABS(a.t - b.t) {text} WITHIN 1 SECOND").conditions
        assert pieces_of(condition) == pieces

    def test_pieces_of_a_value(self) -> None:
        conditions = predicted("t <> 0 AND t = 1 AND t > 3").conditions
        assert list(map(pieces_of, conditions)) == [2, 1, 1]

    def test_sixty_four_pieces_are_not_too_many(self) -> None:
        six = " AND ".join(["ABS(a.t - b.t) >= 1"] * 6)
        predicted(f"PAIRS a, b WHERE {six} WITHIN 1 SECOND")
        (error,) = refused(
            f"* FROM rooms PREDICT (PAIRS a, b WHERE {six} AND a.t <> 1 AND b.t < 1 WITHIN 1 SECOND)"
        )
        assert (error.code, error.message) == (
            "predict-too-large",
            "the condition is split into 128 pieces",
        )


class TestOptions:
    def test_the_defaults(self) -> None:
        found = predicted("t < 1")
        assert (found.certainty, found.tentative) == (Certainty.LINE, False)
        assert (found.ahead_us, found.every_us) == (None, None)
        assert (found.buffer, found.give_up, found.within_us, found.polygon) == (None, GiveUp.LEAST, 0, False)

    def test_every_option(self) -> None:
        found = predicted("t < 1 PROBABILITY >= 1 TENTATIVE AHEAD 0 SECONDS BUFFER 1 GIVE UP RANDOM 7")
        assert (found.certainty, found.p) == (Certainty.PROBABILITY, 1.0)
        assert (found.tentative, found.ahead_us) == (True, 0)
        assert (found.buffer, found.give_up, found.seed) == (1, GiveUp.RANDOM, 7)

    @pytest.mark.parametrize("text", ["EVERY 2 SECONDS", "VALIDATED EVERY 2 SECONDS"])
    def test_every(self, text: str) -> None:
        found = predicted(f"t < 1 MUST {text}")
        assert (found.certainty, found.tentative, found.every_us) == (Certainty.MUST, False, 2_000_000)

    def test_one_dimension_may_have_any_comparator_with_a_probability(self) -> None:
        predicted("PAIRS a, b WHERE ABS(a.t - b.t) >= 5 WITHIN 1 SECOND PROBABILITY >= 0.5")
        predicted(
            "PAIRS a, b, c WHERE ABS(a.t - b.t) >= 5 AND ABS(b.t - c.t) <> 5 WITHIN 1 SECOND PROBABILITY >= 0.5"
        )


class TestAnswers:
    def test_of_single_updates(self) -> None:
        found = queries("* FROM rooms PREDICT (t < 1)")["q"]
        assert found.answers == (("key", S), ("update_time", T), *EMISSIONS)
        assert [name for name, _, _ in found.selected] == [name for name, _ in found.answers]
        assert found.schema.key == "key"

    def test_of_single_updates_without_key(self) -> None:
        assert queries("* FROM alone PREDICT (t < 1)")["q"].answers == (("update_time", T), *EMISSIONS)

    def test_of_pairs(self) -> None:
        found = queries("* FROM rooms PREDICT (PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND)")["q"]
        assert found.answers == (("a_key", S), ("a_time", T), ("b_key", S), ("b_time", T), *EMISSIONS)
        assert found.schema.key is None

    def test_a_key_is_one_under_its_own_name(self) -> None:
        found = queries(
            "a_key AS room FROM rooms PREDICT (PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND)"
        )["q"]
        assert found.schema.key == "room"

    def test_a_polygon_is_emitted_on_request(self) -> None:
        inside = "PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND"
        found = queries(f"a_key, LENGTH(polygon) AS n FROM rooms PREDICT ({inside})")["q"]
        assert found.answers[-1] == ("polygon", S)
        assert found.operator is not None and found.operator.polygon
        assert not predicted(inside).polygon

    def test_the_query_of_its_kernel(self) -> None:
        checked = predicted("PAIRS a, b WHERE ABS(a.h - b.t) = 5 AND a.t < 1 WITHIN 1 SECOND", "rooms, halls")
        made = make_predict_query(checked, name="q", fingerprint="f", shape=3, where=None, share=(1, 4))
        assert (made.name, made.conditions, made.share) == ("q", checked.conditions, (1, 4))
        assert made.aliases == alias_columns(checked)
        assert made.aliases == (
            Alias("a", 0, ("0.h", "0.t"), ("0.h_slope", "0.t_slope"), "0.tolerance", "0.heartbeat"),
            Alias("b", 1, ("1.t",), ("1.t_slope",), "1.tolerance", "1.heartbeat"),
        )
        sources = ("rooms", "halls")
        halls, rooms = (
            {column for demand in checked.demands(stream, sources, None) for column in demand.columns or ()}
            for stream in (schema_of("halls"), schema_of("rooms"))
        )
        assert halls == {"t", "t_slope", "tolerance", "heartbeat"}
        assert rooms == {"h", "h_slope", "t", "t_slope", "tolerance", "heartbeat"}

    def test_where_one_stream_is_read_columns_have_their_own_names(self) -> None:
        (alias,) = alias_columns(predicted("t < 1"))
        assert alias == Alias("", None, ("t",), ("t_slope",), "tolerance", "heartbeat")


class TestChains:
    def test_a_chain_is_a_hidden_query_and_one_that_reads_it(self) -> None:
        found = queries(f"* FROM cars WHERE speed > 1 {CAR_LINES} PREDICT (x < 1)")
        assert list(found) == ["q/SUPPRESS", "q"]
        assert [query.tree.hidden for query in found.values()] == [True, False]
        assert found["q/SUPPRESS"].where is not None and found["q"].where is None
        assert (found["q"].reads, found["q"].further_reads) == ("q/SUPPRESS", ())

    def test_each_source_has_its_own(self) -> None:
        text = "* FROM rooms, halls SUPPRESS (t TOLERANCE 1 HEARTBEAT 1 SECOND) PREDICT (PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND)"
        found = queries(text)
        assert list(found) == ["q/SUPPRESS 1", "q/SUPPRESS 2", "q"]
        assert found["q"].further_reads == ("q/SUPPRESS 2",)

    def test_an_error_before_several_sources_is_reported_once(self) -> None:
        text = "* FROM rooms, halls SUPPRESS (t TOLERANCE -1 HEARTBEAT 0 SECONDS) PREDICT (PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND)"
        assert [error.code for error in refused(text)] == ["negative-tolerance", "negative-duration"]

    def test_a_broken_suppress_is_not_held_against_predict(self) -> None:
        text = "* FROM cars SUPPRESS (z TOLERANCE 1 HEARTBEAT 1 SECOND) PREDICT (z < 1 BUFFER 0)"
        assert [error.code for error in refused(text)] == ["unknown-column", "not-a-count"]

    @pytest.mark.parametrize(
        ("chain", "advice"),
        [
            (f"{CAR_LINES} {CAR_LINES}", "one SUPPRESS lists all dimensions that are sent together; for another tolerance write a second query that reads 'cars' too"),
            ("PREDICT (x < 1) PREDICT (y < 1)", "put both conditions into one PREDICT, joined by AND, or write a query for each that reads 'cars'"),
            (f"PREDICT (x < 1) {CAR_LINES}", "swap them: SUPPRESS emits the lines that PREDICT reads"),
            (f"{CAR_LINES} NEAREST (1 TO HIGHEST x OVER 1 HOUR)", "write two queries: the one with NEAREST reads the one with SUPPRESS"),
        ],
    )  # fmt: skip
    def test_operators_in_another_order_are_refused_with_what_to_write_instead(
        self, chain: str, advice: str
    ) -> None:
        (error,) = refused(f"* FROM cars {chain}")
        assert error.code == "wrong-chain"
        assert error.advice[1] == advice

    def test_a_circle_is_reported_without_the_steps_of_chains(self) -> None:
        (error,) = refused("* FROM q SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 SECOND) PREDICT (x < 1)")
        assert error.message.endswith("'q' reads 'q'")

    def test_a_circle_through_a_further_source(self) -> None:
        with pytest.raises(QueriesRefused) as caught:
            check(
                f"{STREAMS}CREATE QUERY p AS SELECT * FROM q; "
                "CREATE QUERY q AS SELECT * FROM rooms, p PREDICT (PAIRS a, b WHERE ABS(a.t - b.t) < 1 WITHIN 1 SECOND);"
            )
        assert [error.code for error in caught.value.errors] == ["cyclic-query"]

    def test_steps_of_chains_are_not_offered_as_streams(self) -> None:
        with pytest.raises(QueriesRefused) as caught:
            check(
                f"{STREAMS}CREATE QUERY p AS SELECT * FROM cars {CAR_LINES} PREDICT (x < 1); CREATE QUERY q AS SELECT * FROM pp;"
            )
        (error,) = caught.value.errors
        assert error.advice[0] == "known streams: alone, cars, halls, p, rooms"

    def test_updates_that_somebody_wrote_are_read_again(self) -> None:
        built = script(
            stream("cars", {"id": "STRING", "at": "TIMESTAMP", "x": "DOUBLE"}, time="at", key="id"),
            suppress("updates", "cars", "x", tolerance=1, heartbeat="1 MINUTE"),
            predict("q", "updates", "x < 5"),
            predict("p", "cars", "x < 5", suppress=suppressing("x", tolerance=1, heartbeat="1 MINUTE")),
        )
        found = check(built).queries
        assert found["q"].operator == found["p"].operator
        assert found["updates"].operator == found["p/SUPPRESS"].operator


@pytest.mark.parametrize(
    ("items", "reads"),
    [
        ("*", {"key", "update_time", "begins", "ends", "probability", "withdrawn"}),
        ("begins, ends", {"begins", "ends"}),
        ("probability AS p", {"probability"}),
        ("1 - probability AS doubt, key", {"probability", "key"}),
        ("event_time AS begins", {"event_time"}),
    ],
)
def test_columns_are_worked_out_only_for_those_who_read_them(items: str, reads: set[str]) -> None:
    catalogue = check(f"{STREAMS}CREATE QUERY q AS SELECT {items} FROM cars {CAR_LINES} PREDICT (x < 5);")
    checked = catalogue.queries["q"].operator
    assert checked is not None and checked.reads == reads
