"""Which rows of a stream are bad, though each of their columns has a value of its type?

Rule 1  A PREDICT takes the rows of a stream for updates. Nothing is less than 0 away from its line, and no line holds for 0 seconds
        or less: such a row is bad, as one with NaN is. One with a NULL says nothing, and is only counted.
Rule 2  This is asked of rows for which the WHERE of a PREDICT holds, and of no others.
Rule 3  What is bad to one query is bad to all that read the stream, as it is with values that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Final

from headwater.query.checking.updates import HEARTBEAT, TOLERANCE
from headwater.query.language.tree import Binary, Expression, Literal, Name


@dataclass(frozen=True, slots=True)
class BadRows:
    """The rows for which `holds`, bad because of what stands in one column; `words` say what is wrong with it."""

    holds: Expression
    column: str
    code: str
    words: str


_NO_UPDATES: Final = (
    (TOLERANCE, "<", "bad-tolerance", "is below 0"),
    (HEARTBEAT, "<=", "bad-heartbeat", "is not above 0"),
)


def bad_updates(wheres: Iterable[Expression | None]) -> tuple[BadRows, ...]:
    """What makes a row of a stream bad to PREDICTs with these WHEREs; None: one without."""
    conditions = {
        repr(where): where for where in wheres
    }  # by their written form: as values, 1 and TRUE would be equal
    found = []
    for column, comparator, code, words in _NO_UPDATES if conditions else ():
        wrong: Expression = Binary(comparator, Name(column), Literal(0))
        some = [where for where in conditions.values() if where is not None]
        if len(some) == len(conditions):
            wrong = Binary("AND", wrong, reduce(lambda left, right: Binary("OR", left, right), some))
        found.append(BadRows(wrong, column, code, words))
    return tuple(found)
