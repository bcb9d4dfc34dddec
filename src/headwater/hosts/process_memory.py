"""How much memory is there for this process to take, and how much does it keep that it has no use for just now?

Rule 1  There is the least of what the system says is available and what is left under the limits of its control groups (version 2 or 1).
Rule 2  A step gives back what it wrote when its answers are emitted, and the next step needs as much again. The C library would hand it to the
        system in between, which then clears every page anew: `retain_freed_memory` retains it.
Rule 3  What is retained is bounded: `MOST_RETAINED`, and of what there is no more than one part in `PART` for all processes together. Arrays of
        more than `LARGE` go back to the system at once, as ever.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Final

MOST_RETAINED: Final = 1 << 30
PART: Final = 4
LARGE: Final = 32 << 20
"""The most that the C library allows for it."""

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3

_GROUPS: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def available_bytes(root: Path = Path("/")) -> int | None:
    """So many bytes; None where nothing tells."""
    found = [_free(root / "proc" / "meminfo")]
    for limit, used in _GROUPS:
        most, taken = (_number(root / "sys" / "fs" / "cgroup" / name) for name in (limit, used))
        found.append(None if most is None else max(0, most - (taken or 0)))
    return min((size for size in found if size is not None), default=None)


def retained_bytes(available: int | None, processes: int) -> int:
    """How much free memory each of some processes may keep where so much is available."""
    return MOST_RETAINED if available is None else min(MOST_RETAINED, available // (PART * processes))


def retain_freed_memory(processes: int = 1) -> bool:
    """Retain freed memory for the next step; says whether the C library does so (that of GNU does).

    For processes that are ours alone, of which there are so many; children that are forked do the same. May be called again.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    retained = retained_bytes(available_bytes(), processes)
    return bool(mallopt(_MMAP_THRESHOLD, LARGE) and mallopt(_TRIM_THRESHOLD, retained))


def _free(path: Path) -> int | None:
    for line in _text(path).splitlines():
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None  # "max": no limit


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
