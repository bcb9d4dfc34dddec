"""Why is an expected match of MATCH_RECOGNIZE missing? What `headwater why` reports for the partition that it belongs to.

A line that is similar to a row which came out has no reason: the pattern matched, and gave other values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.hosts.local.query_rows import rows_of_query
from headwater.hosts.temporary_folders import temporary_folder
from headwater.model import HeadwaterError
from headwater.query.operators.pattern.why import Why
from headwater.query.operators.pattern.written import written_patterns
from headwater.query.operators.union import PatternOperator
from headwater.query.planning.plan import Plan, make_plan
from headwater.testing.cases import Case, Table
from headwater.testing.input_files import input_paths, write_files
from headwater.testing.matching import Comparison
from headwater.testing.reader import ANYTHING
from headwater.testing.runs import checked, complete_files

MOST_PARTITIONS: Final = 3
"""Partitions of which it is said why they have no match; more are too long to read."""

MOST_ATTEMPTS: Final = 1


def reasons(case: Case, plan: Plan, query: str, table: Table, comparison: Comparison) -> list[str]:
    """Why expected matches are missing, if the query has a pattern that can be explained."""
    operator = plan.query(query).operator
    written = written_patterns(case.queries.text).get(query)
    if not isinstance(operator, PatternOperator) or operator.mode is not None or written is None:
        return []
    similar = {line for line, _ in comparison.similar}
    missing = [_partition(table, line, operator) for line in comparison.missing if line not in similar]
    if not missing:
        return []
    try:
        why = _why(case, query)
    except HeadwaterError as fault:
        return [f"why: {fault.message}"]
    unique = [one for place, one in enumerate(missing) if one not in missing[:place]]
    return [line for one in unique[:MOST_PARTITIONS] for line in _report(why, one)]


def _why(case: Case, query: str) -> Why:
    text = case.queries.text
    catalogue = checked(case)
    plan = make_plan(catalogue, text, chosen=catalogue.queries).with_only([query])  # views that it reads emit
    found = plan.query(query)
    assert isinstance(found.operator, PatternOperator)
    files = complete_files(case, plan)
    with temporary_folder("test") as folder:
        write_files(files, folder.path)
        rows, _ = rows_of_query(plan, found, _InputPaths(input_paths(files, folder.path)))
    written = written_patterns(text)[query]
    return Why(query, found.operator, written, plan.stream(found.reads), rows)


class _InputPaths(dict[str, list[str]]):
    """A stream of which a case gives no rows has none."""

    def __missing__(self, name: str) -> list[str]:
        return []


def _partition(table: Table, line: int, operator: PatternOperator) -> Mapping[str, str]:
    """What a line says about the partition of its match."""
    cells = dict(zip(table.header, table.lines[line], strict=True))
    return {name: cells[name] for name in operator.partition if name in cells and cells[name] not in ANYTHING}


def _report(why: Why, partition: Mapping[str, str]) -> list[str]:
    """For one partition, or for that which got furthest."""
    found = why.partitions(partition)
    if not found:
        values = " and ".join(f"{column} = '{value}'" for column, value in partition.items())
        return [f"why: no row has {values}"]
    chosen = found[0] if len(found) == 1 else why.survey(found)[0].partition
    first, *others = why.report(chosen, most=MOST_ATTEMPTS)
    return [f"why: {first}", *(f"  {line}".rstrip() for line in others)]
