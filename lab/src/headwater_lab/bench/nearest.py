"""`headwater bench nearest`: NEAREST in the setting of the paper, alone on one core and on Spark streaming.

(a)  400 queries over windows of 40,000 objects: RA, RAPF and PA for k = 1 to 81, on uniform, clustered and recorded objects.
(b)  10,000 queries beside 400.
(c)  Spark streaming, beside the no-op ceiling and beside Spark's own way, a cross join and a rank.

No figure counts before its answers are checked: a few queries of every run against what follows from the objects, all answers of
Spark against those of the plain loop.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from headwater.apps.text_columns import aligned
from headwater.kernels.nearest.candidate_limits import expected_loss, r_star
from headwater.kernels.nearest.choices import Algorithm
from headwater_lab.bench.checks import Report
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say
from headwater_lab.bench.nearest_kernel import KernelRun, lost_share, run_kernel, wrong_points
from headwater_lab.bench.nearest_objects import (
    WINDOW_OBJECTS,
    Floats,
    Objects,
    World,
    clusters,
    make_objects,
    make_points,
    uniform,
)
from headwater_lab.bench.nearest_questions import SIGMA, NearestQuestion
from headwater_lab.bench.nearest_real import real_world
from headwater_lab.bench.nearest_streaming import measure_streaming

KS: Final = (1, 3, 9, 27, 81)
JUDGED_K: Final = 9
QUERIES: Final = 400
MANY_QUERIES: Final = 10_000
FILL: Final = 100_000
FILL_RA: Final = 50_000
OBJECTS_RA: Final = 10_000
OBJECTS_MANY: Final = 200_000
TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all cases share."""

    options: BenchOptions
    report: Report
    say: Say
    runs: dict[tuple[str, int, NearestQuestion], KernelRun] = field(default_factory=dict)


def run_nearest(
    options: BenchOptions, *, real: Path | None = None, say: Say = lambda line: print(line, file=sys.stderr)
) -> Report:
    """Run the chosen cases; `real` is a CSV of numbers to draw objects from."""
    bench = _Bench(options, Report(), say)
    if "a" in options.cases:
        _compare_algorithms(bench, real_world(real))
    if "b" in options.cases:
        _ask_for_many(bench)
    if "c" in options.cases:
        question = NearestQuestion(JUDGED_K, Algorithm.RAPF)
        measure_streaming(
            options, question, make_points(uniform(), QUERIES, seed=options.seed), bench.report, say
        )
    return bench.report


def _compare_algorithms(bench: _Bench, real: World | None) -> None:
    report, worlds = bench.report, [uniform(), clusters(seed=bench.options.seed)]
    if real is None:
        report.notes.append("(a) no recorded objects: --real FILE names a CSV of numbers to draw them from")
    ratios: dict[Algorithm, list[float]] = {Algorithm.RAPF: [], Algorithm.PA: []}
    lines: list[Sequence[str]] = [
        (
            "data",
            "algorithm",
            "k",
            "objects/s",
            "over RA",
            "candidates",
            "recent",
            "cells",
            "tests",
            "MiB",
            "lost",
        )
    ]
    for world in [*worlds, real] if real else worlds:
        objects, points = _objects(bench, world), _points(bench, world, QUERIES)
        for k in KS:
            runs = {
                algorithm: _run(bench, world, objects, points, NearestQuestion(k, algorithm))
                for algorithm in Algorithm
            }
            for algorithm, run in runs.items():
                ratio = run.rate / runs[Algorithm.RA].rate
                if algorithm is not Algorithm.RA:
                    ratios[algorithm].append(ratio)
                lost = lost_share(
                    run, points, objects, fill=_fill(objects, algorithm), seed=bench.options.seed
                )
                lines.append(_line(world, run, ratio, lost))
    judged = bench.runs["uniform", QUERIES, NearestQuestion(JUDGED_K, Algorithm.RAPF)]
    report.judge(
        f"a: {QUERIES} queries, k = {JUDGED_K}, EXACT, uniform", judged.rate, "objects/s", ">=", 300_000.0
    )
    for algorithm, found in ratios.items():
        report.judge(f"a: {algorithm.value} over RA, the least", min(found), "ratio", ">=", 1.0)
    report.notes += [
        f"(a) {QUERIES} queries, windows of {WINDOW_OBJECTS:,} objects, one core; candidates stored for a query, recent objects "
        "stored for all, cells of the grid that a query's ball touches, queries tested for an object, state in MiB, share of the answers lost",
        *(f"    {line}" for line in aligned(lines, words=2)),
        f"    PA stores R* = {', '.join(str(r_star(k, SIGMA)) for k in KS)} objects (σ = {SIGMA}) and is expected to lose "
        f"{', '.join(f'{expected_loss(r_star(k, SIGMA), k):.1e}' for k in KS)}",
    ]


