"""What CORRELATE says at the end of a run: the rows at which LIMIT left answers out."""

from __future__ import annotations

from headwater.query.operators.closing_lines import ClosingLines, RunCounts, omission


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(omissions=omission("limit", "LIMIT left answers out at {}", run.of("limit_cuts")))
