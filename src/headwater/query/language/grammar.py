"""The grammar of the language: what all of it shares, and what every operator adds.

A file of an operator has its rules and the terminals that they alone need. The words of it that may still be names extend `plain_word`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

from headwater.query.language.tree import Operator

OPERATORS: Final = {node.__module__.split(".")[-2]: node.keyword.lower() for node in get_args(Operator)}
"""The folders of `query/operators` that add to the grammar, and the rule of each."""


def grammar() -> str:
    """The whole grammar, as Lark reads it."""
    query = Path(__file__).parents[1]
    files = [
        query / "language" / "grammar.lark",
        *(query / "operators" / operator / "grammar.lark" for operator in OPERATORS),
    ]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return "\n".join([*texts, f"?operator: {' | '.join(OPERATORS.values())}", ""])
