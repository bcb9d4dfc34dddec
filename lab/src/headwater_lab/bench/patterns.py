"""`headwater bench patterns`: MATCH_RECOGNIZE on Spark streaming, beside the no-op ceiling and Flink's.

Everything is measured in one run on one machine and judged by ratios, and no figure counts before its answers are checked:
those of the plain loop against what is worked out from the rows, those of Spark against those of the plain loop, those of
Flink against what is worked out. Every rate is the better of two runs, ours as well as theirs, after runs that warm up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from headwater.hosts.spark.session import start_spark, stop_spark
from headwater.query.planning.plan import compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.ceiling import idle
from headwater_lab.bench.checks import Report, Taken, plain_answers
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.flink import FlinkError
from headwater_lab.bench.flink_patterns import run_flink_patterns
from headwater_lab.bench.measuring import BenchOptions, Say, better, folder_for, milliseconds
from headwater_lab.bench.pattern_events import Events, make_events, write_events
from headwater_lab.bench.pattern_kernel import kernel_rate
from headwater_lab.bench.pattern_latency import EVENTS_PER_SECOND, measure_latency
from headwater_lab.bench.pattern_questions import (
    BANDS,
    PATTERNS_AT_ONCE,
    RISE,
    PatternQuestion,
    many_bands,
    script,
)
from headwater_lab.bench.pattern_truth import Matches, emitted, expected, together
from headwater_lab.bench.streaming import Timing, run_timed
from headwater_lab.bench.truth import identity_digest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES: Final = 20
WARM_UP_ROWS: Final = 300_000
WARM_UP_FILES: Final = 120
KERNEL_ROWS: Final = 1_000_000
LATENCY_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Case:
    """One of the questions of the benchmark, and how many times Flink's rate is required (None: Flink is left out)."""

    title: str
    make: Callable[[int], list[PatternQuestion]]
    over_flink: float | None


CASES: Final[Mapping[str, Case]] = {
    "a": Case("A B+ C within 6 seconds, conditions on values", lambda seed: [BANDS], 3.0),
    "b": Case("the same with PREV and an average in its conditions", lambda seed: [RISE], 1.0),
    "c": Case(f"{PATTERNS_AT_ONCE} patterns at once", lambda seed: list(many_bands(seed=seed)), None),
}


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all cases share."""

    options: BenchOptions
    spark: SparkSession
    events: Events
    files: Sequence[Path]
    warm_up: Sequence[Path]
    report: Report
    say: Say


def run_patterns(options: BenchOptions, say: Say = lambda line: print(line, file=sys.stderr)) -> Report:
    """Run the chosen cases."""
    report = Report()
    _judge_kernel(report, options, say)
    with folder_for(options.keep) as folder:
        say(f"making {options.rows:,} events")
        events = make_events(options.rows, seed=options.seed)
        files = write_events(events, folder / "events", FILES)
        small = make_events(WARM_UP_ROWS, seed=options.seed + 1)
        warm_up = write_events(small, folder / "warm-up", WARM_UP_FILES)
        say(f"starting Spark on {options.cores} cores")
        spark = start_spark(cores=options.cores)
        try:
            bench = _Bench(options, spark, events, files, warm_up, report, say)
            timings = {letter: _measure(bench, letter) for letter in options.cases}
            if "a" in timings and "c" in timings:
                cost = timings["a"].rate / timings["c"].rate
                report.judge(
                    f"c: cost of a row, {PATTERNS_AT_ONCE} patterns over one", cost, "ratio", "<=", 10.0
                )
            _judge_latency(bench)
        finally:
            stop_spark(spark)
    return report


def _judge_kernel(report: Report, options: BenchOptions, say: Say) -> None:
    say("the kernel alone")
    events = make_events(KERNEL_ROWS, seed=options.seed)
    for letter in options.cases:
        questions = CASES[letter].make(options.seed)
        rate, matches = kernel_rate(questions, events)
        if letter == "a":
            report.judge("a: the kernel alone, on one core", rate, "events/s", ">=", 4_000_000.0)
        report.notes.append(
            f"({letter}) the kernel alone: {spoken(rate)} events a second of processor time, {matches:,} matches in "
            f"{KERNEL_ROWS:,} events"
        )


def _measure(bench: _Bench, letter: str) -> Timing:
    case = CASES[letter]
    questions = case.make(bench.options.seed)
    bench.say(f"({letter}) {case.title}: compiling")
    plan = compile_text(script(questions), zones=default_zones(bench.options.cores))
    for warming in (idle(plan), plan):
        run_timed(bench.spark, warming, bench.warm_up)
    bench.say(f"({letter}) the no-op ceiling")
    ceiling, _ = better(run_timed, bench.spark, idle(plan), bench.files)
    bench.say(f"({letter}) the answers")
    timing, taken = better(run_timed, bench.spark, plan, bench.files)
    bench.say(f"({letter}) checking {taken.count:,} answers")
    must = {question.name: expected(bench.events, question) for question in questions}
    _check(bench, letter, questions, must, taken)
    if letter == "a":
        bench.report.judge("a: rate over the no-op ceiling", timing.rate / ceiling.rate, "ratio", ">=", 0.5)
    bench.report.notes += [
        f"({letter}) {case.title}: {taken.count / len(bench.events):.3f} matches an event",
        f"    {spoken(timing.rate)} events/s beside {spoken(ceiling.rate)} without a kernel in micro-batches of "
        f"{spoken(np.median(timing.rows))} events, the first left out;",
        f"    with the first and the last flush {spoken(timing.rate_of_all)} beside {spoken(ceiling.rate_of_all)}",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
    ]
    if case.over_flink is not None:
        _beside_flink(bench, letter, questions[0], timing, case.over_flink)
    return timing


def _check(
    bench: _Bench,
    letter: str,
    questions: Sequence[PatternQuestion],
    must: Mapping[str, Matches],
    taken: Taken,
) -> None:
    """Spark's answers are those of the plain loop, and these follow from the rows."""
    blocks = plain_answers(script(questions), bench.files)
    plain = emitted(bench.events.names, blocks)
    nothing = together([])
    wrong = [name for name, matches in must.items() if plain.get(name, nothing).digest() != matches.digest()]
    bench.report.check(
        not wrong,
        f"({letter}) the plain loop does not answer what follows from the rows: {', '.join(wrong[:5])}",
    )
    amount = sum(len(matches) for matches in must.values())
    bench.report.check(
        taken.count == amount, f"({letter}) Spark gave {taken.count:,} answers, and there are {amount:,}"
    )
    bench.report.check(
        taken.digest() == identity_digest(rows["match_id"].values for rows in blocks),
        f"({letter}) the answers of Spark and of the plain loop have different identities",
    )
    bench.report.check(amount > 0, f"({letter}) there are no answers at all")


