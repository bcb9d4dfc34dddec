"""The benchmark of PREDICT: what follows from updates is worked out right, and wrong answers are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest

from headwater.hosts.local.streaming import stream_local
from headwater.model import SECOND, Column, ColumnType, Rows
from headwater.query.planning.plan import compile_text
from headwater_lab.bench import predict
from headwater_lab.bench.measuring import BenchOptions
from headwater_lab.bench.predict_kernel import PredictQuestion, Readings, Sending, Sent, answer, send
from headwater_lab.bench.predict_streaming import QUERY_TEXT, write_samples
from headwater_lab.bench.predict_truth import Collected, Digest, lines_of, wrong_sensors
from headwater_lab.workloads.moving_objects import make_movers

QUESTION = PredictQuestion(400.0, 3 * SECOND)


def sent_by(objects: int, seconds: int, *, seed: int = 3) -> Sent:
    samples = make_movers(objects, seconds, seed=seed).samples(3 * SECOND)
    return send(Readings(("x", "y"), samples.key, samples.at, samples.place), Sending(25.0, 30 * SECOND))


def numbers(values: list[float]) -> Column:
    return Column(ColumnType.DOUBLE, np.array(values))


def two_lines(first: tuple[float, float], second: tuple[float, float]) -> Sent:
    """Lines of sensors 0 and 1 from time 0 on, in one dimension, for a hundred seconds."""
    rows = Rows.of(
        {
            "id": Column(ColumnType.BIGINT, np.array([0, 1])),
            "event_time": Column(ColumnType.TIMESTAMP, np.array([0, 0])),
            "v": numbers([first[0], second[0]]),
            "v_slope": numbers([first[1], second[1]]),
            "tolerance": numbers([0.0, 0.0]),
            "heartbeat": numbers([100.0, 100.0]),
        }
    )
    return Sent(("v",), rows, 0.0)


def collected_as(begins_s: float, ends_s: float) -> Collected:
    return Collected(frozenset({0}), {(0, 0, 1, 0): (begins_s * SECOND, ends_s * SECOND)})


def test_the_example_of_the_paper_begins_at_1() -> None:
    # f_1 = t and f_2 = 2 t - 3, K = 1, w = 4: at 0 sensor 1 is not yet where it will match. The last match is t_2 = 12, t_1 = 8 or so:
    # 2 t_2 - 3 - t_1 <= 1 with t_1 <= t_2 + 4, so t_1 = 12 at most and t_2 = 8.
    example = two_lines((0.0, 1.0), (-3.0, 2.0))
    question = PredictQuestion(1.0, 4 * SECOND)
    assert wrong_sensors(collected_as(1.0, 12.0), example, question) == []
    for begins, ends in ((0.0, 12.0), (1.0, 12.001), (1.5, 12.0)):
        assert wrong_sensors(collected_as(begins, ends), example, question) == [0]
    assert wrong_sensors(Collected.about([0]), example, question) == [0]


def test_an_answer_that_is_never_true_is_wrong() -> None:
    apart = two_lines((0.0, 1.0), (500.0, 1.0))
    assert wrong_sensors(Collected.about([0]), apart, PredictQuestion(1.0, SECOND)) == []
    assert wrong_sensors(collected_as(0.0, 1.0), apart, PredictQuestion(1.0, SECOND)) == [0]


def test_a_line_lives_until_the_next_one_or_its_heartbeat() -> None:
    lines = lines_of(sent_by(20, 60))
    for key in range(20):
        at, end = lines.at[lines.key == key], lines.end[lines.key == key]
        assert (end[:-1] <= at[1:]).all() and (end - at <= 30 * SECOND).all()
        assert end[-1] == at[-1] + 30 * SECOND


def test_the_kernel_emits_what_follows() -> None:
    sent, collected = sent_by(60, 60), Collected.about([3, 17, 42])
    answered = answer(sent, QUESTION, collected.take)
    assert len(collected.intervals) > 50 and answered.rows > 500
    assert wrong_sensors(collected, sent, QUESTION) == []


@pytest.mark.parametrize("change", ["left out", "too long", "made up"])
def test_one_wrong_answer_is_noticed(change: str) -> None:
    sent, collected = sent_by(60, 60), Collected.about([17])
    answer(sent, QUESTION, collected.take)
    pair = next(iter(collected.intervals))
    if change == "left out":
        del collected.intervals[pair]
    elif change == "too long":
        begins, ends = collected.intervals[pair]
        collected.intervals[pair] = begins, ends + 1_000
    else:
        collected.intervals[17, 1, 18, 1] = 1.0, 2.0
    assert wrong_sensors(collected, sent, QUESTION) == [17]


def test_rows_of_every_second_end_as_the_interval_does() -> None:
    sent, collected = sent_by(60, 60), Collected.about([17])
    question = replace(QUESTION, every_us=SECOND)
    assert answer(sent, question, collected.take).rows > answer(sent, QUESTION, lambda _: None).rows
    assert wrong_sensors(collected, sent, question) == []


@pytest.fixture
def tiny(monkeypatch):
    for name, size in {"PAPER_OBJECTS": 50, "PAPER_SECONDS": 30, "CURVE_SECONDS": 20, "TRIES": 1}.items():
        monkeypatch.setattr(predict, name, size)
    monkeypatch.setattr(predict, "COUNTS", {10.0: (100, 200), 100.0: (50,)})


def test_cases_a_and_b_are_measured_and_checked(tiny) -> None:
    said: list[str] = []
    report = predict.run_predict(BenchOptions(100_000, cases=("a", "b")), say=said.append)
    assert report.failures == []
    assert [(figure.name, figure.required) for figure in report.figures] == [
        ("a: processing of the paper over ours, intervals", ">= 100"),
        ("a: processing of the paper over ours, intervals without probability", ">= 100"),
        ("a: processing of the paper over ours, a row every second", ">= 100"),
        ("a: processing of the paper over ours, a row every second without probability", ">= 100"),
        ("a: processing of the paper over ours, a row every second, SELECT a_key, b_key", ">= 100"),
        ("b: cost of an update, 200 objects over 100, 10 a km²", "<= 1.5"),
        ("b: cost of an update, 50 objects over 50, 100 a km²", "<= 1.5"),
    ]
    assert said[0] == "loading compiled code" and "(b) 200 objects, 10 a km²" in said
    lines = [line.split() for line in report.notes if line.startswith("    ")]
    assert [line[0] for line in lines if line[0] in ("100", "200")] == ["100", "200"]


def test_rows_with_fewer_columns_that_are_others_fail_the_benchmark(tiny, monkeypatch) -> None:
    monkeypatch.setattr(predict.Digest, "__eq__", lambda *_: False)
    report = predict.run_predict(BenchOptions(100_000, cases=("a",)), say=lambda line: None)
    assert report.failures == [
        f"(a) {words}: rows are others than where all columns are selected"
        for words, _, reads in predict.BESIDE_PAPER
        if reads is not None
    ]


def test_a_digest_tells_other_rows_apart() -> None:
    sent = sent_by(60, 60)
    collected = [Digest.of(["a_key", "b_key"]) for _ in range(3)]
    for digest, question in zip(collected, (QUESTION, QUESTION, replace(QUESTION, bound=399.0)), strict=True):
        answer(sent, question, digest.take)
    assert collected[0] == collected[1] != collected[2]


def test_wrong_answers_fail_the_benchmark(tiny, monkeypatch) -> None:
    monkeypatch.setattr(predict, "wrong_sensors", lambda *_: [4])
    report = predict.run_predict(BenchOptions(100_000, cases=("a",)), say=lambda line: None)
    assert (
        report.failures[0]
        == "(a) intervals: what is answered about object 4 does not follow from the updates"
    )


def test_the_query_on_spark_is_the_one_that_is_checked(tmp_path) -> None:
    """In the plain loop, from files out of order: what it tells about a few objects follows from the updates in order."""
    samples = make_movers(60, 60, seed=3).samples(3 * SECOND)
    files = write_samples(samples, tmp_path / "samples", 4, seed=3)
    assert sum(pq.ParquetFile(file).metadata.num_rows for file in files) == len(samples)
    collected = Collected.about([3, 17])
    for step in stream_local(compile_text(QUERY_TEXT, zones=1), [("movers", str(file)) for file in files]):
        for rows in step.answers:
            collected.take(rows)
    assert len(collected.intervals) > 30
    assert wrong_sensors(collected, sent_by(60, 60), QUESTION) == []
