"""Which signals end a run in good order?

Ctrl-C (SIGINT), SIGTERM, and SIGHUP, which comes when the terminal is closed. Who starts a run with SIGHUP ignored, as `nohup` does,
wants it to go on then: it stays ignored.
"""

from __future__ import annotations

import errno
import os
import signal
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], None]


@contextmanager
def ended_by(handler: Handler, *, ctrl_c: bool) -> Iterator[None]:
    """Call `handler` for the signals that end a run, with `ctrl_c` for Ctrl-C too; only the main thread may handle signals."""
    if current_thread() is not main_thread():
        yield
        return

    def ended(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave_lost_terminal()
        handler(number, frame)

    numbers = [signal.SIGINT, signal.SIGTERM] if ctrl_c else [signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before: dict[int, Any] = {number: signal.signal(number, ended) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    with ended_by(interrupt, ctrl_c=False):
        yield


def _leave_lost_terminal() -> None:
    """Write nowhere instead of to a terminal that was closed: the summary of a run must not fail because nobody sees it."""
    for stream in (1, 2):
        try:
            termios.tcgetattr(stream)
        except termios.error as fault:
            if fault.args[0] == errno.EIO:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream)
                os.close(nowhere)
