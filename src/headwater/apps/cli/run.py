"""`headwater run FILE --input NAME=PATH …`: every query of a file, over files or folders of readings.

A bounded input is run to its end, as a batch on Spark or, with `--engine local`, in a plain loop. With `--follow` folders are
watched for as long as it goes, on Spark.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

from headwater.apps.cli.answer_format import add_format, open_answers, refuse_format
from headwater.apps.cli.arguments import UsageError, add_file, read_queries
from headwater.apps.cli.commands import DONE, INTERRUPTED, REFUSED
from headwater.apps.cli.declared_sets import PlanWithSets, read_sets
from headwater.apps.cli.engine_option import add_engine, choose_engine
from headwater.apps.cli.history_option import add_most_history
from headwater.apps.cli.output_retention import add_retention
from headwater.apps.cli.overlapping_paths import refuse_overlaps
from headwater.apps.cli.own_process import leave_pandas_out
from headwater.apps.cli.query_option import add_query, needed_inputs, plan_chosen
from headwater.apps.cli.signals import ended_as_by_ctrl_c
from headwater.apps.cli.zones_option import add_zones, zones_here
from headwater.hosts.declared_sets import used_fences, used_points
from headwater.hosts.files import check_output, find_files
from headwater.hosts.local import RunReport
from headwater.hosts.stream_reading import refuse_unusable, refuse_unusable_sets
from headwater.model import SECOND, DataError
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    from headwater.apps.cli.progress import Progress

Inputs = Mapping[str, list[str]]

FILES_PER_BATCH: Final = 64

_EXAMPLES = """\
examples:
  headwater run alerts.hw --input weather=readings.csv
  headwater run alerts.hw --input weather=2026-01/ --input weather=2026-02/ --output answers.parquet
  headwater run alerts.hw --input weather=incoming/ --follow --checkpoint state/ --output answers/

'headwater examples copy alerts' gives the files of the first.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    add_file(parser)
    parser.add_argument(
        "--input",
        action="append",
        required=True,
        metavar="NAME=PATH",
        help="readings of the stream NAME, or the points or fences NAME: a file, a folder or a pattern; CSV (with a header), "
        "JSON lines, Parquet, .gz too; fences are GeoJSON. Repeat it for another stream, or for another input of the same stream",
    )
    parser.add_argument(
        "--output",
        metavar="PATH",
        help="where to write answers: a .jsonl, .csv or .parquet file; with --follow a folder (default: standard output)",
    )
    add_format(parser)
    parser.add_argument(
        "--late-output", metavar="PATH", help="where to write late rows (default: they are only counted)"
    )
    parser.add_argument(
        "--bad-output", metavar="PATH", help="where to write unusable rows (default: they are only counted)"
    )
    add_query(parser)
    add_engine(parser)
    parser.add_argument(
        "--follow",
        dest="streaming",
        action="store_true",
        help="keep watching for new files, and for rows that are added to them, until Ctrl-C",
    )
    parser.add_argument(
        "--checkpoint",
        metavar="DIR",
        help="where --follow stores its state and progress; a restart with the same folder continues",
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="with --follow: process the files that are there, then stop; the next start continues",
    )
    parser.add_argument(
        "--files-per-batch",
        type=_files_per_batch,
        metavar="N",
        help=f"with --follow: how many files of an input are read in one micro-batch (default: {FILES_PER_BATCH})",
    )
    parser.add_argument(
        "--tick",
        type=_tick,
        metavar="SECONDS",
        help="with --follow: while no files arrive, event time advances with the clock, in steps of this many seconds",
    )
    parser.add_argument(
        "--metrics",
        metavar="FILE",
        help="with --follow: after every micro-batch, replace this file with a JSON object of what arrived and what is stored",
    )
    parser.add_argument(
        "--audit",
        type=_share,
        metavar="SHARE",
        help="for this share of the points of each PROBABLE query (above 0, at most 1), measure how many answers are lost",
    )
    add_retention(parser)
    add_zones(parser)
    add_most_history(parser)
    parser.add_argument("--quiet", action="store_true", help="show no progress and no closing summary")


def run(arguments: argparse.Namespace) -> int:
    """Run the queries of a file."""
    _refuse_contradictions(arguments)
    choose_engine(arguments)
    if arguments.engine == "local":
        leave_pandas_out(arguments)
    text = read_queries(arguments.file)
    if arguments.streaming:
        from headwater.apps.cli.streaming_runs import stream_answers

        return stream_answers(arguments, text)
    zones = 1 if arguments.engine == "local" else arguments.zones or zones_here()
    plan = plan_chosen(arguments, text, zones=zones)
    inputs = chosen_inputs(arguments, plan)
    for path in (path for paths in inputs.values() for path in paths):
        _refuse_no_files(path)
    streams = {stream.name for stream in plan.streams}
    refuse_unusable(plan, {name: paths for name, paths in inputs.items() if name in streams})
    prepared = read_sets(plan, inputs, audit=arguments.audit)
    refuse_unusable_sets(prepared.points.bad, inputs)
    if arguments.engine == "local":
        from headwater.hosts.local import run_local

        return _run_to_the_end(arguments, prepared, lambda _: run_local(prepared.plan, prepared.streams))
    from headwater.apps.cli.spark_runs import run_on_spark

    def on_spark(progress: Progress) -> Iterator[RunReport]:
        return run_on_spark(prepared.plan, prepared.streams, debug=arguments.debug, say=progress.part)

    return _run_to_the_end(arguments, prepared, on_spark)


