"""The paper's figures 3.8 to 3.10, drawn again. Points are means over the sets of trajectories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from headwater_lab.reproduce.follow.cases import BASIC, BEGINNINGS, POSTS, PREDEPLOYED, UPDATES, Measured
from headwater_lab.reproduce.outcome import Panel

Of = Callable[[Measured], float]


def panels(measured: Sequence[Measured]) -> Iterator[Panel]:
    """All that can be drawn."""
    if rows := [m for m in measured if m.figure == PREDEPLOYED and m.way != POSTS]:
        lines = lines_of(
            rows, lambda m: f"{m.application}, {m.way}", lambda m: m.edge_m, lambda m: m.relative
        )
        yield _panel(
            "Figure 3.8: events passed on for a driver,\nrelative to predeployed regions",
            "share",
            lines,
            "figure-3-8",
            "log",
        )
    if rows := [m for m in measured if m.figure == UPDATES]:
        for words, of, file in (
            ("a: events passed on, relative to ALWAYS", lambda m: m.relative, "figure-3-9a"),
            ("b: precision", lambda m: m.precision, "figure-3-9b"),
            ("b: recall", lambda m: m.recall, "figure-3-9b-recall"),
        ):
            lines = lines_of(rows, lambda m: m.way, lambda m: m.edge_m, of)
            yield _panel(f"Figure 3.9{words}", words.partition(": ")[2].partition(",")[0], lines, file)
    if rows := [m for m in measured if m.figure == BEGINNINGS]:
        less = [m for m in rows if m.way != BASIC]
        lines = {
            **lines_of(
                less, lambda m: f"{m.way}: answers found", lambda m: m.latest, lambda m: m.completeness
            ),
            **lines_of(less, lambda m: f"{m.way}: past passed on", lambda m: m.latest, lambda m: m.relative),
        }
        yield Panel(
            "Figure 3.10: where the past begins,\nrelative to all windows",
            "events in the counting window",
            "share",
            lines,
            scale="linear",
            scale_across="linear",
            file="figure-3-10",
        )


def lines_of(
    rows: Iterable[Measured], name: Callable[[Measured], str], across: Callable[[Measured], int], of: Of
) -> Mapping[str, list[tuple[float, float]]]:
    """By name, the mean of something at each place."""
    found: dict[str, dict[int, list[float]]] = {}
    for m in rows:
        found.setdefault(name(m), {}).setdefault(across(m), []).append(of(m))
    return {
        called: [(float(place), sum(values) / len(values)) for place, values in sorted(at.items())]
        for called, at in found.items()
    }


def _panel(
    title: str, upward: str, lines: Mapping[str, list[tuple[float, float]]], file: str, scale: str = "linear"
) -> Panel:
    return Panel(
        title, "edge of the box in metres", upward, lines, scale=scale, scale_across="linear", file=file
    )
