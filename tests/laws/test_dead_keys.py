"""Law 6 for keys: after everything of a key has gone out of every window, nothing of it is kept.

Keys come once, some at a time, and are never seen again. What is saved afterwards must not depend on how many there were, and
neither must the memory of the process (`make soak`: a million keys of every operator).
"""

import gc
import os
from pathlib import Path

import pytest

from headwater_lab.bench.state import LEAVING, OPERATORS, Zone, bytes_left, comings

KEYS = int(os.environ.get("HEADWATER_SOAK_KEYS", "0")) or 10_000
AT_MOST = 20_000  # bytes: the last rows, and chunks of a log that are not full yet
DIGITS = 100  # bytes: numbers of rows and chunks grow longer
MEMORY_AT_MOST = 64 << 20


@pytest.mark.soak
@pytest.mark.parametrize("operator", OPERATORS)
def test_keys_that_have_gone_leave_nothing(operator):
    few, many = bytes_left(operator, KEYS // 10), bytes_left(operator, KEYS)
    assert many <= max(few, AT_MOST) + DIGITS, (
        f"{(many - few) / (0.9 * KEYS):.1f} bytes for each key that is gone"
    )


@pytest.mark.soak
@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of the process is read from /proc"
)
@pytest.mark.skipif(
    KEYS < 100_000, reason="fewer keys than `make soak` has do not show in the memory of a process"
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_the_process_does_not_grow_with_keys_that_have_gone(operator):
    zone = Zone(operator, LEAVING)
    levels = []
    for round_number in range(2):  # in the first one it finds its level
        for keys in comings(KEYS):
            zone.take(keys + round_number * KEYS)
        for _ in range(45):
            zone.take([2 * KEYS])
        levels.append(resident_bytes())
    assert levels[1] - levels[0] < MEMORY_AT_MOST


def resident_bytes() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
