"""The page of errors, as the tests read it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ERRORS_PAGE = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8")


def examples(block: str = "sql refused") -> list[tuple[str, str]]:
    """Every code whose section shows a text that is refused with it, in a block of this kind, and that text."""
    sections = re.split(r"^### ", ERRORS_PAGE, flags=re.MULTILINE)[1:]
    found = []
    for section in sections:
        code = section.split("\n", 1)[0].strip()
        if shown := re.search(rf"```{block}\n(.*?)```", section, re.DOTALL):
            found.append((code, shown[1]))
    return found
