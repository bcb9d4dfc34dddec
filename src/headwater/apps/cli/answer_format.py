"""In which format do answers go out, and is there anything in the command line that contradicts it?

Rule 1  A terminal gets tables, everything else JSON lines, unless --format or the ending of --output says something else.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

from headwater.apps.cli.arguments import UsageError
from headwater.hosts.files import FORMATS, Output, TableStyle, open_output
from headwater.hosts.run_reports.answer_columns import answer_types
from headwater.query.planning.plan import Plan

GATHER_S: Final = 1.0
"""For how long the answers of a bounded run wait for others of their query, so that a terminal shows one table and not many."""


def add_format(parser: argparse.ArgumentParser) -> None:
    """The flags of a command that writes answers."""
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="how to write answers (default: as the ending of --output says; on a terminal tables, otherwise JSON lines)",
    )
    parser.add_argument(
        "--match-ids",
        action="store_true",
        help="show the column match_id in tables, too: other formats always have it",
    )


def refuse_format(arguments: argparse.Namespace) -> None:
    """Refuse what cannot be written, before any work is done."""
    form, path = arguments.format, arguments.output
    if arguments.streaming and path and form not in (None, "json"):
        raise UsageError(
            "usage",
            f"with --follow an output folder has JSON lines, not {form}",
            advice=["leave --format out, or leave --output out"],
        )
    if arguments.streaming and form == "parquet":
        raise UsageError(
            "usage", "--format parquet is for a bounded run: a Parquet file cannot be read before it ends"
        )
    if form == "parquet" and not path and sys.stdout.isatty():
        raise UsageError(
            "usage",
            "--format parquet cannot be written to a terminal",
            advice=["add --output answers.parquet, or redirect the output to a file: … > answers.parquet"],
        )


def open_answers(arguments: argparse.Namespace, plan: Plan, path: str | None) -> Output:
    """Where the answers of a run go: a file, or standard output."""
    types = (answer_types(plan, query.name) for query in plan.public_queries)
    shown = sys.stdout.isatty()
    form = arguments.format or ("table" if path is None and shown else None)
    style = TableStyle(
        width=_terminal_width if path is None and shown else lambda: None,
        match_ids=arguments.match_ids,
        gather_s=0.0 if arguments.streaming else GATHER_S,
        bold=path is None and shown and not os.environ.get("NO_COLOR"),
    )
    return open_output(path, types, form=form, style=style)


def _terminal_width() -> int | None:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):  # it has gone
        return None
