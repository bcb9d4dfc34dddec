"""`headwater run --follow`: folders watched for as long as it goes, every answer written exactly once.

With `--output` answers go into a folder, one file a micro-batch; a batch that runs again after a crash replaces its own
file. Without it they go to standard output, where a crash may repeat the last batch.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

import pyarrow as pa

from headwater.apps.cli.answer_format import open_answers
from headwater.apps.cli.arguments import UsageError
from headwater.apps.cli.bad_row_groups import join_runs
from headwater.apps.cli.commands import DONE
from headwater.apps.cli.declared_sets import PlanWithSets, read_sets
from headwater.apps.cli.metrics import write_metrics
from headwater.apps.cli.output_retention import refuse_merged_inputs, retention_of
from headwater.apps.cli.progress import Progress
from headwater.apps.cli.query_option import plan_chosen
from headwater.apps.cli.restarts import changes_in_words
from headwater.apps.cli.run import FILES_PER_BATCH, Inputs, chosen_inputs
from headwater.apps.cli.signals import ended_as_by_ctrl_c, ended_by
from headwater.apps.cli.spark_runs import is_small, report_from_zones
from headwater.apps.cli.zones_option import zones_here
from headwater.hosts.files import OUTPUT_NAMES, find_files, json_lines
from headwater.hosts.kernel_preparation import prepare_for
from headwater.hosts.local import RunReport
from headwater.hosts.run_reports.answer_columns import late_rows
from headwater.hosts.run_reports.spark_tables import spark_trouble, with_listed_paths
from headwater.hosts.run_reports.summary import Summary
from headwater.hosts.spark.checkpoint import Checkpoint, hold, parts_of, zones_of
from headwater.hosts.spark.checkpoint_inspection import refuse_ahead
from headwater.hosts.spark.sink import FolderSink
from headwater.hosts.spark.state_notes import StateNotes
from headwater.hosts.spark.streaming import EachReport
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.model import Rows
from headwater.query.planning.plan import Plan, refuse_unbounded

POLL_SECONDS = 0.5


@ended_as_by_ctrl_c()  # until the query runs, and after it
def stream_answers(arguments: argparse.Namespace, text: str) -> int:
    """Run until Ctrl-C or a signal to end, then close with the summary."""
    folder = Path(arguments.checkpoint)
    zones = arguments.zones or zones_of(folder, zones_here())
    plan = plan_chosen(arguments, text, zones=zones)
    refuse_unbounded(plan, file=arguments.file)
    inputs: Inputs = chosen_inputs(arguments, plan)
    for paths in inputs.values():
        for path in paths:
            find_files(path)
    refuse_merged_inputs(inputs)
    prepared = read_sets(plan, inputs, audit=arguments.audit, parts=parts_of(folder))
    plan, inputs = prepared.plan, prepared.streams
    names = (query.name for query in plan.public_queries)
    summary = Summary(names, prepared.points, plan)
    with hold(folder, plan) as checkpoint:
        _print_changes(arguments, checkpoint)
        progress = Progress(summary, files=0, shown=not arguments.quiet)
        writers = _writers(arguments, plan, checkpoint, progress)
        _write_bad_points(arguments, prepared, checkpoint.run_id)
        remembered = StateNotes(folder)
        with progress, prepare_for(plan, progress.compiling):

            def each(zones: Sequence[ZoneReport], batch: int) -> None:
                report = with_listed_paths(report_from_zones(plan, zones), inputs)
                for write in writers:
                    write(report, zones, batch)
                summary.take(report)
                remembered.take(report.state)
                progress.update()
                if arguments.metrics:
                    write_metrics(Path(arguments.metrics), summary, batch)

            try:
                _run(arguments, plan, inputs, each, checkpoint)
            finally:
                remembered.write()
    if not arguments.quiet:
        print("\n".join(summary.lines()), file=sys.stderr)
    return DONE


def _run(
    arguments: argparse.Namespace, plan: Plan, inputs: Inputs, each: EachReport, checkpoint: Checkpoint
) -> None:
    from headwater.hosts.spark.file_runs import run_streaming
    from headwater.hosts.spark.session import embedded_spark
    from headwater.hosts.spark.streaming import StreamingOptions

    small = arguments.once and is_small(inputs)
    with embedded_spark(debug=arguments.debug, small=small) as spark:
        with spark_trouble():
            query = run_streaming(
                spark,
                plan,
                inputs,
                each,
                checkpoint=checkpoint,
                options=StreamingOptions(
                    files_per_batch=arguments.files_per_batch or FILES_PER_BATCH,
                    once=arguments.once,
                    tick_us=arguments.tick,
                ),
            )
        _wait(query)


_Writer = Callable[[RunReport, Sequence[ZoneReport], int], None]


def _print_changes(arguments: argparse.Namespace, checkpoint: Checkpoint) -> None:
    """Which queries go on, begin or are gone since the last start."""
    for line in changes_in_words(checkpoint.changes):
        if not arguments.quiet:
            print(line, file=sys.stderr)


def _writers(
    arguments: argparse.Namespace, plan: Plan, checkpoint: Checkpoint, progress: Progress
) -> list[_Writer]:
    """What is done with every batch, in this order."""
    outputs = {"answers": arguments.output, "late": arguments.late_output, "bad": arguments.bad_output}
    for path in outputs.values():
        if path and (path.lower().endswith(OUTPUT_NAMES) or os.path.isfile(path)):  # noqa: PTH113 - never raises
            raise UsageError("usage", f"with --follow an output is a folder, but '{path}' is a file")
    run_id = checkpoint.run_id
    upkeep = retention_of(arguments)
    writers: list[_Writer] = []
    if arguments.late_output:
        late = FolderSink(Path(arguments.late_output), "late", ("late",), run_id, upkeep)
        writers.append(lambda report, zones, batch: late.write(_late_table(plan, report), batch))
    if arguments.bad_output:
        bad = FolderSink(Path(arguments.bad_output), "bad", ("bad",), run_id, upkeep)
        writers.append(lambda report, zones, batch: bad.write(_table("bad", [join_runs(report.bad)]), batch))
    if arguments.output:
        answers = FolderSink(Path(arguments.output), "answers", ("answer",), run_id, upkeep)
        writers.append(lambda report, zones, batch: answers.write(table_of(zones), batch))
    else:
        lines = open_answers(arguments, plan, None)

        def print_answers(report: RunReport, zones: Sequence[ZoneReport], batch: int) -> None:
            if report.answers:
                with progress.aside():
                    lines.write(report.answers)

        writers.append(print_answers)
    for name, path in outputs.items():
        if path:
            refuse_ahead(checkpoint.folder, Path(path), name)
    return writers


def _write_bad_points(arguments: argparse.Namespace, prepared: PlanWithSets, run_id: str) -> None:
    """Rows that are no points, as they are at this start: they take the place of those of the last."""
    if arguments.bad_output and prepared.points.rows:
        bad = FolderSink(Path(arguments.bad_output), "bad-points", ("bad",), run_id, retention_of(arguments))
        bad.write(_table("bad", [prepared.points.bad]), 0)


def _late_table(plan: Plan, report: RunReport) -> pa.Table:
    return _table("late", [late_rows(plan.stream(name), rows) for name, rows in report.late.items()])


def _table(kind: str, blocks: list[Rows]) -> pa.Table:
    """Rows as a table of lines, such as a sink takes."""
    bodies = pa.concat_arrays([pa.array([], pa.string()), *(json_lines(rows) for rows in blocks)])
    columns = {
        "kind": pa.array([kind] * len(bodies), pa.string()),
        "name": pa.nulls(len(bodies), pa.string()),
        "event_time": pa.nulls(len(bodies), pa.timestamp("us", "UTC")),
        "match_id": pa.nulls(len(bodies), pa.string()),
        "body": bodies,
    }
    return pa.table(columns)


def _wait(query: Any) -> None:
    """Until the query ends, or somebody ends it; a second Ctrl-C does not wait for Spark."""
    stopping = Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    with ended_by(stop, ctrl_c=True), spark_trouble():
        while query.isActive and not stopping.wait(POLL_SECONDS):
            pass
        if not stopping.is_set():
            query.awaitTermination()  # raises what ended it
        query.stop()
