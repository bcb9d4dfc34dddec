"""Compile what a plan needs, beside everything else that has to be done before its first answer.

Rule 1  Nothing is said and no process is started when all is compiled already, or so little is missing that processes do not pay.
Rule 2  Processes compile side by side, the expensive loops first, at most one for each core. Nobody has to wait for them: a query that
        enters a loop waits for whoever compiles that one, or compiles it itself (`stored_code.py`).
Rule 3  After `Preparing.close`, and after the end of this process, a process finishes what it has begun and ends, so that every run leaves
        less to do. What is left then is compiled another time.
Rule 4  Once everything is compiled, a file says so, and later starts look no further. Should it be wrong, loops are compiled when they are
        called.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import IO, Final, Self, cast

from headwater.hosts.cores import usable_cores
from headwater.hosts.kernel_entries import EVERYWHERE, Entry, all_entries, entries_of
from headwater.hosts.stored_code import use_compiled_code
from headwater.query.planning.plan import Plan
from headwater.version import __version__

Say = Callable[[str], None]

SAY_EVERY_S: Final = 1.0
LINE_EVERY_S: Final = 5.0
FEW: Final = 3
"""A process needs a second before it compiles anything: with fewer than these missing, the query compiles them itself."""


def prepare_for(plan: Plan, say: Say) -> Preparing:
    """Begin to compile what the queries of a plan enter; `say` hears how far that is."""
    return prepare_operators({query.operator.keyword for query in plan.queries}, say)


def prepare_operators(keywords: Iterable[str], say: Say) -> Preparing:
    """The same for some operators."""
    use_compiled_code()
    return Preparing(entries_of(keywords), _words(keywords), say)


def prepare_all(say: Say) -> Preparing:
    """The same for all there is."""
    use_compiled_code()
    return Preparing(all_entries(), "kernels", say)


def lines_now_and_then() -> Say:
    """Something that says it on standard error, in a line at the beginning and one every LINE_EVERY_S seconds."""
    said_at = [-LINE_EVERY_S]

    def say(words: str) -> None:
        now = time.monotonic()
        if now >= said_at[0] + LINE_EVERY_S:
            said_at[0] = now
            print(words, file=sys.stderr, flush=True)

    return say


class Preparing:
    """Processes at work."""

    def __init__(self, entries: Sequence[Entry], name: str, say: Say) -> None:
        self._say = say
        self._name = name
        self._guard = Lock()
        self._waiting: list[int] = []
        self._done = 0
        self._said_at = -SAY_EVERY_S
        self._total = 0
        self._closed = False
        self._thread = Thread(target=self._run, args=(entries,), daemon=True, name="headwater-prepare")
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_over(self) -> bool:
        """Whether everything is compiled."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Until everything is compiled."""
        self._thread.join()

    def close(self) -> None:
        """Begin nothing more."""
        with self._guard:
            self._closed = True
            self._waiting.clear()

    def _run(self, entries: Sequence[Entry]) -> None:
        note = _note_of(self._name, entries)
        if note.exists():
            return
        missing = _missing(entries)
        if not missing:
            with suppress(OSError):
                note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                note.touch()
        if len(missing) < FEW:
            return
        self._waiting, self._total = missing[::-1], len(missing)
        self._report()
        several = min(usable_cores(), len(missing))
        feeders = [Thread(target=self._feed, daemon=True) for _ in range(several)]
        for feeder in feeders:
            feeder.start()
        for feeder in feeders:
            feeder.join()

    def _feed(self) -> None:
        """Give one process one entry after the other."""
        with self._guard:
            if self._closed:
                return
            process = _start()
        asked, said = cast(IO[str], process.stdin), cast(IO[str], process.stdout)
        with process, suppress(BrokenPipeError):
            while (number := self._next()) is not None:
                asked.write(f"{number}\n")
                asked.flush()
                if not said.readline():
                    return  # it has ended; what it had is compiled by whoever enters it
                self._done += 1
                self._report()

    def _next(self) -> int | None:
        with self._guard:
            return self._waiting.pop() if self._waiting else None

    def _report(self) -> None:
        now = time.monotonic()
        if not self._closed and self._done < self._total and now >= self._said_at + SAY_EVERY_S:
            self._said_at = now
            self._say(f"compiling {self._name}, once: {self._done + 1} of {self._total}")


def _note_of(name: str, entries: Sequence[Entry]) -> Path:
    """The file that is there once all of some entries are compiled."""
    said = (name, __version__, sys.version, [(entry.loop, entry.types) for entry in entries])
    return use_compiled_code().folder / "ready" / hashlib.sha256(repr(said).encode()).hexdigest()[:32]


def _missing(entries: Sequence[Entry]) -> list[int]:
    """The numbers of those whose code is not stored."""
    store, numbers = use_compiled_code(), {id(entry): number for number, entry in enumerate(all_entries())}
    missing = []
    for entry in entries:
        with suppress(ImportError, AttributeError):  # in a checkout where it has another name by now
            key = entry.key()
            if key is not None and not store.has(key):
                missing.append(numbers[id(entry)])
    return missing


def _start() -> subprocess.Popen[str]:
    # As a program of its own: what `multiprocessing` starts would run the user's script again.
    ours = str(Path(__file__).parents[2])
    before = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([ours, *([before] if before else [])])}
    return subprocess.Popen(
        [sys.executable, "-m", "headwater.hosts.entry_compiler"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,  # Ctrl-C is for who started it, whose end ends it
    )


def _words(keywords: Iterable[str]) -> str:
    named = sorted(set(keywords) - {EVERYWHERE}) or [EVERYWHERE]
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
