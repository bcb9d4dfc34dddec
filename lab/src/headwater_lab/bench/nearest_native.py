"""The native Spark query: every batch of objects crossed with the table of points, a rank over the distances of each point.

Spark has no sliding rank, so this answers less: the k nearest objects of each batch, once, where ours reports entries at
every instant. It has every advantage: a batch is as large as a window, so each object is read once; objects come in
order of time, in two files, so that two cores have work; the points are broadcast; the rank is one that Spark cuts to k
before it shuffles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headwater_lab.bench.nearest_objects import ATTRIBUTES, Floats, Numbers, Objects
from headwater_lab.bench.nearest_truth import distances
from headwater_lab.bench.streaming import FILES_PER_BATCH, Timing, batch_durations_ms, rows_of_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DISTANCE = " + ".join(f"(o.{name} - p.{name}) * (o.{name} - p.{name})" for name in ATTRIBUTES)
_RANKED = f"""SELECT point, id FROM (
  SELECT point, id, row_number() OVER (PARTITION BY point ORDER BY distance, at DESC) AS place FROM (
    SELECT /*+ BROADCAST(p) */ p.id AS point, o.id, o.at, sqrt({_DISTANCE}) AS distance
    FROM {{objects}} o CROSS JOIN bench_points p
  )
) WHERE place <= {{k}}"""


def run_native_rank(
    spark: SparkSession, points: Path, files: Sequence[Path], k: int
) -> tuple[Timing, list[Numbers]]:
    """Rank each pair of files as one batch; the timing, and for each batch the pairs of point and object int64[points * k, 2]."""
    spark.read.parquet(str(points)).createOrReplaceTempView("bench_points")
    folder = str(files[0].parent)
    stream = (
        spark.readStream.schema(spark.read.parquet(folder).schema)
        .option("maxFilesPerTrigger", FILES_PER_BATCH)
        .parquet(folder)
    )
    found: list[Numbers] = []

    def rank(batch: DataFrame, number: int) -> None:
        batch.createOrReplaceTempView("bench_objects")
        ranked = batch.sparkSession.sql(_RANKED.format(objects="bench_objects", k=k))
        found.append(np.array(sorted(map(tuple, ranked.collect())), np.int64))

    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as checkpoint:
        query: Any = (
            stream.writeStream.foreachBatch(rank)
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        durations = batch_durations_ms(query)
    rows = rows_of_batches(files, FILES_PER_BATCH)
    assert len(durations) == len(rows), f"{len(rows)} micro-batches expected, {len(durations)} ran"
    return Timing(tuple(rows), tuple(durations), 0.0, 0.0), found


def nearest_of_batch(objects: Objects, part: slice, points: Floats, point: int, k: int) -> Numbers:
    """The numbers of the k nearest objects of a part to one of the points, in order of their numbers."""
    among = Objects(objects.at[part], objects.values[part])
    order = np.lexsort((-among.at, distances(among, points[point])))
    return np.sort(order[:k]) + part.start
