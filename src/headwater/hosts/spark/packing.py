"""Rows on their way to zones: one row of Spark's a zone and piece, with the readings as one binary cell.

Rule 1  Every piece sends something to *every* zone: at least what times it saw. So all zones know the same time, and each
        is called in every micro-batch, whether anything is for it or not.
Rule 2  A zone gets the rows its queries may use, and only those; the times tell of all rows (no row's lateness depends on
        whether another row was of use to anybody).
Rule 3  Bad rows travel with zone 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from headwater.hosts.zone import Clusters, Unit, clusters_of
from headwater.model import Rows, compacted, decode, encode, rows_tree, tree_rows

Routing = Callable[[Rows], NDArray[np.bool_]]

PACKED = "seat int, zone int, stream string, input string, unit long, piece long, clusters binary, seen long, now long, end boolean, blob binary, bad binary"
PACKED_ARROW = pa.schema(
    [
        ("seat", pa.int32()),
        ("zone", pa.int32()),
        ("stream", pa.string()),
        ("input", pa.string()),
        ("unit", pa.int64()),
        ("piece", pa.int64()),
        ("clusters", pa.binary()),
        ("seen", pa.int64()),
        ("now", pa.int64()),
        ("end", pa.bool_()),
        ("blob", pa.binary()),
        ("bad", pa.binary()),
    ]
)

SLICED = "seat int, zone int, slice long, stream string, seen long, blob binary, bad binary"
SLICED_ARROW = pa.schema(
    [
        ("seat", pa.int32()),
        ("zone", pa.int32()),
        ("slice", pa.int64()),
        ("stream", pa.string()),
        ("seen", pa.int64()),
        ("blob", pa.binary()),
        ("bad", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a piece comes from: the stream, the input and its unit (a file), which piece of it; `now` is the clock then, if it is read.

    `end`: the input has ended.
    """

    stream: str
    input: str
    unit: int
    piece: int = 0
    now: int | None = None
    end: bool = False


def pack(
    origin: Origin,
    partition_keys: Sequence[int],
    *,
    rows: Rows | None = None,
    times: NDArray[np.int64] | None = None,
    routing: Routing | None = None,
    bad: Rows | None = None,
    seen: int = 0,
) -> pa.RecordBatch:
    """One piece as a record batch with a row for every zone, by its partition key; `times` are those of all rows seen, useful or not."""
    zones = len(partition_keys)
    clusters = clusters_of(times).tobytes() if times is not None and len(times) else b""
    blobs = (
        blobs_by_zone(rows, routing, zones) if rows is not None and routing is not None else [None] * zones
    )
    bads: list[bytes | None] = [None] * zones
    if bad is not None and bad.count:
        bads[0] = to_bytes(bad)
    columns: list[Any] = [
        pa.array(partition_keys, pa.int32()),
        pa.array(range(zones), pa.int32()),
        pa.array([origin.stream] * zones, pa.string()),
        pa.array([origin.input] * zones, pa.string()),
        pa.array([origin.unit] * zones, pa.int64()),
        pa.array([origin.piece] * zones, pa.int64()),
        pa.array([clusters] * zones, pa.binary()),
        pa.array([seen] + [0] * (zones - 1), pa.int64()),
        pa.array([origin.now] * zones, pa.int64()),
        pa.array([origin.end] * zones, pa.bool_()),
        pa.array(blobs, pa.binary()),
        pa.array(bads, pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=PACKED_ARROW)


def pack_slices(
    *,
    partition_keys: Sequence[int],
    stream: str,
    rows: Rows,
    times: NDArray[np.int64],
    routing: Routing,
    width_us: int,
    bad: Rows | None,
    seen: int,
) -> pa.RecordBatch:
    """One piece of a bounded input: a row for every zone and time slice that gets something, and one for the bad rows."""
    found: list[tuple[int, int, bytes]] = []
    if rows.count:
        by_zone = routing(rows)
        slices = times // width_us
        for zone in range(len(partition_keys)):
            chosen = np.flatnonzero(by_zone[zone])
            if len(chosen):
                found += [
                    (zone, number, to_bytes(rows.take(part))) for number, part in _by_slice(slices, chosen)
                ]
    first = int(times.min() // width_us) if len(times) else 0
    columns: list[Any] = [
        pa.array([partition_keys[0]] + [partition_keys[zone] for zone, _, _ in found], pa.int32()),
        pa.array([0] + [zone for zone, _, _ in found], pa.int32()),
        pa.array([first] + [number for _, number, _ in found], pa.int64()),
        pa.array([stream] * (1 + len(found)), pa.string()),
        pa.array([seen] + [0] * len(found), pa.int64()),
        pa.array([None, *(blob for _, _, blob in found)], pa.binary()),
        pa.array(
            [to_bytes(bad) if bad is not None and bad.count else None] + [None] * len(found), pa.binary()
        ),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SLICED_ARROW)


def blobs_by_zone(rows: Rows, routing: Routing, zones: int) -> list[bytes | None]:
    """The rows each zone wants, as bytes; None for a zone that wants none."""
    if not rows.count:
        return [None] * zones
    by_zone = routing(rows)
    blobs: list[bytes | None] = []
    for zone in range(zones):
        chosen = by_zone[zone]
        count = int(chosen.sum())
        blobs.append(
            None
            if count == 0
            else to_bytes(rows if count == rows.count else rows.take(np.flatnonzero(chosen)))
        )
    return blobs


def to_bytes(rows: Rows) -> bytes:
    """Rows as bytes, without names that none of them uses."""
    return encode(
        rows_tree(Rows({name: compacted(column) for name, column in rows.columns.items()}, rows.count))
    )


def from_bytes(data: bytes) -> Rows:
    """Rows from `to_bytes`."""
    return tree_rows(decode(data))


def unit_of(source: str, number: int, piece: int, clusters: bytes | None, blob: bytes | None) -> Unit:
    """A unit from the cells of a packed row."""
    times: Clusters = np.frombuffer(clusters or b"", np.int64).reshape(-1, 4)
    return Unit(source, number, piece, times, from_bytes(blob) if blob else None)


def _by_slice(
    slices: NDArray[np.int64], chosen: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    numbers = slices[chosen]
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
    for start, stop in zip(starts, [*starts[1:], len(ordered)], strict=True):
        yield int(ordered[start]), chosen[order[start:stop]]
