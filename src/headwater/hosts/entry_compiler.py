"""A process that compiles entries: their numbers come in on standard input, one a line, and go out again as they are done.

It ends with its input, so it does not outlive who started it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Final

from numba.core.errors import NumbaError

from headwater.hosts.kernel_entries import all_entries
from headwater.hosts.stored_code import use_compiled_code

NICENESS: Final = 5
"""What the query itself compiles meanwhile, and Spark, come first."""


def main() -> None:
    """Until there is nothing more to do."""
    with suppress(OSError):
        os.nice(NICENESS)
    store = use_compiled_code()
    entries = all_entries()
    for line in sys.stdin:
        entry = entries[int(line)]
        # In a checkout a loop may have other arguments than the list says; then it is compiled when it is called.
        with suppress(NumbaError, TypeError, AttributeError, ImportError):
            key = entry.key()
            if key is not None and not store.has(key):
                entry.dispatcher().compile(entry.signature())
        print(line.strip(), flush=True)


if __name__ == "__main__":
    main()
