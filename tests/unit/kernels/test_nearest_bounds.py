"""What NEAREST does at its bounds, and what an audit of PROBABLE counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from headwater.kernels.nearest import query_sets
from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.kernels.nearest.kernel import NearestKernel
from headwater.kernels.nearest.packing import runs_of, spans
from headwater.kernels.nearest.question import NearestQuery, Points
from headwater.model import (
    BEGINNING,
    END,
    SECOND,
    Column,
    ColumnType,
    LimitReached,
    Rows,
    Saved,
    StreamSchema,
    decode,
    encode,
)

SCHEMA = StreamSchema("s", (("at", ColumnType.TIMESTAMP), ("x", ColumnType.DOUBLE)), "at")
QUERY = NearestQuery(
    "q", "print", 0, None, 2, Metric.EUCLIDEAN, ("x",), None, Points(np.zeros((1, 1))), 1000 * SECOND, None, None,
    False, Algorithm.RAPF, None, Emission.ENTERS, None, (("x", "x"),),
)  # fmt: skip


def rows(values, first: int = 0) -> Rows:
    times = (first + np.arange(len(values))) * SECOND
    return Rows.of(
        {
            "at": Column(ColumnType.TIMESTAMP, times),
            "x": Column(ColumnType.DOUBLE, np.array(values, np.float64)),
        }
    )


def run(kernel: NearestKernel, *steps, state=None, counts=None):
    state = kernel.start(BEGINNING) if state is None else state
    for given, watermark in steps:
        step = kernel.step(state, given, watermark)
        state = step.state
        for name, amount in step.counts.items():
            counts[name] = counts.get(name, 0) + amount
    return state


@pytest.mark.parametrize("algorithm", [Algorithm.RA, Algorithm.RAPF])
def test_objects_that_come_ever_farther_end_the_run_with_a_reason(monkeypatch, algorithm):
    monkeypatch.setattr(query_sets, "MOST_CANDIDATES", 1500)
    query = replace(QUERY, algorithm=algorithm, window_us=10_000 * SECOND)
    kernel = NearestKernel(SCHEMA, [query], recent=10)
    run(kernel, (rows(range(1000)), 1000 * SECOND))
    with pytest.raises(LimitReached) as refused:
        run(kernel, (rows(range(9000)), 9000 * SECOND))
    assert refused.value.bound == "MOST_CANDIDATES"
    assert "'q' would have to store more than 1,500 candidates" in refused.value.message
    assert any("PROBABLE" in line for line in refused.value.advice)


def test_probable_keeps_a_fixed_number_of_the_same_objects(monkeypatch):
    monkeypatch.setattr(query_sets, "MOST_CANDIDATES", 1500)
    kernel = NearestKernel(SCHEMA, [replace(QUERY, algorithm=Algorithm.PA, sigma=0.001)])
    state = run(kernel, (rows(range(9000)), 9000 * SECOND))
    assert kernel.work(state)["candidates"] == 14


def test_too_many_answers_at_once_end_the_run_with_a_reason(monkeypatch):
    monkeypatch.setattr(query_sets, "MOST_EMITTED", 5000)
    ticking = replace(QUERY, emission=Emission.EVERY, every_us=SECOND // 100)
    kernel = NearestKernel(SCHEMA, [ticking])
    with pytest.raises(LimitReached) as refused:
        run(kernel, (rows([1.0, 2.0]), END))
    assert refused.value.bound == "MOST_EMITTED"
    assert "more than 5,000 answers at once" in refused.value.message


def audited(ids: list[str], share: float = 1.0) -> NearestKernel:
    points = Points(np.arange(float(len(ids))).reshape(-1, 1), Column.of(ColumnType.STRING, ids))
    query = replace(
        QUERY, algorithm=Algorithm.PA, sigma=0.9, points=points, window_us=12 * SECOND, audit=share
    )
    return NearestKernel(SCHEMA, [query], recent=5)


def tides(count: int) -> Rows:
    """Five near objects, then fifteen that come ever farther, again and again: no random order, so PA loses some."""
    number = np.arange(count)
    return rows(np.where(number % 20 < 5, 0.1, number % 20))


def test_what_enters_after_the_last_row_is_counted_separately():
    counts: dict[str, int] = {}
    run(audited(["a", "b"]), (tides(200), END), counts=counts)
    assert counts["audited:q"] > counts["missed:q"] > 0
    counts_at_end: dict[str, int] = {}
    kernel = audited(["a", "b"])
    state = run(kernel, (tides(200), 200 * SECOND), counts=counts_at_end)
    assert "audited_at_end:q" not in counts_at_end
    run(kernel, (tides(0), END), state=state, counts=counts_at_end)
    assert counts_at_end == counts
    assert counts["audited_at_end:q"] > 0


def test_an_audit_goes_on_after_a_restart_with_other_points():
    straight: dict[str, int] = {}
    run(audited(["a", "b", "c"]), (tides(200), END), counts=straight)

    counts: dict[str, int] = {}
    before = audited(["a", "b", "c"])
    state = run(before, (tides(90), 90 * SECOND), counts=counts)
    saved = before.save(state)
    kernel = audited(["a", "b", "c", "d"])
    loaded = kernel.load(Saved(decode(encode(saved.values)), saved.logs), 90 * SECOND)
    audited_sets = [audit.emitted for audit in loaded.audits]
    assert sorted(map(tuple, audited_sets[0].tolist())) == sorted(
        map(tuple, state.audits[0].emitted.tolist())
    )

    again = before.load(Saved(decode(encode(saved.values)), saved.logs), 90 * SECOND)
    rest = tides(200).take(slice(90, None))
    run(before, (rest, END), state=again, counts=counts)
    assert counts == straight


@pytest.mark.parametrize("by_rows", [False, True])
def test_what_a_step_writes_does_not_follow_the_recent_objects(by_rows):
    window = {"window_us": None, "window_rows": 8_000} if by_rows else {"window_us": 10_000 * SECOND}
    kernel = NearestKernel(SCHEMA, [replace(QUERY, **window)], recent=2_999)
    values = np.random.default_rng(0).random(6_000)
    state = run(kernel, (rows(values), 6_000 * SECOND))
    recent = state.query_sets[0].recent
    assert len(recent) == 3_000
    saved = kernel.save(state)
    assert len(encode(saved.values)) < 2_000
    back = (
        kernel.load(Saved(decode(encode(saved.values)), saved.logs, saved.stores), BEGINNING)
        .query_sets[0]
        .recent
    )
    assert back.seqs.tolist() == recent.seqs.tolist() == list(range(3_000, 6_000))
    assert (back.clocks.tolist(), back.times.tolist()) == (recent.clocks.tolist(), recent.times.tolist())
    assert back.values.tolist() == recent.values.tolist()


def test_numbers_that_follow_one_another_are_written_as_runs():
    for numbers in ([], [0], [7, 8, 9], [0, 2, 3, 9, 10, 11, 20]):
        runs = runs_of(np.array(numbers, np.int64))
        assert spans(*np.ascontiguousarray(runs.T)).tolist() == numbers
    assert runs_of(np.array([0, 2, 3, 9])).tolist() == [[0, 1], [2, 2], [9, 1]]
