"""Files of a bounded run as a Spark source: everything once, in slices of time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from headwater.hosts.files import find_files
from headwater.hosts.spark.inputs import Input
from headwater.hosts.spark.packing import pack_slices
from headwater.hosts.spark.reading_tasks import on_one_thread, plan_of, share_out
from headwater.hosts.stream_reading import read_stream


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a bounded run."""

    stream: str
    path: str
    size: int


@dataclass
class _BoundedTask(InputPartition):
    """The share of one task of a bounded run."""

    files: tuple[_File, ...]


class BoundedReader(DataSourceReader):
    """Reads everything once, in slices of time."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)

    def partitions(self) -> Sequence[InputPartition]:
        """All files, shared out by size over a few tasks a core."""
        files = []
        for source in (Input(*listed) for listed in json.loads(self.options["inputs"])):
            for path in find_files(source.path):
                files.append(_File(source.stream, path, size_of(path)))
        return [_BoundedTask(tuple(share)) for share in share_out(files, 4 * int(self.options["cores"]))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read, check, route and pack by time slice."""
        assert isinstance(partition, _BoundedTask)
        plan = plan_of(self.options)
        partition_keys = json.loads(self.options["seats"])
        for file in partition.files:
            schema = plan.stream(file.stream)
            for piece in on_one_thread(read_stream(plan, file.stream, file.path)):
                yield pack_slices(
                    partition_keys=partition_keys,
                    stream=file.stream,
                    rows=piece.rows,
                    times=piece.rows[schema.time].values,
                    routing=plan.routing(file.stream),
                    width_us=int(self.options["width_us"]),
                    bad=piece.bad,
                    seen=piece.seen,
                )


def size_of(path: str) -> int:
    """The bytes of a file; none if it is gone."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
