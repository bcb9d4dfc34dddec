"""Every error that the code can tell has a heading in the list of errors, and every heading is an error that there is."""

from __future__ import annotations

import ast
import re

from tests.docs.pages import ROOT

TELLERS = {
    "HeadwaterError",
    "QueryError",
    "DataError",
    "HostError",
    "PeerError",
    "UsageError",
    "_usage_error",
    "refuse",
    "_refuse",
}
CODE = re.compile(r"[a-z]+(-[a-z]+)*")
OF_A_CLASS = {"limit-reached", "plan-refused", "queries-refused"}  # the class says it, not who raises it


def test_every_error_has_a_heading_and_every_heading_an_error() -> None:
    assert codes_in_the_code() | OF_A_CLASS == headings()


def headings() -> set[str]:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text()
    return set(re.findall(r"^### ([a-z-]+)$", page, re.MULTILINE))


def codes_in_the_code() -> set[str]:
    """The first argument of every call that makes an error, where it is a code."""
    found = set()
    for path in (*(ROOT / "src").glob("**/*.py"), *(ROOT / "lab" / "src").glob("**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _name(node.func) in TELLERS and node.args:
                first = node.args[0]
                if (
                    isinstance(first, ast.Constant)
                    and isinstance(first.value, str)
                    and CODE.fullmatch(first.value)
                ):
                    found.add(first.value)
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
