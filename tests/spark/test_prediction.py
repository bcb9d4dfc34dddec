"""The experiment about predictions from end to end, on Spark."""

from __future__ import annotations

import csv
from contextlib import contextmanager

from headwater.apps.cli import main
from headwater.kernels.suppress.choices import Predictor
from headwater_lab.reproduce.prediction import experiment
from headwater_lab.reproduce.prediction.cases import (
    BUFFERS,
    COLUMNS,
    CONSTRAINT,
    DELAYED,
    LEFT_OUT,
    OBJECTS,
    POLICIES,
)

TINY = experiment.Scale((20, 40), (1, 3), 20, (Predictor.SLOPE,), 10, 10, constraint_objects=60)


def test_the_experiment_runs_from_end_to_end(spark, tmp_path, capsys, monkeypatch) -> None:
    @contextmanager
    def running(**_: object):
        yield spark

    monkeypatch.setattr(experiment, "SCALES", {"small": TINY})
    monkeypatch.setattr(experiment, "embedded_spark", running)
    monkeypatch.setattr(experiment, "BUFFER_OBJECTS", 40)
    monkeypatch.setenv("HEADWATER_DATA", str(tmp_path))
    assert main(["reproduce", "prediction", "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    with (tmp_path / "prediction.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    buffers = [part for part in (BUFFERS, DELAYED, LEFT_OUT) for _ in range(2 * (1 + len(POLICIES)))]
    assert [row["part"] for row in rows] == [OBJECTS] * 2 * 4 + [CONSTRAINT] * 4 + buffers
    assert all(int(row["answers"]) > 0 and 0.5 < float(row["f"]) <= 1 for row in rows)
    assert "holds: predictions need far fewer updates" in out
    assert "has no such data: traffic; lab, pairs; lab, values" in err and "9 of 9 cases done" in err
    assert (tmp_path / "prediction-figure-7.png").stat().st_size > 10_000
    assert "<h2>Claim by claim</h2>" in (tmp_path / "prediction.html").read_text()
    assert (tmp_path / "prediction.parquet").exists()
