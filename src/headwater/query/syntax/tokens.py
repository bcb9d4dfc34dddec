"""Which words does a query text consist of?

Rule 1  Any text gives tokens: what cannot be a token is an error with its place, and reading goes on behind it.
Rule 2  A word that the grammar has as a keyword is that keyword, in any case of letters; every other word is a NAME.
Rule 3  PAIRS is a keyword right behind `PREDICT (` only: it is too good a name to be taken from everybody.
Rule 4  A string or a quoted name without its closing quote ends with its line, so that one slip does not swallow the rest
        of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from lark import Token

from headwater.model import QueryError, Span

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
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens: list[Token] = []
    errors: list[QueryError] = []
    line, next_line = 0, lines[1] if len(lines) > 1 else len(text) + 1
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "SPACE":
            continue
        start, end = match.span()
        if start >= next_line:
            line = bisect_right(lines, start) - 1
            next_line = lines[line + 1] if line + 1 < len(lines) else len(text) + 1
        value = match.group()
        if group == "WORD":
            kind = kinds.get(value.upper(), "NAME")
            if kind == "PAIRS" and [token.type for token in tokens[-2:]] != ["PREDICT", "LPAR"]:
                kind = "NAME"
        elif group == "SIGN":
            kind = kinds.get(value, "END_OF_STATEMENT")
        elif group in ("NUMBER", "STRING", "QUOTED"):
            kind = group
        else:
            kind = "UNREADABLE"
            errors.append(_unreadable(str(group), value, Span(line + 1, start - lines[line] + 1, len(value))))
        tokens.append(Token(kind, value, start, line + 1, start - lines[line] + 1, None, None, end))
    return tokens, errors


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
