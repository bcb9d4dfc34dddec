"""The operator of `docs/how-to/add-an-operator.md` works: the page is applied to a copy of the repository, where its golden file passes on the
two local hosts, its law holds, and the import rules are kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks_of

PAGE = ROOT / "docs/how-to/add-an-operator.md"
MOST_SHARED_FILES = 5

GOLDEN = """
import sys
from pathlib import Path

import headwater
from headwater.apps.cli.commands import run_command
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from tests.golden import hosts
from tests.golden.case import lines_of, read_case, table_of

case, folder = read_case(Path(sys.argv[1])), Path(sys.argv[2])
runs = {"bounded": (hosts.run_on_local, case.bounded), "streaming": (hosts.follow_on_local, case.followed)}
for name, (run, expected) in runs.items():
    (folder / name).mkdir()
    answers = run(case, folder / name).answers
    assert sorted(answers) == sorted(expected.answers), (name, answers)
    for query, table in expected.answers.items():
        assert table_of(answers[query], table) == lines_of(table), (name, query, answers[query])
(folder / "queries.hw").write_text(case.text)
assert run_command(["check", str(folder / "queries.hw")]) == 0
assert run_command(["explain", str(folder / "queries.hw")]) == 0
built = headwater.changed("moves", "weather", "temperature", by=0.5)
assert parse(show(built))[0].statements == (built,)
"""

BEHIND_FOLLOW = """
from headwater.model import QueriesRefused
from headwater.query.checking.check import check

try:
    check(
        "CREATE STREAM cars (car STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, v DOUBLE, PLACE (x, y));"
        "CREATE QUERY moves AS SELECT * FROM cars FOLLOW (cars RADIUS 5 METERS) CHANGED (v BY 1);"
    )
except QueriesRefused as refused:
    print(*refused.errors, sep='\\n')
"""

BLOCKS = [
    block for block in blocks_of(PAGE.read_text()) if any("/" in word or "." in word for word in block.words)
]


def path_of(block: Block) -> str:
    return block.words[0]


def before_and_after(block: Block) -> tuple[str, str]:
    """The lines that a small change replaces, and those it puts there."""
    lines = block.text.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] in " -")
    return before, "".join(line[1:] for line in lines if line[0] in " +")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of the repository that the page touches or runs, with the page applied."""
    copy = tmp_path_factory.mktemp("repository")
    without_caches = shutil.ignore_patterns("__pycache__")
    for folder in ("src/headwater", "lab/src/headwater_lab", "tests/golden", "docs/reference"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=without_caches)
    for file in ("pyproject.toml", "tests/unit/query/operators/test_operators.py"):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, copy / file)
    for block in BLOCKS:
        path = copy / path_of(block)
        if block.language == "diff":
            before, after = before_and_after(block)
            assert path.read_text().count(before) == 1, (
                f"{path_of(block)}: these lines must be there once:\n{before}"
            )
            path.write_text(path.read_text().replace(before, after))
        else:
            assert not path.exists(), f"{path_of(block)} exists already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
    return copy


def run_in(copy: Path, *arguments: str) -> str:
    """What Python prints in the copy. Nothing is compiled: there are a few rows only."""
    paths = os.pathsep.join(map(str, (copy / "src", copy / "lab/src", copy)))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": paths, "NUMBA_DISABLE_JIT": "1", "PYTEST_ADDOPTS": ""},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_an_operator_touches_few_shared_files() -> None:
    shared = {path_of(block) for block in BLOCKS if block.language == "diff"}
    assert 0 < len(shared) <= MOST_SHARED_FILES


def test_its_golden_file_passes_and_it_is_checked_explained_and_built(copy: Path, tmp_path: Path) -> None:
    (golden,) = (copy / path_of(block) for block in BLOCKS if path_of(block).endswith(".golden"))
    printed = run_in(copy, "-c", GOLDEN, str(golden), str(tmp_path))
    assert "2 queries, no errors" in printed
    assert "a row when temperature is more than 0.5 from the last one emitted of the same station" in printed


def test_it_is_refused_downstream_of_follow_until_it_says_how_far_back_it_looks(
    copy: Path, tmp_path: Path
) -> None:
    printed = run_in(copy, "-c", BEHIND_FOLLOW)
    assert "unbounded-behind-follow" in printed
    assert "it must be known how far back an answer looks, but CHANGED does not say" in printed


def test_its_law_holds_and_no_place_was_forgotten(copy: Path) -> None:
    law = "tests/laws/test_changed.py"
    places = "tests/unit/query/operators/test_operators.py"
    # Hashes overflow on purpose, of which numpy warns where nothing is compiled.
    options = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-W", "ignore::RuntimeWarning")
    # The first loop imports numba, which is not to count for the time of an example.
    options += ("-p", "numba")
    assert " passed" in run_in(copy, "-m", "pytest", *options, law, places)


def test_the_import_rules_hold(copy: Path) -> None:
    run_linter = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    assert " 0 broken" in run_in(copy, "-c", run_linter, "--no-cache")
