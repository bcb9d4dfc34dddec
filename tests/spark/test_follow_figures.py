"""The experiment about following from end to end, on Spark."""

from __future__ import annotations

import csv
from contextlib import contextmanager

from headwater.apps.cli import main
from headwater_lab.reproduce.follow import experiment
from headwater_lab.reproduce.follow.cases import (
    BEGINNINGS,
    COLUMNS,
    CONDITIONS,
    PREDEPLOYED,
    UPDATES,
)

TINY = experiment.Scale(400, 40, 3, (200,), (2,), (1,))


def test_the_experiment_runs_from_end_to_end(spark, tmp_path, capsys, monkeypatch) -> None:
    @contextmanager
    def running(**_: object):
        yield spark

    monkeypatch.setattr(experiment, "SCALES", {"small": TINY})
    monkeypatch.setattr(experiment, "embedded_spark", running)
    monkeypatch.setattr(experiment, "find_sumo", lambda: None)
    assert main(["reproduce", "follow", "--output", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    with (tmp_path / "follow.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    figures = [BEGINNINGS] * 3 + [PREDEPLOYED] * 2 * 3 + [UPDATES] * len(CONDITIONS)
    assert [row["figure"] for row in rows] == figures
    assert all(int(row["streamed"]) > 0 for row in rows)
    assert "holds: a condition that switches less often than always passes on fewer events" in out
    assert "the project's own town" in err and "4 of 4: figure 3.9, accidents, seed 1" in err
    for figure in ("3-8", "3-9a", "3-9b", "3-9b-recall", "3-10"):
        assert (tmp_path / f"follow-figure-{figure}.png").stat().st_size > 10_000
    page = (tmp_path / "follow.html").read_text()
    assert "<h2>Claim by claim</h2>" in page and "the project&#x27;s own town" in page
    assert '<script id="data"' in (tmp_path / "follow-driver.html").read_text()
    assert main(["check", str(tmp_path / "follow-questions.hw")]) == 0
    assert (tmp_path / "follow.parquet").exists()
    assert not list(tmp_path.glob(".follow-*"))


def test_a_network_without_sumo_is_refused(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr(experiment, "find_sumo", lambda: None)
    (tmp_path / "a.net.xml").write_text("<net/>")
    assert main(["reproduce", "follow", "--data", str(tmp_path / "a.net.xml")]) != 0
    assert "error[sumo-missing]" in capsys.readouterr().err
