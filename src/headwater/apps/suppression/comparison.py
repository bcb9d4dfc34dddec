"""Every predictor with every tolerance on the samples of a query: what is saved, and what error remains."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headwater.apps.suppression.choices import Choice, shown, tolerances_around
from headwater.apps.suppression.recorded_samples import Question, Recorded, Say
from headwater.apps.text_columns import aligned
from headwater.kernels.suppress.report import Samples, Savings, pace_s, savings
from headwater.model import format_duration
from headwater.query.language.words import counted
from headwater.query.operators.suppress.operator import SuppressOperator

COLUMNS: Final = (
    "predictor", "tolerance", "samples", "updates", "saved", "mean error", "max error", "RMS error", "",
)  # fmt: skip
CSV_COLUMNS: Final = (
    "query", "predictor", "parameters", "tolerance", "heartbeat_s", "samples", "updates", "saved",
    "mean_error", "max_error", "rms_error", "as_written",
)  # fmt: skip

MOST_TRIED: Final = 1_000_000
"""Samples, from the first on, that numbers for a predictor are tried on."""

AS_WRITTEN: Final = "as written"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found for one query: predictor by predictor, tolerances ascending."""

    question: Question
    recorded: Recorded
    pace_s: float
    found: Sequence[Savings]

    def is_as_written(self, one: Savings) -> bool:
        """Whether it is what the query says itself."""
        operator = self.question.operator
        return (one.predictor, one.parameters, one.tolerance) == (
            operator.predictor,
            operator.parameters,
            operator.tolerance,
        )

    def lines(self) -> list[str]:
        """The table with a headline, for people."""
        operator, recorded = self.question.operator, self.recorded
        samples = recorded.samples
        head = (
            f"{self.question.name}: {', '.join(operator.dimensions)} of {counted(samples.sensor_count, 'sensor')}, "
            f"{counted(len(samples), 'sample')}, one every {self.pace_s:g} s, "
            f"HEARTBEAT {format_duration(operator.heartbeat_us)}"
        )
        left_out = [
            f"{counted(recorded.lacking, 'row')} without a key or a number left out" * bool(recorded.lacking),
            f"{counted(recorded.bad, 'bad row')} left out: 'headwater run --bad-output FILE' lists them"
            * bool(recorded.bad),
        ]
        cells = [COLUMNS, *(self._cells(one) for one in self.found)]
        return [head, *filter(None, left_out), "", *aligned(cells), "", self._best()]

    def _cells(self, one: Savings) -> tuple[str, ...]:
        return (
            shown(one.predictor, one.parameters),
            f"{one.tolerance:g}",
            f"{one.samples:,}",
            f"{one.updates:,}",
            f"{one.saved:.1%}",
            f"{one.mean_error:.3g}",
            f"{one.max_error:.3g}",
            f"{one.rms_error:.3g}",
            AS_WRITTEN * self.is_as_written(one),
        )

    def _best(self) -> str:
        """Who saves most with the query's own tolerance, or the one that is nearest to it."""
        nearest = min(
            (one.tolerance for one in self.found), key=lambda t: abs(t - self.question.operator.tolerance)
        )
        best = max((one for one in self.found if one.tolerance == nearest), key=lambda one: one.saved)
        return (
            f"most is saved with TOLERANCE {nearest:g} by {shown(best.predictor, best.parameters)}: "
            f"{best.saved:.1%}, {counted(best.updates, 'update')} for {counted(best.samples, 'sample')}"
        )


def compare(
    question: Question,
    recorded: Recorded,
    choices: Sequence[Choice],
    tolerances: Sequence[float] | None,
    say: Say = lambda words: None,
) -> Comparison:
    """Count for every choice and tolerance; None: tolerances around the query's own."""
    operator, samples = question.operator, recorded.samples
    pace = pace_s(samples)
    compared = tolerances_around(operator.tolerance) if tolerances is None else tolerances
    say(f"{question.name}: choosing numbers for the predictors")
    fitted = dict.fromkeys((one.predictor, _fitting(one, operator, samples, pace)) for one in choices)
    found = []
    for predictor, parameters in fitted:
        for tolerance in compared:
            say(f"{question.name}: {shown(predictor, parameters)}, tolerance {tolerance:g}")
            found.append(
                savings(
                    samples,
                    tolerance=tolerance,
                    heartbeat_us=operator.heartbeat_us,
                    predictor=predictor,
                    parameters=parameters,
                    forget_us=operator.forget_us,
                )
            )
    return Comparison(question, recorded, pace, found)


def _fitting(choice: Choice, operator: SuppressOperator, samples: Samples, pace: float) -> tuple[float, ...]:
    """The numbers that save most with the query's own tolerance, of those to be tried; the first of equals."""
    candidates = choice.candidates(operator, pace)
    if len(candidates) == 1:
        return candidates[0]
    some = Samples(samples.sensors[:MOST_TRIED], samples.times[:MOST_TRIED], samples.values[:MOST_TRIED])
    updates = [
        savings(
            some,
            tolerance=operator.tolerance,
            heartbeat_us=operator.heartbeat_us,
            predictor=choice.predictor,
            parameters=parameters,
            forget_us=operator.forget_us,
        ).updates
        for parameters in candidates
    ]
    return candidates[updates.index(min(updates))]


def write_table(comparisons: Sequence[Comparison], path: Path) -> None:
    """All of it as CSV, with the numbers as they were counted."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(CSV_COLUMNS)
        for comparison in comparisons:
            for one in comparison.found:
                lines.writerow(
                    (
                        comparison.question.name,
                        one.predictor.value,
                        " ".join(map(repr, one.parameters)),
                        one.tolerance,
                        comparison.question.operator.heartbeat_us / 1e6,
                        one.samples,
                        one.updates,
                        one.saved,
                        one.mean_error,
                        one.max_error,
                        one.rms_error,
                        str(comparison.is_as_written(one)).lower(),
                    )
                )
