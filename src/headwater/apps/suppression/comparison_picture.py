"""Saved and error against tolerance, one curve a predictor, one row of diagrams a query. Drawn into a file, no window is opened."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headwater.apps.suppression.choices import shown
from headwater.apps.suppression.comparison import Comparison
from headwater.kernels.suppress.report import Savings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL_INCHES: Final = (5.2, 3.9)
LEGEND_INCHES: Final = 2.2
MARKS: Final = "osD^vPX*"

MOST_DRAWN: Final = 8
"""Queries in one picture; the CSV has all of them."""


def draw(comparisons: Sequence[Comparison], path: Path) -> None:
    """Write the diagrams of every query as one PNG."""
    # Imported here: it takes a second, and only this function needs it. `Figure` alone draws with Agg.
    from matplotlib.figure import Figure

    drawn = comparisons[:MOST_DRAWN]
    width, height = PANEL_INCHES
    figure = Figure(figsize=(2 * width + LEGEND_INCHES, height * len(drawn)), layout="constrained")
    rows = figure.subplots(len(drawn), 2, squeeze=False)
    for (saved, error), comparison in zip(rows, drawn, strict=True):
        curves = _curves(comparison.found)
        _draw_saved(saved, comparison, curves)
        _draw_error(error, comparison, curves)
        error.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font does not have is drawn as a box
        figure.savefig(path, format="png", dpi=140)


def _curves(found: Sequence[Savings]) -> dict[str, list[Savings]]:
    """The results of each predictor, by what it is called."""
    curves: dict[str, list[Savings]] = {}
    for one in found:
        curves.setdefault(shown(one.predictor, one.parameters), []).append(one)
    return curves


def _draw_saved(axes: Axes, comparison: Comparison, curves: dict[str, list[Savings]]) -> None:
    for number, (name, curve) in enumerate(curves.items()):
        across = [one.tolerance for one in curve]
        axes.plot(across, [100 * one.saved for one in curve], marker=MARKS[number % len(MARKS)], label=name)
    axes.set(title=f"{_title(comparison)}: samples not sent", ylabel="saved (%)")
    _finish(axes, comparison)


def _draw_error(axes: Axes, comparison: Comparison, curves: dict[str, list[Savings]]) -> None:
    for number, (name, curve) in enumerate(curves.items()):
        across = [one.tolerance for one in curve]
        axes.plot(across, [one.rms_error for one in curve], marker=MARKS[number % len(MARKS)], label=name)
    axes.set(title=f"{_title(comparison)}: error that remains", ylabel="RMS error")
    axes.set_ylim(bottom=0)
    _finish(axes, comparison)


def _finish(axes: Axes, comparison: Comparison) -> None:
    tolerances = sorted({one.tolerance for one in comparison.found})
    axes.set_xlabel("tolerance")
    if tolerances[0] > 0 and len(tolerances) > 1:
        from matplotlib.ticker import NullFormatter, NullLocator

        axes.set_xscale("log", base=2)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks(tolerances, [f"{tolerance:g}" for tolerance in tolerances])
    if comparison.question.operator.tolerance in tolerances:
        axes.axvline(
            comparison.question.operator.tolerance, color="0.6", linewidth=0.8, linestyle=":", zorder=0
        )
    axes.grid(visible=True, alpha=0.3)


def _title(comparison: Comparison) -> str:
    """A dollar sign begins a formula."""
    name = comparison.question.name
    return (name if len(name) <= 24 else f"{name[:23]}…").replace("$", r"\$")
