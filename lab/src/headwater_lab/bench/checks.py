"""Are the answers right, and enough of them? Checked before any figure counts.

Spark's answers must be those of the plain loop (same kernels, one zone, no Spark), query by query and identity by identity;
those of the plain loop must be the ones computed from the rows without any kernel (`truth`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headwater.hosts.local.streaming import stream_local
from headwater.hosts.spark.zone_report import ZoneReport
from headwater.model import Rows
from headwater.query.planning.plan import compile_text
from headwater_lab.bench.figures import Figure
from headwater_lab.bench.questions import Question, script
from headwater_lab.bench.stations import Reports
from headwater_lab.bench.truth import emitted, expected, identity_digest


@dataclass(slots=True)
class Report:
    """What came out: figures, notes for people, and the checks that failed."""

    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def judge(self, name: str, value: float, unit: str, comparison: str, bound: float) -> None:
        """Add a figure."""
        self.figures.append(Figure(name, value, unit, comparison, bound))

    def check(self, holds: bool, otherwise: str) -> None:
        """Note a check that failed."""
        if not holds:
            self.failures.append(otherwise)


@dataclass(slots=True)
class Taken:
    """The answers of a run as they come: how many each query had, and the identities of all."""

    by_query: Counter[str] = field(default_factory=Counter)
    identities: list[NDArray[np.bytes_]] = field(default_factory=list)

    def each(self, zones: Sequence[ZoneReport], number: int) -> None:
        """Take the answers of one micro-batch."""
        for answers in (answers for zone in zones for answers in zone.output.answers):
            names = answers["query"]
            assert names.names is not None
            amounts = np.bincount(names.values, minlength=len(names.names)).tolist()
            self.by_query.update(dict(zip(names.names.tolist(), amounts, strict=True)))
            self.identities.append(answers["match_id"].values.astype("S32"))

    @property
    def count(self) -> int:
        """How many answers there are."""
        return self.by_query.total()

    def counts(self, names: Sequence[str]) -> NDArray[np.int64]:
        """How many answers each of the named queries had."""
        return np.array([self.by_query[name] for name in names], np.int64)

    def digest(self) -> str:
        """One digest of all identities."""
        return identity_digest(self.identities)


def check_answers(
    report: Report,
    letter: str,
    questions: Sequence[Question],
    reports: Reports,
    files: Sequence[Path],
    taken: Taken,
) -> None:
    """Check what a run answered to the questions of a case."""
    must, blocks = expected(reports, questions), plain_answers(script(questions), files)
    plain = emitted(questions, blocks)
    same = bool((plain.counts == must.counts).all() and (plain.sums == must.sums).all())
    report.check(same, f"({letter}) the plain loop does not answer what follows from the rows")
    counts = taken.counts([question.name for question in questions])
    report.check(
        bool((counts == plain.counts).all()),
        f"({letter}) Spark gave {int(counts.sum()):,} answers, the plain loop {plain.answers:,}",
    )
    report.check(
        taken.digest() == identity_digest(rows["match_id"].values for rows in blocks),
        f"({letter}) the answers of Spark and of the plain loop have different identities",
    )
    report.check(int(counts.sum()) > 0, f"({letter}) there are no answers at all")
    report.judge(f"{letter}: answers a row", int(counts.sum()) / len(reports), "ratio", ">=", 0.01)
    report.judge(f"{letter}: subscriptions without an answer", int((counts == 0).sum()), "", "=", 0.0)


def plain_answers(text: str, files: Sequence[Path]) -> list[Rows]:
    """What the plain loop answers to the queries of a text, in blocks."""
    plan = compile_text(text, zones=1)
    arrivals = [(plan.streams[0].name, str(file)) for file in files]
    return [rows for step in stream_local(plan, arrivals) for rows in step.answers]
