"""What does a JSON text say, and where does each value of it stand?

Rule 1  The text is judged as JSON first; only what is JSON is looked at again for its places.
Rule 2  NaN and infinities are no JSON. Of a field that an object has twice the first counts; the second is reported.
Rule 3  Nesting has a bound, so that no text makes the reader run out of its stack.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

DEEPEST: Final = 20
"""Lists and objects within one another; a network needs four."""

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


class NotJson(Exception):  # noqa: N818 - said as a person would
    """A text that is no JSON: why, and where."""

    def __init__(self, why: str, line: int, column: int) -> None:
        super().__init__(why)
        self.why, self.line, self.column = why, line, column


@dataclass(frozen=True, slots=True)
class Value:
    """A value and its place: `path` is what leads to it, as in `links[3].between[0]`; line and column count from 1."""

    content: Content
    path: str
    line: int
    column: int


Content = dict[str, Value] | list[Value] | str | int | float | bool | None


@dataclass(slots=True)
class Document:
    """The whole value, and the fields that repeat one of their object."""

    root: Value
    repeated: list[Value] = field(default_factory=list)


def read_json(text: str) -> Document:
    """The values of a text with their places; raises NotJson."""
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as fault:
        raise NotJson(fault.msg[0].lower() + fault.msg[1:], fault.lineno, fault.colno) from fault
    except RecursionError as fault:
        raise NotJson(f"more than {DEEPEST} nested lists and objects", 1, 1) from fault
    except ValueError as fault:  # a constant, or a number of too many digits
        raise NotJson(str(fault).partition(";")[0], 1, 1) from fault
    return _Places(text).document()


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


class _Places:
    """Reads a text that is known to be JSON, token by token."""

    def __init__(self, text: str) -> None:
        self.tokens = self._located(text)
        self.repeated: list[Value] = []

    def document(self) -> Document:
        return Document(self._value(*next(self.tokens), "", 0), self.repeated)

    @staticmethod
    def _located(text: str) -> Iterator[tuple[str, int, int]]:
        line, begin, reached = 1, 0, 0
        for token in _TOKEN.finditer(text):
            ends = text.count("\n", reached, token.start())
            if ends:
                line += ends
                begin = text.rindex("\n", reached, token.start()) + 1
            reached = token.start()  # no token of JSON holds a line end
            yield token[0], line, token.start() - begin + 1

    def _value(self, token: str, line: int, column: int, path: str, depth: int) -> Value:
        if token not in "{[":
            return Value(json.loads(token), path, line, column)
        if depth == DEEPEST:
            raise NotJson(f"more than {DEEPEST} nested lists and objects", line, column)
        content = self._object(path, depth + 1) if token == "{" else self._list(path, depth + 1)
        return Value(content, path, line, column)

    def _object(self, path: str, depth: int) -> dict[str, Value]:
        fields: dict[str, Value] = {}
        for token, line, column in self.tokens:
            if token == "}":
                break
            if token == ",":
                continue
            name = json.loads(token)
            next(self.tokens)  # the colon
            inside = self._value(*next(self.tokens), f"{path}.{name}" if path else name, depth)
            if name in fields:
                self.repeated.append(Value(inside.content, inside.path, line, column))
            else:
                fields[name] = inside
        return fields

    def _list(self, path: str, depth: int) -> list[Value]:
        items: list[Value] = []
        for token, line, column in self.tokens:
            if token == "]":
                break
            if token != ",":
                items.append(self._value(token, line, column, f"{path}[{len(items)}]", depth))
        return items
