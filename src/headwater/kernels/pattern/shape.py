"""A pattern with numbers instead of names: the input of automaton creation.

A condition is named by its place in the pattern's list of tests; ALWAYS is the condition of a variable without DEFINE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from headwater.kernels.pattern.choices import Contiguity

ALWAYS: Final = -1


@dataclass(frozen=True, slots=True)
class One:
    """One row for a variable."""

    variable: int
    condition: int


@dataclass(frozen=True, slots=True)
class Never:
    """No row that satisfies the condition, tested as the variable's would be."""

    variable: int
    condition: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts one after the other; `links[i]` is before part i + 1."""

    parts: tuple[Shape, ...]
    links: tuple[Contiguity, ...]


def chain(parts: Iterable[Shape], links: Iterable[Contiguity]) -> Chain:
    """Parts one after the other; a chain within the chain is merged into it: parentheses alone change nothing."""
    flat: list[Shape] = []
    between: list[Contiguity] = []
    for part, link in zip(parts, (None, *links), strict=True):
        if link is not None:
            between.append(link)
        flat += part.parts if isinstance(part, Chain) else (part,)
        between += part.links if isinstance(part, Chain) else ()
    return Chain(tuple(flat), tuple(between))


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts, the first preferred."""

    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Hidden:
    """Rows that are matched but not emitted."""

    part: Shape


@dataclass(frozen=True, slots=True)
class Edge:
    """The beginning of the partition, or its end."""

    end: bool


@dataclass(frozen=True, slots=True)
class Nothing:
    """No row."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`part` from `least` to `most` times (None: without end); `until` is a condition."""

    part: Shape
    least: int
    most: int | None
    reluctant: bool = False
    blocking: bool = False
    contiguity: Contiguity = Contiguity.STRICT
    until: int | None = None


Shape = One | Never | Chain | Choice | Hidden | Edge | Nothing | Loop


def has_edges(shape: Shape) -> bool:
    """Whether it needs the beginning or the end of the partition."""
    match shape:
        case Edge():
            return True
        case Chain(parts) | Choice(parts):
            return any(map(has_edges, parts))
        case Hidden(part) | Loop(part):
            return has_edges(part)
        case _:
            return False
