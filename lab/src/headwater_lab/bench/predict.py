"""`headwater bench predict`: SUPPRESS and PREDICT in the setting of the paper, alone on one core and on Spark streaming.

(a)  1,000 objects in 10 km² for 180 s, which the paper took 70 s of processing for: PREDICT on one core, one row an interval and,
     as the paper has it, one for every second. All columns are selected (SELECT *), all but the probability, which the paper does not have, and
     those that the paper's answers have: the pair of objects (SELECT a_key, b_key), with the time and the match_id of every row.
(b)  What an update costs, against the number of objects at the same density: 10 and 100 objects a km². Updates are handed over 5 s of
     the stream at a time: more objects make larger steps, as they make larger micro-batches.
(c)  100,000 objects at 10 a km², each with a reading every 3 s, through SUPPRESS and PREDICT on Spark streaming, beside the no-op
     ceiling. Real time is 33,333 readings a second.

No figure counts before its answers are checked: those about a few objects of every run against what follows from all updates, all answers of
Spark against those of the plain loop.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from headwater.apps.text_columns import aligned
from headwater.model import SECOND, Rows
from headwater_lab.bench.checks import Report
from headwater_lab.bench.measuring import BenchOptions, Say
from headwater_lab.bench.predict_kernel import (
    Answered,
    PredictQuestion,
    Readings,
    Sending,
    Sent,
    answer,
    send,
)
from headwater_lab.bench.predict_streaming import measure_streaming
from headwater_lab.bench.predict_truth import Collected, Digest, wrong_sensors
from headwater_lab.workloads.moving_objects import Motion, make_movers, side_for

NEAR_M: Final = 400.0
WITHIN_US: Final = 3 * SECOND
SAMPLE_US: Final = 3 * SECOND
SENDING: Final = Sending(25.0, 30 * SECOND)
PAPER_OBJECTS: Final = 1_000
PAPER_SECONDS: Final = 180
PAPER_PROCESSING_S: Final = 70.0
FASTER: Final = 100.0
PAIR: Final = frozenset(("a_key", "b_key"))
NOT_PROBABILITY: Final = PAIR | {"a_time", "b_time", "begins", "ends", "withdrawn"}
BESIDE_PAPER: Final[tuple[tuple[str, int | None, frozenset[str] | None], ...]] = (
    ("intervals", None, None),
    ("intervals without probability", None, NOT_PROBABILITY),
    ("a row every second", SECOND, None),
    ("a row every second without probability", SECOND, NOT_PROBABILITY),
    ("a row every second, SELECT a_key, b_key", SECOND, PAIR),
)
COUNTS: Final[Mapping[float, tuple[int, ...]]] = {
    10.0: (1_000, 3_000, 10_000, 30_000, 100_000),
    100.0: (1_000, 3_000, 10_000, 20_000),
}
CURVE_SECONDS: Final = 30
CURVE_STEP_US: Final = 5 * SECOND
COST_GROWTH: Final = 1.5
SAMPLE: Final = 3
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all cases share."""

    options: BenchOptions
    report: Report
    say: Say


def run_predict(options: BenchOptions, *, say: Say = lambda line: print(line, file=sys.stderr)) -> Report:
    """Run the chosen cases."""
    bench = _Bench(options, Report(), say)
    say("loading compiled code")
    _warm_up(options.seed)
    if "a" in options.cases:
        _beside_paper(bench)
    if "b" in options.cases:
        for density, counts in COUNTS.items():
            _cost_curve(bench, density, counts)
    if "c" in options.cases:
        measure_streaming(options, bench.report, say)
    return bench.report


