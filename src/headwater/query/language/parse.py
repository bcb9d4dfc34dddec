"""What does a query text say? Text in, tree and errors out.

Rule 1  Any text gives a Script and a list of errors; nothing is raised.
Rule 2  A statement ends with `;`, and the next CREATE begins a new one even where the `;` was forgotten: an error in one
        statement never hides the errors of another.
Rule 3  An expression is at most MAX_DEPTH levels deep, so that everything that walks a tree may walk it by recursion.

Memory  The parse table is loaded once in a process, on first use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, get_args

from lark import Token
from lark.exceptions import UnexpectedToken

from headwater.model import QueryError, Span
from headwater.query.language.grammar import grammar
from headwater.query.language.leaves import too_deep
from headwater.query.language.parse_table import TableParser, stored_table, table_of_grammar
from headwater.query.language.statement_rules import all_rules
from headwater.query.language.tokens import MAX_DEPTH, MOST_ERRORS, PLAIN_NAME, Cutter, span_of
from headwater.query.language.tree import Expression, Item, Operator, Quantity, Script, Statement
from headwater.query.language.tree.operator_node import OperatorNode
from headwater.query.language.unexpected import Keywords, explain_unexpected
from headwater.query.language.walk import depth_of

_OPERATOR_OF: Final[Mapping[str, type[OperatorNode] | None]] = {
    **dict.fromkeys(("statement", "items", "expression", "quantity")),
    **{rule: node for node in get_args(Operator) for rule in node.read_alone},
}
"""The rules that are read from a text of their own, and the operator to which they belong."""

STARTS: Final = tuple(_OPERATOR_OF)
"""What a text of its own may be."""

_NAMES: Final = ("word", "plain_word")


def parse(text: str) -> tuple[Script, list[QueryError]]:
    """The statements of a text that could be read, and every error found in the others."""
    language = _language()
    cutter = language.cutter(text)
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
    return parse_alone(text, "expression")


def parse_items(text: str) -> tuple[Item, ...] | None:
    """A SELECT list, None for `*`; raises QueryError."""
    return parse_alone(text, "items")


def parse_quantity(text: str) -> Quantity:
    """A number with a unit, such as `30 SECONDS`; raises QueryError."""
    return parse_alone(text, "quantity")


def parse_alone(text: str, start: str) -> Any:
    """What a rule of the grammar reads, one of `statement`, `items` … or of `read_alone` of an operator; raises QueryError."""
    cutter = _language().cutter(text)
    tokens = list(cutter.tokens())
    if cutter.errors:
        raise cutter.errors[0]
    found = _read(tokens, start, _end_of(text))
    if isinstance(found, QueryError):
        raise found
    return found


def is_plain_name(name: str) -> bool:
    """Whether a name can be written without double quotes."""
    return bool(PLAIN_NAME.fullmatch(name)) and name.upper() not in _language().keywords.reserved


@dataclass(frozen=True, slots=True)
class _Language:
    parser: TableParser
    kinds: dict[str, str]
    keywords: Keywords
    at_start: dict[str, str]

    def cutter(self, text: str) -> Cutter:
        """What cuts a text into the words of the language."""
        return Cutter(text, self.kinds, self.at_start)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The tokens of one statement, and where it ends; `unfinished`: without `;`, though another statement follows."""

    tokens: list[Token]
    end: Span | None
    unfinished: bool = False


@cache
def _language() -> _Language:
    text = grammar()
    table = stored_table(text, STARTS) or table_of_grammar(text, STARTS)
    kinds = table.kinds
    usable = {rule.expansion[0].name for rule in table.rules if rule.origin.name in _NAMES}
    at_start = {
        kinds[word]: kinds[node.keyword] for node in get_args(Operator) for word in node.words_at_start
    }
    return _Language(TableParser(table, all_rules()), kinds, Keywords.of(kinds, usable), at_start)


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
    """The tree of the tokens, or the first QueryError; `end` is where they end."""
    language = _language()
    try:
        tree = language.parser.parse(tokens, start=start)
    except QueryError as error:
        return error
    except UnexpectedToken as error:
        return explain_unexpected(error, language.keywords, end, _OPERATOR_OF[start])
    if depth_of(tree) > MAX_DEPTH:
        return too_deep(span_of(tokens[0]))
    return tree


def _end_of(text: str) -> Span:
    """Just after the last character that is not a space."""
    lines = text.rstrip().split("\n")
    return Span(len(lines), len(lines[-1]) + 1)


def _missing_semicolon(piece: _Piece) -> QueryError:
    return QueryError(
        "syntax",
        "expected ';' before this CREATE",
        span=piece.end,
        advice=["every statement ends with ';'"],
    )
