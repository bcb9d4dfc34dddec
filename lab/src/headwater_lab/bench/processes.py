"""How much processor time did the child processes take? From `/proc`; nothing on systems without it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from headwater_lab.bench.memory import descendants

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Seconds of processor time so far: of Spark's Python workers, and of every process with this one."""

    workers: float
    everything: float

    def __sub__(self, other: ProcessorTime) -> ProcessorTime:
        return ProcessorTime(self.workers - other.workers, self.everything - other.everything)


def processor_time() -> ProcessorTime:
    """As it is now. Processes that have ended count with those that waited for them."""
    workers = everything = 0.0
    for process in (os.getpid(), *descendants(os.getpid())):
        seconds = _seconds(process)
        everything += seconds
        if process != os.getpid() and _is_python(process):
            workers += seconds
    return ProcessorTime(workers, everything)


def _seconds(process: int) -> float:
    try:
        fields = (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:  # gone since
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS  # user and system, own and of children that ended


def _is_python(process: int) -> bool:
    try:
        return (Path("/proc") / str(process) / "exe").readlink().name.startswith("python")
    except OSError:
        return False
