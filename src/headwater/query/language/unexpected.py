"""Which error is it when a token is in the wrong place: what was expected, in words of the language, and what to do?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, get_args

from lark import Token
from lark.exceptions import UnexpectedToken

from headwater.model import QueryError, Span
from headwater.query.language.leaves import UNITS
from headwater.query.language.suggestions import nearest
from headwater.query.language.syntax_advice import SyntaxAdvice, Unexpected
from headwater.query.language.tokens import span_of, stray
from headwater.query.language.tree import Operator
from headwater.query.language.tree.operator_node import OperatorNode

MOST_EXPECTED: Final = 11
"""Things listed as expected; the others are left out."""

_KINDS: Final = {
    "NAME": "a name",
    "QUOTED": "a name",
    "NUMBER": "a number",
    "STRING": "a string in 'quotes'",
    "$END": "the end of the statement",
}
_VALUE_BEGINS: Final = {
    "NAME", "QUOTED", "NUMBER", "STRING", "LPAR", "MINUS", "PLUS", "NOT", "CASE", "NULL", "TRUE", "FALSE",
}  # fmt: skip
_ARITHMETIC: Final = {"+", "-", "*", "/", "%", "||"}
_COMPARISONS: Final = {"=", "<>", "!=", "<", "<=", ">", ">="}
_COMPARING: Final = _COMPARISONS | {"BETWEEN", "IN", "IS", "NOT"}
_UNITS: Final = set(UNITS)
_OPERATORS: Final = {node.keyword: node for node in get_args(Operator)}
_WHERE_STANDS: Final = (
    "put a condition on the rows before the operators: FROM events WHERE size > 1 FOLLOW (…); "
    "put a condition on the answers into another query that reads this one"
)
_LEADS_TO_A_NUMBER: Final = {"NUMBER", "-", "INTERVAL", ",", ">="}


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords and signs of the grammar: how each terminal is written, and which words may be names."""

    written: Mapping[str, str]
    usable: frozenset[str]
    reserved: frozenset[str]

    @classmethod
    def of(cls, kinds: Mapping[str, str], usable: set[str]) -> Keywords:
        """From the terminal of every keyword and sign, and the terminals that may be names."""
        reserved = {text for text, kind in kinds.items() if text.isidentifier() and kind not in usable}
        return cls({kind: text for text, kind in kinds.items()}, frozenset(usable), frozenset(reserved))


def explain_unexpected(
    error: UnexpectedToken, keywords: Keywords, end: Span, operator: type[OperatorNode] | None
) -> QueryError:
    """The error in words; `end` is where the statement ends. `operator`: a text was read that is a part of one."""
    token = error.token
    expected = set(error.interactive_parser.accepts())  # type: ignore[no-untyped-call]
    words = frozenset(keywords.written.get(kind) for kind in expected)
    at_end = token.type == "$END"
    signs = frozenset[str]().union(*(node.syntax_advice().signs for node in _OPERATORS.values()))
    if token in signs and not signs & words:
        return stray(str(token), span_of(token))
    inside = operator or _operator_around(error)
    advice = inside.syntax_advice()
    if explained := advice.error(error):
        return explained
    found = "the statement ends" if at_end else f"found {_shown(token)}"
    expected_words = _in_words(expected, keywords, advice)
    unexpected = Unexpected(token.type, str(token), words, "NAME" in expected)
    return QueryError(
        "syntax",
        f"expected {expected_words}, but {found}"
        if expected_words
        else f"{found} where the statement should end",
        span=end if at_end else span_of(token),
        advice=_missing_number(error, expected, keywords, advice)
        or _advice(unexpected, expected, keywords, advice),
    )


def _operator_around(error: UnexpectedToken) -> type[OperatorNode]:
    """The operator whose parentheses contain the token."""
    stack = error.interactive_parser.parser_state.value_stack
    kinds = [part.type if isinstance(part, Token) else "" for part in stack]
    begun = kinds[kinds.index("FROM") :] if "FROM" in kinds else []
    words = (word for word, then in pairwise(begun) if then == "LPAR")
    return next((_OPERATORS[word] for word in words if word in _OPERATORS), OperatorNode)


