"""What lies inside a pattern."""

from __future__ import annotations

from collections.abc import Iterator

from headwater.query.operators.pattern.tree import Choice, Exclusion, Loop, Pattern, Permutation, Sequence


def patterns_in(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns a pattern is made of, in the order written."""
    match pattern:
        case Sequence() | Permutation():
            return pattern.parts
        case Choice():
            return pattern.choices
        case Exclusion() | Loop():
            return (pattern.pattern,)
        case _:
            return ()


def every_pattern(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern itself and all that lies inside it, outermost first, left to right."""
    waiting = [pattern]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(patterns_in(found)))
