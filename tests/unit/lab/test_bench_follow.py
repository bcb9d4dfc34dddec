"""The benchmark of FOLLOW: savings save events and changes no answer, and a run without answers is no success."""

from __future__ import annotations

import pytest

from headwater_lab.bench import follow
from headwater_lab.bench.measuring import BenchOptions
from headwater_lab.workloads.moving_objects import Motion


@pytest.fixture
def small_town(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "VEHICLES", 60)
    monkeypatch.setattr(follow, "ALWAYS_FOLLOWED", 5)
    monkeypatch.setattr(follow, "ALWAYS_SECONDS", 30)
    monkeypatch.setattr(follow, "TOWN", Motion(1_500.0, 15.0, along_m=1_000.0))


def check_line(line: str) -> None:
    assert line.startswith("(b) ")


def test_what_is_passed_on_again(small_town: None) -> None:
    report = follow.run_follow_bench(BenchOptions(100_000, cases=("b",)), say=check_line)
    assert report.failures == []
    events, pattern = report.figures
    assert 0.0 < events.value < pattern.value < 1.0


def test_no_answers_is_a_failure(small_town: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "ALWAYS_FOLLOWED", 0)
    report = follow.run_follow_bench(BenchOptions(100_000, cases=("b",)), say=check_line)
    assert report.failures == [
        "(b) events alone: there are no answers at all",
        "(b) a downstream pattern: there are no answers at all",
        "(b) queries that read queries: there are no answers at all",
    ]
