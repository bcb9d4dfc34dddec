"""What every host does with a plan, wherever it runs: put rows in order, step the kernels, save and restore.

Pure, like the kernels it hosts: no clock, no files, no Spark.
"""

from headwater.hosts.zone.clock import LEAP, Clusters, clusters_of
from headwater.hosts.zone.program import Arrivals, Program, StepOutput, ZoneState
from headwater.hosts.zone.queue import Queue, QueueState, Unit
from headwater.hosts.zone.sizes import StateSize, add_sizes
from headwater.hosts.zone.store import (
    Content,
    SavedZone,
    cell_names,
    cells_of,
    content_of,
    count_cells,
    fetch_from,
    load_zone,
    save_zone,
)

__all__ = [
    "LEAP",
    "Arrivals",
    "Clusters",
    "Content",
    "Program",
    "Queue",
    "QueueState",
    "SavedZone",
    "StateSize",
    "StepOutput",
    "Unit",
    "ZoneState",
    "add_sizes",
    "cell_names",
    "cells_of",
    "clusters_of",
    "content_of",
    "count_cells",
    "fetch_from",
    "load_zone",
    "save_zone",
]  # fmt: skip
