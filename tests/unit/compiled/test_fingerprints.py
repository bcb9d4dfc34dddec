"""A fingerprint changes with whatever the code depends on, and with nothing else."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from headwater.compiled.fingerprints import fingerprint

CALLED = """
from headwater.compiled import loop

FACTOR = 3

@loop
def times(x):
    return x * FACTOR
"""
CALLER = """
from typing import NamedTuple

import numpy as np

from headwater.compiled import loop
import called_file
from called_file import times

LIMIT = np.float64(4.0)
TABLE = np.array([1, 2])

class Pair(NamedTuple):
    left: int
    right: int = 0

@loop
def entry(x):
    return Pair(times(x), TABLE[0]).left + LIMIT

@loop
def by_module(x):
    return called_file.times(x)

@loop
def alone(x):
    return x + 1
"""

Load = Callable[..., ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Both files, written anew, with some text replaced."""

    def write(before: str = "", after: str = "", *, folder: str = "one") -> ModuleType:
        # A .pyc goes by the second in which its file was written.
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        for name, text in (("called_file", CALLED), ("caller_file", CALLER)):
            file = place / f"{name}.py"
            file.write_text(text.replace(before, after) if before else text)
            spec = importlib.util.spec_from_file_location(name, file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            monkeypatch.setitem(sys.modules, name, module)
            spec.loader.exec_module(module)
        return module

    yield write


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("x * FACTOR", "x + FACTOR", {"entry", "by_module"}),
        ("FACTOR = 3", "FACTOR = 4", {"entry", "by_module"}),
        ("@loop\ndef times", "@loop(error_model='numpy')\ndef times", {"entry", "by_module"}),
        ("float64(4.0)", "float64(5.0)", {"entry"}),
        ("[1, 2]", "[3, 2]", {"entry"}),
        ("right: int = 0", "right: int = 1", {"entry"}),
        ("return x + 1", "return x + 2", {"alone"}),
        ("def alone(x):", 'def alone(x):\n    """Words."""', set()),
        ("def times(x):", "def times(x):\n    # a comment", set()),
        ("LIMIT = ", "\n\n\nLIMIT = ", set()),
    ],
)
def test_it_changes_with_what_is_computed(load: Load, before: str, after: str, changed: set[str]) -> None:
    names = ("entry", "by_module", "alone")
    module = load()
    was = {name: fingerprint(getattr(module, name)) for name in names}
    module = load(before, after)
    assert {name for name in names if fingerprint(getattr(module, name)) != was[name]} == changed


def test_it_is_the_same_in_another_folder(load: Load) -> None:
    assert fingerprint(load(folder="one").entry) == fingerprint(load(folder="other").entry)


def test_no_two_loops_of_headwater_share_one() -> None:
    from headwater.hosts.files import record_scanner
    from headwater.kernels.correlate import engine, match

    loops = [engine._advance, match._find, record_scanner._scan_csv, record_scanner._scan_lines]
    assert len({fingerprint(each) for each in loops}) == len(loops)
