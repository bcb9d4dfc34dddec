"""What does the shape of a pattern tell: which rows may begin it, how large it is, where its NOTs are?

`NOT b` takes no row. It is between two elements, or at the end, where only time can decide it; it can neither begin a
match nor be repeated alone.
"""

from __future__ import annotations

import math

from headwater.kernels.pattern.choices import Contiguity
from headwater.model import Span
from headwater.query.checking.complaints import Complaints
from headwater.query.operators.pattern.operator import MOST_ELEMENTS, MOST_PERMUTED, MOST_WRITTEN_OUT
from headwater.query.operators.pattern.tree import (
    Choice,
    Edge,
    Empty,
    Exclusion,
    Loop,
    Never,
    Pattern,
    Permutation,
    Sequence,
    Variable,
)
from headwater.query.operators.pattern.walk import every_pattern, patterns_in


def variables_of(pattern: Pattern) -> tuple[str, ...]:
    """All names, those after NOT as well, in the order of their first appearance."""
    named = (part.name for part in every_pattern(pattern) if isinstance(part, Variable | Never))
    return tuple(dict.fromkeys(named))


def bound_variables(pattern: Pattern) -> frozenset[str]:
    """The variables that rows of a match can belong to."""
    return frozenset(part.name for part in every_pattern(pattern) if isinstance(part, Variable))


def beginnings(pattern: Pattern) -> frozenset[str]:
    """The variables that the first row of a match can belong to."""
    match pattern:
        case Variable():
            return frozenset((pattern.name,))
        case Sequence():
            found: frozenset[str] = frozenset()
            for part in pattern.parts:
                found |= beginnings(part)
                if not can_be_empty(part):
                    break
            return found
        case _:
            return frozenset().union(*map(beginnings, patterns_in(pattern)))


def can_be_empty(pattern: Pattern) -> bool:
    """Whether no row at all is enough."""
    match pattern:
        case Variable():
            return False
        case Never() | Edge() | Empty():
            return True
        case Choice():
            return any(map(can_be_empty, pattern.choices))
        case Loop():
            return pattern.least == 0 or can_be_empty(pattern.pattern)
        case _:
            return all(map(can_be_empty, patterns_in(pattern)))


def ends_with_not(pattern: Pattern) -> Never | None:
    """The NOT at the very end of a pattern, `()` aside."""
    match pattern:
        case Never():
            return pattern
        case Sequence():
            last = next((part for part in reversed(pattern.parts) if not _is_nothing(part)), None)
            return ends_with_not(last) if last else None
        case _:
            return next((found for part in patterns_in(pattern) if (found := ends_with_not(part))), None)


def _is_nothing(pattern: Pattern) -> bool:
    """Whether it has neither an element nor an edge of the partition."""
    return not any(isinstance(part, Variable | Never | Edge) for part in every_pattern(pattern))


def has_no_end(pattern: Pattern) -> bool:
    """Whether a match, or a gap in it, can be as long as one likes."""
    return any(_goes_on(part) for part in every_pattern(pattern))


def check_shape(pattern: Pattern, complaints: Complaints, span: Span | None) -> None:
    """Report a pattern that is too large, or with NOTs in wrong places."""
    for part in every_pattern(pattern):
        if isinstance(part, Permutation) and len(part.parts) > MOST_PERMUTED:
            complaints.refuse(
                "pattern-too-large",
                f"PERMUTE of {len(part.parts)} parts, but at most {MOST_PERMUTED} are possible",
                part.span or span,
                "group parts whose order is known: PERMUTE (A B, C)",
            )
            return
    elements = _size(pattern, orders=False)
    if elements > MOST_ELEMENTS or _size(pattern, orders=True) > MOST_WRITTEN_OUT:
        most = MOST_ELEMENTS if elements > MOST_ELEMENTS else MOST_WRITTEN_OUT
        complaints.refuse(
            "pattern-too-large",
            f"written out, this pattern has more than {most:,} elements",
            pattern.span or span,
            "use smaller numbers in { }, or + and a condition on COUNT(A.*)",
        )
    _check_nots(pattern, complaints, preceded=False, parent=None)


def _check_nots(pattern: Pattern, complaints: Complaints, *, preceded: bool, parent: Pattern | None) -> None:
    """`preceded`: a row is taken before this part, whatever is left out."""
    if isinstance(pattern, Never):
        if isinstance(parent, Loop):
            complaints.refuse(
                "misplaced-not",
                f"NOT {pattern.name} takes no row, so it cannot be repeated",
                pattern.span,
                "repeat the element before or after it",
            )
        elif not isinstance(parent, Sequence):
            complaints.refuse(
                "misplaced-not",
                f"NOT {pattern.name} has no element before and after it",
                pattern.span,
                "NOT must be between two elements or at the end: A NOT B C, A ~> NOT B",
            )
        elif not preceded:
            complaints.refuse(
                "misplaced-not",
                f"NOT {pattern.name} could come first, so it is not defined when the waiting time begins",
                pattern.span,
                "begin the pattern with an element that is always present",
            )
        return
    for part in patterns_in(pattern):
        _check_nots(part, complaints, preceded=preceded, parent=pattern)
        if isinstance(pattern, Sequence):
            preceded |= not can_be_empty(part)


def _goes_on(part: Pattern) -> bool:
    strict = Contiguity.STRICT
    if isinstance(part, Sequence):
        return any(link is not strict for link in part.links)
    if isinstance(part, Loop):
        return part.most is None or (part.most > 1 and part.contiguity is not strict)
    return False


def _size(pattern: Pattern, *, orders: bool) -> int:
    """Elements, quantifiers written out; with the `orders` of PERMUTE written out too."""
    inside = sum(_size(part, orders=orders) for part in patterns_in(pattern))
    match pattern:
        case Variable() | Never():
            return 1
        case Loop():
            return inside * max(pattern.least, pattern.most or 1)
        case Permutation() if orders:
            return inside * math.factorial(len(pattern.parts))
        case Sequence() | Choice() | Permutation() | Exclusion() | Edge() | Empty():
            return inside
