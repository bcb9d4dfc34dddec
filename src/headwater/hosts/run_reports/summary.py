"""What a run came to, for the closing lines on standard error: nothing is lost silently.

Memory  A count a query, and a count and one example a reason; never rows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

import numpy as np

from headwater.hosts.declared_sets import DeclaredSets
from headwater.hosts.files.file_rows import CHANGED, UNUSABLE
from headwater.hosts.local import RunReport
from headwater.hosts.zone import StateSize
from headwater.model import BEGINNING, END, Rows, add_counts, format_instant
from headwater.query.explaining.event_stores import stored_in_words, stores_of
from headwater.query.language.words import counted, size_in_words
from headwater.query.operators.closing_lines import MOST_NAMED, RunCounts, omission
from headwater.query.operators.union import AnyOperator
from headwater.query.planning.plan import Plan


class Summary:
    """Adds up what a run tells; `plan` is what runs, with its sets."""

    def __init__(
        self,
        queries: Iterable[str],
        points: DeclaredSets | None = None,
        plan: Plan | None = None,
    ) -> None:
        self.began = time.monotonic()
        self.ended: float | None = None
        self.queries = tuple(queries)
        self.points = points or DeclaredSets()
        self.plan = plan
        self.seen = 0
        self.files = 0
        self.answers: Counter[str] = Counter()
        self.late: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.unusable: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.state: Mapping[str, StateSize] = {}
        self._take_bad(self.points.bad)
        self.bad_points = self.bad.total()

    def take(self, report: RunReport) -> None:
        """Some more of what the run tells."""
        self.seen += report.seen
        self.files += report.files
        for rows in report.answers:
            self.answers.update(_by_name(rows, "query"))
        for stream, rows in report.late.items():
            self.late[stream] += rows.count
        self._take_bad(report.bad)
        self.state = self.state if report.state is None else report.state
        for name, amount in report.counts.items():
            if name.startswith("held:"):  # how many wait just now, not how many more
                self.counts[name] = amount
            else:
                add_counts(self.counts, {name: amount})

    @property
    def all_refused(self) -> bool:
        """Whether there was something to read and none of it was of use."""
        if not self.seen:
            return self.unusable.total() > 0
        return self.seen == self.bad.total() - self.bad_points

    def finish(self) -> None:
        """The run is over: from now on its time does not go on."""
        self.ended = time.monotonic()

    def lines(self, *, interrupted: bool = False, timed: bool = True) -> list[str]:
        """The closing lines; with or without how long it took."""
        seconds = (self.ended or time.monotonic()) - self.began
        files = f" in {self.files:,} file{'s' * (self.files != 1)}" if self.files else ""
        rate = f", {self.seen / seconds:,.0f} rows/s" if self.seen and seconds > 0 else ""
        took = f", {seconds:.1f} s{rate}" if timed else ""
        so_far = "these are the results so far" if self.answers else "no answers yet, no file written"
        lines = [f"interrupted: {so_far}"] if interrupted else []
        lines.append(f"read      {_rows(self.seen)}{files}{took}")
        for label, is_fences in (("points", False), ("fences", True)):
            inputs = {
                name: rows.count
                for name, rows in self.points.rows.items()
                if (name in self.points.fences) == is_fences
            }
            if inputs:
                lines.append(f"{label:<10}{_listed(inputs)}")
        lines.append(f"answers   {self.answers.total():,}{self._answers_by_query()}")
        if self.late:
            lines.append(f"late      {_rows(self.late.total())}: {_listed(self.late)}")
        for label, what, reasons in (
            ("unusable", "could not be used", self.unusable),
            ("changed", "changed in a way that is not supported", self.changed),
        ):
            lines += self._refused(label, f"{counted(reasons.total(), 'file')} {what}", reasons)
        lines += self._refused("bad", _rows(self.bad.total()), self.bad)
        return [*lines, *self._of_operators(), *state_in_words(self.state)]

    def _of_operators(self) -> list[str]:
        """What operators say of their counts: results first, losses last."""
        run = RunCounts(self.counts, self.plan)
        said = [operator.closing_lines(run) for operator in get_args(AnyOperator)]
        stores = stores_of(self.plan)[:MOST_NAMED] if self.plan else ()
        return [
            *(line for closing in said for line in closing.results),
            *stored_in_words(stores, self.counts),
            *(line for closing in said for line in closing.omissions),
            *self._omissions(),
            *(line for closing in said for line in closing.losses),
        ]

    def _reasons_like(self, code: str) -> Counter[str]:
        if code in UNUSABLE:
            return self.unusable
        return self.changed if code in CHANGED else self.bad

    def _refused(self, label: str, what: str, reasons: Counter[str]) -> list[str]:
        """What was of no use, by reason."""
        if not reasons:
            return []
        first = [
            f"{reason} {count:,}, first {self.examples[reason]}" for reason, count in reasons.most_common()
        ]
        return [f"{label:<10}{what}", *(f"          {each}" for each in first)]

    def _take_bad(self, bad: Rows) -> None:
        if not bad.count:
            return
        for stream, file, line, reason in zip(
            *(bad[name].tolist() for name in ("stream", "file", "line", "reason")), strict=True
        ):
            self.take_bad(1, stream, file, line, reason)

    def take_bad(self, count: int, stream: str, file: str | None, line: int | None, reason: str) -> None:
        """So many bad rows for the reason that the first of them has; without a file it is a row of a table."""
        code, _, words = reason.partition(": ")
        self._reasons_like(code)[code] += count
        if code not in self.examples:
            row = f"{file}:{line}" if file else f"row {line} of {stream}"
            place = row if line else file
            self.examples[code] = f"{place}: {words}" if place else words

    def _answers_by_query(self) -> str:
        if not self.queries:
            return ""
        named = sorted(
            ((name, self.answers[name]) for name in self.queries if name in self.answers),
            key=lambda item: -item[1],
        )[:MOST_NAMED]
        parts = [f"{name} {count:,}" for name, count in named]
        others = len(self.answers) - len(named)
        if others:
            parts.append(
                f"{others:,} more queries {self.answers.total() - sum(count for _, count in named):,}"
            )
        silent = [name for name in self.queries if name not in self.answers]
        if silent:
            shown = ", ".join(silent[:MOST_NAMED]) + " …" * (len(silent) > MOST_NAMED)
            parts.append(f"none of {shown}" + f" ({len(silent):,} queries)" * (len(silent) > MOST_NAMED))
        return f": {', '.join(parts)}" if parts else ""

    def _omissions(self) -> list[str]:
        """Rows of streams that no query has seen, or not yet."""

        def total(prefix: str) -> int:
            return sum(amount for name, amount in self.counts.items() if name.startswith(prefix))

        return [
            *omission("repeated", "{} left out by DEDUPLICATE", total("repeated:")),
            *omission("waiting", "{} held: dated far ahead, or the first few of an input", total("held:")),
        ]


def state_in_words(state: Mapping[str, StateSize]) -> list[str]:
    """What is remembered now, the largest first."""
    largest = sorted(state.items(), key=lambda named: -named[1].size)
    lines = []
    for name, size in largest[:MOST_NAMED]:
        parts = [size_in_words(size.size)]
        if size.rows:
            parts.append(counted(size.rows, "row"))
        if size.keys:
            parts.append(counted(size.keys, "key"))
        if BEGINNING < size.oldest < END:
            parts.append(f"the oldest of {format_instant(size.oldest)}")
        lines.append(f"{'state':<10}{name}: {', '.join(parts)}")
    rest = sum(size.size for _, size in largest[MOST_NAMED:])
    if rest:
        lines.append(f"          {len(largest) - MOST_NAMED:,} more: {size_in_words(rest)}")
    return lines


def _by_name(rows: Rows, column: str) -> dict[str, int]:
    names = rows[column]
    assert names.names is not None
    counts = np.bincount(names.values, minlength=len(names.names))
    return {str(names.names[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in Counter(counts).most_common())
