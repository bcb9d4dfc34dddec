"""Two threads that need the compiler at the same moment both get it."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from threading import Barrier, Thread
from headwater.hosts.kernel_entries import all_entries

entry = all_entries()[0]
both, found = Barrier(2), []

def key():
    both.wait()
    found.append(entry.key())

other = Thread(target=key)
other.start()
both.wait()
found.append(entry.dispatcher())
other.join()
print(len(found))
"""


def test_numba_is_imported_by_one_thread_while_the_other_waits() -> None:
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("2\n", "")