def _beside_flink(
    bench: _Bench, letter: str, question: PatternQuestion, timing: Timing, least: float
) -> None:
    if bench.options.flink is None:
        bench.report.notes.append(
            "    Flink: not measured (--flink PYTHON names an interpreter that has apache-flink)"
        )
        return
    bench.say(f"({letter}) Flink's MATCH_RECOGNIZE")
    try:
        run = run_flink_patterns(bench.options.flink, bench.events, question, cores=bench.options.cores)
    except FlinkError as failure:
        bench.report.failures.append(str(failure))
        return
    must = expected(bench.events.first(run.small_rows), question)
    bench.report.check(
        run.small_matches.digest() == must.digest(),
        f"({letter}) Flink found {len(run.small_matches):,} matches in {run.small_rows:,} events, not {len(must):,}",
    )
    bench.report.judge(f"{letter}: rate over Flink's", timing.rate / run.rate, "ratio", ">=", least)
    bench.report.notes.append(
        f"    Flink's MATCH_RECOGNIZE: {spoken(run.rate)} events/s, start-up taken off "
        f"({run.small_s:.2f} s for a tenth of the events, {run.large_s:.2f} s for all)"
    )


def _judge_latency(bench: _Bench) -> None:
    bench.say(f"latency with {EVENTS_PER_SECOND:,} events a second")
    waited = measure_latency(
        bench.spark, cores=bench.options.cores, seconds=LATENCY_S, seed=bench.options.seed + 2
    )
    bench.report.check(len(waited) > 0, "no match was emitted while events arrived")
    if not len(waited):
        return
    shares = (50, 90, 99, 100)
    latencies_s = np.percentile(waited, shares)
    bench.report.judge("latency of 99 % of the matches", float(latencies_s[2]), "s", "<=", 2.0)
    listed = ", ".join(f"{share} % {after:.2f} s" for share, after in zip(shares, latencies_s, strict=True))
    bench.report.notes.append(
        f"latency of {len(waited):,} matches with {EVENTS_PER_SECOND:,} events a second, from when the watermark passed: {listed}"
    )
