"""How long outputs are kept, as it is said on the command line."""

from __future__ import annotations

import json

import pytest

from headwater.apps.cli import main

QUERIES = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE);
CREATE QUERY cold AS SELECT station FROM weather;
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "alerts.hw").write_text(QUERIES)
    (tmp_path / "in").mkdir()
    return tmp_path


def follow(*words: str) -> int:
    return main(["run", "alerts.hw", "--input", "weather=in", "--follow", "--checkpoint", "state", *words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--merge-output", "1"), "expected 0 or a number of 2 or more, not '1'"),
        (("--merge-output", "few"), "expected 0 or a number of 2 or more, not 'few'"),
        (("--keep-output", "10"), "expected an age such as '30 DAYS' or a size such as '10 GB', not '10'"),
        (("--keep-output", "GB"), "expected an age such as '30 DAYS' or a size such as '10 GB', not 'GB'"),
        (("--keep-output", "-3 DAYS"), "expected an age such as '30 DAYS' or a size such as '10 GB', not '-3 DAYS'"),
    ],
)  # fmt: skip
def test_what_is_not_an_amount_is_refused(place, capsys, words, message):
    assert follow(f"{words[0]}={words[1]}") == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("words", [("--merge-output", "0"), ("--keep-output", "3 DAYS")])
def test_a_bounded_run_has_nothing_to_merge_or_remove(place, capsys, words):
    assert main(["run", "alerts.hw", "--input", "weather=in", *words]) == 2
    assert capsys.readouterr().err == (
        "error[usage]: --merge-output and --keep-output are for --follow: a bounded run writes one file\n"
    )


def test_nobody_follows_an_output_whose_files_are_merged(place, capsys):
    (place / "in" / ".headwater.json").write_text(json.dumps({"run": "r", "merge_at": 1000}))
    assert follow() == 2
    assert capsys.readouterr().err.splitlines() == [
        "error[input-is-merged]: 'in' is the output of a run that merges its files: a run that reads it with --follow would read lines twice",
        "  start that run with --merge-output 0, and this one after it",
    ]
