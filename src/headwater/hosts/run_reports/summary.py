"""What a run came to, for the closing lines on standard error: nothing is lost silently.

Memory  A count a query, and a count and one example a reason; never rows.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np

from headwater.hosts.declared_sets import DeclaredSets
from headwater.hosts.files.file_rows import CHANGED, UNUSABLE
from headwater.hosts.local import RunReport
from headwater.hosts.run_reports.audits import Audited
from headwater.hosts.zone import StateSize
from headwater.kernels.follow.words import Saving
from headwater.model import BEGINNING, END, Rows, add_counts, format_instant
from headwater.query.explaining.event_stores import Stored, stored_in_words
from headwater.query.language.words import counted, size_in_words
from headwater.query.planning.plan import Plan

MOST_NAMED: Final = 8
"""Queries named one by one; the others are counted."""

_SAVED: Final = {
    Saving.SPACE: "in both regions",
    Saving.TIME: "before the first event of a group that is in only one of the regions",
    Saving.SUBGRAPHS: "that no query needs, or that are the same in both regions",
    Saving.POINTS: "before the windows of a query",
}
"""Which events of FOLLOW were not streamed."""


class Summary:
    """Adds up what a run tells; `buffers` are the sizes of those that some queries have, `stores` those of events for FOLLOW."""

    def __init__(
        self,
        queries: Iterable[str],
        points: DeclaredSets | None = None,
        audits: Mapping[str, Audited] | None = None,
        buffers: Mapping[str, int] | None = None,
        stores: Iterable[Stored] = (),
    ) -> None:
        self.began = time.monotonic()
        self.queries = tuple(queries)
        self.points = points or DeclaredSets()
        self.audits = audits or {}
        self.buffers = buffers or {}
        self.stores = tuple(stores)
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

    def lines(self, *, interrupted: bool = False) -> list[str]:
        """The closing lines."""
        seconds = time.monotonic() - self.began
        files = f" in {self.files:,} file{'s' * (self.files != 1)}" if self.files else ""
        rate = f", {self.seen / seconds:,.0f} rows/s" if self.seen and seconds > 0 else ""
        so_far = "these are the results so far" if self.answers else "no answers yet, no file written"
        lines = [f"interrupted: {so_far}"] if interrupted else []
        lines.append(f"read      {_rows(self.seen)}{files}, {seconds:.1f} s{rate}")
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
        lines += [*self._saved(), *self._followed(), *stored_in_words(self.stores[:MOST_NAMED], self.counts)]
        return [*lines, *self._notes(), *self._given_up(), *self._losses(), *state_in_words(self.state)]

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
        for file, line, reason in zip(
            *(bad[name].tolist() for name in ("file", "line", "reason")), strict=True
        ):
            code, _, words = reason.partition(": ")
            self._reasons_like(code)[code] += 1
            if code not in self.examples:
                place = f"{file}:{line}" if line else file
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

    def _notes(self) -> list[str]:
        def total(prefix: str) -> int:
            return sum(amount for name, amount in self.counts.items() if name.startswith(prefix))

        def most(prefix: str) -> int:
            """Of what each query counts for itself: a row may be the same to several."""
            return max((n for name, n in self.counts.items() if name.startswith(prefix)), default=0)

        notes = [
            ("limit", "LIMIT left answers out at {}", _rows(self.counts["limit_cuts"])),
            ("limit", "LIMIT gave up {}", _partial_matches(self.counts["partial_matches_given_up"])),
            (
                "skip",
                "{} without a later row to skip to: the search continued at the next row",
                _matches(self.counts["skips_to_no_row"]),
            ),
            (
                "skipped",
                "{} without a value for an attribute of NEAREST: not objects",
                _rows(self.counts["not_objects"]),
            ),
            (
                "skipped",
                "{} without a value for a dimension of SUPPRESS: not samples",
                _rows(most("not_samples:")),
            ),
            (
                "skipped",
                "{} that are not updates for PREDICT: a column is NULL, or has an invalid number",
                _rows(most("not_updates:")),
            ),
            (
                "skipped",
                "{} of objects that FOLLOW cannot use: no key, no place, or no polygon",
                _rows(most("focals_without_place:") + most("focals_without_shape:")),
            ),
            (
                "skipped",
                "{} without a place: not found by FOLLOW",
                _rows(most("events_without_place:")),
            ),
            (
                "skipped",
                "{} without a key or a place: not positions for FENCE",
                _rows(most("positions_without_place:")),
            ),
            ("skipped", "{} without a key or a place: not fences", _rows(most("fences_without_place:"))),
            ("skipped", "{} without a polygon: not fences", _rows(most("fences_without_shape:"))),
            ("window", "full windows of MODE gave up {}", _rows(self.counts["rows_given_up"])),
            ("repeated", "{} left out by DEDUPLICATE", _rows(total("repeated:"))),
            ("waiting", "{} held: dated far ahead, or the first few of an input", _rows(total("held:"))),
        ]
        return [
            f"{label:<10}{words.format(amount)}"
            for label, words, amount in notes
            if not amount.startswith("0 ")
        ]

    def _saved(self) -> list[str]:
        """What each SUPPRESS did not have to send."""
        lines = []
        for name, samples in self._of_queries("samples:"):
            sent = self.counts[f"updates:{name}"]
            lines.append(
                f"sent      {name}: {sent:,} update{'s' * (sent != 1)} for {_rows(samples)}, {1 - sent / samples:.1%} not sent"
            )
        return lines

    def _followed(self) -> list[str]:
        """What each FOLLOW streamed to the operators behind it, and what it did not have to."""
        lines = []
        for name, interests in self._of_queries("interests:"):
            locations, live, past, repeated, cut = (
                self.counts[f"{what}:{name}"]
                for what in (
                    "locations",
                    "events_live",
                    "events_historical",
                    "answers_repeated",
                    "events_cut",
                )
            )
            lines.append(
                f"followed  {name}: {interests:,} interest{'s' * (interests != 1)} from {locations:,} location "
                f"update{'s' * (locations != 1)}, {live:,} current and {past:,} historical events "
                "passed on, counted for each query that reads them; "
                f"{repeated:,} answer{'s' * (repeated != 1)} not repeated"
            )
            saved = {words: self.counts[f"saved_{saving.value}:{name}"] for saving, words in _SAVED.items()}
            if any(saved.values()):
                listed = ", ".join(f"{many:,} {words}" for words, many in saved.items() if many)
                lines.append(f"          not passed on: {listed}")
            if cut:
                lines.append(f"          BEST EFFORT left out {cut:,} older events")
        return lines

    def _given_up(self) -> list[str]:
        """What full buffers of PREDICT lost."""
        lines = []
        for name, updates in self._of_queries("updates_given_up:"):
            seconds = self.counts[f"seconds_given_up:{name}"]
            size = f" with BUFFER {self.buffers[name]:,}" if name in self.buffers else ""
            lines.append(
                f"buffer    {name}: {updates:,} update{'s' * (updates != 1)} given up{size}; "
                f"other lines of the same sensors replace {seconds:,} s of them, and nothing replaces the rest"
            )
        if lines:
            lines.append(
                "          all sensors of a stream share a BUFFER: sensors for which there is no room are not predicted, "
                "and a larger BUFFER gives up fewer updates"
            )
        return lines

    def _of_queries(self, prefix: str) -> list[tuple[str, int]]:
        """Counts that are not zero, by the query behind a prefix, as many as are named."""
        counted = [
            (name.removeprefix(prefix), n) for name, n in self.counts.items() if name.startswith(prefix)
        ]
        return [(name, n) for name, n in counted if n][:MOST_NAMED]

    def _losses(self) -> list[str]:
        """The measured loss of each PROBABLE query beside what it is allowed."""
        lines = []
        for name, audited in self.audits.items():
            found, missed = self.counts[f"audited:{name}"], self.counts[f"missed:{name}"]
            share = f" ({_small(missed / found)})" if missed else ""
            of = f"{audited.points:,} of {audited.of:,} point{'s' * (audited.of != 1)}"
            lines.append(
                f"loss      {name}: {missed:,} of {found:,} missed{share}, PROBABLE {audited.sigma:g}, measured on {of}"
            )
            ended, gone = self.counts[f"audited_at_end:{name}"], self.counts[f"missed_at_end:{name}"]
            if ended:
                lines.append(
                    f"          and {gone:,} of {ended:,} that entered after the last row, as the window emptied"
                )
        return lines


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


def buffers_of(plan: Plan) -> dict[str, int]:
    """How many updates each PREDICT with a BUFFER may keep."""
    return {query.name: most for query in plan.queries if (most := query.operator.most_updates)}


def _by_name(rows: Rows, column: str) -> dict[str, int]:
    names = rows[column]
    assert names.names is not None
    counts = np.bincount(names.values, minlength=len(names.names))
    return {str(names.names[code]): int(counts[code]) for code in np.flatnonzero(counts).tolist()}


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _partial_matches(count: int) -> str:
    return f"{count:,} partial match{'es' * (count != 1)}"


def _matches(count: int) -> str:
    return f"{count:,} match{'es' * (count != 1)}"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in Counter(counts).most_common())


def _small(share: float) -> str:
    """0.012, 2.4e-4."""
    digits, _, power = f"{share:.1e}".partition("e")
    return f"{share:.2g}" if share >= 1e-3 else f"{digits}e{int(power)}"
