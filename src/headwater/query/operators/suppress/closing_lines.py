"""What SUPPRESS says at the end of a run: how little was sent, and the rows that are no samples."""

from __future__ import annotations

from headwater.query.language.words import counted
from headwater.query.operators.closing_lines import ClosingLines, RunCounts, closing_line, omission


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        results=[
            _sent(name, samples, run.of(f"updates:{name}")) for name, samples in run.by_query("samples")
        ],
        omissions=omission(
            "skipped",
            "{} without a value for a dimension of SUPPRESS: not samples",
            run.most("not_samples"),
        ),
    )


def _sent(name: str, samples: int, sent: int) -> str:
    """What a query did not have to send."""
    return closing_line(
        "sent",
        f"{name}: {counted(sent, 'update')} for {counted(samples, 'row')}, {1 - sent / samples:.1%} not sent",
    )
