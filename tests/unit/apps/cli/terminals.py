"""Commands on a terminal: what somebody who sits there sees."""

from __future__ import annotations

import os
import pty
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from pathlib import Path

HEADWATER = ("-c", "import sys; from headwater.apps.cli import main; sys.exit(main())")
"""What runs a command in a process of its own, after the name of Python."""


def seen_on_a_terminal(*words: str, folder: Path, columns: int = 80) -> tuple[int, str]:
    """The exit code of a `headwater` command and all that it writes to a terminal so wide, both outputs together."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    with subprocess.Popen(
        [sys.executable, *HEADWATER, *words],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env={**environment, "TERM": "xterm"}, close_fds=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        written = b""
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not some:
                break
            written += some
    os.close(ours)
    return process.returncode, written.decode().replace("\r\n", "\n")
