"""What does a query text say? Text in, tree and errors out.

Rule 1  Any text gives a Script and a list of errors; nothing is raised.
Rule 2  A statement ends with `;`, and the next CREATE begins a new one even where the `;` was forgotten: an error in one
        statement never hides the errors of another.
Rule 3  An expression is at most MAX_DEPTH levels deep, so that everything that walks a tree may walk it by recursion.

Memory  The parse table is made once in a process, on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from lark import Lark, Token
from lark.exceptions import UnexpectedToken
from lark.lexer import Lexer

from headwater.kernels.suppress.words import Predictor
from headwater.model import QueryError, Span
from headwater.query.language.grammar import grammar
from headwater.query.language.leaves import too_deep
from headwater.query.language.statement_rules import all_rules
from headwater.query.language.tokens import MAX_DEPTH, MOST_ERRORS, PLAIN_NAME, Cutter, span_of
from headwater.query.language.tree import Expression, Item, Quantity, Script, Statement
from headwater.query.language.unexpected import Keywords, explain_unexpected
from headwater.query.language.walk import depth_of
from headwater.query.operators.correlate.tree import Area, Clause
from headwater.query.operators.nearest.tree import Using
from headwater.query.operators.pattern.tree import Pattern, Skip

_STARTS: Final = (
    "statement", "items", "expression", "clause", "quantity", "area", "pattern", "after", "using", "predictor_used",
)  # fmt: skip
_NAMES: Final = ("word", "plain_word")


def parse(text: str) -> tuple[Script, list[QueryError]]:
    """The statements of a text that could be read, and every error found in the others."""
    language = _language()
    cutter = Cutter(text, language.kinds)
    errors = cutter.errors
    statements: list[Statement] = []
    for piece in _pieces(cutter.tokens()):
        if len(errors) >= MOST_ERRORS:
            break
        if piece.tokens and not any(token.type == "UNREADABLE" for token in piece.tokens):
            found = _read(piece.tokens, "statement", piece.end or _end_of(text))
            if isinstance(found, QueryError):
                errors.append(found)
            else:
                statements.append(found)
                if piece.unfinished:
                    errors.append(_missing_semicolon(piece))
    errors.sort(key=lambda error: (error.span.line, error.span.column) if error.span else (0, 0))
    return Script(tuple(statements)), errors[:MOST_ERRORS]


def parse_expression(text: str) -> Expression:
    """An expression; raises QueryError."""
    return _parse_alone(text, "expression")


def parse_items(text: str) -> tuple[Item, ...] | None:
    """A SELECT list, None for `*`; raises QueryError."""
    return _parse_alone(text, "items")


def parse_clause(text: str) -> Clause:
    """A clause of CORRELATE, such as `3 OF temperature <= 0 AS cold`; raises QueryError."""
    return _parse_alone(text, "clause")


def parse_quantity(text: str) -> Quantity:
    """A number with a unit, such as `30 SECONDS`; raises QueryError."""
    return _parse_alone(text, "quantity")


def parse_area(text: str) -> Area:
    """An area, such as `CIRCLE (7.17, 45.87, 5 KM)`; raises QueryError."""
    return _parse_alone(text, "area")


def parse_pattern(text: str) -> Pattern:
    """What stands in PATTERN, such as `A B+ ~> C`; raises QueryError."""
    return _parse_alone(text, "pattern")


def parse_skip(text: str) -> Skip:
    """Where the search goes on, such as `AFTER MATCH SKIP TO NEXT ROW`; raises QueryError."""
    return _parse_alone(text, "after")


def parse_using(text: str) -> Using:
    """How candidates are kept, such as `USING PROBABLE 0.001`; raises QueryError."""
    return _parse_alone(text, "using")


def parse_predictor(text: str) -> tuple[Predictor, tuple[float | int, ...]]:
    """A predictor and its numbers, such as `USING LEAST SQUARES 5`; raises QueryError."""
    used = _parse_alone(text, "predictor_used")
    return used.predictor, used.parameters


def is_plain_name(name: str) -> bool:
    """Whether a name can stand in a text without double quotes."""
    return bool(PLAIN_NAME.fullmatch(name)) and name.upper() not in _language().keywords.reserved


@dataclass(frozen=True, slots=True)
class _Language:
    parser: Lark
    kinds: dict[str, str]
    keywords: Keywords


@dataclass(frozen=True, slots=True)
class _Piece:
    """The tokens of one statement, and where it ends; `unfinished`: without `;`, though another statement follows."""

    tokens: list[Token]
    end: Span | None
    unfinished: bool = False


class _TokensAsTheyAre(Lexer):
    """The lexer of the parser: the tokens are cut already."""

    def __init__(self, _: Any) -> None: ...

    def lex(self, tokens: list[Token]) -> Iterator[Token]:  # type: ignore[override]
        yield from tokens


@cache
def _language() -> _Language:
    parser = Lark(
        grammar(),
        parser="lalr",
        lexer=_TokensAsTheyAre,
        start=list(_STARTS),
        maybe_placeholders=True,
        transformer=all_rules(),
    )
    kinds = {str(t.pattern.value): t.name for t in parser.terminals if t.pattern is not None}
    usable = {rule.expansion[0].name for rule in parser.rules if rule.origin.name in _NAMES}
    return _Language(parser, kinds, Keywords.of(kinds, usable))


def _pieces(tokens: Iterable[Token]) -> Iterator[_Piece]:
    found: list[Token] = []
    for token in tokens:
        if token.type == "END_OF_STATEMENT":
            yield _Piece(found, span_of(token))
            found = []
        elif token.type == "CREATE" and found:
            yield _Piece(found, span_of(token), unfinished=True)
            found = [token]
        else:
            found.append(token)
    yield _Piece(found, None)


def _read(tokens: list[Token], start: str, end: Span) -> Any:
    """What the tokens say, or the QueryError that stands in the way; `end` is where they end."""
    language = _language()
    try:
        tree = language.parser.parse(tokens, start=start)
    except QueryError as error:
        return error
    except UnexpectedToken as error:
        return explain_unexpected(error, language.keywords, end)
    if depth_of(tree) > MAX_DEPTH:
        return too_deep(span_of(tokens[0]))
    return tree


def _parse_alone(text: str, start: str) -> Any:
    cutter = Cutter(text, _language().kinds)
    tokens = list(cutter.tokens())
    if cutter.errors:
        raise cutter.errors[0]
    found = _read(tokens, start, _end_of(text))
    if isinstance(found, QueryError):
        raise found
    return found


def _end_of(text: str) -> Span:
    """Just behind the last character that is no space."""
    lines = text.rstrip().split("\n")
    return Span(len(lines), len(lines[-1]) + 1)


def _missing_semicolon(piece: _Piece) -> QueryError:
    return QueryError(
        "syntax",
        "expected ';' before this CREATE",
        span=piece.end,
        advice=["every statement ends with ';'"],
    )
