"""How much memory there is, by what a system says, and how much is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headwater.hosts.process_memory import LARGE, MOST_RETAINED, available_bytes, retained_bytes

MEMINFO = "MemTotal:       16000 kB\nMemFree:         1000 kB\nMemAvailable:    8000 kB\n"


@pytest.mark.parametrize(
    ("files", "available"),
    [
        ({}, None),
        ({"proc/meminfo": MEMINFO}, 8_192_000),
        ({"proc/meminfo": MEMINFO, "sys/fs/cgroup/memory.max": "max\n"}, 8_192_000),
        (
            {
                "proc/meminfo": MEMINFO,
                "sys/fs/cgroup/memory.max": "3000000\n",
                "sys/fs/cgroup/memory.current": "1000000\n",
            },
            2_000_000,
        ),
        (
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "5000000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "6000000\n",
            },
            0,
        ),
    ],
)
def test_the_least_of_the_emitted_values(tmp_path: Path, files: dict[str, str], available: int | None):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_bytes(tmp_path) == available


def test_this_machine_has_some():
    assert (available_bytes() or 1) > 0


@pytest.mark.parametrize(
    ("available", "processes", "retained"),
    [
        (None, 8, MOST_RETAINED),
        (100 * MOST_RETAINED, 2, MOST_RETAINED),
        (MOST_RETAINED, 1, MOST_RETAINED // 4),
        (MOST_RETAINED, 4, MOST_RETAINED // 16),
        (0, 1, 0),
    ],
)
def test_retained_memory_is_bounded_for_all_processes_together(
    available: int | None, processes: int, retained: int
):
    assert retained_bytes(available, processes) == retained


RESIDENT = f"""
from pathlib import Path
import numpy as np
from headwater.hosts.process_memory import retain_freed_memory
does = KEEP and retain_freed_memory() and retain_freed_memory()
blocks = [np.ones({LARGE} // 16) for _ in range(6)]
del blocks
print(bool(does), int(Path("/proc/self/statm").read_text().split()[1]) * 4096)
"""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the system does not say what a process has"
)
def test_memory_that_is_given_back_is_retained_where_the_c_library_can():
    # In processes of their own: how a process keeps memory is nothing that a test could take back.
    settings = {}
    for keep in (True, False):
        command = [sys.executable, "-c", RESIDENT.replace("KEEP", str(keep))]
        does, resident = subprocess.check_output(command, text=True).split()
        settings[keep] = does == "True", int(resident)
    does, retained = settings[True]
    assert not does or retained - settings[False][1] > 2 * LARGE
