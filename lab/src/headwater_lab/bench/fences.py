"""FENCE on Spark streaming: 10,000 polygons, two million positions, beside a native Spark query.

Objects move in 40 × 40 km among polygons of 20 corners, 100 to 300 m across; the answers are entries and exits. The native query
crosses every position with every polygon and tests with shapely in Python; since that takes some 10,000 times as many tests, it gets
only a few positions, and its rate is measured on these. It reports which objects are inside, not which enter.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from headwater.hosts.declared_sets import sets_from_files
from headwater.hosts.local.streaming import stream_local
from headwater.model import SECOND, Rows
from headwater.query.planning.plan import Plan, compile_text
from headwater.query.planning.zones import default_zones
from headwater_lab.bench.arrivals import write_arrivals
from headwater_lab.bench.ceiling import idle
from headwater_lab.bench.checks import Report, Taken
from headwater_lab.bench.figures import spoken
from headwater_lab.bench.measuring import BenchOptions, Say, better, milliseconds
from headwater_lab.bench.streaming import run_timed
from headwater_lab.bench.truth import identity_digest
from headwater_lab.workloads.moving_objects import Motion, Samples, make_movers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIDE_M: Final = 40_000.0
POLYGONS: Final = 10_000
CORNERS: Final = 20
OBJECTS: Final = 20_000
FILES: Final = 20
WARM_UP_OBJECTS: Final = 1_000
ENOUGH_A_SECOND: Final = 100_000.0
CROSSED: Final = 400
"""Positions that Spark's own way gets."""
TRACKED: Final = 200
"""Objects for which who enters is worked out by shapely."""

TEXT: Final = """\
CREATE STREAM positions (id BIGINT KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y)) LATE 1 SECOND;
CREATE FENCES areas (name BIGINT KEY);
CREATE QUERY visits AS SELECT change, object, fence FROM positions FENCE (areas);
"""


