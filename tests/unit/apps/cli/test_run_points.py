"""Points on the command line: inputs, summary, audit, and what is refused."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

from headwater.apps.cli import main
from headwater.query.operators.closing_lines import RunCounts
from headwater.query.operators.nearest.closing_lines import Audited, closing_lines, losses_in_words

TEXT = """
CREATE STREAM panels (panel STRING KEY, at TIMESTAMP TIME, solar DOUBLE, volts DOUBLE);
CREATE POINTS profiles (id STRING KEY, solar DOUBLE, volts DOUBLE);
CREATE QUERY profile AS SELECT * FROM panels NEAREST (2 TO EACH OF profiles BY (solar, volts) OVER 1 MINUTE{});
"""
POINTS = "id,solar,volts\na,0.1,0.1\nb,0.5,\nc,0.9,0.2\na,0.3,0.3\n"


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exact.hw").write_text(TEXT.format(""))
    (tmp_path / "probable.hw").write_text(TEXT.format(" USING PROBABLE 0.001"))
    (tmp_path / "profiles.csv").write_text(POINTS)
    draw = random.Random(4)
    lines = [
        f"p{n % 7},2026-01-31T06:{n // 60:02d}:{n % 60:02d}Z,{draw.random():.3f},{draw.random():.3f}"
        for n in range(600)
    ]
    lines[5] = lines[5].rpartition(",")[0] + ","
    (tmp_path / "panels.csv").write_text("\n".join(["panel,at,solar,volts", *lines]) + "\n")
    return tmp_path


def run(file: str, *more: str) -> int:
    given = ["--input", "panels=panels.csv", "--input", "profiles=profiles.csv"]
    return main(["run", file, "--engine", "local", *given, *more])


def test_points_are_an_input_and_bad_ones_are_reported(place, capfd):
    assert run("exact.hw", "--bad-output", "bad.jsonl", "--output", "answers.csv") == 0
    first, *others = capfd.readouterr().err.splitlines()
    assert re.fullmatch(r"read      600 rows in 1 file, .*", first)
    answers = Path("answers.csv").read_text().splitlines()
    assert others == [
        "points    profiles 2",
        f"answers   {len(answers) - 1}: profile {len(answers) - 1}",
        "bad       2 rows",
        "          missing-value 1, first profiles.csv:3: column 'volts' is empty",
        "          repeated-id 1, first profiles.csv:5: 'a' is the id of an earlier point",
        "skipped   1 row without a value for an attribute of NEAREST: not objects",
    ]
    assert {line.split(",")[3] for line in answers[1:]} == {"a", "c"}
    bad = [json.loads(line) for line in Path("bad.jsonl").read_text().splitlines()]
    assert [(entry["stream"], entry["file"], entry["line"], entry["text"]) for entry in bad] == [
        ("profiles", "profiles.csv", 3, "b,0.5,"),
        ("profiles", "profiles.csv", 5, "a,0.3,0.3"),
    ]


def test_readings_of_which_none_can_be_used_are_refused_though_points_can(place):
    Path("panels.csv").write_text("panel,at,solar,volts\np,soon,1,1\n")
    assert run("exact.hw", "--quiet") == 1


def test_the_loss_is_reported_with_what_is_allowed(place, capfd):
    assert run("probable.hw", "--audit", "1", "--output", "answers.jsonl") == 0
    (line,) = [line for line in capfd.readouterr().err.splitlines() if line.startswith("loss")]
    assert re.fullmatch(
        r"loss      profile: \d+ of \d+ missed(?: \(.+\))?, PROBABLE 0.001, measured on 2 of 2 points", line
    )
    found = len(Path("answers.jsonl").read_text().splitlines())
    missed, audited = (int(number) for number in re.findall(r"\d+", line)[:2])
    assert audited - missed <= found < 2 * audited


def test_an_audit_without_a_loss_to_measure_is_refused(place, capfd):
    assert run("exact.hw", "--audit", "0.5") == 2
    assert "--audit measures the loss of PROBABLE" in capfd.readouterr().err


@pytest.mark.parametrize("share", ["0", "-0.1", "1.1", "nan", "some"])
def test_a_share_is_above_nothing_and_at_most_everything(place, capfd, share: str):
    assert run("probable.hw", f"--audit={share}") == 2
    assert f"expected a share above 0 and at most 1, not '{share}'" in capfd.readouterr().err


def test_a_file_of_points_that_is_of_no_use_is_refused_before_the_run(place, capfd):
    (place / "more.csv").write_text("id,solar\nx,1\n")
    assert run("exact.hw", "--input", "profiles=more.csv") == 1
    assert capfd.readouterr() == (
        "",
        "error[unusable-file]: 'more.csv' cannot be used: no column 'volts'; the header has id, solar\n",
    )
    (place / "in").mkdir()
    (place / "more.csv").rename(place / "in/more.csv")
    assert run("exact.hw", "--input", "profiles=in") == 0
    assert "unusable  1 file could not be used\n" in capfd.readouterr().err


def test_points_without_an_input_are_missed(place, capfd):
    assert main(["run", "exact.hw", "--engine", "local", "--input", "profiles=profiles.csv"]) == 2
    assert "no --input for stream 'panels'\n  add --input panels=PATH" in capfd.readouterr().err
    assert main(["run", "exact.hw", "--engine", "local", "--input", "panels=panels.csv"]) == 2
    assert "no --input for points 'profiles'\n  add --input profiles=PATH" in capfd.readouterr().err
    assert main(["run", "exact.hw", "--engine", "local", "--input", "profile=profiles.csv"]) == 2
    printed = capfd.readouterr().err
    assert "known points: profiles\n  did you mean 'profiles'?" in printed


def test_points_of_which_none_can_be_used_are_refused(place, capfd):
    Path("profiles.csv").write_text("id,solar,volts\n")
    assert run("exact.hw") == 1
    assert "error[no-points]" in capfd.readouterr().err


def test_losses_in_words():
    audits = {"one": Audited(0.001, 41, 400), "two": Audited(0.5, 1, 1), "three": Audited(0.1, 2, 2)}
    counts = {"audited:one": 12_345, "missed:one": 3, "audited:two": 10, "missed:two": 3}
    assert losses_in_words(audits, RunCounts(counts)) == [
        "loss      one: 3 of 12,345 missed (2.4e-4), PROBABLE 0.001, measured on 41 of 400 points",
        "loss      two: 3 of 10 missed (0.3), PROBABLE 0.5, measured on 1 of 1 point",
        "loss      three: 0 of 0 missed, PROBABLE 0.1, measured on 2 of 2 points",
    ]
    assert closing_lines(RunCounts({"not_objects": 7})).omissions == [
        "skipped   7 rows without a value for an attribute of NEAREST: not objects",
    ]
