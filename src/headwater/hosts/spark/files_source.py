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
    """The source; options are made by the functions below and by nobody else."""

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
        """For streaming runs."""
        return StreamingReader(self.options)


def source_options(
    plan: Plan, inputs: Sequence[Input], *, cores: int, partition_keys: Sequence[int]
) -> dict[str, str]:
    """The options of every run."""
    return {
        "plan": base64.b64encode(pickle.dumps(plan)).decode(),
        "inputs": _listed(inputs),
        "cores": str(cores),
        "seats": json.dumps(list(partition_keys)),
    }


def bounded_options(*, width_us: int) -> dict[str, str]:
    """Those of a bounded run besides; `width_us` is the length of a slice."""
    return {"bounded": "true", "width_us": str(width_us)}


def streaming_options(
    *, absent: Sequence[Input], log: Path, files_per_batch: int = 64, ends: bool = False, tick_us: int = 0
) -> dict[str, str]:
    """Those of a streaming run besides. `absent`: inputs of earlier runs that this one does not have. `ends`: when all files there are
    have been read, the input is over and everything flushes."""
    return {
        "bounded": "false",
        "absent": _listed(absent),
        "log": str(log),
        "files_per_batch": str(files_per_batch),
        "ends": str(ends).lower(),
        "tick_us": str(tick_us),
    }


def _listed(inputs: Sequence[Input]) -> str:
    return json.dumps([[each.name, each.stream, each.path] for each in inputs])
