"""The page on the architecture names files that exist."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/explanation/architecture.md").read_text()
ELSEWHERE = ("lab/", "tests/", "docs/")
OPERATOR = "query/operators/fence/"  # the names without a folder are those of an operator's files


def test_every_file_of_the_page_exists() -> None:
    named = set(re.findall(r"(?<![\w./])[\w/-]+\.(?:py|lark)\b", PAGE))
    assert len(named) > 80
    paths = {name: name if "/" in name else f"{OPERATOR}{name}" for name in named}
    missing = [
        name
        for name, path in paths.items()
        if not (ROOT / ("" if path.startswith(ELSEWHERE) else "src/headwater") / path).is_file()
    ]
    assert missing == []


def test_every_room_is_on_the_page() -> None:
    rooms = {path.parent.name for path in (ROOT / "src/headwater").glob("*/__init__.py")}
    assert rooms == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
