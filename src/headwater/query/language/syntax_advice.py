"""What an operator adds to the message about a text that goes wrong inside its parentheses. Each operator has its own in its folder, `advice.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from lark.exceptions import UnexpectedToken

from headwater.model import QueryError


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A token that was not expected: its terminal, and its text, which is empty at the end of the statement.

    `words` are the words and signs that were expected (None: anything that is neither, such as a name).
    """

    kind: str
    text: str
    words: frozenset[str | None]
    name_expected: bool


class Group(NamedTuple):
    """What is named as one where all of it is expected."""

    members: frozenset[str]
    described: str


class SyntaxAdvice:
    """The questions, with the answers of an operator that has nothing special to say."""

    __slots__ = ()

    signs: ClassVar[frozenset[str]] = frozenset()
    """Signs that have a meaning only inside the operator."""

    beginning: ClassVar[Group | None] = None
    """The terminals with which something begins that is not an expression."""

    groups: ClassVar[tuple[Group, ...]] = ()
    """Words and signs that are named as one."""

    named_first: ClassVar[str | None] = None
    """Of the words that are expected, the one that the message must not leave out."""

    numbers: ClassVar[Mapping[str, str]] = {}
    """Words that a number must follow, and the advice where it is missing."""

    def error(self, error: UnexpectedToken) -> QueryError | None:
        """An error that explains more than what was expected and what was found."""
        return None

    def first(self, unexpected: Unexpected) -> str | None:
        """Advice that goes before any that shared code has."""
        return None

    def otherwise(self, unexpected: Unexpected) -> str | None:
        """Advice where shared code has none and no name is expected."""
        return None
