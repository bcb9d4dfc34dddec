"""The benchmark of starts measures what it says, and notices a start that goes wrong."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from headwater.apps.cli import main
from headwater_lab.bench import start as bench
from headwater_lab.bench.start import ANSWERS, Case, cases, run_start, start


def program(text: str, **rest: object) -> Case:
    return Case("a", "a program", (sys.executable, "-c", text), **rest)  # type: ignore[arg-type]


def test_a_start_is_measured_to_its_end(tmp_path: Path) -> None:
    measured = start(program("import time; time.sleep(0.3); print('x')", answers=1), tmp_path)
    assert measured.right
    assert 0.3 <= measured.wall_s < 30
    assert 0 <= measured.cpu_s < measured.wall_s


def test_a_start_is_measured_to_the_line_with_which_it_is_over(tmp_path: Path) -> None:
    text = "import time; print('answers 0\\nanswers 1', flush=True); time.sleep(4); print('more')"
    measured = start(program(text, until=re.compile("answers +[1-9]")), tmp_path)
    assert measured.right
    assert measured.wall_s < 4


@pytest.mark.parametrize(
    "case",
    [
        program("raise SystemExit(1)"),
        program("print('one')", answers=2),
        program("print('answers 0')", until=re.compile("answers +[1-9]")),
    ],
)
def test_a_start_that_prints_something_else_is_wrong(case: Case, tmp_path: Path) -> None:
    assert not start(case, tmp_path).right


def test_later_starts_find_what_the_first_one_left(tmp_path: Path) -> None:
    text = """
import os, pathlib
folder = pathlib.Path(os.environ["XDG_CACHE_HOME"])
print(len(list(folder.iterdir())))
(folder / "left").touch()
"""
    assert start(program(text, until=re.compile("0")), tmp_path).right
    assert start(program(text, until=re.compile("1")), tmp_path).right


def test_every_case_has_its_files_and_one_query_of_each_kind(tmp_path: Path) -> None:
    found = cases(tmp_path)
    for letter in "abc":
        assert [
            case.name.partition(", ")[2] for case in found if case.letter == letter and case.answers
        ] == list(ANSWERS)
    assert [case.name for case in found if case.until] == ["demo"]


def test_commands_are_measured_and_their_answers_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"--help", "check", "run, SELECT"}
    every = bench.cases
    monkeypatch.setattr(
        bench, "cases", lambda folder: [case for case in every(folder) if case.name in chosen]
    )
    report = run_start("a", tries=1)
    assert report.failures == []
    assert [figure.name for figure in report.figures] == [
        "a: check, first start",
        "a: check, later starts",
        "a: run, SELECT, first start",
        "a: run, SELECT, later starts",
    ]
    assert [note.partition(":")[0] for note in report.notes][-3:] == [
        "(a) --help",
        "(a) check",
        "(a) run, SELECT",
    ]
    assert all(0 < figure.value < 300 for figure in report.figures)


def test_figures_are_written_as_those_of_other_families(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        bench, "cases", lambda _: [program("print('x')", answers=1, first_s=60.0, later_s=0.0)]
    )
    file = tmp_path / "figures.json"
    assert main(["bench", "start", "--cases", "a", "--tries", "2", "--json", str(file)]) == 0
    figures = json.loads(file.read_text())["figures"]
    assert [(figure["name"], figure["wanted"], figure["met"]) for figure in figures] == [
        ("a: a program, first start", "<= 60", True),
        ("a: a program, later starts", "<= 0", False),
    ]
    assert "NOT MET" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["start", "--rows", "200000"], ["state", "--tries", "2"], ["start", "--tries", "0"]]
)
def test_flags_that_mean_nothing_are_refused(words: list[str]) -> None:
    assert main(["bench", *words]) == 2
