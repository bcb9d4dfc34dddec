"""Notebooks of `docs/notebooks`: read, made from a script with cells, and run as Jupyter runs them, without Jupyter.

Rule 1  A cell is run like a block of a page: all cells of a notebook in one namespace and one folder. The value of its last line is its
        result, as `text/plain` and, if it has one, as `text/html`.
Rule 2  A script has cells as editors know them: `# %%` begins code, `# %% [markdown]` begins text in comments.
Rule 3  `make reference` runs the notebooks and writes what came out into them; without the recorded data, `hour-of-work` is left as it is.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.docs.hour_of_work import DATA, SETS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
SCRIPT = ROOT / "src" / "headwater" / "apps" / "examples" / "hour-of-work" / "hour_of_work.py"
FIRST, HOUR = FOLDER / "first-queries.ipynb", FOLDER / "hour-of-work.ipynb"

Cell = dict[str, Any]

_CELL = re.compile(r"^# %%(.*)$", re.MULTILINE)
_RESULT = "_the_result_of_this_cell"


def cells_of(path: Path) -> list[Cell]:
    """The cells of a notebook."""
    cells: list[Cell] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def cells_of_script(text: str) -> Iterator[Cell]:
    """The cells of a script; what only a checker of scripts needs is left out."""
    _, *parts = _CELL.split(text)
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        lines = body.strip("\n").split("\n")
        if "[markdown]" in kind:
            yield {
                "cell_type": "markdown",
                "metadata": {},
                "source": _source(re.sub("^# ?", "", line) for line in lines),
            }
        else:
            yield {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": _source(re.sub(r"  # noqa.*", "", line) for line in lines),
            }


def run_cells(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """The same cells with what they print and give."""
    names: dict[str, Any] = {}
    done, count = [], 0
    for cell in cells:
        if cell["cell_type"] == "code":
            count += 1
            outputs = _run_cell("".join(cell["source"]), names, folder, count)
            cell = {**cell, "execution_count": count, "outputs": outputs}
        done.append(cell)
    return done


def _run_cell(source: str, names: dict[str, Any], folder: Path, count: int) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        target = ast.Name(_RESULT, ast.Store())
        tree.body[-1] = ast.fix_missing_locations(
            ast.copy_location(ast.Assign([target], last.value, lineno=last.lineno), last)
        )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
        exec(compile(tree, f"cell {count}", "exec"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append(
            {"name": "stdout", "output_type": "stream", "text": _source(printed.getvalue().split("\n"))}
        )
    result = names.pop(_RESULT, None)
    if result is not None:
        outputs.append(
            {
                "data": _pictures(result),
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def _pictures(value: Any) -> dict[str, list[str]]:
    pictures = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        pictures["text/html"] = value._repr_html_()
    return {kind: _source(text.split("\n")) for kind, text in pictures.items()}


def _source(lines: Iterator[str] | Sequence[str]) -> list[str]:
    """Lines as the format has them: each but the last with its end."""
    ended = [f"{line}\n" for line in lines]
    return [*ended[:-1], *([ended[-1].removesuffix("\n")] if ended[-1] != "\n" else [])]


def write_notebook(path: Path, cells: Sequence[Cell]) -> None:
    """The notebook as Jupyter writes it."""
    named = [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells, 1)]
    ordered = [{key: cell[key] for key in sorted(cell)} for cell in named]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook = {"cells": ordered, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    """Write both notebooks again, with what comes out."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    with tempfile.TemporaryDirectory() as folder:
        write_notebook(FIRST, run_cells(cells_of(FIRST), Path(folder)))
        if all((DATA / name).is_dir() for name in SETS):
            os.environ["HEADWATER_DATA"] = str(DATA)
            script = list(cells_of_script(SCRIPT.read_text(encoding="utf-8")))
            write_notebook(HOUR, run_cells(script, Path(folder)))


if __name__ == "__main__":
    main()
