"""pytest rewrites `assert` in all of an installed Headwater, and numba cannot compile what it writes: compiled loops have none."""

from __future__ import annotations

import ast
from pathlib import Path

import headwater


def test_compiled_functions_contain_no_assert() -> None:
    found = [
        f"{path.name}: {function.name}"
        for path in Path(headwater.__file__).parent.rglob("*.py")
        if "headwater.compiled" in (text := path.read_text(encoding="utf-8"))
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef) and function.decorator_list
        if any(
            ast.unparse(decorator).startswith(("loop", "also_in_loops"))
            for decorator in function.decorator_list
        )
        if any(isinstance(node, ast.Assert) for node in ast.walk(function))
    ]
    assert found == []
