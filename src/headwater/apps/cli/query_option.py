"""`--query NAME`: which queries of a file run.

Rule 1  The whole file is checked. The chosen queries are answered, and what they read is computed with them; a view may be chosen, too.
Rule 2  Only inputs that these need are required, and only those are read.
Rule 3  State in a checkpoint is never dropped by a flag: a checkpoint that holds other queries of the file is refused. Whoever wants to drop
        a query deletes it from the file.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path

from headwater.apps.cli.arguments import UsageError
from headwater.apps.cli.history_option import most_history
from headwater.hosts.spark.checkpoint_notes import read_notes
from headwater.model import HostError
from headwater.query.checking.catalogue import Catalogue
from headwater.query.checking.check import check
from headwater.query.language.suggestions import suggest
from headwater.query.planning.plan import Plan, make_plan, refuse_silent


def add_query(parser: argparse.ArgumentParser) -> None:
    """The flag of a command that answers queries."""
    parser.add_argument(
        "--query",
        action="append",
        metavar="NAME",
        help="answer only this query or view of the file, and compute what it reads; repeat it, or list several with commas",
    )


def plan_chosen(arguments: argparse.Namespace, text: str, *, zones: int) -> Plan:
    """The plan of the queries that are chosen, of all without --query."""
    catalogue = check(text, file=arguments.file, most_history_us=most_history(arguments))
    chosen = _chosen(arguments.query, catalogue) if arguments.query else None
    if chosen is not None and arguments.checkpoint:
        refuse_left_out(Path(arguments.checkpoint), catalogue, make_plan(catalogue, text, chosen=chosen))
    plan = make_plan(catalogue, text, zones=zones, chosen=chosen)
    refuse_silent(plan, file=arguments.file)
    return plan


def needed_inputs(plan: Plan) -> set[str]:
    """The streams, points and fences without which the queries of a plan cannot be answered."""
    streams = {root for query in plan.queries for root in plan.root_streams(query.reads)}
    return streams | {query.operator.declared_set for query in plan.queries if query.operator.declared_set}


def refuse_left_out(folder: Path, catalogue: Catalogue, plan: Plan) -> None:
    """Refuse a checkpoint that holds queries of the file that are not in the plan."""
    notes = read_notes(folder)
    running = {query.name for query in plan.queries}
    stored = notes.queries if notes else {}
    left_out = [
        name
        for name, note in stored.items()
        if name in catalogue.queries.keys() - running and not note.hidden
    ]
    if left_out:
        names = ", ".join(f"'{name}'" for name in left_out)
        raise HostError(
            "checkpoint-other-queries",
            f"the checkpoint '{folder}' also holds {names}, which --query leaves out: the state would be lost",
            advice=[
                "leave --query out, or use another --checkpoint for these queries",
                "to drop a query and its state, delete it from the file",
            ],
        )


def _chosen(listed: Collection[str], catalogue: Catalogue) -> tuple[str, ...]:
    known = [name for name, query in catalogue.queries.items() if not query.tree.hidden]
    names: dict[str, None] = {}
    for item in listed:
        for name in [item] if item in known else filter(None, map(str.strip, item.split(","))):
            if name not in known:
                raise UsageError(
                    "unknown-query",
                    f"there is no query named '{name}'",
                    advice=suggest(name, known, "queries"),
                )
            names[name] = None
    if not names:
        raise UsageError("usage", "--query names no query", advice=suggest("", known, "queries"))
    return tuple(names)
