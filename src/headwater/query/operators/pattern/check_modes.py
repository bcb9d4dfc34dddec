"""Can a sensor node hold this pattern? MODE takes one event for each element, in a window of a fixed size.

So the pattern is a plain sequence, its time is known, and what is chosen among many matches is said by the mode itself.
"""

from __future__ import annotations

from typing import Final

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch
from headwater.kernels.pattern.node import MOST_ELEMENTS
from headwater.query.checking.complaints import Complaints
from headwater.query.operators.pattern.tree import Loop, MatchRecognize, NodeMode, Pattern, Sequence, Variable

MOST_HELD: Final = 65_536
"""Events in the window of one node."""


def check_mode(operator: MatchRecognize, mode: NodeMode, complaints: Complaints) -> None:
    """Complain of everything that a node cannot do."""
    span = mode.span or operator.span
    if not _is_plain(operator.pattern):
        complaints.refuse(
            "wrong-mode",
            "MODE takes a plain sequence of variables, each with or without '+'",
            operator.pattern.span or span,
            "write it like PATTERN (A B+ D)",
        )
    if operator.within is None:
        complaints.refuse(
            "wrong-mode",
            "MODE needs a time",
            span,
            "give it after the pattern: PATTERN (A B) WITHIN 6 SECONDS",
        )
    for word in _not_with_modes(operator):
        complaints.refuse("wrong-mode", f"MODE cannot be combined with {word}", span, "remove one of the two")
    if mode.hold is not None and mode.hold < 1:
        complaints.refuse(
            "not-a-count", f"HOLD {mode.hold} EVENTS is empty", span, "use at least HOLD 1 EVENTS"
        )
    if mode.hold is not None and mode.hold > MOST_HELD:
        complaints.refuse(
            "wrong-mode", f"a node holds at most {MOST_HELD:,} events", span, "use a smaller number"
        )
    elements = len(operator.pattern.parts) if isinstance(operator.pattern, Sequence) else 1
    if elements > MOST_ELEMENTS:
        complaints.refuse(
            "wrong-mode", f"a node holds patterns of at most {MOST_ELEMENTS} elements", span, "use fewer"
        )
    elif mode.hold is not None and 1 <= mode.hold < elements - 1:
        complaints.refuse(
            "wrong-mode",
            f"HOLD {mode.hold} EVENTS has no room for the {elements - 1} events before the last one",
            span,
            f"use at least HOLD {elements - 1} EVENTS",
        )
    if mode.seed is not None and mode.mode is not Mode.UNRESTRICTED:
        complaints.refuse(
            "wrong-mode",
            f"CHOOSE ONE chooses among several matches, but MODE {mode.mode.value} gives one",
            span,
            "leave it out, or write MODE UNRESTRICTED",
        )


def _is_plain(pattern: Pattern) -> bool:
    parts = pattern.parts if isinstance(pattern, Sequence) else (pattern,)
    links = pattern.links if isinstance(pattern, Sequence) else ()
    return all(map(_is_element, parts)) and Contiguity.ANY not in links


def _is_element(part: Pattern) -> bool:
    if isinstance(part, Loop):
        plain = not (part.reluctant or part.blocking or part.until)
        return plain and (part.least, part.most) == (1, None) and isinstance(part.pattern, Variable)
    return isinstance(part, Variable)


def _not_with_modes(operator: MatchRecognize) -> list[str]:
    said = {
        "MATCH EVERY": operator.every,
        "AFTER MATCH": operator.skip is not None,
        "WITHIN … BETWEEN ROWS": operator.between_rows is not None,
        "WITH TIMEOUTS": operator.timeouts,
        "LIMIT": operator.limit is not None,
        "WITH UNMATCHED ROWS": operator.rows is RowsPerMatch.ALL_WITH_UNMATCHED,
    }
    return [word for word, is_said in said.items() if is_said]
