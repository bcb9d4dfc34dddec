"""The page on Python is what its generator makes of the docstrings, and leaves out no public name. Its blocks run in `test_code_blocks.py`."""

from __future__ import annotations

import inspect

import pytest

import headwater as hw
from tests.docs.python_reference import CLAUSES, PAGE, SECTIONS, entries_of, page

BUILDERS = (*SECTIONS["Streams, points and fences"], *SECTIONS["Queries"])


def test_the_page_is_what_the_docstrings_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: make reference"


def test_every_public_name_is_on_the_page() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(hw.__all__)
    assert sorted(hw.testing.__all__) == ["assert_answers", "check"]


def test_every_builder_of_clauses_is_on_the_page() -> None:
    from headwater.query.operators.correlate import build

    public = {
        name
        for name, value in vars(build).items()
        if inspect.isfunction(value) and value.__module__ == build.__name__ and not name.startswith("_")
    }
    assert public - {"correlate"} == set(CLAUSES)


@pytest.mark.parametrize("name", BUILDERS)
def test_every_builder_has_an_example_that_prints(name: str) -> None:
    first = next(entries_of(name))
    assert "```python" in first.text
    assert "```output" in first.text


def test_methods_and_properties_are_listed_with_their_signatures() -> None:
    headings = [entry.heading for entry in (*entries_of("Answers"), *entries_of("AnswerTable"))]
    assert headings[0] == "hw.Answers"
    assert {"answers[query]", "answers.bad", "answers.summary", "table.to_pandas", "table.df"} <= set(
        headings
    )
    (pandas,) = (entry for entry in entries_of("AnswerTable") if entry.heading == "table.to_pandas")
    assert pandas.signature == "table.to_pandas() -> pandas.DataFrame"
