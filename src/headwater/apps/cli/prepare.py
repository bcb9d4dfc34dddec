"""`headwater prepare`: compile all kernels, so that no later start has to wait for one.

Loops are compiled when they are first needed and stored on disk. Here all that are listed in the package are, one process for each core.

Rule 1  With `--background` it goes on by itself, at the lowest priority, and says nothing. It may be ended at any time: what is compiled
        by then is stored, the rest is compiled when it is needed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

IDLE: Final = 19
"""The niceness of what nobody waits for."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "--background",
        action="store_true",
        help="return at once; compiling goes on at the lowest priority, and can be ended at any time",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile everything, or have that done."""
    if arguments.background:
        prepare_in_background()
        return 0
    begun = time.monotonic()
    prepare()
    print(f"Compiled in {time.monotonic() - begun:.0f} s.", file=sys.stderr)
    return 0


def prepare() -> None:
    """Compile everything that is not compiled yet, and say how far that is."""
    from headwater.hosts.kernel_preparation import lines_now_and_then, prepare_all

    prepare_all(lines_now_and_then()).wait()


def prepare_in_background() -> None:
    """Start `headwater prepare` on its own, so that it outlives this process and its terminal."""
    program = "import os, sys; from headwater.apps.cli import main; sys.exit(main(['prepare']))"
    with suppress(OSError):
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            preexec_fn=lambda: os.nice(IDLE),
        )