def _line(world: World, run: KernelRun, ratio: float, lost: float | None) -> Sequence[str]:
    return (
        world.name,
        run.question.algorithm.value,
        str(run.question.k),
        spoken(run.rate),
        f"{ratio:.1f}",
        f"{run.candidates:.1f}",
        f"{run.recent:,}",
        f"{run.cells:.0f}",
        f"{run.tests:.1f}",
        f"{run.state_bytes / 2**20:.1f}",
        "" if lost is None else f"{lost:.1e}",
    )


def _ask_for_many(bench: _Bench) -> None:
    world, question = uniform(), NearestQuestion(JUDGED_K, Algorithm.RAPF)
    objects = _objects(bench, world)
    few = _run(bench, world, objects, _points(bench, world, QUERIES), question)
    fewer_objects = objects.first(min(len(objects), FILL + OBJECTS_MANY))
    many = _run(bench, world, fewer_objects, _points(bench, world, MANY_QUERIES), question)
    report = bench.report
    report.judge(
        f"b: {MANY_QUERIES:,} queries, k = {JUDGED_K}, EXACT, uniform",
        many.rate,
        "objects/s",
        ">=",
        30_000.0,
    )
    report.judge(
        f"b: cost of an object, {MANY_QUERIES:,} queries over {QUERIES}",
        many.cost_us / few.cost_us,
        "ratio",
        "<=",
        12.0,
    )
    report.notes += [
        f"(b) {run.queries:,} queries: {spoken(run.rate)} objects/s, {run.candidates:.1f} candidates a query, "
        f"{run.tests:.1f} queries tested for an object, {run.state_bytes / 2**20:.1f} MiB"
        for run in (few, many)
    ]


def _run(
    bench: _Bench, world: World, objects: Objects, points: Floats, question: NearestQuestion
) -> KernelRun:
    """Time and check a run, once."""
    key = (world.name, len(points), question)
    if key in bench.runs:
        return bench.runs[key]
    bench.say(f"{world.name}, {len(points):,} queries, k = {question.k}, {question.algorithm.value}")
    fill = _fill(objects, question.algorithm)
    slow = question.algorithm is Algorithm.RA
    if slow:
        objects = objects.first(fill + OBJECTS_RA)
    run = run_kernel(question, points, objects, fill=fill, tries=1 if slow else TRIES)
    wrong = wrong_points(run, points, objects, seed=bench.options.seed)
    bench.report.check(
        not wrong,
        f"{world.name}, {len(points):,} queries, k = {question.k}: {question.algorithm.value} reports wrong answers "
        f"for point {wrong[0] if wrong else ''}",
    )
    bench.report.check(len(run.answers) > 0, f"{world.name}, k = {question.k}: there are no answers at all")
    bench.runs[key] = run
    return run


def _fill(objects: Objects, algorithm: Algorithm) -> int:
    return min(FILL_RA if algorithm is Algorithm.RA else FILL, len(objects) // 2)


def _objects(bench: _Bench, world: World) -> Objects:
    return make_objects(world, bench.options.rows, seed=bench.options.seed)


def _points(bench: _Bench, world: World, count: int) -> Floats:
    return make_points(world, count, seed=bench.options.seed)
