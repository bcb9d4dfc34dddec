"""The code in README and docs works: every page is run from top to bottom, in a folder of its own.

| Block | Is |
|---|---|
| `sql` | accepted, together with the statements of the page's earlier blocks; a name created again replaces the older one |
| `sql refused` | refused, with the code that the heading above it names; `while following`: once inputs are followed |
| `python` | run, all of a page in one namespace, in which `spark` is a session |
| `output` | what the block before it prints; `…` stands for anything |
| `console` | its `$` lines are commands; what stands below one is what it prints (both outputs), nothing if anything will do |
| any language and a file name: `csv weather.csv`, `sql frost.hw` | also written to that file, for the blocks below |
| `sh`, `text`, others and none | only shown |
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page, all_pages, blocks_of, commands_of

PAGES = all_pages()
IN_PROCESSES = ("README.md", "first-fifteen-minutes.md")
"""Pages whose commands run as a user starts them; those of other pages run in this process."""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_page_works(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    blocks = list(blocks_of(path.read_text()))
    page = Page(tmp_path, processes=path.name in IN_PROCESSES)
    if any(block.language == "python" and "spark" in block.text for block in blocks):
        page.names["spark"] = request.getfixturevalue("spark")
    for block in blocks:
        try:
            page.run(block)
        except Exception as error:
            raise AssertionError(f"{path.relative_to(ROOT)}:{block.line}: {error}") from error


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    for target in links_of(path.read_text()):
        assert (path.parent / target).resolve().exists(), f"{path.relative_to(ROOT)} links to {target}"


def test_blocks_are_found_with_their_words_and_headings() -> None:
    blocks = list(
        blocks_of("# One\n```sql refused\na\n```\n## `two`\n  ```csv x.csv\n  b\n   c\n  ```\n```\nd\n```\n")
    )
    assert [(b.language, b.words, b.text, b.line, b.heading) for b in blocks] == [
        ("sql", ("refused",), "a\n", 2, "One"),
        ("csv", ("x.csv",), "b\n c\n", 6, "two"),
        ("", (), "d\n", 10, "two"),
    ]
    assert [block.file for block in blocks] == [None, "x.csv", None]


def test_commands_are_found_with_what_they_print() -> None:
    assert commands_of("$ a \\\n    b\nx\n\ny\n$ c\n") == [("a b", "x\n\ny\n"), ("c", "")]


def links_of(text: str) -> list[str]:
    """Relative targets of the links of a page."""
    shown = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", shown)]
    return [target for target in targets if target and "://" not in target]
