"""The grammar of the language: what all of it shares, and what every operator adds.

A file of an operator has its rules and the terminals that they alone need. The words of it that may still be names extend `plain_word`.
"""

from __future__ import annotations

from importlib import resources
from typing import Final

OPERATORS: Final = ("correlate", "pattern", "nearest", "suppress", "predict", "follow", "fence")
"""The folders of `query/operators` that add to the grammar."""


def grammar() -> str:
    """The whole grammar, as Lark reads it."""
    query = resources.files("headwater.query")
    files = [
        query / "language" / "grammar.lark",
        *(query / "operators" / operator / "grammar.lark" for operator in OPERATORS),
    ]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)
