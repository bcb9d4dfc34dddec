"""A pattern as it was written: the conditions of a plan are split."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from headwater.query.language.expression_text import expression_text
from headwater.query.language.parse import parse
from headwater.query.language.tree import CreateQuery
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.tree import Loop, MatchRecognize
from headwater.query.operators.pattern.walk import every_pattern

EVERY_ROW: Final = "every row"


@lru_cache(maxsize=4)
def written_patterns(text: str) -> Mapping[str, MatchRecognize]:
    """The MATCH_RECOGNIZE of every query of a text that has one, as written."""
    queries = (statement for statement in parse(text)[0].statements if isinstance(statement, CreateQuery))
    return {
        query.name: query.select.operator
        for query in queries
        if isinstance(query.select.operator, MatchRecognize)
    }


def condition_texts(operator: PatternOperator, written: MatchRecognize) -> tuple[str, ...]:
    """The conditions as written, numbered as the kernel numbers them: those of DEFINE, then those of UNTIL."""
    defined = {definition.name: expression_text(definition.condition) for definition in written.define}
    return (*(defined[name] for name, _ in operator.define), *until_texts(written))


def until_texts(written: MatchRecognize) -> list[str]:
    """The conditions of UNTIL, outermost first, left to right."""
    loops = (part for part in every_pattern(written.pattern) if isinstance(part, Loop))
    return [expression_text(loop.until) for loop in loops if loop.until is not None]
