"""Which words does a query text consist of?

Rule 1  Any text gives tokens: what cannot be a token is an error with its place, and reading continues after it.
Rule 2  A word that the grammar has as a keyword is that keyword, in any case of letters; every other word is a NAME.
Rule 3  Some words are keywords only directly after the opening bracket of an operator, such as PAIRS after `PREDICT (`: they are useful
        names everywhere else.
Rule 4  A string or a quoted name without its closing quote ends with its line, so that one slip does not swallow the rest
        of the text.
Rule 5  A statement has at most `MOST_TOKENS` tokens. In it, brackets and CASEs are nested at most `MOST_NESTED` deep, and
        at most `MAX_DEPTH` signs or NOTs precede one value. A statement beyond these bounds is skipped before the parser sees it.
Rule 6  Tokens are cut on demand, so that a reader that has found enough errors need not read the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from lark import Token

from headwater.model import QueryError, Span

MOST_ERRORS: Final = 200
"""Errors reported about one text; after so many, reading stops."""

MOST_NESTED: Final = 10_000
"""The depth of nested brackets and CASEs; a deeper statement is not read further."""

MOST_TOKENS: Final = 50_000
"""Words, numbers and signs of one statement; a longer one is not read on."""

MAX_DEPTH: Final = 100
"""Levels of expressions in one another."""

PLAIN_NAME: Final = re.compile(r"[^\W\d]\w*")

_TOKEN: Final = re.compile(
    r"""(?P<SPACE>[\s\ufeff]+ | --[^\n]* | /\*.*?\*/)
      | (?P<WORD>[^\W\d]\w*)
      | (?P<NUMBER>(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<STRING>'[^']*+(?:''[^']*+)*+')
      | (?P<QUOTED>"[^"]*+(?:""[^"]*+)*+")
      | (?P<OPEN_COMMENT>/\*.*)
      | (?P<END>;)[\s\ufeff;]*
      | (?P<SIGN><=|>=|<>|!=|\|\||~~>|~~|~>|\{-|-\}|[-+*/%=<>(),.|~{}?!^$])
      | (?P<OPEN_STRING>'[^\n]*)
      | (?P<OPEN_QUOTED>"[^\n]*)
      | (?P<STRAY>.)""",
    re.VERBOSE | re.DOTALL,
)

_NEXT_STATEMENT: Final = re.compile(r";|\bCREATE\b", re.IGNORECASE)
_NESTS: Final = {"LPAR": 1, "CASE": 1, "RPAR": -1, "END": -1}
_PREFIXES: Final = frozenset({"NOT", "MINUS", "PLUS"})
_BEGINS: Final = frozenset({"CREATE", "END_OF_STATEMENT"})

_UNREADABLE: Final = {
    "OPEN_STRING": (
        "this string has no closing quote",
        "end it with '; a quote inside a string is written twice: 'it''s'",
    ),
    "OPEN_QUOTED": (
        "this quoted name has no closing quote",
        "end it with \"; strings are in single quotes: 'text'",
    ),
    "OPEN_COMMENT": ("this comment is never closed", "end it with */"),
}


@dataclass(slots=True)
class Cutter:
    """Cuts a text into tokens; `kinds` gives the terminal of every keyword and sign, `errors` is what could not be read so far.

    `at_start`: the terminals of words that are keywords only after that of an operator and a bracket, with that of the operator.

    A semicolon has the kind "END_OF_STATEMENT", unreadable text the kind "UNREADABLE".
    """

    text: str
    kinds: Mapping[str, str]
    at_start: Mapping[str, str]
    errors: list[QueryError] = field(default_factory=list)
    _lines: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self._lines = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def tokens(self) -> Iterator[Token]:
        """The tokens in the order of the text."""
        place: int | None = 0
        while place is not None:
            place = yield from self._tokens_from(place)

    def _tokens_from(self, place: int) -> Generator[Token, None, int | None]:
        """Continue from a place, to the end or to the first bound that is exceeded; returns where to continue."""
        text, lines = self.text, self._lines
        statement = _Extent()
        line, next_line = -1, place
        before, last = "", ""
        for match in _TOKEN.finditer(text, place):
            group = str(match.lastgroup)
            if group == "SPACE":
                continue
            start, end = match.span(group)
            if start >= next_line:
                line = bisect_right(lines, start) - 1
                next_line = lines[line + 1] if line + 1 < len(lines) else len(text) + 1
            value = match.group(group)
            kind = self._kind(group, value)
            if kind in self.at_start and (before, last) != (self.at_start[kind], "LPAR"):
                kind = "NAME"
            before, last = last, kind
            token = Token(kind, value, start, line + 1, start - lines[line] + 1, None, None, end)
            if kind == "UNREADABLE":
                self.errors.append(_unreadable(group, value, span_of(token)))
                if len(self.errors) >= MOST_ERRORS:
                    yield token
                    return None
            elif refusal := statement.add(kind):
                self.errors.append(_too_much(refusal, token))
                token.type = "UNREADABLE"
                yield token
                return self._next_statement(end)
            yield token
        return None

    def _kind(self, group: str, value: str) -> str:
        if group == "WORD":
            return self.kinds.get(value.upper(), "NAME")
        if group == "SIGN":
            return self.kinds[value]
        if group == "END":
            return "END_OF_STATEMENT"
        return group if group in ("NUMBER", "STRING", "QUOTED") else "UNREADABLE"

    def _next_statement(self, end: int) -> int | None:
        """Where the next statement begins, found without reading what is between."""
        following = _NEXT_STATEMENT.search(self.text, end)
        return following.start() if following and len(self.errors) < MOST_ERRORS else None


@dataclass(slots=True)
class _Extent:
    """How large a statement is so far: its tokens, brackets that are open, and signs since the last value."""

    length: int = 0
    nested: int = 0
    prefixes: int = 0

    def add(self, kind: str) -> tuple[str, str] | None:
        """Count a token; if it is beyond a bound, what is too much and what to do."""
        if kind in _BEGINS:
            self.length, self.nested, self.prefixes = 0, 0, 0
        self.length += 1
        self.prefixes = self.prefixes + 1 if kind in _PREFIXES else 0
        if kind in _NESTS:
            self.nested = max(0, self.nested + _NESTS[kind])
        if self.nested > MOST_NESTED:
            return _TOO_NESTED
        if self.prefixes > MAX_DEPTH:
            return _TOO_SIGNED
        return _TOO_LONG if self.length > MOST_TOKENS else None


_TOO_NESTED: Final = (
    f"more than {MOST_NESTED} brackets and CASEs are nested here",
    "close them, or remove those that are not needed",
)
_TOO_SIGNED: Final = (
    f"an expression here is more than {MAX_DEPTH} levels deep",
    "two signs or two NOTs in a row cancel out: remove them",
)
_TOO_LONG: Final = (
    f"this statement has more than {MOST_TOKENS} words, numbers and signs",
    "split it into queries that read one another; put long lists of places into CREATE POINTS or CREATE FENCES",
)


def _too_much(refusal: tuple[str, str], token: Token) -> QueryError:
    message, advice = refusal
    return QueryError("syntax", message, span=span_of(token), advice=[advice])


def span_of(token: Token) -> Span:
    """The place of a token."""
    assert token.line is not None and token.column is not None
    return Span(token.line, token.column, len(token))


def stray(value: str, span: Span) -> QueryError:
    """The error for a sign that has no meaning at its place."""
    return QueryError(
        "syntax", f"the character {value!r} has no meaning here", span=span, advice=_hint(value)
    )


def _unreadable(group: str, value: str, span: Span) -> QueryError:
    if group in _UNREADABLE:
        message, advice = _UNREADABLE[group]
        return QueryError("syntax", message, span=span, advice=[advice])
    return stray(value, span)


def _hint(character: str) -> list[str]:
    if character == "`":
        return ['names with unusual characters need double quotes: "my column"']
    if character in "‘’“”„":
        return ["use straight quotes: 'text' for strings, \"name\" for names"]
    if character in "!&|":
        return ["conditions are joined with AND, OR and NOT; 'not equal' is <>"]
    return ["remove it, or put it into a string: 'text'"]
