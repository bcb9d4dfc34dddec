"""How many cores may this process use?"""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Those it is allowed to run on, where the system tells; otherwise all there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