def _beside_paper(bench: _Bench) -> None:
    sent = _sent(PAPER_OBJECTS, PAPER_SECONDS, 100.0, seed=bench.options.seed)
    bench.say(f"(a) {PAPER_OBJECTS:,} objects, {sent.count:,} updates")
    notes = []
    for words, every_us, reads in BESIDE_PAPER:
        question = PredictQuestion(NEAR_M, WITHIN_US, every_us=every_us, reads=reads)
        answered = _checked(bench, f"(a) {words}", sent, question)
        bench.report.judge(
            f"a: processing of the paper over ours, {words}",
            PAPER_PROCESSING_S / answered.seconds,
            "times",
            ">=",
            FASTER,
        )
        notes.append(
            f"    {words}: {answered.seconds:.3f} s for {answered.rows:,} rows, {answered.seconds / sent.count * 1e6:.1f} µs an update, "
            f"{answered.seconds / answered.rows * 1e9:.0f} ns a row; the paper {PAPER_PROCESSING_S:.0f} s"
        )
    bench.report.notes += [
        f"(a) {PAPER_OBJECTS:,} objects in 10 km² for {PAPER_SECONDS} s: {sent.count:,} updates, {sent.seconds:.3f} s for the sensors, one core",
        *notes,
    ]


def _cost_curve(bench: _Bench, density: float, counts: tuple[int, ...]) -> None:
    cells: list[tuple[str, ...]] = [
        ("objects", "updates", "answers", "an update", "µs an update", "ns an answer")
    ]
    costs = []
    for count in counts:
        bench.say(f"(b) {count:,} objects, {density:g} a km²")
        sent = _sent(count, CURVE_SECONDS, density, seed=bench.options.seed)
        words = f"(b) {count:,} objects, {density:g} a km²"
        question = PredictQuestion(NEAR_M, WITHIN_US)
        answered = _checked(bench, words, sent, question, step_us=CURVE_STEP_US)
        costs.append(answered.seconds / sent.count * 1e6)
        cells.append(
            (
                f"{count:,}",
                f"{sent.count:,}",
                f"{answered.rows:,}",
                f"{answered.rows / sent.count:.1f}",
                f"{costs[-1]:.2f}",
                f"{answered.seconds / max(answered.rows, 1) * 1e9:.0f}",
            )
        )
    bench.report.judge(
        f"b: cost of an update, {counts[-1]:,} objects over {counts[0]:,}, {density:g} a km²",
        costs[-1] / costs[0],
        "ratio",
        "<=",
        COST_GROWTH,
    )
    bench.report.notes += [
        f"(b) {density:g} objects a km², {CURVE_SECONDS} s in steps of {CURVE_STEP_US // SECOND} s, one core; answers an update",
        *(f"    {line}" for line in aligned(cells)),
    ]


def _checked(
    bench: _Bench, words: str, sent: Sent, question: PredictQuestion, *, step_us: int | None = None
) -> Answered:
    """The fastest of some runs; the answers about a few objects are checked in the first.

    If not all columns are selected, they are checked in a run with all of them, and every row of the first must be among its rows.
    """
    objects = np.unique(sent.rows["id"].values)
    random = np.random.default_rng(bench.options.seed)
    collected = Collected.about(sorted(random.choice(objects, SAMPLE, replace=False).tolist()))
    whole, digest = Digest.of(question.reads), Digest.of(question.reads)

    def take(rows: Rows) -> None:
        collected.take(rows)
        whole.take(rows)

    if question.reads is not None:
        answer(sent, replace(question, reads=None), take, step_us=step_us)
    first = take if question.reads is None else digest.take
    runs = [
        answer(sent, question, first if not number else lambda _: None, step_us=step_us)
        for number in range(TRIES)
    ]
    bench.report.check(
        question.reads is None or digest == whole,
        f"{words}: rows are others than where all columns are selected",
    )
    wrong = wrong_sensors(collected, sent, question)
    bench.report.check(
        not wrong,
        f"{words}: what is answered about object {wrong[0] if wrong else ''} does not follow from the updates",
    )
    bench.report.check(
        bool(collected.intervals), f"{words}: nothing is answered about {sorted(collected.sensors)}"
    )
    return min(runs, key=lambda run: run.seconds)


def _sent(count: int, seconds: int, density: float, *, seed: int) -> Sent:
    samples = make_movers(count, seconds, seed=seed, motion=Motion(side_m=side_for(count, density))).samples(
        SAMPLE_US
    )
    return send(Readings(("x", "y"), samples.key, samples.at, samples.place), SENDING)


def _warm_up(seed: int) -> None:
    sent = _sent(100, 30, 100.0, seed=seed)
    for _, every_us, reads in BESIDE_PAPER:
        answer(sent, PredictQuestion(NEAR_M, WITHIN_US, every_us=every_us, reads=reads), lambda _: None)
