"""Which words does a query text consist of?

Rule 1  Any text gives tokens: what cannot be a token is an error with its place, and reading goes on behind it.
Rule 2  A word that the grammar has as a keyword is that keyword, in any case of letters; every other word is a NAME.
Rule 3  PAIRS is a keyword right behind `PREDICT (` only: it is too good a name to be taken from everybody.
Rule 4  A string or a quoted name without its closing quote ends with its line, so that one slip does not swallow the rest
        of the text.
Rule 5  Brackets and CASEs stand in one another at most `MOST_NESTED` times; behind `MOST_ERRORS` errors reading stops. So a text that
        cannot be read is refused soon, however long it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lark import Token

from headwater.model import QueryError, Span

MOST_ERRORS: Final = 200
"""Errors told about one text; behind so many, reading it stops."""

MOST_NESTED: Final = 10_000
"""Brackets and CASEs in one another; behind so many, a statement is not read on."""

PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")

_TOKEN: Final = re.compile(
    r"""(?P<SPACE>[\s\ufeff]+ | --[^\n]* | /\*.*?\*/)
      | (?P<WORD>[^\W\d]\w*)
      | (?P<NUMBER>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<STRING>'[^']*+(?:''[^']*+)*+')
      | (?P<QUOTED>"[^"]*+(?:""[^"]*+)*+")
      | (?P<OPEN_COMMENT>/\*.*)
      | (?P<SIGN><=|>=|<>|!=|\|\||~~>|~~|~>|\{-|-\}|[-+*/%=<>(),.;|~{}?!^$])
      | (?P<OPEN_STRING>'[^\n]*)
      | (?P<OPEN_QUOTED>"[^\n]*)
      | (?P<STRAY>.)""",
    re.VERBOSE | re.DOTALL,
)

_NEXT_STATEMENT: Final = re.compile(r";|\bCREATE\b", re.IGNORECASE)
_NESTS: Final = {"LPAR": 1, "CASE": 1, "RPAR": -1, "END": -1}
_BEGINS: Final = frozenset({"CREATE", "END_OF_STATEMENT"})

_UNREADABLE: Final = {
    "OPEN_STRING": (
        "this string has no closing quote",
        "end it with '; a quote inside a string is written twice: 'it''s'",
    ),
    "OPEN_QUOTED": (
        "this quoted name has no closing quote",
        "end it with \"; strings stand in single quotes: 'text'",
    ),
    "OPEN_COMMENT": ("this comment is never closed", "end it with */"),
}


def cut(text: str, kinds: Mapping[str, str]) -> tuple[list[Token], list[QueryError]]:
    """The tokens of a text, and what could not be read; `kinds` gives the terminal of every keyword and sign.

    A semicolon has the kind "END_OF_STATEMENT", unreadable text the kind "UNREADABLE".
    """
    cutter = _Cutter(text, kinds, [0, *(match.end() for match in re.finditer("\n", text))])
    place: int | None = 0
    while place is not None:
        place = cutter.cut_from(place)
    return cutter.tokens, cutter.errors


@dataclass(slots=True)
class _Cutter:
    """The tokens and errors so far; `lines` are the places at which lines begin."""

    text: str
    kinds: Mapping[str, str]
    lines: list[int]
    tokens: list[Token] = field(default_factory=list)
    errors: list[QueryError] = field(default_factory=list)

    def cut_from(self, place: int) -> int | None:
        """Read on from a place, to the end or to what is too deep; where to go on then."""
        text, lines, tokens = self.text, self.lines, self.tokens
        nested = 0
        line, next_line = -1, place
        for match in _TOKEN.finditer(text, place):
            group = match.lastgroup
            if group == "SPACE":
                continue
            start, end = match.span()
            if start >= next_line:
                line = bisect_right(lines, start) - 1
                next_line = lines[line + 1] if line + 1 < len(lines) else len(text) + 1
            kind = self._kind(str(group), match.group())
            column = start - lines[line] + 1
            tokens.append(Token(kind, match.group(), start, line + 1, column, None, None, end))
            if kind == "UNREADABLE":
                self.errors.append(_unreadable(str(group), match.group(), span_of(tokens[-1])))
                if len(self.errors) >= MOST_ERRORS:
                    return None
            elif kind in _NESTS:
                nested = max(0, nested + _NESTS[kind])
                if nested > MOST_NESTED:
                    return self._skip_statement(tokens[-1], end)
            elif kind in _BEGINS:
                nested = 0
        return None

    def _kind(self, group: str, value: str) -> str:
        if group == "WORD":
            kind = self.kinds.get(value.upper(), "NAME")
            if kind == "PAIRS" and [token.type for token in self.tokens[-2:]] != ["PREDICT", "LPAR"]:
                return "NAME"
            return kind
        if group == "SIGN":
            return self.kinds.get(value, "END_OF_STATEMENT")
        return group if group in ("NUMBER", "STRING", "QUOTED") else "UNREADABLE"

    def _skip_statement(self, deep: Token, end: int) -> int | None:
        """Refuse what is too deep, and go on at the next statement, without a look at what is between."""
        deep.type = "UNREADABLE"
        self.errors.append(
            QueryError(
                "syntax",
                f"more than {MOST_NESTED} brackets and CASEs stand in one another here",
                span=span_of(deep),
                advice=["close them, or take out those that are not needed"],
            )
        )
        following = _NEXT_STATEMENT.search(self.text, end)
        return following.start() if following and len(self.errors) < MOST_ERRORS else None


def span_of(token: Token) -> Span:
    """Where a token stands."""
    assert token.line is not None and token.column is not None
    return Span(token.line, token.column, len(token))


def stray(value: str, span: Span) -> QueryError:
    """The error for a sign that has no meaning where it stands."""
    return QueryError("syntax", f"the character {value!r} means nothing here", span=span, advice=_hint(value))


def _unreadable(group: str, value: str, span: Span) -> QueryError:
    if group in _UNREADABLE:
        message, advice = _UNREADABLE[group]
        return QueryError("syntax", message, span=span, advice=[advice])
    return stray(value, span)


def _hint(character: str) -> list[str]:
    if character == "`":
        return ['names with unusual characters stand in double quotes: "my column"']
    if character in "‘’“”„":
        return ["use straight quotes: 'text' for strings, \"name\" for names"]
    if character in "!&|":
        return ["conditions are joined with AND, OR and NOT; 'not equal' is <>"]
    return ["take it out, or put it into a string: 'text'"]
