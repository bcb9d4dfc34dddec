"""Cases of an experiment as tasks of one Spark job: one case a task, on as many cores as there are.

Rule 1  The longest come first, so that the cores end together.
Rule 2  A case that fails is reported in words and does not take the others with it.
Rule 3  The result of a case is written to a folder as soon as it is known, under the digest of the case, of what it was measured
        with, and of this program. An experiment that was stopped continues from there; one that has been changed begins again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import headwater
import headwater_lab
from headwater_lab.reproduce.outcome import Say

if TYPE_CHECKING:
    from pyspark import SparkContext

WATCH_EVERY_S: Final = 1.0
SAY_EVERY_S: Final = 30.0

Case = TypeVar("Case")
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class StoredRows(Generic[Row]):
    """Where rows are stored while an experiment runs: a folder, the class of a row, and what they were measured with, in words."""

    folder: Path
    kind: Callable[..., Row]
    measured_with: str

    def path(self, case: object) -> Path:
        """The file of a case."""
        text = f"{program()} {self.measured_with} {case!r}"
        return self.folder / f"{blake2b(text.encode(), digest_size=16).hexdigest()}.json"

    def load(self, case: object) -> list[Row] | None:
        """The rows of a case that was measured before; None: it was not."""
        try:
            return [self.kind(**row) for row in json.loads(self.path(case).read_text())]
        except (OSError, ValueError, TypeError):
            return None

    def save(self, case: object, rows: Sequence[Any]) -> None:
        """Write the rows of a case, whole or not at all."""
        path = self.path(case)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(f".{os.getpid()}.tmp")
        aside.write_text(json.dumps([asdict(row) for row in rows], default=_plain))
        aside.replace(path)


def run_cases(
    context: SparkContext,
    run: Callable[[Case], list[Row]],
    cases: Sequence[Case],
    cost: Callable[[Case], float],
    say: Say,
    stored: StoredRows[Row] | None = None,
) -> tuple[list[Row], list[str]]:
    """Rows in the order of the cases, and what failed."""
    known = {at: rows for at, case in enumerate(cases) if stored and (rows := stored.load(case)) is not None}
    if known:
        say(f"{len(known)} of {len(cases)} cases were measured before")
    left = sorted((at for at in range(len(cases)) if at not in known), key=lambda at: -cost(cases[at]))

    def run_one(at: int) -> tuple[int, list[Row] | str]:
        try:
            rows = run(cases[at])
        except Exception as fault:
            return at, f"{cases[at]}: {type(fault).__name__}: {fault}"
        if stored:
            stored.save(cases[at], rows)
        return at, rows

    found: dict[int, list[Row] | str] = dict(known)
    if left:
        with _watching(context, len(left), say):
            found.update(context.parallelize(left, len(left)).map(run_one).collect())
    in_order = [found[at] for at in range(len(cases))]
    rows = [row for one in in_order if not isinstance(one, str) for row in one]
    return rows, [one for one in in_order if isinstance(one, str)]


@cache
def program() -> str:
    """A digest of all source files of Headwater and of the laboratory."""
    digest = blake2b(digest_size=16)
    for package in (headwater, headwater_lab):
        root = Path(str(package.__file__)).parent
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{root.name}/{path.relative_to(root)}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item()


@contextmanager
def _watching(context: Any, total: int, say: Say) -> Iterator[None]:
    """Say how many cases are done: whenever it is more, but not all the time."""
    over, tracker, start = Event(), context.statusTracker(), time.monotonic()

    def watch() -> None:
        reported, last = 0, start
        while not over.wait(WATCH_EVERY_S):
            with suppress(Exception):  # a run must not fail because its progress is unknown
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = max(
                    (stage.numCompletedTasks for stage in stages if stage and stage.numTasks == total),
                    default=0,
                )
                now = time.monotonic()
                if done > reported and (
                    now - last >= SAY_EVERY_S or done * 10 // total > reported * 10 // total
                ):
                    reported, last = done, now
                    say(f"{done} of {total} cases done after {now - start:.0f} s")

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()
    say(f"{total} of {total} cases done after {time.monotonic() - start:.0f} s")
