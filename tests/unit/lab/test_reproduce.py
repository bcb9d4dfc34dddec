"""Experiments: claims are told as they were measured, and a whole one runs at a tiny size."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from headwater.apps.cli import main
from headwater.kernels.nearest.choices import Algorithm
from headwater_lab.bench.figures import Figure, write_figures
from headwater_lab.bench.nearest_truth import together
from headwater_lab.reproduce import EXPERIMENTS, nearest_candidates
from headwater_lab.reproduce.nearest_candidates import COLUMNS, Measured, Scale, claims
from headwater_lab.reproduce.outcome import Claim, Outcome, Panel
from headwater_lab.reproduce.picture import draw

TINY = Scale(8, (1, 9), (200, 400), 1_000, 600)


def measured(
    k: int, algorithm: Algorithm, candidates: float, cost_us: float, window: int = 1_000
) -> Measured:
    return Measured("uniform", window, k, algorithm, 100, candidates, 0, candidates, 1.0, cost_us, 1_000)


# The strict k-skyband of 9 has 60.3 entries of 2,000 objects and 66.5 of 4,000.
AS_PUBLISHED = [
    measured(9, Algorithm.RA, 70.0, 50.0, 4_000),
    measured(9, Algorithm.RAPF, 60.0, 5.0, 4_000),
    measured(9, Algorithm.PA, 29.0, 3.0, 4_000),
]
WINDOWS = [
    measured(9, Algorithm.RA, 62.0, 50.0, 2_000),
    measured(9, Algorithm.PA, 29.0, 3.0, 2_000),
    *AS_PUBLISHED,
]


def holding(against_k, against_window=WINDOWS) -> list[bool]:
    return [claim.holds for claim in claims(against_k, against_window)]


def test_all_claims_hold_when_it_is_as_published() -> None:
    judged = claims(AS_PUBLISHED, WINDOWS)
    assert [claim.holds for claim in judged] == [True] * 5
    assert judged[0].evidence == "those of PA over the fewer of RA and RAPF: uniform k = 9 0.483"
    assert judged[2].evidence == "cost of an object, RA over RAPF: uniform k = 9 10"
    assert judged[3].evidence == "k = 9, windows of 2,000, 4,000 objects: 29, 29"


def test_one_k_for_which_pa_does_not_keep_fewest_is_enough() -> None:
    others = [
        measured(1, Algorithm.RA, 10.0, 50.0),
        measured(1, Algorithm.RAPF, 7.0, 5.0),
        measured(1, Algorithm.PA, 11.0, 3.0),
    ]
    assert holding([*AS_PUBLISHED, *others]) == [False, False, True, True, True]


def test_a_buffer_of_rapf_counts_for_objects_and_not_for_candidates() -> None:
    buffered = [
        replace(m, candidates=20.0, recent=400, stored=60.0) if m.algorithm is Algorithm.RAPF else m
        for m in AS_PUBLISHED
    ]
    assert holding(buffered) == [False, True, True, True, True]


def test_rapf_must_be_cheaper() -> None:
    dear = [replace(m, cost_us=51.0) if m.algorithm is Algorithm.RAPF else m for m in AS_PUBLISHED]
    assert holding(dear) == [True, True, False, True, True]


def test_candidates_of_pa_must_be_the_same_for_all_windows() -> None:
    grown = [replace(m, candidates=m.window / 100) if m.algorithm is Algorithm.PA else m for m in WINDOWS]
    assert holding(AS_PUBLISHED, grown) == [True, True, True, False, True]


@pytest.mark.parametrize("growth", [0.1, 10.0])
def test_candidates_of_ra_must_grow_as_the_formula_says(growth) -> None:
    other = [
        replace(m, candidates=60.0 + growth * m.window / 100) if m.algorithm is Algorithm.RA else m
        for m in WINDOWS
    ]
    assert holding(AS_PUBLISHED, other) == [True, True, True, True, growth < 1]


def test_a_claim_says_whether_it_holds_and_why() -> None:
    assert str(Claim("a is less than b", True, "1 and 2")) == "holds: a is less than b\n    1 and 2"
    assert str(Claim("a is less than b", False, "2 and 1")).startswith("does not hold: a is less than b\n")


def test_a_picture_is_a_png(tmp_path) -> None:
    panel = Panel("Cost", "k", "µs", {"RA": [(1, 10.0), (3, 20.0)], "PA": [(1, 1.0), (3, 1.5)]})
    draw("Two panels", [panel, replace(panel, scale="linear")], tmp_path / "cost.png")
    assert (tmp_path / "cost.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_table_is_written_as_it_was_measured_and_shown_in_short(tmp_path) -> None:
    outcome = Outcome(("data", "k", "cost"), [("uniform", 81, 1234.5678), ("clusters", 1, 0.25)], [], [])
    outcome.write_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text() == "data,k,cost\nuniform,81,1234.5678\nclusters,1,0.25\n"
    assert outcome.table().splitlines() == [
        "data       k   cost",
        "uniform   81  1,235",
        "clusters   1   0.25",
    ]


def test_claims_and_points_of_pictures_are_written_as_json(tmp_path) -> None:
    panel = Panel("Cost\nof an object", "k", "µs", {"RA": [(1, 10.5), (3, 20)], "PA": [(3, 1.5)]})
    claim = Claim("PA is cheaper", True, "1.5 and 20", "much cheaper")
    Outcome(("k",), [(1,)], [panel], [claim]).write_json(tmp_path / "outcome.json")
    nothing_required = {"unit": "µs", "wanted": None, "met": None}
    assert json.loads((tmp_path / "outcome.json").read_text(encoding="utf-8")) == {
        "claims": [
            {"name": "PA is cheaper", "published": "much cheaper", "evidence": "1.5 and 20", "met": True}
        ],
        "figures": [
            {"name": "Cost of an object: RA, k 1", "value": 10.5, **nothing_required},
            {"name": "Cost of an object: RA, k 3", "value": 20.0, **nothing_required},
            {"name": "Cost of an object: PA, k 3", "value": 1.5, **nothing_required},
        ],
    }


def test_a_figure_has_the_keys_that_a_benchmark_writes(tmp_path) -> None:
    Outcome((), [], [Panel("Cost", "k", "µs", {"RA": [(1, 2.0)]})], []).write_json(tmp_path / "one.json")
    write_figures([Figure("cost", 2.0, "µs", "<=", 3.0)], tmp_path / "other.json")
    one, other = (json.loads((tmp_path / name).read_text())["figures"] for name in ("one.json", "other.json"))
    assert one[0].keys() == other[0].keys()


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(nearest_candidates, "SCALES", {"small": TINY})


def test_an_experiment_runs_from_end_to_end(tiny, tmp_path, capsys) -> None:
    folder = tmp_path / "made" / "here"
    written = tmp_path / "further" / "outcome.json"
    assert main(["reproduce", "nearest-candidates", "--output", str(folder), "--json", str(written)]) == 0
    out, err = capsys.readouterr()
    with (folder / "nearest-candidates.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    # Two kinds of objects, two k and three algorithms; and the other window.
    assert len(rows) == 2 * 2 * 3 + 3
    assert all(float(row["candidates"]) > 0 and float(row["us_per_object"]) > 0 for row in rows)
    assert (folder / "nearest-candidates.png").stat().st_size > 10_000
    assert out.count("\nholds: ") + out.count("\ndoes not hold: ") == 5
    assert out.endswith(f"{folder}/nearest-candidates.csv\n{folder}/nearest-candidates.png\n{written}\n")
    content = json.loads(written.read_text())
    assert sum(claim["met"] for claim in content["claims"]) == out.count("\nholds: ")
    assert len(content["claims"]) == 5 and len(content["figures"]) > 2 * 2 * 3
    assert "uniform, windows of 400 objects, k = 9, RAPF" in err


def test_wrong_answers_are_a_failure(tiny, tmp_path, capsys, monkeypatch) -> None:
    run_kernel = nearest_candidates.run_kernel
    monkeypatch.setattr(
        nearest_candidates,
        "run_kernel",
        lambda *given, **more: replace(run_kernel(*given, **more), answers=together([])),
    )
    assert main(["reproduce", "nearest-candidates", "--output", str(tmp_path)]) == 1
    assert (
        "check failed: uniform, window 400, k = 1: RA reports wrong answers for point"
        in capsys.readouterr().err
    )


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_measured(tmp_path, capsys) -> None:
    (tmp_path / "taken").write_text("")
    assert main(["reproduce", "nearest-candidates", "--output", str(tmp_path / "taken")]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[cannot-write]: cannot write into the folder")
    words = ["--output", str(tmp_path), "--json", str(tmp_path / "taken" / "outcome.json")]
    assert main(["reproduce", "nearest-candidates", *words]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error[cannot-write]: cannot write into the folder")


def test_an_unknown_experiment_is_exit_code_2_and_help_lists_all(capsys) -> None:
    assert main(["reproduce", "everything"]) == 2
    assert ", not 'everything'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["reproduce", "--help"])
    judged = capsys.readouterr().out
    assert all(name in judged and what in judged for name, what in EXPERIMENTS.items())
