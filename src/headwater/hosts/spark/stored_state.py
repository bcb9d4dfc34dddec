"""What lies in the state store of a checkpoint: every cell looked at where Spark reads it, with its size and its name.

Rule 1  State is read as of the last finished batch, and only read.
Rule 2  Cells are checked where they are read: only names, sizes and heads come here, whatever there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from headwater.hosts.spark.stateful_stage import CHUNK, HEAD, VERSION
from headwater.model import HostError, decode
from headwater.model.codec import Tree

_CHECKED = "seat int, name string, size bigint, fault string, head binary"


@dataclass(slots=True)
class StoredZone:
    """The cells of a zone: their sizes in bytes, what is wrong with them, and the head."""

    partition_key: int
    sizes: dict[str, int] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    head: Tree | None = None

    @property
    def chunks(self) -> Mapping[str, int]:
        """The bytes of every chunk's cells, by its key as the zone's store has it."""
        return {name[len(CHUNK) :]: size for name, size in self.sizes.items() if name.startswith(CHUNK)}


def read_zones(spark: SparkSession, folder: Path) -> list[StoredZone]:
    """The zones whose state a checkpoint's Spark part has; they have no state before the first batch is finished."""
    if not any((folder / "commits").glob("[0-9]*")):
        return []
    stored = spark.read.format("statestore").option("path", str(folder)).option("stateVarName", "cells")
    cells = stored.load().selectExpr("key.seat", "user_map_key.name", "user_map_value.data")
    zones: dict[int, StoredZone] = {}
    for row in cells.mapInArrow(_check, _CHECKED).toArrow().to_pylist():
        zone = zones.setdefault(row["seat"], StoredZone(row["seat"]))
        zone.sizes[row["name"]] = row["size"]
        if row["fault"]:
            zone.faults[row["name"]] = row["fault"]
        if row["head"] and not row["fault"]:
            zone.head = decode(row["head"])
    return [zones[key] for key in sorted(zones)]


def _check(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names, cells = batch.column("name").to_pylist(), batch.column("data").to_pylist()
        found = [_fault(name, cell) for name, cell in zip(names, cells, strict=True)]
        heads = [cell if name == HEAD else None for name, cell in zip(names, cells, strict=True)]
        yield pa.RecordBatch.from_arrays(
            [
                batch.column("seat"),
                batch.column("name"),
                pa.array([len(cell) for cell in cells], pa.int64()),
                pa.array(found, pa.string()),
                pa.array(heads, pa.binary()),
            ],
            ["seat", "name", "size", "fault", "head"],
        )


def _fault(name: str, cell: bytes) -> str | None:
    """What is wrong with a cell."""
    if name == VERSION:
        return None if len(cell) == 8 else "it is not a number"
    try:
        decode(cell)
    except HostError as fault:
        return fault.message
    return None
