"""Files as a Spark source of our own: read, checked, routed and packed by Python, so that only packed rows enter the JVM."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader

from headwater.hosts.spark.bounded_source import BoundedReader
from headwater.hosts.spark.inputs import Input
from headwater.hosts.spark.packing import PACKED, SLICED
from headwater.hosts.spark.streaming_source import StreamingReader
from headwater.query.planning.plan import Plan


class HeadwaterFiles(DataSource):
    """The source; options are made by `options_for` and by nobody else."""

    @classmethod
    def name(cls) -> str:
        """What `format(...)` calls it."""
        return "headwater-files"

    def schema(self) -> str:
        """Packed rows: in slices of time when bounded."""
        return SLICED if self.options["bounded"] == "true" else PACKED

    def reader(self, schema: Any) -> DataSourceReader:
        """For bounded runs."""
        return BoundedReader(self.options)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """For followed folders."""
        return StreamingReader(self.options)


def options_for(
    plan: Plan,
    inputs: Sequence[Input],
    *,
    cores: int,
    partition_keys: Sequence[int],
    absent: Sequence[Input] = (),
    bounded: bool = False,
    width_us: int = 0,
    log: Path | None = None,
    files_per_batch: int = 64,
    ends: bool = False,
    tick_us: int = 0,
) -> dict[str, str]:
    """The options of a run. `absent`: inputs that earlier runs had. `ends`: when all files there are have been read, the input is over and everything flushes."""
    return {
        "plan": base64.b64encode(pickle.dumps(plan)).decode(),
        "inputs": json.dumps([[i.name, i.stream, i.path] for i in inputs]),
        "absent": json.dumps([[i.name, i.stream, i.path] for i in absent]),
        "bounded": str(bounded).lower(),
        "cores": str(cores),
        "seats": json.dumps(list(partition_keys)),
        "width_us": str(width_us),
        "log": str(log or ""),
        "files_per_batch": str(files_per_batch),
        "ends": str(ends).lower(),
        "tick_us": str(tick_us),
    }
