"""Advice for a name that is not known: what there is, and what was perhaps meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from heapq import nsmallest
from typing import Final

MOST_NAMED: Final = 12
"""Known names listed in one advice; the others are counted."""

MOST_COMPARED: Final = 1000
"""Known names among which the one is sought that was perhaps meant."""


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
