"""Rows a second of the CORRELATE kernel alone, on one core: `python benchmarks/kernels_correlate.py [rows]`.

Stations on a plane report five attributes each second. Every figure comes with the share of rows that answered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.kernel import CorrelateKernel
from headwater.kernels.correlate.routing import Routing
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import (
    BEGINNING,
    SECOND,
    Circle,
    Column,
    ColumnType,
    PlaceColumns,
    Rows,
    StreamSchema,
    coded,
)

STATIONS, STEP_ROWS, SIDE_M = 1000, 100_000, 100_000.0
ATTRIBUTES = ("temperature", "humidity", "wind", "rain", "pressure")
SCHEMA = StreamSchema(
    "weather",
    (
        ("station", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("x", ColumnType.DOUBLE),
        ("y", ColumnType.DOUBLE),
        *((name, ColumnType.DOUBLE) for name in ATTRIBUTES),
    ),
    time="at",
    key="station",
    place=PlaceColumns("x", "y"),
)


def batches(count: int, seed: int = 7) -> Iterator[Rows]:
    random = np.random.default_rng(seed)
    x, y = random.uniform(0, SIDE_M, (2, STATIONS))
    names = np.array([f"station-{n:04d}" for n in range(STATIONS)] + [""], object)[:-1]
    for start in range(0, count, STEP_ROWS):
        number = np.arange(start, min(start + STEP_ROWS, count))
        at = number // STATIONS * SECOND + number % STATIONS * (SECOND // STATIONS)
        who = (number % STATIONS).astype(np.int32)
        columns = {
            "station": coded(who, names.copy()),
            "at": Column(ColumnType.TIMESTAMP, at),
            "x": Column(ColumnType.DOUBLE, x[who]),
            "y": Column(ColumnType.DOUBLE, y[who]),
        }
        for name in ATTRIBUTES:
            columns[name] = Column(ColumnType.DOUBLE, random.uniform(0, 100, len(who)))
        yield Rows.of(columns)


def subscriptions(
    count: int, share: float, *, regions: int = 0, seed: int = 1, **options: object
) -> list[Subscription]:
    """Subscriptions of three clauses, each matching `share` of the values, each on one of the regions."""
    random = np.random.default_rng(seed)
    across = max(1, int(np.ceil(np.sqrt(regions))))
    made = []
    for n in range(count):
        region = None
        if regions:
            cell = n % regions
            middle = (np.array([cell % across, cell // across]) + 0.5) * SIDE_M / across
            region = Circle(float(middle[0]), float(middle[1]), SIDE_M / across / 2)
        chosen = sorted(random.choice(len(ATTRIBUTES), 3, replace=False).tolist())
        clauses = []
        for group, attribute in enumerate(chosen):
            low = float(random.uniform(0, 100 - 100 * share))
            clauses.append(
                Clause(f"c{group}", ATTRIBUTES[attribute], Interval(low, low + 100 * share), group=group)
            )
        made.append(
            Subscription(
                f"q{n}",
                f"q{n}",
                int(options.get("emit") is Emit.READINGS),
                tuple(clauses),
                30 * SECOND,
                region=region,
                **options,
            )
        )
    return made


def measure(name: str, queries: list[Subscription], rows: list[Rows]) -> None:
    began = time.process_time()
    kernel = CorrelateKernel(SCHEMA, queries)
    built = time.process_time() - began
    kernel.step(kernel.start(BEGINNING), rows[0].take(slice(0, 100)), int(rows[0]["at"].values[100]))
    state, answers, heard = kernel.start(BEGINNING), 0, set()
    began = time.process_time()
    for piece in rows:
        step = kernel.step(state, piece, int(piece["at"].values[-1]) + 1)
        state = step.state
        for block in step.answers:
            answers += block.rows.count
            heard.update(block.rows["query"].names.tolist())
    seconds = time.process_time() - began
    total = sum(piece.count for piece in rows)
    print(
        f"{name:34} {total / seconds / 1e6:8.3f} M rows/s   answers {answers / total:7.2%} of rows by {len(heard)} of {len(queries)} queries, "
        f"{state.window.end - state.window.first} rows stored, built in {built:.2f} s"
    )


def measure_routing(name: str, queries: list[Subscription], rows: list[Rows], zones: int = 4) -> None:
    routing = Routing(SCHEMA, queries, [n % 100 % zones for n in range(len(queries))], zones)
    routing.zones_using(rows[0].take(slice(0, 100)))
    began = time.process_time()
    routed = sum(routing.zones_using(piece).mean() for piece in rows) / len(rows)
    seconds = time.process_time() - began
    total = sum(piece.count for piece in rows)
    print(f"{name:34} {total / seconds / 1e6:8.3f} M rows/s   {routed:.2%} went to a zone")


def main(count: int) -> None:
    rows = list(batches(count))
    measure("one subscription", subscriptions(1, 0.01), rows)
    measure("1,000 on 100 regions", subscriptions(1000, 0.003, regions=100), rows)
    measure("8,000 on 100 regions", subscriptions(8000, 0.0015, regions=100), rows)
    measure("one, within 5 km", subscriptions(1, 0.01, within_m=5000.0), rows)
    measure(
        "1,000 on 100 regions, within 5 km", subscriptions(1000, 0.003, regions=100, within_m=5000.0), rows
    )
    measure(
        "1,000 on 100 regions, distinct", subscriptions(1000, 0.003, regions=100, distinct_sensors=True), rows
    )
    measure(
        "1,000 on 100 regions, readings", subscriptions(1000, 0.003, regions=100, emit=Emit.READINGS), rows
    )
    measure(
        "1,000 on 100, all, limit 10", subscriptions(1000, 0.003, regions=100, emit=Emit.ALL, limit=10), rows
    )
    measure_routing("routing, one", subscriptions(1, 0.01), rows)
    measure_routing("routing, 1,000 on 100 regions", subscriptions(1000, 0.003, regions=100), rows)
    measure_routing("routing, 8,000 on 100 regions", subscriptions(8000, 0.0015, regions=100), rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
