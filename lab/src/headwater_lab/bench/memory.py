"""How much memory did each Python worker take at its peak?

Linux records the greatest resident size of every process (`VmHWM` in `/proc`). Workers start and end with Spark, so they are
sampled during a run; a worker that lives shorter than PERIOD_S may be missed.
"""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Final, Self

PERIOD_S: Final = 0.5


class WorkerMemory:
    """Watches the Python processes below this one for as long as its `with` block runs."""

    def __init__(self) -> None:
        self.peaks: dict[int, int] = {}
        self._over = Event()
        self._thread = Thread(target=self._watch, name="worker-memory", daemon=True)

    @property
    def peak_mib(self) -> float:
        """The greatest of all workers; 0.0 where there is no `/proc`."""
        return max(self.peaks.values(), default=0) / 1024

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(PERIOD_S):
            self._look()
        self._look()

    def _look(self) -> None:
        for process in descendants(os.getpid()):
            peak = python_peak_kib(process)
            if peak:
                self.peaks[process] = max(peak, self.peaks.get(process, 0))


def descendants(process: int) -> list[int]:
    """Children, their children, and so on."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        parent = _status(entry).get("PPid")
        if parent:
            children.setdefault(int(parent), []).append(int(entry.name))
    found, open_ones = [], [process]
    while open_ones:
        young = children.get(open_ones.pop(), [])
        found += young
        open_ones += young
    return found


def python_peak_kib(process: int) -> int:
    """The greatest resident size of a Python process; 0 for other processes and for those that are gone."""
    entry = Path("/proc") / str(process)
    try:
        runs_python = (entry / "exe").readlink().name.startswith("python")
    except OSError:
        return 0
    return int(_status(entry).get("VmHWM", "0 kB").split()[0]) if runs_python else 0


def _status(entry: Path) -> dict[str, str]:
    try:
        lines = (entry / "status").read_text().splitlines()
    except OSError:  # gone since
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
