"""The operators that there are: the union, the grammar, the language page, the folders and the golden files name the same ones."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

import pytest

import headwater.query
from headwater.query.language.grammar import OPERATORS as GRAMMARS
from headwater.query.language.grammar import grammar
from headwater.query.language.tree import Operator as Written
from headwater.query.operators.contract import Operator
from headwater.query.operators.union import AnyOperator, SelectOperator

ROOT = Path(__file__).parents[4]
QUERY = Path(headwater.query.__file__).parent
OPERATORS: tuple[type[Operator], ...] = get_args(AnyOperator)
WRITTEN = [operator for operator in OPERATORS if operator is not SelectOperator]

GOLDEN_OF_ALL = {"bad", "commands", "errors", "network", "place", "time", "views"}
"""Golden folders that are about no operator."""


def kinds(operators: list[type[Operator]]) -> list[str]:
    return sorted(operator.kind for operator in operators)


def test_every_folder_is_an_operator_of_the_union() -> None:
    folders = [path.name for path in (QUERY / "operators").iterdir() if (path / "operator.py").exists()]
    assert sorted(folders) == kinds(list(OPERATORS))


def test_the_grammar_has_a_rule_for_each() -> None:
    rules = re.findall(r"^(\w+):", grammar(), re.MULTILINE)
    assert [operator.keyword for operator in WRITTEN if operator.keyword.lower() not in rules] == []
    assert sorted(GRAMMARS.values()) == sorted(operator.keyword.lower() for operator in WRITTEN)


def test_the_tree_has_a_node_for_each() -> None:
    modules = [node.__module__ for node in get_args(Written)]
    assert sorted(modules) == [f"headwater.query.operators.{kind}.tree" for kind in kinds(WRITTEN)]


def test_the_language_page_has_a_chapter_for_each() -> None:
    page = (ROOT / "docs/reference/language.md").read_text()
    chapters = re.findall(r"^## (?!CREATE )([A-Z_ ]+)$", page, re.MULTILINE)
    assert sorted(chapters) == sorted(operator.keyword for operator in WRITTEN)


def test_each_has_golden_files() -> None:
    files = (ROOT / "tests/golden").rglob("*.golden")
    folders = {file.relative_to(ROOT / "tests/golden").parts[0] for file in files}
    assert folders - GOLDEN_OF_ALL == set(kinds(list(OPERATORS)))


def test_an_operator_uses_no_kernel_but_its_own() -> None:
    used = {
        (file.parent.name, kernel, file.name)
        for file in (QUERY / "operators").glob("*/*.py")
        for kernel in re.findall(r"headwater\.kernels(?:\.| import )(\w+)", file.read_text())
        if (QUERY.parent / "kernels" / kernel).is_dir() or kernel in kinds(list(OPERATORS))
    }
    assert [(name, kernel, file) for name, kernel, file in sorted(used) if kernel != name] == []
    assert {kernel for _, kernel, _ in used} == set(kinds(list(OPERATORS)))


def test_the_grammar_is_put_together_from_the_rules_of_each() -> None:
    files = (QUERY / "operators").glob("*/grammar.lark")
    assert sorted(GRAMMARS) == sorted(file.parent.name for file in files) == kinds(WRITTEN)


@pytest.mark.parametrize("kind", kinds(WRITTEN))
def test_a_folder_holds_what_an_operator_is(kind: str) -> None:
    parts = ("tree", "rules", "text", "check", "operator", "plan", "words")
    assert [part for part in parts if find_spec(f"headwater.query.operators.{kind}.{part}") is None] == []
