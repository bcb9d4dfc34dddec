"""What FOLLOW says at the end of a run: what it passed on, what it did not have to, and the rows that it cannot use."""

from __future__ import annotations

from typing import Final

from headwater.kernels.follow.choices import Saving
from headwater.query.language.words import counted
from headwater.query.operators.closing_lines import ClosingLines, RunCounts, closing_line, omission

_SAVED: Final = {
    Saving.SPACE: "in both regions",
    Saving.TIME: "before the first event of a group that is in only one of the regions",
    Saving.SUBGRAPHS: "that no query needs, or that are the same in both regions",
    Saving.POINTS: "before the windows of a query",
}
"""Which events were not streamed."""


def closing_lines(run: RunCounts) -> ClosingLines:
    """See the module."""
    return ClosingLines(
        results=[
            line for name, interests in run.by_query("interests") for line in _followed(run, name, interests)
        ],
        omissions=[
            *omission(
                "skipped",
                "{} of objects that FOLLOW cannot use: no key, no place, or no polygon",
                run.most("focals_without_place") + run.most("focals_without_shape"),
            ),
            *omission(
                "skipped",
                "{} without a place: not found by FOLLOW",
                run.most("events_without_place"),
            ),
        ],
    )


def _followed(run: RunCounts, name: str, interests: int) -> list[str]:
    """What a query streamed to downstream operators, and what it did not have to."""
    locations, live, past, repeated, cut = (
        run.of(f"{what}:{name}")
        for what in ("locations", "events_live", "events_historical", "answers_repeated", "events_cut")
    )
    lines = [
        closing_line(
            "followed",
            f"{name}: {counted(interests, 'interest')} from {counted(locations, 'location update')}, "
            f"{live:,} current and {past:,} historical events passed on, counted for each query that reads them; "
            f"{counted(repeated, 'answer')} not repeated",
        )
    ]
    saved = {words: run.of(f"saved_{saving.value}:{name}") for saving, words in _SAVED.items()}
    if any(saved.values()):
        listed = ", ".join(f"{many:,} {words}" for words, many in saved.items() if many)
        lines.append(closing_line("", f"not passed on: {listed}"))
    if cut:
        lines.append(closing_line("", f"BEST EFFORT left out {cut:,} older events"))
    return lines
