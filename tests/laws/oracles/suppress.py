"""SUPPRESS as it is defined, one sample after the other, each time from all that came before it, in 60 decimal digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, getcontext, localcontext
from typing import Any

from headwater.kernels.suppress.choices import Predictor
from headwater.kernels.suppress.question import SuppressQuery
from headwater.model import SECOND, Instant, StreamSchema

Row = dict[str, Any]
RowTest = Callable[[Row], bool]
Sample = tuple[Instant, list[Decimal]]
Matrix = list[list[Decimal]]

DIGITS = 60
KNOWN_NOTHING = Decimal(10) ** 30  # the variance of a velocity of which nothing is known


@dataclass
class Watched:
    """Everything a query sends, and how near a sample came to being sent, or not sent, by rounding alone."""

    sent: list[Row] = field(default_factory=list)
    samples: int = 0
    not_samples: int = 0
    least_margin: Decimal = Decimal(1)


def watch(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: SuppressQuery,
    conditions: Sequence[RowTest] = (),
    since: Instant | None = None,
) -> Watched:
    """What a query does with rows in the order of the stream; answers are without `match_id`."""
    watched = Watched()
    history: dict[Any, list[Sample]] = {}
    lines: dict[Any, tuple[Instant, list[Decimal], list[Decimal]]] = {}
    with localcontext() as context:
        context.prec = DIGITS
        for row in rows:
            if since is not None and row[schema.time] < since:
                continue
            if query.where is not None and not conditions[query.where](row):
                continue
            key = row[schema.key] if schema.key else None
            if (schema.key and key is None) or any(row[name] is None for name in query.dimensions):
                watched.not_samples += 1
                continue
            watched.samples += 1
            time, values = row[schema.time], [Decimal(row[name]) for name in query.dimensions]
            if (
                query.forget_us is not None
                and key in history
                and time - history[key][-1][0] > query.forget_us
            ):
                del history[key], lines[key]
            history.setdefault(key, []).append((time, values))
            reason = None if key in lines else "first"
            if key in lines:
                at, begins, slopes = lines[key]
                after = seconds(time - at)
                squares = [(v - v0 - s * after) ** 2 for v, v0, s in zip(values, begins, slopes, strict=True)]
                distance = sum(squares, Decimal(0)).sqrt()
                watched.least_margin = min(watched.least_margin, abs(distance - Decimal(query.tolerance)))
                if distance > Decimal(query.tolerance):
                    reason = "tolerance"
                elif time - at >= query.heartbeat_us:
                    reason = "heartbeat"
            if reason is None:
                continue
            slopes = [slope(query, one_dimension(history[key], d)) for d in range(len(values))]
            lines[key] = (time, values, slopes)
            watched.sent.append(
                {
                    "query": query.name,
                    "event_time": time,
                    **({schema.key: key} if schema.key else {}),
                    **{name: float(v) for name, v in zip(query.dimensions, values, strict=True)},
                    **{f"{name}_slope": float(s) for name, s in zip(query.dimensions, slopes, strict=True)},
                    "tolerance": query.tolerance,
                    "heartbeat": query.heartbeat_us / SECOND,
                    "reason": reason,
                }
            )
    return watched


# --- the predictors, over all samples of a sensor in one dimension --------------------------------------------------------------

Points = list[tuple[Instant, Decimal]]


def one_dimension(history: Sequence[Sample], d: int) -> Points:
    return [(time, values[d]) for time, values in history]


def seconds(duration_us: int) -> Decimal:
    return Decimal(duration_us) / SECOND


def slope(query: SuppressQuery, points: Points) -> Decimal:
    """The slope per second that goes with the last of the points."""
    if query.predictor is Predictor.CONSTANT:
        return Decimal(0)
    if query.predictor is Predictor.SLOPE:
        return of_two(points)
    if query.predictor is Predictor.LEAST_SQUARES:
        return of_least_squares(points[-int(query.parameters[0]) :])
    first, second = map(Decimal, query.parameters)
    if query.predictor is Predictor.DOUBLE_EXPONENTIAL:
        return of_smoothing(points, first, second)
    return of_filter(points, first, second)


def of_two(points: Points) -> Decimal:
    if len(points) < 2 or points[-1][0] == points[-2][0]:
        return Decimal(0)
    return (points[-1][1] - points[-2][1]) / seconds(points[-1][0] - points[-2][0])


def of_least_squares(points: Points) -> Decimal:
    """(n Σtv − Σt Σv) / (n Σt² − (Σt)²)"""
    n = len(points)
    t = [seconds(time) for time, _ in points]
    v = [value for _, value in points]
    below = n * sum(x * x for x in t) - sum(t) ** 2
    if len({time for time, _ in points}) == 1:
        return Decimal(0)
    return (n * sum((x * y for x, y in zip(t, v, strict=True)), Decimal(0)) - sum(t) * sum(v)) / below


def of_smoothing(points: Points, alpha: Decimal, beta: Decimal) -> Decimal:
    (last, level), trend = points[0], None
    for time, value in points[1:]:
        h = seconds(time - last)
        last = time
        if trend is None and h:
            level, trend = value, (value - level) / h
            continue
        before = level
        level = alpha * value + (1 - alpha) * (before + (trend or 0) * h)
        if h and trend is not None:
            trend = beta * (level - before) / h + (1 - beta) * trend
    return trend if trend is not None else Decimal(0)


def of_filter(points: Points, q: Decimal, r: Decimal) -> Decimal:
    """x' = Fx, P' = FPFᵀ + Q; K = P'Hᵀ(HP'Hᵀ + r)⁻¹, x = x' + K(v − Hx'), P = (1 − KH)P'."""
    last, value = points[0]
    x: Matrix = [[value], [Decimal(0)]]
    p: Matrix = [[r, Decimal(0)], [Decimal(0), KNOWN_NOTHING]]
    see: Matrix = [[Decimal(1), Decimal(0)]]
    one: Matrix = [[Decimal(1), Decimal(0)], [Decimal(0), Decimal(1)]]
    assert getcontext().prec == DIGITS
    for time, value in points[1:]:
        h = seconds(time - last)
        last = time
        move: Matrix = [[Decimal(1), h], [Decimal(0), Decimal(1)]]
        noise: Matrix = [[q * h**3 / 3, q * h**2 / 2], [q * h**2 / 2, q * h]]
        x = times(move, x)
        p = plus(times(times(move, p), turned(move)), noise)
        seen = times(times(see, p), turned(see))[0][0] + r
        gain = [[item / seen for item in line] for line in times(p, turned(see))]
        surprise = value - times(see, x)[0][0]
        x = plus(x, [[item * surprise for item in line] for line in gain])
        p = times(plus(one, [[-item for item in line] for line in times(gain, see)]), p)
    return x[1][0]


def times(left: Matrix, right: Matrix) -> Matrix:
    columns = turned(right)
    return [
        [sum((a * b for a, b in zip(row, col, strict=True)), Decimal(0)) for col in columns] for row in left
    ]


def plus(left: Matrix, right: Matrix) -> Matrix:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(left, right, strict=True)]


def turned(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]