def measure_fences(
    options: BenchOptions, report: Report, say: Say, folder: Path, spark: SparkSession
) -> None:
    """Measure and judge."""
    seconds = max(options.rows // OBJECTS, 6)
    say(f"(c) making {POLYGONS:,} polygons and {seconds} s of {OBJECTS:,} objects")
    polygons = _polygons(options.seed)
    areas = _write_areas(polygons, folder / "areas.geojson")
    samples = _samples(OBJECTS, seconds, seed=options.seed)
    files = _write(samples, folder / "positions", seed=options.seed)
    warm_up = _write(
        _samples(WARM_UP_OBJECTS, 60, seed=options.seed + 1), folder / "warm-up", seed=options.seed
    )
    plan = _plan(areas, zones=default_zones(options.cores))
    for warming in (idle(plan), plan):
        run_timed(spark, warming, warm_up)
    say("(c) the no-op ceiling")
    ceiling, _ = better(run_timed, spark, idle(plan), files)
    say("(c) the answers")
    timing, taken = better(run_timed, spark, plan, files)
    say(f"(c) checking {taken.count:,} answers")
    _check(report, _plan(areas, zones=1), files, taken, samples, polygons)
    say("(c) Spark's own way")
    native = _crossed(spark, samples, polygons, report)
    report.judge(
        "c: positions a second among 10,000 polygons, on Spark",
        timing.rate,
        "a second",
        ">=",
        ENOUGH_A_SECOND,
    )
    report.notes += [
        f"(c) {len(samples):,} positions of {OBJECTS:,} objects, {POLYGONS:,} polygons: {taken.count:,} answers",
        f"    {spoken(timing.rate)} positions/s beside {spoken(ceiling.rate)} without a kernel, in micro-batches of "
        f"{spoken(np.median(timing.rows))} positions, the first left out",
        f"    micro-batches {milliseconds(timing)}; without a kernel {milliseconds(ceiling)}",
        f"    Spark's own way, a cross join and shapely: {spoken(native)} positions/s, of {CROSSED:,} positions; "
        f"ours is {spoken(timing.rate / native)} times as fast",
    ]


def _check(
    report: Report, plan: Plan, files: Sequence[Path], taken: Taken, samples: Samples, polygons: Any
) -> None:
    """Spark's answers are those of the plain loop, and of some objects those that shapely finds."""
    identities, amount, entered = [], 0, 0
    for step in stream_local(plan, [(plan.streams[0].name, str(file)) for file in files]):
        for rows in step.answers:
            identities.append(rows["match_id"].values)
            amount += rows.count
            entered += _enters(rows)
    report.check(taken.count == amount, f"(c) Spark gave {taken.count:,} answers, the plain loop {amount:,}")
    report.check(
        taken.digest() == identity_digest(identities),
        "(c) the answers of Spark and of the plain loop have different identities",
    )
    expected = _enters_by_shapely(samples, polygons)
    report.check(
        0 < expected == entered, f"(c) {entered:,} enters of some objects, shapely finds {expected:,}"
    )


def _enters(rows: Rows) -> int:
    """How often the tracked objects enter."""
    change = rows["change"]
    assert change.names is not None
    is_enter = change.names[change.values] == "enter"
    return int(np.count_nonzero(is_enter & (rows["object"].values < TRACKED)))


def _enters_by_shapely(samples: Samples, polygons: Any) -> int:
    tree = shapely.STRtree(polygons)
    own = np.flatnonzero(samples.key < TRACKED)
    own = own[np.lexsort([samples.at[own], samples.key[own]])]
    found, area = tree.query(shapely.points(samples.place[own]), predicate="intersects")
    inside: set[tuple[int, int]] = set(zip(found.tolist(), area.tolist(), strict=True))
    key = samples.key[own]
    return sum(
        1
        for place, number in inside
        if place == 0 or key[place - 1] != key[place] or (place - 1, number) not in inside
    )


def _crossed(spark: SparkSession, samples: Samples, polygons: Any, report: Report) -> float:
    """Positions a second of a cross join with shapely."""
    from pyspark.sql.functions import broadcast

    texts = [
        (number, text) for number, text in enumerate(shapely.to_wkt(polygons, rounding_precision=-1).tolist())
    ]
    some = samples.place[:: max(len(samples) // CROSSED, 1)][:CROSSED]
    points = spark.createDataFrame(some.tolist(), "x double, y double").repartition(2)
    areas = spark.createDataFrame(texts, "name long, shape string")
    pairs = points.crossJoin(broadcast(areas))

    def test(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch[shapely.intersects_xy(shapely.from_wkt(batch["shape"]), batch["x"], batch["y"])][
                ["name"]
            ]

    begun = time.monotonic()
    count = pairs.mapInPandas(test, "name long").count()
    seconds = time.monotonic() - begun
    expected = len(shapely.STRtree(polygons).query(shapely.points(some), predicate="intersects")[0])
    report.check(count == expected, f"(c) the cross join finds {count:,} pairs, shapely {expected:,}")
    return len(some) / seconds


def _plan(areas: Path, *, zones: int) -> Plan:
    plan = compile_text(TEXT, zones=zones)
    return plan.with_sets(sets_from_files(plan, {"areas": [str(areas)]}).rows)


def _polygons(seed: int) -> NDArray[np.object_]:
    """Rings around centres, their corners at random distances from them: none crosses itself."""
    random = np.random.default_rng([seed, 3])
    centres = random.uniform(0.0, SIDE_M, (POLYGONS, 1, 2))
    angles = np.linspace(0.0, 2.0 * math.pi, CORNERS, endpoint=False)
    reach = random.uniform(50.0, 150.0, (POLYGONS, CORNERS, 1))
    return shapely.polygons(centres + reach * np.stack([np.cos(angles), np.sin(angles)], axis=1))


def _write_areas(polygons: Any, path: Path) -> Path:
    features = [
        {
            "type": "Feature",
            "properties": {"name": number},
            "geometry": {"type": "Polygon", "coordinates": [shapely.get_coordinates(polygon).tolist()]},
        }
        for number, polygon in enumerate(polygons)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def _samples(objects: int, seconds: int, *, seed: int) -> Samples:
    return make_movers(objects, seconds, seed=seed, motion=Motion(SIDE_M, 15.0)).samples(SECOND)


def _write(samples: Samples, folder: Path, *, seed: int) -> list[Path]:
    columns = {"id": samples.key, "at": samples.at, "x": samples.place[:, 0], "y": samples.place[:, 1]}
    return write_arrivals(columns, folder, FILES, seed=seed)
