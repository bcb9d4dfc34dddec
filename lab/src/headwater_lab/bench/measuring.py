"""What the benchmarks have in common: several tries, a place for rows, durations as people read them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from headwater_lab.bench.streaming import Timing

TRIES: Final = 2

Say = Callable[[str], None]
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """What to measure: rows, cases by their letters, on how many cores, and where to leave the rows."""

    rows: int
    cases: tuple[str, ...] = ("a", "b", "c")
    cores: int = 2
    seed: int = 7
    keep: Path | None = None
    flink: str | None = None


def better(run: Callable[..., tuple[Timing, Found]], *arguments: object) -> tuple[Timing, Found]:
    """What the fastest of some runs with these arguments found."""
    return max((run(*arguments) for _ in range(TRIES)), key=lambda ran: ran[0].rate)


def milliseconds(timing: Timing) -> str:
    """How long each micro-batch took."""
    return f"{' '.join(f'{duration:.0f}' for duration in timing.durations_ms)} ms"


@contextmanager
def folder_for(keep: Path | None) -> Iterator[Path]:
    """Where the rows of a run lie: a folder that stays, or one that goes with the run."""
    made = tempfile.TemporaryDirectory(prefix="headwater-bench-") if keep is None else nullcontext(keep)
    with made as folder:
        yield Path(folder)
