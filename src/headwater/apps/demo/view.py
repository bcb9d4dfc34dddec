"""What the demo shows: a live screen in a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from headwater.apps.demo.answer_words import in_words

LATEST: Final = 10


class Figures:
    """What has happened so far."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.first_answer_s: float | None = None
        self.streaming_since: float | None = None
        self.readings = 0
        self.batches = 0
        self.answers: Counter[str] = Counter()
        self.latest: deque[str] = deque(maxlen=LATEST)

    def take(self, readings: int, counts: Mapping[str, int], last: Sequence[Mapping[str, Any]]) -> None:
        """One micro-batch: rows read, answers by query, and the last few answers."""
        now = time.monotonic()
        self.streaming_since = self.streaming_since or now
        self.readings += readings
        self.batches += 1
        self.answers.update(counts)
        if counts and self.first_answer_s is None:
            self.first_answer_s = now - self.begun
        self.latest.extend(in_words(answer) for answer in last)

    def per_second(self, amount: int) -> float:
        """A rate since the first batch came back."""
        return amount / max(time.monotonic() - self.streaming_since, 0.5) if self.streaming_since else 0.0

    def summary(self) -> list[str]:
        """The whole of it, in a few lines."""
        total = self.answers.total()
        lines = [
            f"{self.readings:,} readings in {self.batches} micro-batches gave {total:,} answers.",
            *(f"  {query:<11} {count:>8,}" for query, count in self.answers.most_common()),
        ]
        if self.first_answer_s is not None:
            lines.append(f"First answer {self.first_answer_s:.1f} s after the start.")
        return lines


class View(Protocol):
    """Something that shows figures."""

    def say(self, words: str) -> None:
        """Tell what is going on."""
        ...

    def show(self, figures: Figures) -> None:
        """Bring the picture up to date."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was."""
        ...


def open_view() -> View:
    """A screen if somebody is looking at one."""
    return Screen() if sys.stdout.isatty() else Lines()


class Lines:
    """A line now and then."""

    def __init__(self) -> None:
        self.shown = 0.0
        self.last = ""

    def say(self, words: str) -> None:
        """One line."""
        print(words, flush=True)

    def show(self, figures: Figures) -> None:
        """The figures and the latest answer, at most every second, and only when there is something new."""
        if not figures.readings or time.monotonic() - self.shown < 1.0:
            return
        self.shown = time.monotonic()
        latest = f"  {figures.latest[-1]}" if figures.latest else ""
        line = f"readings {figures.readings:>8,}  answers {figures.answers.total():>7,}{latest}"
        if line != self.last:
            self.last = line
            print(line, flush=True)

    def close(self) -> None:
        """Nothing to put back."""


class Screen:
    """A picture that stays in place."""

    def __init__(self) -> None:
        from rich.live import Live

        self.words = ""
        self.live = Live(refresh_per_second=8, transient=True)
        self.live.start()

    def say(self, words: str) -> None:
        """Tell it in the title line."""
        self.words = words
        self.live.update(self._picture(Figures()))

    def show(self, figures: Figures) -> None:
        """Draw it anew."""
        self.live.update(self._picture(figures))

    def close(self) -> None:
        """Take the picture away; the summary stays."""
        self.live.stop()

    def _picture(self, figures: Figures) -> Any:
        from rich.console import Group
        from rich.panel import Panel
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 3))
        table.add_row(
            "readings in", f"{figures.readings:,}", f"{figures.per_second(figures.readings):,.0f} a second"
        )
        answers = figures.answers.total()
        table.add_row("answers out", f"{answers:,}", f"{figures.per_second(answers):,.0f} a second")
        counted = Table.grid(padding=(0, 3))
        for query, count in sorted(figures.answers.items()):
            counted.add_row(Text(query, style="bold cyan"), f"{count:,}")
        words = Text("\n".join(figures.latest) or "…")
        title = "Headwater: a valley of weather stations, on Spark"
        return Panel(
            Group(
                Text(self.words, style="dim"),
                table,
                Panel(counted, title="standing queries"),
                Panel(words, title="latest answers"),
            ),
            title=title,
        )
