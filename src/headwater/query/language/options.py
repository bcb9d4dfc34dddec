"""Options in any order: the word of each, its value, and that none occurs twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from headwater.model import Span
from headwater.query.language.leaves import refused


class Option(NamedTuple):
    """One option of a statement: its word, its value, its place."""

    word: str
    value: Any
    span: Span


def once(listed: Iterable[Option]) -> dict[str, Any]:
    """The value of each option, by its word; none may occur twice."""
    options: dict[str, Any] = {}
    for option in listed:
        if option.word in options:
            raise refused(f"{option.word} appears here twice", option.span, "remove one of them")
        options[option.word] = option.value
    return options


def one_of(listed: Sequence[Option], words: Sequence[str]) -> None:
    """At most one of these options may occur."""
    said = [option for option in listed if option.word in words]
    if len(said) > 1:
        message = f"{said[0].word} and {said[1].word} contradict each other"
        raise refused(message, said[1].span, f"remove one of them: {' or '.join(words)}")
