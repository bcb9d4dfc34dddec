"""Patterns that cost exponential work when ways are tried one after the other: steps are counted, and they are few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from headwater.kernels.pattern.compiled_query import CompiledQuery
from headwater.kernels.pattern.kernel import PatternKernel
from headwater.kernels.pattern.runs import STEPS
from headwater.model import BEGINNING, END, SECOND, Column, ColumnType, Instant, Rows, Step
from headwater.query.planning.plan import compile_text

STREAM = "CREATE STREAM readings (k STRING KEY, at TIMESTAMP TIME, n BIGINT);"
MANY = 10_000


@dataclass
class Counted:
    """What a run told, and what it cost."""

    answers: list[dict[str, object]]
    counts: dict[str, int]
    steps: int
    states: int


def rows_of(numbers: list[int], first: int = 0) -> Rows:
    count = len(numbers)
    return Rows.of(
        {
            "k": Column.of(ColumnType.STRING, ["k"] * count),
            "at": Column(ColumnType.TIMESTAMP, np.arange(first, first + count) * SECOND),
            "n": Column.of(ColumnType.BIGINT, numbers),
        }
    )


def run(monkeypatch: pytest.MonkeyPatch, clauses: str, numbers: list[int], *, batch: int = MANY) -> Counted:
    """All rows, in batches; the input ends with them."""
    query = f"CREATE QUERY q AS SELECT * FROM readings MATCH_RECOGNIZE ({clauses});"
    (group,) = compile_text(STREAM + query).groups(0)
    kernel = group.kernel
    assert isinstance(kernel, PatternKernel)
    (compiled,) = kernel.compiled
    assert isinstance(compiled, CompiledQuery)
    outcome = Counted([], {}, 0, len(compiled.auto.kind))
    moved_on = CompiledQuery.run

    def counting(self, *arguments):
        found, runs, counted = moved_on(self, *arguments)
        outcome.steps += int(counted[STEPS])
        return found, runs, counted

    monkeypatch.setattr(CompiledQuery, "run", counting)
    state = kernel.start(BEGINNING)
    for begin in range(0, len(numbers), batch):
        part = rows_of(numbers[begin : begin + batch], begin)
        last = begin + batch >= len(numbers)
        watermark: Instant = END if last else (begin + batch) * SECOND
        step: Step = kernel.step(state, part, watermark)
        state = step.state
        outcome.answers += [row for block in step.answers for row in block.rows.tolist()]
        for name, count in step.counts.items():
            outcome.counts[name] = outcome.counts.get(name, 0) + count
    return outcome


def linear(outcome: Counted, rows: int) -> int:
    """What a run over so many rows may cost, whatever the ways: every state once a row, and a beginning."""
    return (outcome.states + 1) * (rows + 1)


ANY = "A AS n >= 0, AA AS n >= 0, AAA AS n >= 0, B AS n >= 0"
NEAR = "WITHIN 10 DAYS"

TO_THE_END = (
    ("(A|B)*", "A AS n >= 0, B AS n >= 0"),
    ("(A|B|AA|AAA)*", ANY),
    ("((A|B)*)*", "A AS n >= 0, B AS n >= 0"),
    ("(A+)+", "A AS n >= 0"),
    ("((A+)+)+", "A AS n >= 0"),
    ("(A* B*)*", "A AS n >= 0, B AS n >= 0"),
    ("(A? B?)*", "A AS n >= 0, B AS n >= 0"),
    ("(A | A A | A A A)*", "A AS n >= 0"),
    ("((A | A A)+ | (A A A)+)*", "A AS n >= 0"),
    ("(A ~~> B?)+", "A AS n >= 0, B AS n >= 0"),
    ("(A{2} | A{3} | A{5})*", "A AS n >= 0"),
)


@pytest.mark.parametrize(("pattern", "define"), TO_THE_END, ids=[pattern for pattern, _ in TO_THE_END])
@pytest.mark.parametrize("batch", [MANY, 250])
def test_ambiguous_loops_over_many_rows_cost_a_step_for_every_state_and_row(
    monkeypatch, pattern: str, define: str, batch: int
) -> None:
    outcome = run(
        monkeypatch, f"MEASURES COUNT(*) AS many PATTERN ({pattern}) {NEAR} DEFINE {define}", [1] * MANY, batch=batch
    )  # fmt: skip
    assert [row["many"] for row in outcome.answers] == [MANY]
    assert outcome.steps <= linear(outcome, MANY)


NESTS = (
    ("(A+)+ B", "A AS n = 0, B AS n = 1"),
    ("(A | A A | A A A)* C", "A AS n = 0, C AS n = 1"),
    ("(A|AA|AAA)* C", "A AS n = 0, AA AS n <= 0, AAA AS n < 1, C AS n = 1"),
    ("((A* AA*)* (A|AA)+)* C", "A AS n = 0, AA AS n = 0, C AS n = 1"),
)


@pytest.mark.parametrize(("pattern", "define"), NESTS, ids=[pattern for pattern, _ in NESTS])
def test_a_nest_of_loops_that_ends_after_many_rows_costs_no_more(
    monkeypatch, pattern: str, define: str
) -> None:
    outcome = run(
        monkeypatch, f"MEASURES COUNT(*) AS many PATTERN ({pattern}) {NEAR} DEFINE {define}", [0] * (MANY - 1) + [1]
    )  # fmt: skip
    assert [row["many"] for row in outcome.answers] == [MANY]
    assert outcome.steps <= linear(outcome, MANY)


@pytest.mark.parametrize(("pattern", "define"), NESTS, ids=[pattern for pattern, _ in NESTS])
def test_where_the_end_never_comes_an_attempt_costs_no_more_than_its_bound(
    monkeypatch, pattern: str, define: str
) -> None:
    attempt = 20  # rows: so long an attempt lasts
    outcome = run(
        monkeypatch,
        f"MEASURES COUNT(*) AS many PATTERN ({pattern}) WITHIN {attempt - 1} SECONDS DEFINE {define}",
        [0] * MANY,
    )
    assert outcome.answers == []
    assert outcome.steps <= linear(outcome, attempt) * MANY


def test_a_loop_that_never_ends_well_given_up_by_limit_is_counted(monkeypatch) -> None:
    limit = 16
    outcome = run(
        monkeypatch,
        f"MEASURES COUNT(*) AS many PATTERN ((A+)+ B) LIMIT {limit} PARTIAL MATCHES DEFINE A AS n = 0, B AS n = 1",
        [0] * MANY,
    )
    assert outcome.answers == []
    assert outcome.counts == {"partial_matches_given_up": MANY - limit}
    assert outcome.steps <= linear(outcome, limit) * MANY


def test_any_order_of_six_that_every_row_fits_is_decided_in_six_rows(monkeypatch) -> None:
    names = "ABCDEF"
    define = ", ".join(f"{name} AS n >= 0" for name in names)
    outcome = run(
        monkeypatch,
        f"MEASURES A.n AS a, F.n AS f PATTERN (PERMUTE({', '.join(names)})) {NEAR} DEFINE {define}",
        [number % 6 for number in range(6000)],
    )
    assert [(row["a"], row["f"]) for row in outcome.answers] == [(0, 5)] * 1000, (
        "the order that is written first"
    )
    assert outcome.steps <= linear(outcome, 6000)


def test_a_condition_over_bound_rows_keeps_ways_apart_only_while_they_differ(monkeypatch) -> None:
    """What is remembered can differ in as many ways as there are counts: a square, and never a power of two."""
    rows = 60
    outcome = run(
        monkeypatch,
        f"MEASURES COUNT(*) AS many PATTERN ((A|B)* C) {NEAR}"
        " DEFINE A AS n >= 0 AND COUNT(A.*) <= 1000, B AS n >= 0, C AS n = 1",
        [0] * (rows - 1) + [1],
    )
    assert [row["many"] for row in outcome.answers] == [rows]
    assert outcome.steps <= linear(outcome, rows) * rows


def test_every_way_of_taking_rows_is_held_by_a_limit_and_what_is_given_up_is_counted(monkeypatch) -> None:
    """Over n rows there are 2^n partial matches; no more than the limit are kept."""
    limit, rows = 50, 400
    outcome = run(
        monkeypatch,
        "MEASURES COUNT(*) AS many MATCH EVERY PATTERN (A ~~> B ~~+ ~~> C)"
        f" {NEAR} LIMIT {limit} PARTIAL MATCHES DEFINE A AS n = 0, B AS n >= 0, C AS n = 1",
        [0] * (rows - 1) + [1],
    )
    assert outcome.steps <= (limit + 1) * outcome.states * rows
    assert outcome.counts["partial_matches_given_up"] > rows
    assert 0 < len(outcome.answers) <= limit


@pytest.mark.parametrize("pattern", ["A+ B", "(A+)+ B", "(A | A A)* B"])
def test_attempts_that_all_fail_learn_from_one_another(monkeypatch, pattern: str) -> None:
    # Every row begins an attempt that runs to the end of the rows and finds no B there.
    outcome = run(monkeypatch, f"PATTERN ({pattern}) DEFINE A AS n = 1, B AS n = 2", [1] * MANY)
    assert outcome.answers == []
    assert outcome.steps <= 3 * outcome.states * MANY


def test_ways_that_remember_different_sums_are_given_up_above_a_bound(monkeypatch) -> None:
    # Each row may be A or B, and the sums of both tell the ways apart: 2 ** 40 of them.
    clauses = (
        "PATTERN ((A | B)+ C) WITHIN 1 HOUR "
        "DEFINE A AS n > 0 AND SUM(A.n) < 1000000000000000, B AS n > 0 AND SUM(B.n) < 1000000000000000, C AS n = 0"
    )
    outcome = run(monkeypatch, clauses, [2**row for row in range(40)] + [0])
    assert len(outcome.answers) == 1
    assert outcome.counts["partial_matches_given_up"] > 0
    assert outcome.steps <= 41 * 3 * 1000
