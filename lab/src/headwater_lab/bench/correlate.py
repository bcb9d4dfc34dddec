"""`headwater bench correlate`: CORRELATE on Spark streaming, beside the no-op ceiling, Spark's own join and Flink.

Everything is measured in one run on one machine and judged by ratios, and no figure counts before its answers are checked:
those of the plain loop against the ones computed from the rows, those of Spark against those of the plain loop.

Every rate is the better of two runs, for all systems, after runs that warm up: other work on the machine makes a run
slower, never faster.

The ratio to a join depends on how many readings match: with few, the fixed cost of a micro-batch is most of the cost of
both; with many, the join produces very many pairs. So (a) is measured twice. Its figures are those of clauses that match often, as the
ranges of people's questions do; the notes report clauses that match seldom, and Flink, whose join of all three gives every
triple, is compared on those alone.
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
from headwater_lab.bench.checks import Report, check_answers
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.flink import FlinkError, run_flink_join
from headwater_lab.bench.measuring import BenchOptions, Say, better, folder_for, milliseconds
from headwater_lab.bench.native import run_native_join
from headwater_lab.bench.questions import Question, everywhere, on_regions, script
from headwater_lab.bench.stations import Reports, make_reports, write_reports
from headwater_lab.bench.streaming import Timing, run_timed
from headwater_lab.bench.truth import count_pairs, share_matched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES: Final = 20
WARM_UP_ROWS: Final = 200_000
WARM_UP_FILES: Final = 120
SHARE_OFTEN: Final = 0.08
SHARE_SELDOM: Final = 0.02
SHARE_ON_REGIONS: Final = 0.022


@dataclass(frozen=True, slots=True)
class Case:
    """One of the questions of the benchmark."""

    title: str
    make: Callable[[Reports, int], list[Question]]


CASES: Final[Mapping[str, Case]] = {
    "a": Case(
        "one subscription of three clauses, everywhere",
        lambda reports, seed: [everywhere(reports, share=SHARE_OFTEN)],
    ),
    "b": Case(
        "1,000 subscriptions on 100 regions",
        lambda reports, seed: on_regions(reports, 1_000, share=SHARE_ON_REGIONS, seed=seed),
    ),
    "c": Case(
        "8,000 subscriptions on 100 regions",
        lambda reports, seed: on_regions(reports, 8_000, share=SHARE_ON_REGIONS, seed=seed),
    ),
}


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all cases share."""

    options: BenchOptions
    spark: SparkSession
    reports: Reports
    files: Sequence[Path]
    warm_up: Sequence[Path]
    report: Report
    say: Say


def run_correlate(options: BenchOptions, say: Say = lambda line: print(line, file=sys.stderr)) -> Report:
    """Run the chosen cases."""
    report = Report()
    with folder_for(options.keep) as folder:
        say(f"making {options.rows:,} rows")
        reports = make_reports(options.rows, seed=options.seed)
        files = write_reports(reports, folder / "rows", FILES)
        small = make_reports(WARM_UP_ROWS, seed=options.seed + 1)
        warm_up = write_reports(small, folder / "warm-up", WARM_UP_FILES)
        say(f"starting Spark on {options.cores} cores")
        spark = start_spark(cores=options.cores)
        try:
            _measure(_Bench(options, spark, reports, files, warm_up, report, say))
        finally:
            stop_spark(spark)
    return report


def _measure(bench: _Bench) -> None:
    rates: dict[str, float] = {}
    peaks: list[float] = []
    ceilings: list[float] = []
    for letter in bench.options.cases:
        questions = CASES[letter].make(bench.reports, bench.options.seed)
        bench.say(f"({letter}) {CASES[letter].title}: compiling")
        plan = compile_text(script(questions), zones=default_zones(bench.options.cores))
        for warming in (idle(plan), plan):
            run_timed(bench.spark, warming, bench.warm_up)
        bench.say(f"({letter}) the no-op ceiling")
        ceiling, _ = better(run_timed, bench.spark, idle(plan), bench.files)
        bench.say(f"({letter}) the answers")
        timing, taken = better(run_timed, bench.spark, plan, bench.files)
        bench.say(f"({letter}) checking {taken.count:,} answers")
        check_answers(bench.report, letter, questions, bench.reports, bench.files, taken)
        rates[letter] = timing.rate
        peaks += [ceiling.worker_peak_mib, timing.worker_peak_mib]
        ceilings.append(ceiling.rate)
        _judge_case(bench.report, letter, ceilings, timing)
        _note_case(bench, letter, questions, ceiling, timing)
        if letter == "a":
            ratio = _beside_native(bench, "a", questions[0], timing)
            bench.report.judge("a: rate over Spark's own join", ratio, "ratio", ">=", 5.0)
            _seldom(bench)
    if "b" in rates and "c" in rates:
        bench.report.judge("c: cost of a row, 8,000 over 1,000", rates["b"] / rates["c"], "ratio", "<", 8.0)
    bench.report.judge("peak memory of a Python worker", max(peaks), "MiB", "<", 1024.0)


