"""`bench` and `reproduce` are commands of a package of its own, found by their entry points."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import EntryPoints

import pytest

from headwater.apps.cli import main
from headwater.apps.cli.lab_commands import LAB_COMMANDS
from tests.docs.pages import ROOT


@pytest.fixture
def no_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **selected: EntryPoints())


@pytest.mark.parametrize("command", LAB_COMMANDS)
def test_a_command_of_the_laboratory_is_there_when_it_is_installed(command, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: headwater {command} ")


@pytest.mark.parametrize(
    "words", [["bench", "predict", "--rows", "100000"], ["reproduce"], ["reproduce", "--help"]]
)
def test_without_the_laboratory_its_commands_say_in_a_sentence_how_to_get_it(words, no_lab, capsys) -> None:
    assert main(words) == 2
    assert capsys.readouterr() == (
        "",
        f"error[lab-not-installed]: 'headwater {words[0]}' is in a separate package, which is not installed: "
        "pip install headwater-lab\n",
    )


def test_help_lists_the_commands_of_the_laboratory_either_way(no_lab, capsys) -> None:
    assert main([]) == 0
    assert re.findall(r"^    (bench|reproduce) ", capsys.readouterr().out, re.MULTILINE) == [
        "bench",
        "reproduce",
    ]


def test_the_entry_points_are_the_commands_that_help_lists() -> None:
    project = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["headwater.commands"].keys() == LAB_COMMANDS.keys()


def test_the_laboratory_belongs_to_this_version_and_needs_nothing_that_make_does_not_install() -> None:
    product = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lab = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]
    pictures = product["optional-dependencies"]["pictures"]
    assert lab["version"] == product["version"]
    assert lab["dependencies"] == [f"headwater=={product['version']}", *pictures]
