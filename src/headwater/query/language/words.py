"""Clauses, ranges, regions and sizes in words, for people who read plans."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from headwater.kernels.clauses import Interval
from headwater.model import (
    Box,
    Circle,
    ColumnType,
    Polygon,
    Region,
    format_duration,
    format_instant,
)


def region_in_words(region: Region) -> str:
    """A region, short."""
    match region:
        case Circle():
            return f"the circle of {length_in_words(region.radius_m)} around ({region.x:g}, {region.y:g})"
        case Box():
            return f"the box from ({region.west:g}, {region.south:g}) to ({region.east:g}, {region.north:g})"
        case Polygon():
            west, south, east, north = region.bounds()[0]
            corners = len(region.corners)
            return f"a polygon of {corners} corners between ({west:g}, {south:g}) and ({east:g}, {north:g})"


def interval_in_words(interval: Interval, kind: ColumnType) -> str:
    """A range of values."""
    low, high = _shown(interval.low, kind), _shown(interval.high, kind)
    if interval.low == interval.high:
        return f"is {low}"
    if interval.low == -math.inf:
        return f"below {high}" if interval.high_open else f"at most {high}"
    if interval.high == math.inf:
        return f"above {low}" if interval.low_open else f"at least {low}"
    return f"from {low} to {high}"


def duration_in_words(duration_us: int) -> str:
    """30 seconds, 1 minute."""
    amount, unit = format_duration(duration_us).split()
    return f"{amount} {unit.lower()[:-1] if amount == '1' else unit.lower()}"


def history_in_words(duration_us: int) -> str:
    """How long something is stored, without single microseconds."""
    return duration_in_words(without_microseconds(duration_us))


def without_microseconds(duration_us: int) -> int:
    """A duration without the microsecond by which the window of a FENCE is longer than its FORGET: readers need not know it."""
    return duration_us - duration_us % 1_000 or duration_us


def length_in_words(length_m: float) -> str:
    """500 m, 5 km."""
    return f"{length_m / 1000:g} km" if length_m >= 1000 else f"{length_m:g} m"


def size_in_words(size: float) -> str:
    """1.5 KB, 12 MB."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def counted(count: int, noun: str) -> str:
    """1 query, 8,000 queries, 2 matches."""
    plural = noun[:-1] + "ies" if noun.endswith("ry") else noun + ("es" if noun.endswith("ch") else "s")
    return f"{count:,} {noun if count == 1 else plural}"


def listed(items: Sequence[str], most: int = 12) -> str:
    """a, b, c and 7 more."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def aligned(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Two columns, the second beginning at one place."""
    rows = list(pairs)
    width = max((len(left) for left, _ in rows), default=0)
    return [f"{left:<{width}}  {right}" for left, right in rows]


def _shown(value: float, kind: ColumnType) -> str:
    if kind is ColumnType.TIMESTAMP and not math.isinf(value):
        return format_instant(int(value))
    if kind is ColumnType.BOOLEAN:
        return str(bool(value)).upper()
    return str(value) if isinstance(value, int) else f"{value:.15g}"
