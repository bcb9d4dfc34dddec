"""What must the answers be? Worked out from the rows, with neither kernel nor Spark.

The questions of this benchmark are of the plain kind: clauses on different attributes, no distance between places. For these
the meaning of LATEST is one sentence: a row that matches a clause answers if each clause's last match up to it is less
than δt old; the answer is those last matches. For each question that is one pass over the rows of its region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from headwater.model import Rows
from headwater.model.splitmix import FACTORS
from headwater_lab.bench.questions import WITHIN_S, Circle, Question, Range, inside
from headwater_lab.bench.stations import Floats, Numbers, Reports

_WITHIN_US = WITHIN_S * 1_000_000
_EVERY = 101  # rows sampled to say how often a clause matches

Sums = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class AnswerSums:
    """For each question, in their order: how many answers, and a sum over the contents of all of them."""

    counts: Numbers
    sums: Sums

    @property
    def answers(self) -> int:
        """Of all questions together."""
        return int(self.counts.sum())

    @property
    def silent(self) -> int:
        """How many questions had no answer."""
        return int((self.counts == 0).sum())


def expected(reports: Reports, questions: Sequence[Question]) -> AnswerSums:
    """What the answers must be."""
    order = reports.order()
    at, station = reports.at[order], reports.station[order]
    values = {name: column[order] for name, column in reports.values.items()}
    counts, sums = np.zeros(len(questions), np.int64), np.zeros(len(questions), np.uint64)
    by_region: dict[Circle | None, list[int]] = {}
    for number, question in enumerate(questions):
        by_region.setdefault(question.region, []).append(number)
    for region, numbers in by_region.items():
        rows = slice(None) if region is None else np.flatnonzero(inside(reports, region)[station])
        times = at[rows]
        sorted_values = {name: _sorted(column[rows]) for name, column in values.items()}
        for number in numbers:
            matches = [_matches(*sorted_values[r.attribute], r) for r in questions[number].ranges]
            answers, last = _answers(times, matches)
            counts[number] = len(answers)
            sums[number] = _contents(times[answers], [times[rows] for rows in last]).sum(dtype=np.uint64)
    return AnswerSums(counts, sums)


def emitted(questions: Sequence[Question], blocks: Iterable[Rows]) -> AnswerSums:
    """The contents of answers in blocks, by question."""
    numbers = {question.name: number for number, question in enumerate(questions)}
    counts, sums = np.zeros(len(questions), np.int64), np.zeros(len(questions), np.uint64)
    for block in blocks:
        names = block["query"].names
        assert names is not None
        place = np.array([numbers[name] for name in names.tolist()], np.int64)[block["query"].values]
        attributes = [
            name[: -len("_time")] for name in block.columns if name.endswith("_time") and name != "event_time"
        ]
        content = _contents(block["event_time"].values, [block[f"{name}_time"].values for name in attributes])
        np.add.at(counts, place, 1)
        np.add.at(sums, place, content)
    return AnswerSums(counts, sums)


def identity_digest(identities: Iterable[NDArray[np.bytes_]]) -> str:
    """One digest of a set of identities, the same in whatever order they come."""
    parts = list(identities)
    together = np.sort(np.concatenate(parts)) if parts else np.empty(0, "S32")
    return blake2b(np.ascontiguousarray(together).tobytes(), digest_size=16).hexdigest()


def matching(values: Floats, clause: Range) -> NDArray[np.bool_]:
    """Which readings match a clause."""
    return (values >= clause.low) & (values <= clause.high)


def share_matched(reports: Reports, questions: Sequence[Question]) -> float:
    """The share of readings that match a clause, on average over all clauses."""
    shares = [matching(reports.values[r.attribute][::_EVERY], r).mean() for q in questions for r in q.ranges]
    return float(np.mean(shares))


def count_pairs(reports: Reports, question: Question) -> int:
    """How many pairs of readings that match the first two clauses lie less than δt apart."""
    one, other = (np.sort(reports.at[matching(reports.values[r.attribute], r)]) for r in question.ranges[:2])
    before = np.searchsorted(other, one - _WITHIN_US, side="right")
    return int((np.searchsorted(other, one + _WITHIN_US, side="left") - before).sum())


def _sorted(values: Floats) -> tuple[Floats, Numbers]:
    order = np.argsort(values, kind="stable")
    return values[order], order


def _matches(ordered: Floats, order: Numbers, clause: Range) -> Numbers:
    """The rows that match, in their order."""
    low, high = np.searchsorted(ordered, clause.low, "left"), np.searchsorted(ordered, clause.high, "right")
    return np.sort(order[low:high])


def _answers(times: Numbers, matches: Sequence[Numbers]) -> tuple[Numbers, list[Numbers]]:
    """The rows that answer, and for each clause the last match up to each of them."""
    rows = np.unique(np.concatenate(matches))
    if not all(len(matched) for matched in matches):
        return rows[:0], [rows[:0] for _ in matches]
    places = [np.searchsorted(matched, rows, "right") - 1 for matched in matches]
    known = np.minimum.reduce(places) >= 0
    last = [matched[place[known]] for matched, place in zip(matches, places, strict=True)]
    rows = rows[known]
    near = times[np.minimum.reduce(last)] > times[rows] - _WITHIN_US
    return rows[near], [clause[near] for clause in last]


def _contents(event_times: Numbers, reading_times: Sequence[Numbers]) -> Sums:
    """A number for each answer that depends on all its times and on which clause has which."""
    parts = [event_times, *reading_times]
    content = np.zeros(len(event_times), np.uint64)
    for factor, part in zip(FACTORS, parts, strict=True):
        content = (content ^ (part.astype(np.uint64) * factor)) * FACTORS[0]
    return content
