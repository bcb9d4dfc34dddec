"""A moving line on standard error while a run goes on, if somebody is there to see it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from headwater.hosts.run_reports.summary import Summary


class Progress:
    """Files and rows read, answers found; nothing at all unless standard error is a terminal."""

    def __init__(self, summary: Summary, *, files: int, shown: bool = True, begins: str = "starting") -> None:
        self.summary = summary
        self.files = files
        self.begins = begins
        self.shown = shown and sys.stderr.isatty()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Self:
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.begins, total=self.files if self.files > 1 else None)
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """No moving line meanwhile: answers go to the same terminal."""
        if self.bar is None or not sys.stdout.isatty():
            yield
            return
        self.bar.stop()
        try:
            yield
        finally:
            self.bar.start()

    def part(self, words: str, done: int, total: int) -> None:
        """Show how far a part of the work is whose rows are not counted yet."""
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=total, description=words)

    def compiling(self, words: str) -> None:
        """Show what is being compiled, until rows are read."""
        if self.bar is not None and not self.summary.seen:
            self.bar.update(self.task, description=words)

    def update(self) -> None:
        """Show where the summary stands."""
        if self.bar is not None:
            done = self.summary
            words = f"{done.seen:,} rows, {done.answers.total():,} answers"
            total = self.files if self.files > 1 else None
            self.bar.update(self.task, completed=done.files, total=total, description=words)
