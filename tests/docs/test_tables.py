"""Tables of the pages are tables: under their first line stands a line of rules."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

FOLDERS = ("docs", "tests", "lab", "src", "benchmarks")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).glob("**/*.md"))]
)
_RULE = re.compile(r"\s*\|(\s*:?-+:?\s*\|)+\s*")


def broken_tables(text: str) -> list[int]:
    """The numbers of the lines that begin a table without a rule line of as many cells below."""
    lines = re.sub(r"(?ms)^( *)```.*?^ *```", lambda block: re.sub(".", "", block[0]), text).splitlines()
    begins = [
        number
        for number, line in enumerate(lines)
        if line.lstrip().startswith("|") and not (number and lines[number - 1].lstrip().startswith("|"))
    ]
    return [number + 1 for number in begins if not _has_rule(lines, number)]


def _has_rule(lines: list[str], number: int) -> bool:
    below = lines[number + 1] if number + 1 < len(lines) else ""
    cells = re.sub(r"\\\||`[^`]*`", "", lines[number]).count("|")
    return bool(_RULE.fullmatch(below)) and below.count("|") == cells


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_table_has_a_rule_line(page):
    assert broken_tables(page.read_text()) == []


def test_a_table_without_a_rule_line_is_found():
    assert broken_tables("a\n\n| a | b |\n| c | d |\n") == [3]
    assert broken_tables("| a | b |\n|---|\n| c | d |\n") == [1]
    assert broken_tables("```\n| a |\n```\n| a | `b|c` |\n|---|---|\n") == []
