from __future__ import annotations

import pytest

from headwater.apps.cli import main

ELSEWHERE = "\n  write to another place, or the next run would read the answers as readings"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("at\n")
    (tmp_path / "old.csv").mkdir()
    (tmp_path / "link").symlink_to("in")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "outputs", "message"),
    [
        ("in", ["--output", "a.csv", "--bad-output", "./a.csv"], "--output and --bad-output are both './a.csv'"),
        ("in", ["--late-output", "a.csv", "--bad-output", "a.csv"], "--late-output and --bad-output are both 'a.csv'"),
        ("in/a.csv", ["--output", "link/a.csv"], "--output 'link/a.csv' is also an input"),
        ("in", ["--output", "in/b.csv"], f"--output 'in/b.csv' lies in the input folder 'in'{ELSEWHERE}"),
        ("link", ["--bad-output", "in/b.csv"], f"--bad-output 'in/b.csv' lies in the input folder 'link'{ELSEWHERE}"),
        ("in/*.csv", ["--output", "in/a.csv"], f"--output 'in/a.csv' is among the inputs 'in/*.csv'{ELSEWHERE}"),
        ("in", ["--output", "old.csv"], "--output 'old.csv' is a folder; without --follow an output is a file"),
        ("in", ["--follow", "--checkpoint", "c", "--output", "in"], "--output 'in' is also an input"),
        ("in", ["--follow", "--checkpoint", "c", "--output", "in/out"], f"--output 'in/out' lies in the input folder 'in'{ELSEWHERE}"),
        ("in/*.jsonl", ["--follow", "--checkpoint", "c", "--output", "in"], f"--output 'in' is among the inputs 'in/*.jsonl'{ELSEWHERE}"),
        ("in", ["--follow", "--checkpoint", "c", "--output", "o", "--late-output", "o/"], "--output and --late-output are both 'o/'"),
    ],
)  # fmt: skip
def test_an_output_that_would_destroy_something_is_refused_before_any_work(
    place, capfd, given, outputs, message
):
    before = sorted(place.rglob("*"))
    assert main(["run", "none.hw", "--input", f"weather={given}", *outputs]) == 2
    assert capfd.readouterr().err == f"error[usage]: {message}\n"
    assert sorted(place.rglob("*")) == before


def test_an_output_beside_the_inputs_is_fine(capfd):
    assert main(["run", "none.hw", "--input", "weather=in/*.csv", "--output", "in/b.jsonl"]) == 1
    assert capfd.readouterr().err.startswith("error[missing-queries]")


def test_an_output_whose_name_is_too_long_is_reported_in_words(capfd):
    name = f"{'x' * 300}/a.csv"
    assert main(["run", "none.hw", "--input", "weather=in", "--output", name]) == 1
    assert capfd.readouterr().err == f"error[cannot-write]: cannot write '{name}': File name too long\n"
