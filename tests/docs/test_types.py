"""What users get from a type checker: the package says that it is typed, its public names are known, and the README's Python is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from mypy import api

import headwater

ROOT = Path(__file__).parents[2]

README = """
import headwater as hw
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
"""

NAMES = "import headwater as hw\n"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of files of somebody who uses the package."""
    folder = tmp_path_factory.mktemp("theirs")
    names = "".join(f"reveal_type(hw.{name})\n" for name in headwater.__all__)
    (folder / "readme.py").write_text(README + python_of_readme())
    (folder / "names.py").write_text(f"{NAMES}{names}hw.no_such_name\n")
    files = [str(folder / name) for name in ("readme.py", "names.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MYPYPATH", str(ROOT / "src"))
        options = [f"--cache-dir={folder / 'cache'}", "--config-file="]
        out, err, _ = api.run(["--strict", "--follow-imports=silent", *options, *files])
    assert err == ""
    return out.splitlines()


def python_of_readme() -> str:
    text = (ROOT / "README.md").read_text()
    blocks = text.split("```python")[1:]
    return "\n".join(block.split("```")[0].partition("\n")[2] for block in blocks)


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(headwater.__file__).parent / "py.typed").exists()


def test_the_python_of_the_readme_is_right(said: list[str]) -> None:
    assert "hw.run(" in python_of_readme()
    assert [line for line in said if "readme.py" in line] == []


def test_every_public_name_has_a_type(said: list[str]) -> None:
    revealed = [line.partition("Revealed type is ")[2] for line in said if "Revealed type" in line]
    assert len(revealed) == len(headwater.__all__)
    assert [kind for kind in revealed if kind == '"Any"'] == []


def test_a_name_that_is_not_there_is_refused(said: list[str]) -> None:
    assert [line.partition("error: ")[2] for line in said if "error:" in line] == [
        'Module has no attribute "no_such_name"  [attr-defined]'
    ]
