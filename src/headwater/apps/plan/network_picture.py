"""The tree with what its links carry: ours beside sending everything to the centre. Drawn into a file, no window is opened."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from headwater.apps.plan.layout import Layout, lay_out
from headwater.apps.plan.report import Carried, Planned
from headwater.model import NodeId
from headwater.query.language.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED: Final = 60
"""Nodes up to which names and numbers are written; beyond, they would hide the tree."""

WIDEST: Final = 14.0
INCHES_PER_LEAF, INCHES_PER_LEVEL = 0.8, 0.85
LEAST_INCHES, MOST_INCHES = (4.6, 3.6), (24.0, 16.0)

_LINK, _IDLE, _SENSORS, _USERS, _NODE = "#3b6ea5", "#c8c8c8", "#5a9e4b", "#d2691e", "#ffffff"
_PAPER: Final = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}


def draw(planned: Planned, path: Path) -> None:
    """Write both trees side by side as a PNG."""
    # Imported here: it takes a second, and only this function needs it. `Figure` alone draws with Agg.
    from matplotlib.figure import Figure

    layout = lay_out(planned.question.network, planned.centre_node)
    width, height = _size(layout)
    figure = Figure(figsize=(2 * width, height), layout="constrained")
    most = max(
        1, *(carried.over(p)[1] for carried in (planned.ours, planned.centre) for p in planned.links), 1
    )
    panels = [(planned.ours, planned.ours.approach), (planned.centre, "everything to the centre")]
    for axes, (carried, title) in zip(figure.subplots(1, 2), panels, strict=True):
        total = sum(carried.events.values())
        axes.set_title(f"{title}: {total:,} readings over links", fontsize=11)
        _draw_links(axes, planned, carried, layout, most)
        _draw_nodes(axes, planned, layout)
        axes.margins(0.08, 0.12)
        axes.axis("off")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font does not have is drawn as a box
        figure.savefig(path, format="png", dpi=130)


def _size(layout: Layout) -> tuple[float, float]:
    across = 1.0 + max(x for x, _ in layout.values())
    levels = 1.0 - min(y for _, y in layout.values())
    ideal_size = (across * INCHES_PER_LEAF, levels * INCHES_PER_LEVEL)
    width, height = (
        min(max(size, least), most)
        for size, least, most in zip(ideal_size, LEAST_INCHES, MOST_INCHES, strict=True)
    )
    return width, height


def _draw_links(axes: Axes, planned: Planned, carried: Carried, layout: Layout, most: int) -> None:
    named = len(layout) <= MOST_NAMED
    for pair in planned.links:
        (x1, y1), (x2, y2) = layout[pair[0]], layout[pair[1]]
        events = carried.over(pair)[1]
        if events:
            axes.plot(
                [x1, x2],
                [y1, y2],
                color=_LINK,
                linewidth=0.8 + WIDEST * events / most,
                zorder=1,
                solid_capstyle="round",
            )
        else:
            axes.plot([x1, x2], [y1, y2], color=_IDLE, linewidth=0.8, linestyle=":", zorder=1)
        if named and events:
            axes.annotate(
                f"{events:,}",
                ((x1 + x2) / 2, (y1 + y2) / 2),
                fontsize=6.5,
                ha="center",
                va="center",
                zorder=4,
                bbox=_PAPER,
            )


def _draw_nodes(axes: Axes, planned: Planned, layout: Layout) -> None:
    network = planned.question.network
    named = len(layout) <= MOST_NAMED
    size = 70.0 if named else 14.0
    users: dict[str, list[str]] = {}
    for user, node in network.users.items():
        users.setdefault(node, []).append(user)
    kinds = [
        ("node", [n for n in network.nodes if not network.sources.get(n)], _NODE, "o", size),
        ("node with sensors", [n for n in network.nodes if network.sources.get(n)], _SENSORS, "o", size),
    ]
    for label, nodes, colour, mark, area in kinds:
        xs, ys = [layout[node][0] for node in nodes], [layout[node][1] for node in nodes]
        axes.scatter(
            xs, ys, s=area, c=colour, marker=mark, edgecolors="black", linewidths=0.7, zorder=3, label=label
        )
    xs, ys = [layout[node][0] for node in users], [layout[node][1] for node in users]
    axes.scatter(
        xs, ys, s=2.6 * size, facecolors="none", edgecolors=_USERS, linewidths=2.0, zorder=3, label="user"
    )
    x, y = layout[planned.centre_node]
    axes.scatter([x], [y], s=0.5 * size, c="black", marker="x", linewidths=1.2, zorder=5, label="centre")
    if named:
        for node in network.nodes:
            _name(axes, node, len(network.sources.get(node, ())), users.get(node, []), layout)


def _name(axes: Axes, node: NodeId, sensors: int, users: list[str], layout: Layout) -> None:
    """Beside a node, where no link leads away from it; its users above."""
    text = _short(node) + (f"\n{counted(sensors, 'sensor')}" if sensors else "")
    beside: dict[str, Any] = {"textcoords": "offset points", "zorder": 6, "bbox": _PAPER}
    axes.annotate(_literal(text), layout[node], xytext=(8, 0), fontsize=6.5, ha="left", va="center", **beside)
    if users:
        names = "\n".join(_short(user) for user in users[:3])
        place: dict[str, Any] = {"xytext": (0, 10), "ha": "center", "va": "bottom", "weight": "bold"}
        axes.annotate(_literal(names), layout[node], fontsize=7, color=_USERS, **place, **beside)


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _literal(text: str) -> str:
    """A dollar sign begins a formula."""
    return text.replace("$", r"\$")
