"""Every program in examples/ runs, and prints what its docstring says."""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, assert_alike

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_it_says(path: Path, spark, capsys) -> None:
    example = import_module(f"examples.{path.stem}")
    assert example.__doc__ is not None
    example.main(spark)
    promised = textwrap.dedent(example.__doc__.split("Prints:")[1])
    assert_alike(capsys.readouterr().out, promised)
