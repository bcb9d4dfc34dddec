"""Every example runs from where it is installed, as it says; a program prints what its docstring says."""

from __future__ import annotations

import shlex
import textwrap
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import headwater.apps
from headwater.apps.cli import main
from headwater.apps.cli.examples import all_examples
from tests.docs.pages import assert_alike

PROGRAMS = sorted((Path(headwater.apps.__file__).parent / "examples" / "programs").glob("*.py"))
IN_PYTHON = ("programs", "hour-of-work")
COMMANDS = {each.name: each.commands for each in all_examples() if each.name not in IN_PYTHON}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path, request: pytest.FixtureRequest, capsys) -> None:
    example = import_module(f"headwater.apps.examples.programs.{path.stem}")
    assert example.__doc__ is not None
    needed = (each.name for each in signature(example.main).parameters.values() if each.default is each.empty)
    example.main(*map(request.getfixturevalue, needed))
    promised = textwrap.dedent(example.__doc__.split("Prints:")[1])
    assert_alike(capsys.readouterr().out, promised)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_commands_of_an_example_run_in_its_copy(name: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["examples", "copy", name]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == [f"copied into '{name}'; next:", f"  cd {name}"]
    assert tuple(line.strip() for line in said[2:]) == COMMANDS[name] != ()
    monkeypatch.chdir(tmp_path / name)
    for command in COMMANDS[name]:
        program, *words = shlex.split(command)
        assert program == "headwater"
        assert main([*words, *(["--engine", "local"] if words[0] == "run" else [])]) == 0
        assert capsys.readouterr().out or "--output" in words


def test_the_commands_of_programs_are_programs() -> None:
    """`hour-of-work` runs with the notebooks, and from the wheel."""
    for example in all_examples():
        if example.name in IN_PYTHON:
            files = {path.name for path in example.folder.iterdir()}
            assert {command.partition("python ")[2] for command in example.commands} <= files
            assert example.commands


def test_the_examples_that_help_names_are_there(capsys) -> None:
    known = {each.name for each in all_examples()}
    named = set()
    for command in ("run", "why", "plan", "suppress-report", "test"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        out = capsys.readouterr().out
        assert "'headwater examples copy " in out
        named.add(out.partition("headwater examples copy ")[2].partition("'")[0])
    assert named <= known
    assert main(["examples"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{listed}" for name in known)


def test_an_example_is_copied_over_nothing(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/alerts.hw").write_text("-- mine")
    assert main(["examples", "copy", "alerts", "mine"]) == 2
    assert "error[usage]: 'mine' is there already" in capsys.readouterr().err
    assert Path("mine/alerts.hw").read_text() == "-- mine"
    assert main(["examples", "copy", "alert"]) == 2
    assert "did you mean 'alerts'?" in capsys.readouterr().err
