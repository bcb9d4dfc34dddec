"""What FENCE says at the end of a run: the rows that are neither positions nor fences."""

from __future__ import annotations

from headwater.query.operators.closing_lines import ClosingLines, RunCounts, omission


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        omissions=[
            *omission(
                "skipped",
                "{} without a key or a place: not positions for FENCE",
                run.most("positions_without_place"),
            ),
            *omission("skipped", "{} without a key or a place: not fences", run.most("fences_without_place")),
            *omission("skipped", "{} without a polygon: not fences", run.most("fences_without_shape")),
        ]
    )
