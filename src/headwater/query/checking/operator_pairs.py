"""Which operators go together? Every rule about two operators is in this file; any other module asks one operator through its contract.

Rule 1  In one query, PREDICT may come after SUPPRESS, and one FOLLOW before or after any operator. Everything else is written with
        queries that read queries.
Rule 2  Queries may run downstream of a FOLLOW, once for each of its interests, unless it emits interests: then there are no events to read. A
        FOLLOW is not downstream of another.
Rule 3  FENCE has two sides, positions and moving fences, and both must be downstream of the same FOLLOW. Any other operator that reads several
        sources reads them on one side.
Rule 4  A plain SELECT that reads a query needs only the answers of its own zone. So does a PREDICT of single values that reads SUPPRESS,
        because both are spread by the same key. Any other reader needs the answers of all zones.

A pair without a rule is refused, or placed in one zone. So a new operator can be used alone before this file names it.
"""

from __future__ import annotations

from typing import Final

from headwater.query.language.tree import Operator
from headwater.query.operators.fence.tree import Fence
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.predict.tree import Predict
from headwater.query.operators.suppress.tree import Suppress
from headwater.query.operators.union import (
    AnyOperator,
    FollowOperator,
    PredictOperator,
    SelectOperator,
    SuppressOperator,
)

IN_ONE_QUERY: Final = "in one query, PREDICT (…) may follow SUPPRESS (…), and one FOLLOW (…) may come before or after any operator"
"""What `may_come_after` permits, as people read it."""


def may_come_after(first: Operator, second: Operator) -> bool:
    """Whether one query may have both, the second after the first; that there is one FOLLOW only is checked over all of them."""
    match first, second:
        case (Follow(), _) | (_, Follow()) | (Suppress(), Predict()):
            return True
        case _:
            return False


def instead_of(first: Operator, second: Operator, source: str) -> str:
    """What to write where one query may not have both."""
    match first, second:
        case Suppress(), Suppress():
            return f"one SUPPRESS lists all dimensions that are sent together; for another tolerance write a second query that reads '{source}' too"
        case Predict(), Predict():
            return f"put both conditions into one PREDICT, joined by AND, or write a query for each that reads '{source}'"
        case Predict(), Suppress():
            return "swap them: SUPPRESS emits the lines that PREDICT reads"
        case _:
            return f"write two queries: the one with {second.keyword} reads the one with {first.keyword}"


def runs_others(operator: Operator | None) -> bool:
    """Whether queries that read it run downstream of it, once for each of its interests; it cannot be downstream of another such operator."""
    return isinstance(operator, Follow)


def emits_interests(operator: Operator | AnyOperator) -> bool:
    """Whether it emits interests, so that there are no events for those downstream of it."""
    match operator:
        case Follow(interests=interests) | FollowOperator(interests=interests):
            return interests
        case _:
            return False


def has_two_sides(operator: Operator | None) -> bool:
    """Whether what it names inside its parentheses moves as what FROM names does, so that both must be downstream of the same FOLLOW."""
    return isinstance(operator, Fence)


def needs_own_zone_only(reader: AnyOperator, read: AnyOperator) -> bool:
    """Whether a reader needs only those answers of a query that are emitted in its own zone."""
    match read, reader:
        case _, SelectOperator():
            return True
        case SuppressOperator(), PredictOperator(is_by_sensor=is_by_sensor):
            return is_by_sensor
        case _:
            return False
