"""The paper's figures 5 to 7, drawn again, with what the paper leaves out beside them; and what tolerances cost on recorded data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from headwater_lab.reproduce.outcome import Panel
from headwater_lab.reproduce.prediction.cases import (
    BUFFERS,
    LAB_PAIRS,
    LAB_VALUES,
    LEFT_OUT,
    OBJECTS,
    RECORDED,
    TRAFFIC,
    Measured,
)

Lines = dict[str, list[tuple[float, float]]]

_UNITS: Final = {TRAFFIC: ("centimetres", 100.0), LAB_PAIRS: ("thousandths of a degree", 1_000.0)}
_UNITS_OF: Final = {**_UNITS, LAB_VALUES: _UNITS[LAB_PAIRS]}


def panels(measured: Sequence[Measured]) -> Iterator[Panel]:
    """All that can be drawn."""
    if objects := [m for m in measured if m.part == OBJECTS]:
        yield from _of_objects(objects)
    if buffers := [m for m in measured if m.part == BUFFERS]:
        yield _of_buffers(buffers, "recall", "300 objects, 325 updates", "figure-7")
        yield _of_buffers(buffers, "precision", "300 objects, 325 updates", "figure-7-precision")
    if buffers := [m for m in measured if m.part == LEFT_OUT]:
        yield _of_buffers(buffers, "recall", "updates that come late left out", "figure-7-late")
    for part in dict.fromkeys(m.part for m in measured if m.part in RECORDED):
        yield from _of_recorded([m for m in measured if m.part == part])


def _of_buffers(rows: Sequence[Measured], name: str, setting: str, file: str) -> Panel:
    return Panel(
        f"Figure 7: {name} of buffer policies\n{setting}",
        "w in seconds",
        name,
        _lines(rows, lambda m: m.buffer, lambda m: m.within_s, name),
        scale="linear",
        scale_across="linear",
        file=file,
    )


def _of_objects(rows: Sequence[Measured]) -> Iterator[Panel]:
    predicted = [m for m in rows if m.predictor == "SLOPE" and m.certainty == "line"]
    accuracy: Lines = {
        name.replace("_real", ", real positions"): [(m.objects, getattr(m, name)) for m in predicted]
        for name in ("precision", "recall", "f", "precision_real", "recall_real", "f_real")
    }
    yield _panel("Figure 5: accuracy", "share", accuracy, "figure-5")
    with_and_without = [m for m in rows if m.certainty == "line"]

    def named(m: Measured) -> str:
        return "with predictions" if m.predictor == "SLOPE" else "without"

    f = _lines(with_and_without, named, _objects, "f")
    f |= _lines(with_and_without, lambda m: f"{named(m)}, real positions", _objects, "f_real")
    yield _panel("Figure 6: F with and without predictions", "F", f, "figure-6")
    yield _panel(
        "Updates a second",
        "updates a second",
        _lines(with_and_without, named, _objects, "updates_per_s"),
        "reports",
    )
    certain = [m for m in rows if m.predictor == "SLOPE"]
    shares = _lines(certain, lambda m: f"{m.certainty}, recall", _objects, "recall_real")
    shares |= _lines(certain, lambda m: f"{m.certainty}, precision", _objects, "precision_real")
    yield _panel("Certainty, against real positions", "share", shares, "certainty")


def _of_recorded(rows: Sequence[Measured]) -> Iterator[Panel]:
    part = rows[0].part
    unit, factor = _UNITS_OF[part]
    file = part.replace(", ", "-")
    # Those that were tried for every predictor; looking closer adds others.
    everywhere = _tried_by_most(rows)
    shown = [m for m in rows if m.tolerance in everywhere]
    for name, words, ending in (("f", "F", "f"), ("sent", "share of readings sent", "sent")):
        lines = _lines(shown, lambda m: m.predictor, lambda m: m.tolerance * factor, name)
        yield Panel(
            f"{part}: {words}", f"tolerance in {unit}", words, lines, scale="linear", file=f"{file}-{ending}"
        )


def _tried_by_most(rows: Sequence[Measured]) -> set[float]:
    times: dict[float, int] = {}
    for m in rows:
        times[m.tolerance] = times.get(m.tolerance, 0) + 1
    return {tolerance for tolerance, count in times.items() if count == max(times.values())}


def _objects(m: Measured) -> float:
    return m.objects


def _panel(title: str, upward: str, lines: Lines, file: str) -> Panel:
    return Panel(title, "objects", upward, lines, scale="linear", scale_across="linear", file=file)


def _lines(
    rows: Iterable[Measured],
    name: Callable[[Measured], str],
    across: Callable[[Measured], float],
    upward: str,
) -> Lines:
    lines: Lines = {}
    for m in rows:
        lines.setdefault(name(m), []).append((across(m), getattr(m, upward)))
    return lines
