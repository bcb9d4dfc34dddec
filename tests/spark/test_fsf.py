"""Simulations as tasks of a Spark job: rows in the order of the cases, failures in words, progress while it runs."""

from __future__ import annotations

import csv
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from headwater.apps.cli import main
from headwater_lab.reproduce.fsf import experiment
from headwater_lab.reproduce.fsf.cases import COLUMNS, ON_RECEIPT, SOUND, Case, Measured
from headwater_lab.reproduce.tasks import StoredRows, run_cases


def test_one_case_is_one_task_and_what_is_done_is_stored(spark, tmp_path) -> None:
    cases = [Case("settings", "small", "naive", count) for count in range(1, 6)]

    def simulate(case: Case) -> list[Measured]:
        time.sleep(1.5)
        if case.subscriptions == 3:
            raise ValueError("three is too many")
        row = Measured(
            case.part, case.scene, 60, 50, np.int64(1_000), case.approach, case.subscriptions, False,
            1, 1, 1, 1, 1, 1, 0, 0, 1.0, 1, 0, 0, 1.0, 1.0, 0.1,
        )  # fmt: skip
        return [row]

    progress: list[str] = []
    stored = StoredRows(tmp_path / "kept", Measured, "small stations")
    rows, failures = run_cases(
        spark.sparkContext, simulate, cases, lambda case: case.subscriptions, progress.append, stored
    )
    assert [row.subscriptions for row in rows] == [1, 2, 4, 5]
    assert failures == ["small, 3 subscriptions, naive: ValueError: three is too many"]
    assert progress[-1].startswith("5 of 5 cases done after ")
    assert int(progress[0].partition(" of 5 cases done after ")[0]) < 5, (
        "it is told while cases are still to be done"
    )

    def again(case: Case) -> list[Measured]:
        assert case.subscriptions == 3, "the others are kept"
        return [replace(rows[0], subscriptions=3)]

    del progress[:]
    rows, failures = run_cases(spark.sparkContext, again, cases, lambda case: 1.0, progress.append, stored)
    assert ([row.subscriptions for row in rows], failures) == ([1, 2, 3, 4, 5], [])
    assert progress[0] == "4 of 5 cases were measured before"
    assert StoredRows(stored.folder, Measured, "other stations").load(cases[0]) is None


TINY = experiment.Scale((10,), (10,), 2.0, (experiment.Growth(30, 2, 10, ("exact", "multi-join")),), 2.0)


def test_the_experiment_runs_from_end_to_end(spark, tmp_path, capsys, monkeypatch) -> None:
    @contextmanager
    def running(**_: object):
        yield spark

    monkeypatch.setattr(experiment, "SCALES", {"small": TINY})
    monkeypatch.setattr(experiment, "embedded_spark", running)
    monkeypatch.setattr(experiment, "PAPER", (experiment.MEDIUM,))
    monkeypatch.setattr(experiment, "SELECTIVE", ())
    monkeypatch.setenv("HEADWATER_DATA", str(tmp_path))
    assert main(["reproduce", "fsf", "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    with (tmp_path / "fsf.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    # Six approaches in a setting, two more to compare covers, three with faults; six in a variant, two in a network that grows.
    assert len(rows) == 6 + 2 + 3 + 6 + 2
    assert {row["approach"] for row in rows if row["part"] == "covers"} == {ON_RECEIPT, SOUND}
    assert all(row["recall"] == "1.0" and row["wrong"] == "0" and int(row["expected"]) > 0 for row in rows)
    assert (
        "holds: recall of the exact set cover is exactly 1\n    in 4 of 4 runs, 1 of them with faults" in out
    )
    assert "starting Spark for 19 simulations" in err and "19 of 19 cases done" in err
    assert not (tmp_path / ".fsf-small").exists()
    assert (tmp_path / "fsf-figure-12.png").stat().st_size > 10_000
    assert "<h2>Claim by claim</h2>" in (tmp_path / "fsf.html").read_text()
    assert (tmp_path / "fsf.parquet").exists()
