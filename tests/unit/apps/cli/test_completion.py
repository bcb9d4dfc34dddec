"""Shell completion: the scripts are run by the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from headwater.apps.cli import main
from headwater.apps.cli.commands import COMMANDS
from headwater.apps.cli.completion import known_commands
from headwater.apps.cli.lab_commands import LAB_COMMANDS

ASK_BASH = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_headwater
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def script(tmp_path_factory, capsys):
    def made(shell: str) -> Path:
        path = tmp_path_factory.getbasetemp() / f"headwater-completion.{shell}"
        if not path.exists():
            assert main(["completion", shell]) == 0
            path.write_text(capsys.readouterr().out)
        return path

    return made


def completed(script: Path, folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word."""
    listed = " ".join(f"'{word}'" for word in ("headwater", *words))
    completing = ASK_BASH.format(script=script, words=listed)
    run = subprocess.run(["bash", "-c", completing], capture_output=True, text=True, cwd=folder, check=True)
    assert run.stderr == ""
    return sorted(filter(None, run.stdout.splitlines()))


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["ru"], ["run"]),
        (["c"], ["check", "checkpoint", "completion"]),
        (["--v"], ["--version"]),
        (["run", "--out"], ["--output"]),
        (["run", "alerts.hw", "--for"], ["--format"]),
        (["run", "alerts.hw", "--format", ""], ["csv", "json", "parquet", "table"]),
        (["run", "alerts.hw", "--format", "=", "p"], ["parquet"]),
        (["run", "alerts.hw", "--engine", "l"], ["local"]),
        (["run", "al"], ["alerts.hw"]),
        (["check", ""], ["alerts.hw", "my readings.csv", "readings.csv"]),
        (["run", "alerts.hw", "--input", "weather", "=", "re"], ["readings.csv"]),
        (["run", "alerts.hw", "--input", "weather", "="], ["alerts.hw", "my readings.csv", "readings.csv"]),
        (["run", "alerts.hw", "--input", "wea"], []),
        (["run", "alerts.hw", "--output", "my"], ["my readings.csv"]),
        (["run", "alerts.hw", "--tick", "r"], []),
        (["run", "alerts.hw", "--quiet", "r"], ["readings.csv"]),
        (["examples", ""], ["copy", "list"]),
        (["examples", "copy", "al"], ["alerts"]),
        (["checkpoint", "v"], ["verify"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
    ],
)  # fmt: skip
def test_bash_completes(script, tmp_path, words, offered):
    for name in ("alerts.hw", "readings.csv", "my readings.csv"):
        (tmp_path / name).touch()
    assert completed(script("bash"), tmp_path, *words) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_scripts(script, shell):
    path = script(shell)
    text = path.read_text()
    assert all(command in text for command in COMMANDS | LAB_COMMANDS)
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(path)], check=True)


def test_every_command_is_known_with_its_flags():
    known = {command.path[0]: command for command in known_commands()}
    assert known.keys() == (COMMANDS | LAB_COMMANDS).keys()
    flags = {name for flag in known["run"].flags for name in flag.names}
    assert {"--input", "--query", "--format", "--checkpoint", "--help", "--debug"} <= flags
    assert [action.path for action in known["examples"].actions] == [
        ("examples", "list"),
        ("examples", "copy"),
    ]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(script, tmp_path):
    completing = f"source {script('fish')}; complete -C 'headwater run alerts.hw --format '"
    run = subprocess.run(["fish", "-c", completing], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert [line.split("\t")[0] for line in run.stdout.splitlines()] == ["csv", "json", "parquet", "table"]
