"""`headwater why FILE --query Q --input NAME=PATH …`: how far partial matches got in recorded readings, and what stopped them.

Everything is read, as a bounded run reads it; what the query reads is put in order, and one partition of it is looked at.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.apps.cli.arguments import UsageError, add_file, read_queries
from headwater.model import (
    END,
    Instant,
    parse_instant,
)

if TYPE_CHECKING:
    from headwater.query.operators.pattern.why import Why
    from headwater.query.operators.union import PatternOperator
    from headwater.query.planning.plan import Plan
    from headwater.query.planning.query_plan import QueryPlan

_EXAMPLES = """\
examples:
  headwater why alerts.hw --query fire --input weather=readings.csv
  headwater why alerts.hw --query fire --input weather=readings.csv --key meadow
  headwater why alerts.hw --query fire --input weather=2026-01/ --key meadow --at 2026-01-31T06:00:05Z

'headwater examples copy alerts' gives the files of the first two.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    add_file(parser)
    parser.add_argument("--query", metavar="Q", help="the query; optional if only one has a MATCH_RECOGNIZE")
    parser.add_argument(
        "--input",
        action="append",
        required=True,
        metavar="NAME=PATH",
        help="readings of the stream NAME, as for 'headwater run'",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--key", metavar="K", help="the value of the first column of PARTITION BY")
    which.add_argument(
        "--partition",
        action="append",
        metavar="COLUMN=VALUE",
        help="the value of a column of PARTITION BY; repeat it for other columns",
    )
    parser.add_argument(
        "--at",
        metavar="TIME",
        help="only attempts that were open at that time, or the last that began before it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Say why a pattern did not match."""
    from headwater.apps.cli.own_process import leave_pandas_out
    from headwater.apps.cli.run import read_inputs
    from headwater.hosts.local.query_rows import rows_of_query
    from headwater.query.checking.check import check
    from headwater.query.operators.pattern.why import Why
    from headwater.query.operators.pattern.written import written_patterns
    from headwater.query.planning.plan import make_plan

    leave_pandas_out(arguments)
    at = _instant(arguments.at)
    text = read_queries(arguments.file)
    catalogue = check(text, file=arguments.file, most_history_us=END)  # no event is stored here
    plan = make_plan(catalogue, text, chosen=catalogue.queries)  # a view that no query reads, too
    query, operator = _chosen(plan, arguments.query)
    partition = _partition_values(query.name, operator, arguments.key, arguments.partition or ())
    plan = plan.with_only([query.name])
    rows, bad = rows_of_query(plan, query, read_inputs(arguments.input, plan))
    if bad:
        print(
            f"{bad:,} bad row{'s' * (bad != 1)} left out: 'headwater run --bad-output FILE' lists them",
            file=sys.stderr,
        )
    source = plan.stream(query.reads)
    why = Why(query.name, operator, written_patterns(text)[query.name], source, rows)
    print("\n".join(_report(why, partition, at)))
    return 0


def _report(why: Why, partition: Mapping[str, str], at: Instant | None) -> list[str]:
    partitions = why.partitions(partition)
    if not partitions:
        raise _unknown_partition(why, partition)
    if len(partitions) == 1:
        return why.report(partitions[0], at)
    traced = why.survey(partitions, at)
    return [*why.survey_lines(traced, len(partitions)), "", *why.report(traced[0].partition, at)]


# --- the query -----------------------------------------------------------------------------------------------------


def _instant(text: str | None) -> Instant | None:
    try:
        return None if text is None else parse_instant(text)
    except ValueError as fault:
        message = f"--at takes a time such as 2026-01-31T06:00:05Z, not '{text}'"
        raise UsageError("usage", message) from fault


def _chosen(plan: Plan, name: str | None) -> tuple[QueryPlan, PatternOperator]:
    from headwater.query.language.suggestions import suggest
    from headwater.query.operators.union import PatternOperator

    patterns = [query.name for query in plan.queries if isinstance(query.operator, PatternOperator)]
    if name is None and len(patterns) == 1:
        name = patterns[0]
    if name is None:
        message = (
            "--query is required: there are several patterns"
            if patterns
            else "no query has a MATCH_RECOGNIZE"
        )
        raise UsageError("usage", message, advice=suggest("", patterns, "patterns"))
    found = next((query for query in plan.queries if query.name == name), None)
    if found is None:
        raise UsageError(
            "unknown-query", f"there is no query named '{name}'", advice=suggest(name, patterns, "patterns")
        )
    operator = found.operator
    if not isinstance(operator, PatternOperator):
        raise UsageError(
            "usage",
            f"'{name}' has no MATCH_RECOGNIZE, so there are no partial matches to explain",
            advice=suggest(name, patterns, "patterns"),
        )
    if operator.mode is not None:
        raise UsageError(
            "usage",
            f"'{name}' is a pattern of a sensor node (MODE): why explains row patterns and event patterns only",
            advice=["remove MODE from a copy of the query to see where its conditions fail"],
        )
    return found, operator


def _partition_values(
    name: str, operator: PatternOperator, key: str | None, pairs: Sequence[str]
) -> dict[str, str]:
    """The requested values by column."""
    from headwater.query.language.suggestions import suggest

    columns = operator.partition
    if (key is not None or pairs) and not columns:
        raise UsageError("usage", f"'{name}' has no PARTITION BY: leave --key and --partition out")
    if key is not None:
        return {columns[0]: key}
    partition = {}
    for item in pairs:
        column, equals, value = item.partition("=")
        if not equals:
            raise UsageError("usage", f"--partition takes COLUMN=VALUE, not '{item}'")
        if column not in columns:
            raise UsageError(
                "usage",
                f"--partition: '{name}' is not partitioned by '{column}'",
                advice=suggest(column, columns, "columns"),
            )
        partition[column] = value
    return partition


def _unknown_partition(why: Why, partition: Mapping[str, str]) -> UsageError:
    from headwater.query.language.suggestions import suggest

    for column, value in partition.items():
        known = why.values(column)
        if not why.partitions({column: value}):
            advice = suggest(value, dict.fromkeys(known), "values")
            return UsageError("usage", f"no row has '{value}' in column '{column}'", advice=advice)
    together = " and ".join(f"{column} = '{value}'" for column, value in partition.items())
    return UsageError("usage", f"no row has {together}")