def _judge_case(report: Report, letter: str, ceilings: Sequence[float], timing: Timing) -> None:
    """The ceiling is that of the first case; the others carry more columns of a row, and are held to it all the same."""
    if len(ceilings) == 1:
        report.judge("no-op ceiling", ceilings[0], "rows/s", ">=", 600_000.0)
    if letter == "a":
        report.judge("a: rate over ceiling", timing.rate / ceilings[0], "ratio", ">=", 0.5)
    elif letter == "b":
        report.judge("b: rate over ceiling", timing.rate / ceilings[0], "ratio", ">=", 0.25)
    else:
        report.judge("c: rate", timing.rate, "rows/s", ">=", 20_000.0)


def _note_case(
    bench: _Bench, letter: str, questions: Sequence[Question], ceiling: Timing, timing: Timing
) -> None:
    matched = share_matched(bench.reports, questions)
    bench.report.notes += [
        f"({letter}) {CASES[letter].title}, δt = 30 s: {matched:.2%} of an attribute's readings match a clause",
        f"    {spoken(timing.rate)} rows/s beside {spoken(ceiling.rate)} without a kernel in micro-batches of "
        f"{spoken(np.median(timing.rows))} rows, the first left out;",
        f"    with the first and the last flush {spoken(timing.rate_of_all)} beside {spoken(ceiling.rate_of_all)}",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
    ]


def _seldom(bench: _Bench) -> None:
    """The question of (a) with clauses that match seldom: beside Spark's own join, and beside Flink's of all three."""
    question = everywhere(bench.reports, share=SHARE_SELDOM)
    plan = compile_text(script([question]), zones=default_zones(bench.options.cores))
    bench.say("(a) the answers when readings match seldom")
    run_timed(bench.spark, plan, bench.warm_up)
    timing, taken = better(run_timed, bench.spark, plan, bench.files)
    check_answers(bench.report, "a, seldom", [question], bench.reports, bench.files, taken)
    matched = share_matched(bench.reports, [question])
    bench.report.notes += [
        f"(a, seldom) the same when {matched:.2%} of an attribute's readings match a clause: "
        f"{spoken(timing.rate)} rows/s, with the first and the last flush {spoken(timing.rate_of_all)}"
    ]
    _beside_native(bench, "a, seldom", question, timing)
    _beside_flink(bench, "a, seldom", question, timing)


def _beside_native(bench: _Bench, case: str, question: Question, timing: Timing) -> float:
    """How many times as fast as Spark's own join of two clauses."""
    bench.say(f"({case}) Spark's own join of two clauses")
    run_native_join(bench.spark, question, bench.warm_up)
    native, pairs = better(run_native_join, bench.spark, question, bench.files)
    must = count_pairs(bench.reports, question)
    bench.report.check(pairs == must, f"({case}) Spark's own join found {pairs:,} pairs of {must:,}")
    ratio = timing.rate / native.rate
    bench.report.notes += [
        f"    Spark's own join of two of its clauses: {spoken(native.rate)} rows/s, {pairs / len(bench.reports):.2f} "
        f"pairs a row, so ours is {ratio:.1f} times as fast; micro-batches {milliseconds(native)}"
    ]
    return ratio


def _beside_flink(bench: _Bench, case: str, question: Question, timing: Timing) -> None:
    if bench.options.flink is None:
        bench.report.notes += [
            "    Flink: not measured (--flink PYTHON names an interpreter that has apache-flink)"
        ]
        return
    bench.say(f"({case}) Flink's interval join of three clauses")
    try:
        run = run_flink_join(bench.options.flink, bench.reports, question, cores=bench.options.cores)
    except FlinkError as failure:
        bench.report.failures.append(str(failure))
        return
    bench.report.check(
        run.triples == run.expected,
        f"({case}) Flink's join found {run.triples:,} triples of {run.expected:,}",
    )
    bench.report.judge(f"{case}: rate over Flink's join", timing.rate / run.rate, "ratio", ">=", 1.0)
    bench.report.notes += [
        f"    Flink's interval join of the three clauses: {spoken(run.rate)} rows/s, "
        f"{run.triples_a_row:.1f} triples a row"
    ]