def _missing_number(
    error: UnexpectedToken, expected: set[str], keywords: Keywords, advice: SyntaxAdvice
) -> list[str]:
    """Which number is missing after the last word, if there must be one."""
    if not {keywords.written.get(kind, kind) for kind in expected} <= _LEADS_TO_A_NUMBER:
        return []
    stack = error.interactive_parser.parser_state.value_stack
    words = [part.type for part in stack if isinstance(part, Token) and part.isidentifier()]
    return [advice.numbers[word] for word in words[-1:] if word in advice.numbers]


def _in_words(expected: set[str], keywords: Keywords, advice: SyntaxAdvice) -> str:
    left = set(expected)
    first: list[str] = []
    last: list[str] = []
    if advice.beginning and left >= advice.beginning.members:
        left -= advice.beginning.members | keywords.usable
        first.append(advice.beginning.described)
    elif left >= {"NUMBER", "STRING", "NAME", "LPAR"}:
        left -= _VALUE_BEGINS | keywords.usable
        first.append("an expression")
    elif "NAME" in left:
        left -= keywords.usable
    texts = {_KINDS.get(kind) or keywords.written[kind] for kind in left}
    if texts >= _UNITS:
        texts -= _UNITS
        first += ["ROWS"] if "ROWS" in texts else []
        texts.discard("ROWS")
        first.append("a unit such as SECONDS or METERS")
    for group in advice.groups:
        if texts >= group.members:
            texts -= group.members
            last.append(group.described)
    if texts >= {"+", "-", "||"}:
        # AND alone is the one of BETWEEN; beside OR it is an operator like the others.
        texts -= _ARITHMETIC | ({"AND", "OR"} if "OR" in texts else set())
        texts -= _COMPARING if "=" in texts else set()
        last.append("an operator")
    elif texts >= _COMPARISONS:
        texts -= _COMPARISONS
        last.append("a comparison")
    described = sorted(text for text in texts if " " in text)
    capitals = sorted(
        (text for text in texts if text.isidentifier()), key=lambda text: (text != advice.named_first, text)
    )
    signs = sorted(f"'{text}'" for text in texts if " " not in text and not text.isidentifier())
    return _listed([*first, *capitals, *described, *signs, *last][:MOST_EXPECTED])


def _advice(
    unexpected: Unexpected, expected: set[str], keywords: Keywords, advice: SyntaxAdvice
) -> list[str]:
    kind, found, words = unexpected.kind, unexpected.text, unexpected.words
    if hint := advice.first(unexpected):
        return [hint]
    if kind == "WHERE" and words >= _OPERATORS.keys() and not words & _ARITHMETIC:
        return [_WHERE_STANDS]
    if kind == "SELECT" and "CREATE" in expected:
        return ["a query has a name: CREATE QUERY name AS SELECT …"]
    if (
        kind in keywords.written
        and unexpected.name_expected
        and found.isidentifier()
        and kind not in keywords.usable
    ):
        return [f'{found.upper()} is a keyword: to use it as a name, write "{found}" in double quotes']
    if found.isidentifier():
        candidates = [word for word in words if word and word.isidentifier()]
        if meant := nearest(found, sorted(candidates)):
            return [f"did you mean '{meant}'?"]
    if not unexpected.name_expected and (hint := advice.otherwise(unexpected)):
        return [hint]
    if found.isidentifier() and expected == {"NUMBER", "MINUS"}:
        return ["write a number, such as 0.31 or -5: columns and expressions are not allowed here"]
    if kind == "STRING" and unexpected.name_expected and "STRING" not in expected:
        return [f'write names in double quotes or without quotes: "{found[1:-1]}"']
    if found in ("<", "<=", ">", ">=", "=") and "AND" in expected:
        return ["a comparison has two sides: write a > 10 AND a < 30, or BETWEEN"]
    return []


def _shown(text: str) -> str:
    short = text if len(text) <= 30 else text[:27] + "…"
    return f"'{short}'" if "'" not in short else short


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)
