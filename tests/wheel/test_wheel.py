"""What somebody sees who has only installed the wheel: the tutorial, the examples, and an hour of work on recorded data.

The tutorial compiles what it needs, as on a new machine. With `make soak` it goes on to Spark, and the hour of work compiles, too: otherwise
that finds the compiled code of the environment that runs the tests, so as not to take half a minute.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.hosts.cache import cache_folder
from tests.docs.hour_of_work import DATA, assert_answers, skip_without_data
from tests.docs.pages import Block, assert_alike, blocks_of, commands_of
from tests.wheel.fresh_environment import ROOT, FreshEnvironment, make_environment

TUTORIAL = ROOT / "docs" / "tutorial" / "first-fifteen-minutes.md"
EXAMPLES = ROOT / "src" / "headwater" / "apps" / "examples"
ON_SPARK = "The same on Spark"
THOROUGH = "HEADWATER_SOAK_SEED" in os.environ


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironment:
    return make_environment(tmp_path_factory.mktemp("wheel"))


def test_nothing_of_the_checkout_is_in_sight(fresh: FreshEnvironment, tmp_path: Path) -> None:
    where = fresh.output_of("python -c 'import headwater; print(headwater.__file__)'", tmp_path)
    assert where.startswith(str(fresh.folder / "venv"))
    for package in ("headwater_lab", "tests"):
        assert "No module named" in fresh.run(f"python -c 'import {package}'", tmp_path).stderr


def test_the_examples_are_in_the_wheel(fresh: FreshEnvironment, tmp_path: Path) -> None:
    listed = fresh.output_of("headwater examples", tmp_path)
    names = sorted(path.parent.name for path in EXAMPLES.glob("*/about.txt"))
    assert [line.split()[0] for line in listed.splitlines()[: len(names)]] == names
    for name in names:
        fresh.output_of(f"headwater examples copy {name}", tmp_path)
        files = {path.name for path in (EXAMPLES / name).iterdir() if path.is_file()} - {"about.txt"}
        assert {path.name for path in (tmp_path / name).iterdir()} == files


@pytest.mark.soak
def test_the_tutorial_works_from_an_empty_folder(fresh: FreshEnvironment, tmp_path: Path) -> None:
    """Its commands in a shell, its Python as one program."""
    program, promised = [], []
    for block in _blocks(with_spark=THOROUGH):
        if block.file:
            (tmp_path / block.file).write_text(block.text)
        if block.language == "console":
            for command, wanted in commands_of(block.text):
                assert_alike(fresh.output_of(f"{command} 2>&1 || true", tmp_path), wanted or "…")
        elif block.language == "python":
            program.append(block.text)
        elif block.language == "output":
            promised.append(block.text)
    (tmp_path / "program.py").write_text("\n".join(program))
    assert_alike(fresh.output_of("python program.py", tmp_path), "".join(promised))


@pytest.mark.soak
def test_an_hour_of_work_in_a_script(fresh: FreshEnvironment, tmp_path: Path) -> None:
    skip_without_data()
    fresh.output_of("headwater examples copy hour-of-work", tmp_path)
    folder = tmp_path / "hour-of-work"
    compiled = {} if THOROUGH else {"XDG_CACHE_HOME": str(cache_folder().parent)}
    told = fresh.output_of("python hour_of_work.py", folder, HEADWATER_DATA=str(DATA.resolve()), **compiled)
    assert told.endswith("hour.png are written\n")
    assert_answers(folder)


def _blocks(*, with_spark: bool) -> Iterator[Block]:
    """The blocks of the tutorial, as far as Spark or to the end."""
    for block in blocks_of(TUTORIAL.read_text(encoding="utf-8")):
        if ON_SPARK in block.heading and not with_spark:
            return
        yield block
