"""The panels of an experiment as one picture. No window is opened: the picture is drawn into a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from headwater_lab.reproduce.outcome import Panel

PANEL_INCHES: Final = (4.6, 3.8)
MARKS: Final = "osD^vP"


def draw(title: str, panels: Sequence[Panel], path: Path) -> None:
    """Write the panels side by side as a PNG."""
    # Imported here: it takes a second, and only this function needs it. `Figure` alone draws with Agg.
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    width, height = PANEL_INCHES
    figure = Figure(figsize=(width * len(panels), height), layout="constrained")
    if title:
        figure.suptitle(title)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        for number, (name, line) in enumerate(panel.lines.items()):
            across, upward = zip(*line, strict=True)
            axes.plot(across, upward, marker=MARKS[number % len(MARKS)], label=name)
        axes.set(
            title=panel.title,
            xlabel=panel.across,
            ylabel=panel.upward,
            xscale=panel.scale_across,
            yscale=panel.scale,
        )
        axes.set_xticks(sorted({place for line in panel.lines.values() for place, _ in line}))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,g}"))
        axes.grid(visible=True, alpha=0.3)
        # Below the panel, where it covers no line.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False, fontsize="small")
    figure.savefig(path, format="png", dpi=150)
