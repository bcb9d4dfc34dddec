"""Notebooks run from top to bottom, and what is stored in them is what comes out. Those that need recorded data skip without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.hour_of_work import DATA, assert_answers, skip_without_data
from tests.docs.notebooks import (
    FIRST,
    FOLDER,
    HOUR,
    SCRIPT,
    cells_of,
    cells_of_script,
    run_cells,
    write_notebook,
)


def outputs(cells) -> list[list[dict[str, object]]]:
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def test_the_first_notebook_gives_what_is_stored_in_it(tmp_path: Path) -> None:
    cells = cells_of(FIRST)
    assert outputs(run_cells(cells, tmp_path)) == outputs(cells)


def test_answers_are_tables_in_a_notebook(tmp_path: Path) -> None:
    results = [
        output["data"]
        for of_cell in outputs(run_cells(cells_of(FIRST), tmp_path))
        for output in of_cell
        if output["output_type"] == "execute_result"
    ]
    frost = next(data for data in results if "".join(data["text/plain"]).startswith('answers["frost"]'))
    html = "".join(frost["text/html"])
    assert "<td" in html
    assert ">meadow</td>" in html
    assert "match_id" not in html
    everything = next(
        data for data in results if "".join(data["text/plain"]).startswith("answers of the local")
    )
    assert "1 row" in "".join(everything["text/html"])


def test_the_hour_of_work_is_the_same_as_a_script_and_as_a_notebook() -> None:
    script = list(cells_of_script(SCRIPT.read_text(encoding="utf-8")))
    notebook = cells_of(HOUR)
    assert [(cell["cell_type"], cell["source"]) for cell in notebook] == [
        (cell["cell_type"], cell["source"]) for cell in script
    ], "write it again: make reference"


def test_the_hour_of_work_as_a_notebook_answers_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_without_data()
    monkeypatch.setenv("HEADWATER_DATA", str(DATA))
    monkeypatch.setenv("MPLBACKEND", "Agg")
    cells = cells_of(HOUR)
    assert outputs(run_cells(cells, tmp_path)) == outputs(cells)
    assert_answers(tmp_path)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_is_stored_as_it_is_written(path: Path, tmp_path: Path) -> None:
    """So that running it again changes only what came out."""
    write_notebook(tmp_path / "again.ipynb", cells_of(path))
    assert json.loads((tmp_path / "again.ipynb").read_text()) == json.loads(path.read_text())


def test_cells_of_a_script() -> None:
    text = "# %% [markdown]\n# # Title\n#\n# words\n\n# %%\nimport a  # noqa: E402\n\nb = 1\n"
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in cells_of_script(text)] == [
        ("markdown", "# Title\n\nwords"),
        ("code", "import a\n\nb = 1"),
    ]
