"""What PREDICT says at the end of a run: what a full BUFFER lost, and the rows that are no updates."""

from __future__ import annotations

from headwater.query.language.words import counted
from headwater.query.operators.closing_lines import ClosingLines, RunCounts, closing_line, omission


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        omissions=omission(
            "skipped",
            "{} that are not updates for PREDICT: a column is NULL, or has an invalid number",
            run.most("not_updates"),
        ),
        losses=_given_up(run),
    )


def _given_up(run: RunCounts) -> list[str]:
    """What full buffers lost."""
    buffers = {query.name: query.operator.most_updates for query in run.plan.queries} if run.plan else {}
    lines = []
    for name, updates in run.by_query("updates_given_up"):
        seconds, most = run.of(f"seconds_given_up:{name}"), buffers.get(name)
        size = f" with BUFFER {most:,}" if most else ""
        lines.append(
            closing_line(
                "buffer",
                f"{name}: {counted(updates, 'update')} given up{size}; "
                f"other lines of the same sensors replace {seconds:,} s of them, and nothing replaces the rest",
            )
        )
    if lines:
        lines.append(
            closing_line(
                "",
                "all sensors of a stream share a BUFFER: sensors for which there is no room are not predicted, "
                "and a larger BUFFER gives up fewer updates",
            )
        )
    return lines
