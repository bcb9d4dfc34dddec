"""What every Python worker of Spark has already imported when it begins (`spark.python.daemon.module`).

Spark forks its workers from one daemon. Libraries and kernels that the daemon has imported, the workers have too: the
first call of a query is sooner by the second or two that importing takes, and the memory is shared. What a worker's step gives back, it keeps
for its next one: the daemon says so for all of them.
"""

from __future__ import annotations

import gc
import os
from contextlib import suppress
from importlib import import_module
from typing import Final

from pyspark.daemon import manager

from headwater.hosts.process_memory import retain_freed_memory
from headwater.hosts.stored_code import use_compiled_code

IMPORTED: Final = (
    "numpy",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pyspark.worker",
    "pyspark.sql.datasource",
    "pyspark.sql.streaming.stateful_processor_api_client",
    "pyspark.sql.streaming.stateful_processor_util",
    "headwater.compiled.entries",
    "headwater.hosts.spark.files_source",
    "headwater.hosts.spark.stateful_stage",
    "headwater.hosts.spark.bounded",
)


def import_early() -> None:
    """Import everything a worker will need. What cannot be imported is for the worker to complain about."""
    use_compiled_code()
    retain_freed_memory(os.cpu_count() or 1)
    for name in IMPORTED:
        with suppress(ImportError):
            import_module(name)
    # A worker collects garbage after every task; it need not look at what never goes away.
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    import_early()
    manager()
