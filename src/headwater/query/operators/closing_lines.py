"""What do operators say at the end of a run, from what it counted? Each reads its own counts.

Rule 1  A count of one query ends with `:` and the name of the query. Of such queries the first few are named.
Rule 2  A count of nothing says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from headwater.query.language.words import counted

if TYPE_CHECKING:
    from headwater.query.planning.plan import Plan

MOST_NAMED: Final = 8
"""Queries named one by one; the others are counted."""


class ClosingLines(NamedTuple):
    """Lines for people: what came of the queries, which rows or answers were left out, and what was lost that should not have been."""

    results: Sequence[str] = ()
    omissions: Sequence[str] = ()
    losses: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RunCounts:
    """The counts of a run, by name; `plan` is the plan that ran, with its sets, None if it is not known."""

    counts: Mapping[str, int]
    plan: Plan | None = None

    def of(self, name: str) -> int:
        """A count; 0 if there is none."""
        return self.counts.get(name, 0)

    def by_query(self, what: str) -> list[tuple[str, int]]:
        """A count that is not zero of each query, as many as are named."""
        found = [
            (name.removeprefix(f"{what}:"), n)
            for name, n in self.counts.items()
            if name.startswith(f"{what}:")
        ]
        return [(name, n) for name, n in found if n][:MOST_NAMED]

    def most(self, what: str) -> int:
        """The largest count of any query: a row may be the same to several."""
        return max((n for name, n in self.counts.items() if name.startswith(f"{what}:")), default=0)


def closing_line(label: str, words: str) -> str:
    """A line and what it is about."""
    return f"{label:<10}{words}"


def omission(label: str, words: str, count: int, noun: str = "row") -> list[str]:
    """A line whose words have `{}` for so many; none for nothing."""
    return [closing_line(label, words.format(counted(count, noun)))] if count else []
