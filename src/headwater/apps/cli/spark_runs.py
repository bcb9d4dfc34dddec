"""Runs on Spark, reported as the plain loop reports them: the rest of the command line does not know the difference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from headwater.hosts.files import BAD_TYPES, find_files
from headwater.hosts.local import RunReport
from headwater.hosts.local.streaming import given_up_by
from headwater.hosts.run_reports.spark_tables import (
    in_file_order,
    report_from_table,
    spark_trouble,
    with_listed_paths,
)
from headwater.hosts.zone import add_sizes
from headwater.model import Rows, add_counts, join_rows
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.hosts.spark.zone_report import ZoneReport

Say = Callable[[str, int, int], None]

WATCH_EVERY_S: Final = 0.5
SMALL_BYTES: Final = 32 << 20  # a run over less is over before it pays to compile well


def run_on_spark(
    plan: Plan,
    inputs: Mapping[str, Sequence[str]],
    *,
    debug: bool,
    say: Say = lambda words, done, total: None,
) -> Iterator[RunReport]:
    """A bounded input to its end, as a batch on an embedded Spark; `say` hears how far it is."""
    from headwater.hosts.spark.file_runs import run_batch
    from headwater.hosts.spark.session import embedded_spark

    with embedded_spark(debug=debug, small=is_small(inputs)) as spark, spark_trouble():
        with _watching(spark, say):
            batches = run_batch(spark, plan, inputs)
            first = [
                batch for batch in (next(batches, None),) if batch is not None
            ]  # Spark has done its work by then
        for batch in chain(first, batches):
            yield with_listed_paths(report_from_table(plan, batch), inputs)
    yield RunReport(files=sum(len(find_files(path)) for paths in inputs.values() for path in paths))


@contextmanager
def _watching(spark: SparkSession, say: Say) -> Iterator[None]:
    """Say every now and then how many of the tasks under way are done."""
    over = Event()
    tracker = spark.sparkContext.statusTracker()

    def watch() -> None:
        while not over.wait(WATCH_EVERY_S):
            with suppress(Exception):  # a run is not to end because nobody knows how far it is
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                total = sum(stage.numTasks for stage in stages if stage)
                done = sum(stage.numCompletedTasks for stage in stages if stage)
                if total:
                    say(f"running on Spark, {done} of {total} parts", done, total)

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


def is_small(inputs: Mapping[str, Sequence[str]]) -> bool:
    """Whether a run over what is there now is over in seconds: then Java compiles quickly rather than well."""
    total = 0
    for file in (file for paths in inputs.values() for path in paths for file in find_files(path)):
        with suppress(OSError):  # gone since
            total += Path(file).stat().st_size
    return total < SMALL_BYTES


def report_from_zones(plan: Plan, zones: Sequence[ZoneReport]) -> RunReport:
    """The reports of all zones for one micro-batch."""
    bad = [in_file_order(zone.bad) for zone in zones if zone.bad is not None]
    late: dict[str, list[Rows]] = {}
    counts: Counter[str] = Counter()
    for zone in zones:
        for stream, rows in zone.output.late.items():
            late.setdefault(stream, []).append(rows)
        bad += given_up_by(plan, zone.output)
        add_counts(counts, zone.output.counts)
    return RunReport(
        tuple(rows for zone in zones for rows in zone.output.answers),
        {stream: join_rows(parts) for stream, parts in late.items()},
        join_rows([Rows.empty(BAD_TYPES), *bad]),
        counts,
        sum(zone.seen for zone in zones),
        state=add_sizes(zone.state for zone in zones),
    )
