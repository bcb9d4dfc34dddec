"""How much memory is there for this process to take?

The least of what the system says is available and what is left under the limits of its control groups (version 2 or 1).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

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
