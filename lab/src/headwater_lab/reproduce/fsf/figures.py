"""The paper's figures 4 to 12, drawn again, and how cost grows beyond."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from headwater_lab.reproduce.fsf.cases import Measured
from headwater_lab.reproduce.fsf.scenes import PAPER
from headwater_lab.reproduce.outcome import Panel


def panels(measured: Sequence[Measured]) -> Iterator[Panel]:
    """Figures 4 to 11: the loads of the four settings; 12: recall; then growth."""
    for at, setting in enumerate(PAPER):
        rows = [m for m in measured if m.part == "settings" and m.scene == setting.name]
        if not rows:
            continue
        about = f"{setting.name}: {setting.nodes} nodes, {setting.sensors} sensors"
        for figure, what, words in (
            (4 + 2 * at, "subscription_load", "operators over links"),
            (5 + 2 * at, "event_load", "readings over links"),
        ):
            yield Panel(
                f"Figure {figure}: {what.replace('_', ' ')}\n{about}",
                "subscriptions",
                words,
                _lines(rows, lambda m: m.approach, what),
                scale="linear",
                scale_across="linear",
                file=f"figure-{figure:02d}",
            )
    yield Panel(
        "Figure 12: recall",
        "subscriptions",
        "share of readings that reach their users",
        _recalls([m for m in measured if m.part == "settings"]),
        scale="linear",
        scale_across="linear",
        file="figure-12",
    )
    grown = [m for m in measured if m.part == "growth"]
    yield Panel(
        "Beyond the paper: time of a simulation",
        "nodes",
        "seconds",
        _lines(grown, lambda m: m.approach, "elapsed_s", across="nodes"),
        file="growth",
    )


def _recalls(rows: Sequence[Measured]) -> dict[str, list[tuple[float, float]]]:
    """A line for each setting; those of the exact cover as one, the least of them."""
    lines = _lines(
        [m for m in rows if m.approach == "filter-split-forward"],
        lambda m: f"{m.approach}, {m.scene}",
        "recall",
    )
    exact = _lines([m for m in rows if m.approach == "exact"], lambda m: m.approach, "recall").get(
        "exact", []
    )
    least = [
        (count, min(recall for at, recall in exact if at == count))
        for count in sorted({at for at, _ in exact})
    ]
    return lines | ({"exact, every setting": least} if least else {})


def _lines(
    rows: Iterable[Measured], name: Callable[[Measured], str], upward: str, across: str = "subscriptions"
) -> dict[str, list[tuple[float, float]]]:
    lines: dict[str, list[tuple[float, float]]] = {}
    for m in rows:
        lines.setdefault(name(m), []).append((getattr(m, across), getattr(m, upward)))
    return lines
