"""A run of the local engine: it is over when `hw.run` returns, and all it told is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from headwater.hosts.api.input_kinds import Source, SparkFrame
from headwater.hosts.api.ordered_tables import (
    ALL_TYPES,
    COUNT_TYPES,
    LATE_TYPES,
    all_table,
    answers_table,
    bad_table,
    counts_table,
)
from headwater.hosts.api.writing import write_at_once
from headwater.hosts.declared_sets import DeclaredSets
from headwater.hosts.files import BAD_TYPES
from headwater.hosts.files.arrow import plain_schema
from headwater.hosts.local import RunReport, run_local
from headwater.hosts.run_reports.answer_columns import answer_types
from headwater.hosts.run_reports.summary import Summary
from headwater.model import ColumnType, HostError, Rows, add_counts, join_rows
from headwater.query.planning.plan import Plan

if TYPE_CHECKING:
    from headwater.hosts.api.answers import Answers, WriteRequest


class LocalRun:
    """What the local engine told."""

    engine = "local"
    streaming = False

    def __init__(self, plan: Plan, sources: Mapping[str, Source], sets: DeclaredSets) -> None:
        self.plan = plan
        names = (query.name for query in plan.public_queries)
        self._summary = Summary(names, sets, plan)
        self._answers: list[Rows] = []
        self._bad = [Rows.empty(BAD_TYPES), sets.bad]
        self._counts: dict[str, int] = {}
        inputs = {name: _in_order(source) for name, source in sources.items()}
        for report in run_local(plan, inputs):
            self._take(report)
        self._summary.finish()
        self._by_query = _by_query(self._answers)

    def _take(self, report: RunReport) -> None:
        self._summary.take(report)
        self._answers += report.answers
        if report.bad.count:
            self._bad.append(report.bad)
        add_counts(self._counts, {**report.counts, "rows": report.seen})

    def answers_of(self, query: str | None) -> LocalTable:
        """Answers of a query; None: of all, each as JSON."""
        if query is None:
            return LocalTable(ALL_TYPES, self._all())
        types = answer_types(self.plan, query)
        rows = self._by_query.get(query, Rows.empty(types))
        return LocalTable(types, answers_table(rows.select(types)))

    def late(self) -> LocalTable:
        """Nothing is late where the input is complete."""
        return LocalTable(LATE_TYPES, plain_schema(LATE_TYPES).empty_table())

    def bad(self) -> LocalTable:
        """Rows that cannot be used."""
        return LocalTable(BAD_TYPES, bad_table(join_rows(self._bad)))

    def counts(self) -> LocalTable:
        """What was counted."""
        return LocalTable(COUNT_TYPES, counts_table(self._counts))

    def summary(self) -> Summary:
        """What the run came to."""
        return self._summary

    def write(self, answers: Answers, request: WriteRequest) -> None:
        """Write everything at once."""
        write_at_once(answers, request)

    def release(self) -> None:
        """Nothing is held elsewhere: the memory goes away with the answers."""

    def _all(self) -> pa.Table:
        tables = [all_table(rows) for rows in self._by_query.values()]
        together = pa.concat_tables([plain_schema(ALL_TYPES).empty_table(), *tables])
        return together.sort_by([(name, "ascending") for name in ("event_time", "query", "match_id")])


class LocalTable:
    """A table in memory."""

    streaming = False

    def __init__(self, types: Mapping[str, ColumnType], table: pa.Table) -> None:
        self.types = types
        self._table = table

    def count(self) -> int:
        """How many rows there are."""
        return int(self._table.num_rows)

    def table(self, most: int | None = None) -> pa.Table:
        """All rows, or the first ones."""
        return self._table if most is None else self._table.slice(0, most)

    def frame(self) -> Any:
        """There is no Spark here."""
        raise HostError(
            "no-spark-dataframe",
            "the local engine ran these queries: there is no DataFrame of Spark's",
            advice=[
                "use .to_pandas() or .to_arrow()",
                'or run them on Spark: hw.run(…, engine="spark"), or with a DataFrame of Spark\'s as input',
            ],
        )


def _in_order(source: Source) -> Sequence[str | pa.Table]:
    assert not isinstance(source, SparkFrame), "the choice of the engine sees to that"
    return [source] if isinstance(source, pa.Table) else source


def _by_query(blocks: Iterable[Rows]) -> dict[str, Rows]:
    """Answers by their query. Blocks whose columns are the same are joined first: there may be many queries, and many blocks."""
    alike: dict[tuple[tuple[str, ColumnType], ...], list[Rows]] = {}
    for block in blocks:
        alike.setdefault(tuple(block.types.items()), []).append(block)
    found: dict[str, Rows] = {}
    for parts in alike.values():
        rows = join_rows(parts)
        names, codes = rows["query"].names, rows["query"].values
        assert names is not None
        order = np.argsort(codes, kind="stable")
        ends = np.searchsorted(codes[order], np.arange(len(names)), side="right").tolist()
        for name, start, end in zip(names.tolist(), [0, *ends[:-1]], ends, strict=True):
            if end > start:
                found[str(name)] = rows.take(order[start:end])
    return found
