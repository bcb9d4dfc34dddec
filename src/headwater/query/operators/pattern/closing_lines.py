"""What MATCH_RECOGNIZE says at the end of a run: the partial matches and rows that it gave up."""

from __future__ import annotations

from headwater.query.operators.closing_lines import ClosingLines, RunCounts, omission


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        omissions=[
            *omission("limit", "LIMIT gave up {}", run.of("partial_matches_given_up"), "partial match"),
            *omission(
                "skip",
                "{} without a later row to skip to: the search continued at the next row",
                run.of("skips_to_no_row"),
                "match",
            ),
            *omission("window", "full windows of MODE gave up {}", run.of("rows_given_up")),
        ]
    )
