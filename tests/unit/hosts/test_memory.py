"""How much memory there is, by what a system says."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.hosts.memory import available_bytes

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
def test_the_least_of_what_is_told(tmp_path: Path, files: dict[str, str], available: int | None):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_bytes(tmp_path) == available


def test_this_machine_has_some():
    assert (available_bytes() or 1) > 0