def read_inputs(arguments: list[str], plan: Plan) -> dict[str, list[str]]:
    """Paths by stream and by set of points; every one that some query reads or asks about needs one."""
    inputs: dict[str, list[str]] = {}
    for item in arguments:
        name, equals, path = item.partition("=")
        if not equals or not name or not path:
            raise UsageError("usage", f"--input takes NAME=PATH, not '{item}'")
        listed = inputs.setdefault(name, [])
        if all(Path(path).resolve() != Path(other).resolve() for other in listed):  # said twice, read once
            listed.append(path)
    streams, points = [stream.name for stream in plan.streams], [schema.name for schema in plan.points]
    fences = [schema.name for schema in plan.fences]
    for name in inputs:
        if name not in (*streams, *points, *fences):
            near = get_close_matches(name, [*streams, *points, *fences], 1)
            advice = [f"known streams: {', '.join(streams)}"]
            advice += [f"known points: {', '.join(points)}"] if points else []
            advice += [f"known fences: {', '.join(fences)}"] if fences else []
            advice += [f"did you mean '{near}'?" for near in near]
            raise UsageError("unknown-stream", f"--input: there is no stream named '{name}'", advice=advice)
    read = dict.fromkeys(root for query in plan.queries for root in plan.root_streams(query.reads))
    missing = {"stream": [name for name in read if name not in inputs]}
    missing["points"] = [schema.name for schema in used_points(plan) if schema.name not in inputs]
    missing["fences"] = [schema.name for schema in used_fences(plan) if schema.name not in inputs]
    refusals = [
        f"{kind}{'s' * (kind == 'stream' and len(names) > 1)} {', '.join(repr(name) for name in names)}"
        for kind, names in missing.items()
        if names
    ]
    if refusals:
        names = [name for names in missing.values() for name in names]
        raise UsageError(
            "no-input",
            f"no --input for {' and '.join(refusals)}",
            advice=[f"add --input {name}=PATH" for name in names],
        )
    return inputs


def chosen_inputs(arguments: argparse.Namespace, plan: Plan) -> dict[str, list[str]]:
    """The inputs of a run: with --query only those that the chosen queries need."""
    inputs = read_inputs(arguments.input, plan)
    if not arguments.query:
        return inputs
    needed = needed_inputs(plan)
    return {name: paths for name, paths in inputs.items() if name in needed}


def _refuse_contradictions(arguments: argparse.Namespace) -> None:
    if arguments.streaming and not arguments.checkpoint:
        raise UsageError(
            "checkpoint-missing",
            "--follow needs --checkpoint DIR, so that a restart continues where it stopped",
        )
    if arguments.checkpoint and not arguments.streaming:
        raise UsageError("usage", "--checkpoint is for --follow: a bounded run stores nothing")
    if (arguments.merge_output is not None or arguments.keep_output) and not arguments.streaming:
        raise UsageError(
            "usage", "--merge-output and --keep-output are for --follow: a bounded run writes one file"
        )
    if (arguments.once or arguments.files_per_batch) and not arguments.streaming:
        raise UsageError("usage", "--once and --files-per-batch are for --follow")
    if arguments.tick and (arguments.once or not arguments.streaming):
        raise UsageError(
            "usage", "--tick is for --follow without --once: it advances time while no rows arrive"
        )
    if arguments.metrics and not arguments.streaming:
        raise UsageError("usage", "--metrics is for --follow: a bounded run ends with its summary")
    if arguments.streaming and arguments.engine == "local":
        raise UsageError("usage", "--follow runs on Spark: leave --engine local out")
    refuse_format(arguments)
    refuse_overlaps(arguments)
    if arguments.output and not arguments.streaming:
        check_output(arguments.output, arguments.format)
    for path in (arguments.late_output, arguments.bad_output):
        if path and not arguments.streaming:
            check_output(path)


def _files_per_batch(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, not '{text}'")
    return int(text)


def _tick(text: str) -> int:
    """Seconds, as microseconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0.001 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"expected a number of seconds from 0.001 to a day, not '{text}'")
    return int(seconds * SECOND)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and at most 1, not '{text}'")
    return share


def _refuse_no_files(path: str) -> None:
    if not find_files(path):
        raise DataError("no-files", f"there are no files in '{path}'")


@ended_as_by_ctrl_c()
def _run_to_the_end(
    arguments: argparse.Namespace, prepared: PlanWithSets, run: Callable[[Progress], Iterator[RunReport]]
) -> int:
    from headwater.apps.cli.outputs import Outputs
    from headwater.apps.cli.progress import Progress
    from headwater.hosts.kernel_preparation import prepare_for
    from headwater.hosts.run_reports.summary import Summary

    plan = prepared.plan
    files = sum(len(find_files(path)) for paths in prepared.streams.values() for path in paths)
    names = (query.name for query in plan.public_queries)
    summary = Summary(names, prepared.points, plan)
    begins = "running on Spark" if arguments.engine == "spark" else "starting"
    progress = Progress(summary, files=files, shown=not arguments.quiet, begins=begins)
    outputs = Outputs(
        plan,
        answers=lambda: open_answers(arguments, plan, arguments.output),
        late=arguments.late_output,
        bad=arguments.bad_output,
    )
    interrupted = False
    try:
        outputs.take(RunReport(bad=prepared.points.bad))
        with progress, prepare_for(plan, progress.compiling), closing(run(progress)) as reports:  # type: ignore[type-var]
            for report in reports:
                with progress.aside() if report.answers else nullcontext():
                    outputs.take(report)
                summary.take(report)
                progress.update()
    except KeyboardInterrupt:
        interrupted = True
    except BaseException:
        outputs.discard()
        raise
    if interrupted and not summary.answers:
        outputs.discard()  # a complete output of an earlier run is worth more than an empty one
    else:
        outputs.close()
    if not arguments.quiet:
        print("\n".join(summary.lines(interrupted=interrupted)), file=sys.stderr)
    if interrupted:
        return INTERRUPTED
    return REFUSED if summary.all_refused else DONE
