"""The samples of a SUPPRESS are the answers of the same query without it: read, put in order, WHERE applied.

Memory  All samples at once, at most MOST_SAMPLES of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from headwater.hosts.local import run_local
from headwater.kernels.suppress.report import Samples, samples_of
from headwater.model import DataError, LimitReached, Rows, join_rows
from headwater.query.checking.catalogue import Catalogue, CheckedQuery
from headwater.query.checking.check import check
from headwater.query.language.tree import Item, Name, Script, Select, Statement
from headwater.query.operators.union import SuppressOperator
from headwater.query.planning.plan import Plan, make_plan

MOST_SAMPLES: Final = 20_000_000
"""Samples of one query that are held in memory."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Question:
    """A SUPPRESS as it was written; `key` is the column that names its sensors, None where there is but one."""

    query: CheckedQuery
    operator: SuppressOperator
    key: str | None

    @property
    def name(self) -> str:
        """The name that somebody gave: a link of a chain is known by the query it is written in."""
        name = self.query.name
        return name.replace("/SUPPRESS", "") if self.query.tree.hidden else name


@dataclass(frozen=True, slots=True)
class Recorded:
    """Samples; `lacking` rows had no key, or no number in a dimension, and `bad` ones were refused when they were read."""

    samples: Samples
    lacking: int = 0
    bad: int = 0


def questions(catalogue: Catalogue) -> list[Question]:
    """The queries with a SUPPRESS, links of a chain as well."""
    schemas = {name: stream.schema for name, stream in catalogue.streams.items()}
    schemas.update({name: query.schema for name, query in catalogue.queries.items()})
    return [
        Question(query, query.operator, schemas[query.reads].key)
        for query in catalogue.queries.values()
        if isinstance(query.operator, SuppressOperator)
    ]


def plan_of_samples(catalogue: Catalogue, question: Question, text: str) -> Plan:
    """What is in the way of the samples of a query, untold, and the samples under its name."""
    columns = (*([question.key] if question.key else []), *question.operator.dimensions)
    items = tuple(Item(Name(column)) for column in columns)
    tree = question.query.tree
    bare = replace(
        tree, select=Select(items, question.query.reads, question.query.where), hidden=False, view=False
    )
    above = _above(catalogue, question.query)
    statements: tuple[Statement, ...] = (
        *(stream.tree for stream in catalogue.streams.values()),
        *(points.tree for points in catalogue.points.values()),
        *(fences.tree for fences in catalogue.fences.values()),
        *(replace(query.tree, hidden=True) for name, query in catalogue.queries.items() if name in above),
        bare,
    )
    return make_plan(check(Script(statements), text), text)


def read_samples(plan: Plan, question: Question, streams: Mapping[str, Sequence[str]], say: Say) -> Recorded:
    """Run the plan of the samples over files by stream."""
    key, dimensions = question.key, question.operator.dimensions
    types = plan.stream(question.query.name).types
    names = ("event_time", *([key] if key else []), *dimensions)
    parts = [Rows.empty({name: types[name] for name in names})]
    count = seen = bad = 0
    for report in run_local(plan, streams):
        bad += report.bad.count
        seen += report.seen
        for block in report.answers:
            parts.append(block.select(names))
            count += block.count
        _bounded(count)
        say(f"{question.name}: {seen:,} rows read")
    rows = join_rows(parts)
    samples = samples_of(rows, key=key, time="event_time", dimensions=dimensions)
    if not len(samples):
        raise DataError("no-input", f"there is no sample for '{question.name}' in the input")
    return Recorded(samples, rows.count - len(samples), bad)


def _above(catalogue: Catalogue, query: CheckedQuery) -> set[str]:
    """The names of the queries that a query reads, and so on."""
    names = {query.reads, *query.further_reads}
    for name, other in reversed(list(catalogue.queries.items())):
        if name in names:
            names.update((other.reads, *other.further_reads))
    return names


def _bounded(count: int) -> None:
    if count > MOST_SAMPLES:
        raise LimitReached(
            "MOST_SAMPLES",
            MOST_SAMPLES,
            f"more than {MOST_SAMPLES:,} samples are too many to compare predictors on",
            advice=["give --input fewer files: one day is usually enough"],
        )
