"""`headwater suppress-report`: what is compared, what it is counted on, what is told and written."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from headwater.apps.cli import main
from headwater.apps.suppression.choices import (
    Choice,
    ChoiceError,
    choice_in,
    shown,
    tolerances_around,
    tolerances_in,
)
from headwater.apps.suppression.comparison import Comparison, compare
from headwater.apps.suppression.recorded_samples import plan_of_samples, questions, read_samples
from headwater.hosts.local import run_local
from headwater.kernels.suppress.choices import Predictor
from headwater.query.checking.check import check
from headwater.query.operators.suppress.operator import SuppressOperator
from headwater.query.planning.plan import compile_text

CARS = (
    "CREATE STREAM cars (car STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, kind STRING, PLACE (x, y));\n"
)
SENT = """CREATE QUERY sent AS SELECT * FROM cars WHERE kind <> 'bus'
  SUPPRESS (x, y TOLERANCE 8 METERS HEARTBEAT 20 SECONDS USING LEAST SQUARES 4);
"""
MEETING = """CREATE QUERY meeting AS SELECT * FROM cars SUPPRESS (x TOLERANCE 2 HEARTBEAT 1 MINUTES) PREDICT (x < 50);
"""
SLOW = """CREATE QUERY slow AS SELECT car, x, y FROM cars WHERE kind = 'bus';
CREATE QUERY rest AS SELECT * FROM slow SUPPRESS (y TOLERANCE 4 HEARTBEAT 1 MINUTES);
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two minutes of cars and a bus: they turn, and some readings lack a number."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    lines = ["car,at,x,y,kind"]
    for car in range(5):
        heading, at = 0.0, np.zeros(2)
        for second in range(0, 120, 2):
            heading = rng.uniform(0, 2 * math.pi) if rng.random() < 0.15 else heading
            at = at + 10 * np.array([math.cos(heading), math.sin(heading)])
            x, y = at + rng.normal(0, 0.5, 2)
            cell = "" if car == 1 and second in (10, 12) else f"{x:.3f}"
            time = f"2026-01-31T06:{second // 60:02d}:{second % 60:02d}Z"
            lines.append(f"c{car},{time},{cell},{y:.3f},{'bus' if car == 4 else 'car'}")
    Path("cars.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def report(*flags: str, text: str = CARS + SENT) -> int:
    Path("q.hw").write_text(text)
    return main(["suppress-report", "q.hw", "--input", "cars=cars.csv", "--output", "out", *flags])


def written() -> list[dict[str, str]]:
    with Path("out/suppress-report.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def counted_by_a_run(text: str, query: str) -> int:
    """How many updates a run of the queries sends."""
    outputs = run_local(compile_text(text), {"cars": ["cars.csv"]})
    return sum(block["query"].tolist().count(query) for part in outputs for block in part.answers)


def test_without_matplotlib_the_table_is_written_and_a_line_says_how_to_get_pictures(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setattr("headwater.apps.pictures.find_spec", lambda name: None)
    assert report("--predictor", "CONSTANT") == 0
    out, err = capsys.readouterr()
    assert err == "no picture: matplotlib is not installed (pip install 'headwater[pictures]')\n"
    assert out.endswith("out/suppress-report.csv\n")
    assert [path.name for path in Path("out").iterdir()] == ["suppress-report.csv"]


class TestChoices:
    def test_a_predictor_is_read_as_it_is_written_in_a_query(self):
        assert choice_in("slope") == Choice(Predictor.SLOPE)
        assert choice_in(" LEAST  SQUARES 5 ") == Choice(Predictor.LEAST_SQUARES, (5.0,))
        assert choice_in("double-exponential .5,1") == Choice(Predictor.DOUBLE_EXPONENTIAL, (0.5, 1.0))
        assert choice_in("kalman 1e-3, 25") == Choice(Predictor.KALMAN, (0.001, 25.0))

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("slop", "there is no predictor named 'SLOP'"),
            ("7", "there is no predictor named '7'"),
            ("slope 3", "SLOPE is written without numbers, not 'slope 3'"),
            ("kalman 3", "KALMAN is written KALMAN q, r, not 'kalman 3'"),
            ("kalman 3, x", "KALMAN is written KALMAN q, r, not 'kalman 3, x'"),
            ("kalman 0, 1", "q and r are noise: greater than 0"),
            ("least squares 1", "LEAST SQUARES looks at the last 2 to"),
            ("least squares 2.5", "LEAST SQUARES looks at the last 2 to"),
            ("double exponential 0.5, 1.5", "alpha and beta are weights: greater than 0, at most 1"),
        ],
    )
    def test_what_is_none_is_refused_with_words(self, text: str, words: str):
        with pytest.raises(ChoiceError) as fault:
            choice_in(text)
        assert str(fault.value).startswith(words)

    def test_tolerances_are_numbers_from_zero_on(self):
        assert tolerances_in("1, 0.5,2,1") == (0.5, 1.0, 2.0)
        for text in ("", "1,,2", "-1", "nan", "inf", "wide"):
            with pytest.raises(ChoiceError):
                tolerances_in(text)

    def test_tolerances_lie_around_that_of_the_query(self):
        assert tolerances_around(8.0) == (2.0, 4.0, 8.0, 16.0, 32.0)
        assert tolerances_around(0.0) == (0.0,)

    def test_the_querys_own_predictor_keeps_its_numbers(self):
        suppress = SuppressOperator(("x",), 1.0, 10_000_000, Predictor.KALMAN, (3.0, 4.0))
        assert Choice(Predictor.KALMAN).candidates(suppress, 1.0) == ((3.0, 4.0),)
        assert Choice(Predictor.KALMAN, (1.0, 2.0)).candidates(suppress, 1.0) == ((1.0, 2.0),)
        assert Choice(Predictor.SLOPE).candidates(suppress, 1.0) == ((),)
        assert len(Choice(Predictor.LEAST_SQUARES).candidates(suppress, 1.0)) > 1

    def test_noise_is_above_zero_whatever_the_tolerance_and_the_pace(self):
        for tolerance, pace in [(0.0, 1.0), (1e-9, 3600.0), (1e9, 1e-6)]:
            suppress = SuppressOperator(("x",), tolerance, 10_000_000, Predictor.SLOPE, ())
            for q, r in Choice(Predictor.KALMAN).candidates(suppress, pace):
                assert 0 < q < math.inf
                assert 0 < r < math.inf

    def test_a_predictor_is_shown_as_it_is_written(self):
        assert shown(Predictor.KALMAN, (0.5, 25.0)) == "KALMAN 0.5, 25"
        assert shown(Predictor.SLOPE, ()) == "SLOPE"


def compared(text: str, name: str) -> Comparison:
    catalogue = check(text)
    (question,) = [one for one in questions(catalogue) if one.name == name]
    plan = plan_of_samples(catalogue, question, text)
    recorded = read_samples(plan, question, {"cars": ["cars.csv"]}, lambda words: None)
    choice = Choice(question.operator.predictor)
    return compare(question, recorded, [choice], [question.operator.tolerance])


@pytest.mark.usefixtures("place")
class TestSamples:
    @pytest.mark.parametrize(
        ("text", "name", "samples", "lacking"),
        [
            (CARS + SENT, "sent", 238, 2),
            (CARS + MEETING, "meeting", 298, 2),
            (CARS + SLOW, "rest", 60, 0),
        ],
    )
    def test_what_is_counted_is_what_a_run_sends(self, text: str, name: str, samples: int, lacking: int):
        found = compared(text, name)
        (one,) = found.found
        assert (one.samples, found.recorded.lacking) == (samples, lacking)
        alone = text.replace(" PREDICT (x < 50)", "")
        assert one.updates == counted_by_a_run(alone, name)
        assert found.is_as_written(one)
        assert found.pace_s == 2.0

    def test_numbers_are_those_of_the_few_that_save_most(self):
        catalogue = check(CARS + SENT)
        (question,) = questions(catalogue)
        plan = plan_of_samples(catalogue, question, CARS + SENT)
        recorded = read_samples(plan, question, {"cars": ["cars.csv"]}, lambda words: None)
        tried = Choice(Predictor.DOUBLE_EXPONENTIAL)
        (best,) = compare(question, recorded, [tried], [8.0]).found
        others = [
            compare(question, recorded, [Choice(Predictor.DOUBLE_EXPONENTIAL, numbers)], [8.0])
            .found[0]
            .updates
            for numbers in tried.candidates(question.operator, 2.0)
        ]
        assert best.updates == min(others) < max(others)


@pytest.mark.usefixtures("place")
class TestCommand:
    def test_all_predictors_are_compared_around_the_tolerance(self, capsys):
        assert report() == 0
        out, err = capsys.readouterr()
        lines = out.split("\n")
        assert err == ""
        assert lines[0] == "sent: x, y of 4 sensors, 238 samples, one every 2 s, HEARTBEAT 20 SECONDS"
        assert lines[1] == "2 rows without a key or a number left out"
        heads = "predictor tolerance samples updates saved mean error max error RMS error"
        assert " ".join(lines[3].split()) == heads
        assert sum(line.endswith("as written") for line in lines) == 1
        assert "most is saved with TOLERANCE 8 by" in out
        assert lines[-3:] == ["out/suppress-report.csv", "out/suppress-report.png", ""]
        rows = written()
        assert len(rows) == 25
        assert list(dict.fromkeys(row["predictor"] for row in rows)) == [p.value for p in Predictor]
        assert Path("out/suppress-report.png").read_bytes().startswith(b"\x89PNG")

    def test_more_tolerance_never_costs_more_with_a_constant_and_never_breaks_its_word(self, capsys):
        assert report("--tolerance", "1,5,25,100", "--predictor", "constant") == 0
        rows = written()
        updates = [int(row["updates"]) for row in rows]
        assert updates == sorted(updates, reverse=True)
        for row in rows:
            errors = [float(row[name]) for name in ("mean_error", "rms_error", "max_error", "tolerance")]
            assert errors == sorted(errors)
            assert float(row["saved"]) == pytest.approx(1 - int(row["updates"]) / int(row["samples"]))

    def test_several_queries_have_a_table_each_and_one_picture(self, capsys):
        flags = ("--predictor", "slope", "--predictor", "kalman 1, 4", "--tolerance", "0,4")
        assert report(*flags, text=CARS + SENT + MEETING) == 0
        assert [row["query"] for row in written()] == ["sent"] * 4 + ["meeting"] * 4
        assert {row["parameters"] for row in written()} == {"", "1.0 4.0"}
        assert report(*flags, "--query", "meeting", text=CARS + SENT + MEETING) == 0
        assert {row["query"] for row in written()} == {"meeting"}

    @pytest.mark.parametrize(
        ("flags", "text", "words"),
        [
            (["--tolerance", "x"], CARS + SENT, "--tolerance: a tolerance is a number from 0 on, not 'x'"),
            (["--predictor", "magic"], CARS + SENT, "--predictor: there is no predictor named 'MAGIC'"),
            (["--query", "snt"], CARS + SENT, "there is no query named 'snt'"),
            (["--query", "slow"], CARS + SLOW, "'slow' has no SUPPRESS: there is nothing to compare"),
            ([], CARS + "CREATE QUERY q AS SELECT * FROM cars;", "no query has a SUPPRESS"),
            (["--input", "bikes=x.csv"], CARS + SENT, "--input: there is no stream named 'bikes'"),
        ],
    )
    def test_a_command_line_that_makes_no_sense_is_reported(self, flags, text: str, words: str, capsys):
        assert report(*flags, text=text) == 2
        assert words in capsys.readouterr().err

    def test_no_sample_at_all_is_reported(self, capsys):
        assert report(text=CARS + SENT.replace("<> 'bus'", "= 'plane'")) == 1
        assert "there is no sample for 'sent' in the input" in capsys.readouterr().err

    def test_errors_of_the_queries_are_reported_with_their_place(self, capsys):
        assert report(text=CARS + SENT.replace("TOLERANCE 8", "TOLERANCE -8")) == 1
        assert "negative-tolerance" in capsys.readouterr().err
