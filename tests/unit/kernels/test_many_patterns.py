"""A thousand small patterns over one stream: one lane, equal conditions worked out once, each answers as if it were alone."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.question import RowTest
from headwater.model import BEGINNING, END, SECOND, Column, ColumnType, Rows
from headwater.query.planning.plan import compile_text

STREAM = "CREATE STREAM readings (k STRING KEY, at TIMESTAMP TIME, x DOUBLE, n BIGINT);"
MANY = 1000
THRESHOLDS = 10
ROWS = 600


def query(number: int) -> str:
    """Another combination of a few conditions for each number: row patterns, and some with MATCH EVERY or a program."""
    low, high, least = number % THRESHOLDS, number // THRESHOLDS % THRESHOLDS, number // THRESHOLDS**2
    every = "MATCH EVERY " if number % 5 == 0 else ""
    links = "~> " if number % 5 == 0 else ""
    last = "C.x > A.x" if number % 7 == 0 else f"n <> {least}"
    return f"""
CREATE QUERY q{number} AS SELECT * FROM readings MATCH_RECOGNIZE (
  PARTITION BY k MEASURES A.at AS began, C.x AS ended, {number} AS number
  {every}PATTERN (A {links}B {links}C) WITHIN {6 + number % 3} SECONDS
  DEFINE A AS x > {low}, B AS x < {high} OR x < PREV(x), C AS {last}
);"""


def random_rows(count: int) -> Rows:
    random = Random(3)
    return Rows.of(
        {
            "k": Column.of(ColumnType.STRING, [f"k{random.randrange(5)}" for _ in range(count)]),
            "at": Column(ColumnType.TIMESTAMP, np.arange(count) * SECOND),
            "x": Column.of(
                ColumnType.DOUBLE,
                [None if random.random() < 0.05 else random.uniform(0, 10) for _ in range(count)],
            ),
            "n": Column.of(ColumnType.BIGINT, [random.randrange(10) for _ in range(count)]),
        }
    )


def kernel_of(text: str) -> PatternKernel:
    (group,) = compile_text(STREAM + text).groups(0)
    assert isinstance(group.kernel, PatternKernel)
    return group.kernel


def counting(kernel: PatternKernel, calls: Counter[str]) -> PatternKernel:
    """The same kernel; every evaluation of a test or a value for a table is counted under its key."""

    def counted(test: RowTest) -> RowTest:
        def evaluate(rows: Rows) -> Any:
            calls[test.key] += 1
            return test.test(rows)

        def valued(value: Any) -> Any:
            def compute(rows: Rows) -> Column:
                calls[f"value {value.key}"] += 1
                return value.compute(rows)

            return replace(value, compute=compute)

        terms = tuple((valued(value), shift) for value, shift in test.terms)
        return replace(test, terms=terms, test=evaluate)

    queries = [
        replace(q, tests=tuple(counted(test) if isinstance(test, RowTest) else test for test in q.tests))
        for q in kernel.queries
    ]
    return PatternKernel(kernel.schema, queries, kernel.conditions)


def answers_of(kernel: PatternKernel, rows: Rows, cuts: tuple[int, ...]) -> dict[str, list[dict[str, Any]]]:
    """The answers of every query."""
    found: dict[str, list[dict[str, Any]]] = {}
    state = kernel.start(BEGINNING)
    begin = 0
    for cut in (*cuts, rows.count):
        watermark = END if cut == rows.count else cut * SECOND
        step = kernel.step(state, rows.take(slice(begin, cut)), watermark)
        state, begin = step.state, cut
        for block in step.answers:
            for row in block.rows.tolist():
                found.setdefault(row["query"], []).append(row)
    return found


def test_a_thousand_patterns_share_a_lane_and_the_evaluation_of_equal_conditions() -> None:
    began = time.process_time()
    kernel = kernel_of("".join(map(query, range(MANY))))
    planned = time.process_time() - began
    calls: Counter[str] = Counter()
    shared = counting(kernel, calls)
    assert len(shared.start(BEGINNING).lanes) == 1
    rows = random_rows(ROWS)
    cuts = (200, 350)
    began = time.process_time()
    together = answers_of(shared, rows, cuts)
    print(
        f"{MANY} patterns: planned in {planned:.2f} s, {ROWS} rows stepped in {time.process_time() - began:.2f} s"
    )

    different = {test.key for q in kernel.queries for test in q.tests if isinstance(test, RowTest)}
    conditions_in_all = sum(isinstance(test, RowTest) for q in kernel.queries for test in q.tests)
    steps = len(cuts) + 1
    assert len(different) <= 4 * THRESHOLDS < conditions_in_all / 10
    assert different <= set(calls)
    assert set(calls.values()) == {steps}, "each condition and each value of rows once a step"

    for number in (*range(40), *range(40, MANY, 61)):
        alone = answers_of(kernel_of(query(number)), rows, ())
        assert together.get(f"q{number}", []) == alone.get(f"q{number}", []), query(number)
    assert len(together) > MANY / 2, "most of them find something"


def test_patterns_with_other_partitions_or_conditions_before_have_lanes_of_their_own() -> None:
    other = query(MANY).replace("PARTITION BY k ", "")
    chosen = query(MANY + 1).replace("FROM readings", "FROM readings WHERE n > 3", 1)
    kernel = kernel_of(query(0) + query(1) + other + chosen)
    assert sorted(len(lane.queries) for lane in kernel.start(BEGINNING).lanes) == [1, 1, 2]
