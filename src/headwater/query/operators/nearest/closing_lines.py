"""What NEAREST says at the end of a run: the measured loss of PROBABLE, and the rows that are no objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.query.language.words import counted
from headwater.query.operators.closing_lines import ClosingLines, RunCounts, closing_line, omission
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.planning.plan import Plan


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        omissions=omission(
            "skipped", "{} without a value for an attribute of NEAREST: not objects", run.of("not_objects")
        ),
        losses=losses_in_words(audits_of(run.plan), run) if run.plan else (),
    )


@dataclass(frozen=True, slots=True)
class Audited:
    """On how many of a query's points its loss is measured, beside the `sigma` that it is allowed."""

    sigma: float
    points: int
    of: int


def audits_of(plan: Plan) -> dict[str, Audited]:
    """The audit of each PROBABLE query of a plan that has its points, and of which a share is audited."""
    audits = {}
    for query in plan.queries:
        if query.audit and isinstance(query.operator, NearestOperator):
            from headwater.query.operators.nearest.plan import audited_points

            assert query.opened_set is not None and query.operator.sigma is not None
            points = audited_points(query.operator, query)
            audits[query.name] = Audited(query.operator.sigma, points, len(query.opened_set))
    return audits


def losses_in_words(audits: Mapping[str, Audited], run: RunCounts) -> list[str]:
    """The measured loss of each PROBABLE query beside what it is allowed."""
    lines = []
    for name, audited in audits.items():
        found, missed = run.of(f"audited:{name}"), run.of(f"missed:{name}")
        share = f" ({_small(missed / found)})" if missed else ""
        of = f"{audited.points:,} of {counted(audited.of, 'point')}"
        lines.append(
            closing_line(
                "loss",
                f"{name}: {missed:,} of {found:,} missed{share}, PROBABLE {audited.sigma:g}, measured on {of}",
            )
        )
        ended, gone = run.of(f"audited_at_end:{name}"), run.of(f"missed_at_end:{name}")
        if ended:
            lines.append(
                closing_line(
                    "", f"and {gone:,} of {ended:,} that entered after the last row, as the window emptied"
                )
            )
    return lines


def _small(share: float) -> str:
    """0.012, 2.4e-4."""
    digits, _, power = f"{share:.1e}".partition("e")
    return f"{share:.2g}" if share >= 1e-3 else f"{digits}e{int(power)}"
