"""Every error found so far, and how to word the advice that goes with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from heapq import nsmallest
from typing import Final

from headwater.model import QueryError, Span

MOST_NAMED: Final = 12
"""Known names listed in one advice; the others are counted."""

MOST_COMPARED: Final = 1000
"""Known names among which the one is sought that was perhaps meant."""


class EnoughErrors(Exception):  # noqa: N818 - said as a person would
    """So many errors that nobody reads more of them."""


class Complaints:
    """Collects errors, so that a person sees all of them at once; at `most` so many, then EnoughErrors is raised."""

    def __init__(self, most: int | None = None) -> None:
        self.errors: list[QueryError] = [] if most is None else _AtMost(most)

    def refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        """Note an error and go on."""
        self.errors.append(QueryError(code, message, span=span, advice=advice))

    def in_order(self) -> list[QueryError]:
        """The errors in the order of the text, each once; those without a place come last."""
        # An operator that stands before several sources is checked for each of them.
        once = {(error.code, error.message, error.span): error for error in reversed(self.errors)}
        different = reversed(once.values())
        return sorted(different, key=lambda error: _position(error.span))


class _AtMost(list[QueryError]):
    """A list for whoever appends to it, until it is full."""

    def __init__(self, most: int) -> None:
        self._most = most

    def append(self, error: QueryError) -> None:
        super().append(error)
        if len(self) >= self._most:
            raise EnoughErrors


def suggest(wrong: str, known: Iterable[str], what: str) -> list[str]:
    """Advice for a name that is not known: what there is, and what was perhaps meant."""
    names = list(known)
    if not names:
        return [f"there are no {what}"]
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    advice = [f"known {what}: {', '.join(nsmallest(MOST_NAMED, names))}{more}"]
    if meant := nearest(wrong, sorted(names[:MOST_COMPARED])):
        advice.append(f"did you mean '{meant}'?")
    return advice


def nearest(wrong: str, names: Sequence[str]) -> str | None:
    """The known name most like the wrong one; capitals do not count."""
    lowered = {name.lower(): name for name in reversed(names)}
    found = get_close_matches(wrong.lower(), lowered, n=1, cutoff=0.6)
    return lowered[found[0]] if found else None


def _position(span: Span | None) -> tuple[int, int, int]:
    return (1, 0, 0) if span is None else (0, span.line, span.column)
