"""The table that a run on Spark gives (see `hosts.spark.output_table`) as what the plain loop reports, and Spark's trouble in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from headwater.hosts.files import BAD_TYPES
from headwater.hosts.files.json_lines import rows_from_json
from headwater.hosts.local import RunReport
from headwater.hosts.local.streaming import given_up_rows
from headwater.hosts.run_reports.answer_columns import answer_types
from headwater.hosts.run_reports.spark_errors import error_from_fault
from headwater.model import Column, ColumnType, Rows, add_counts, join_rows, strings
from headwater.query.planning.plan import Plan


def report_from_table(plan: Plan, table: pa.RecordBatch | pa.Table) -> RunReport:
    """What some rows of the table that Spark gives (see `hosts.spark.output_table`) tell."""
    answers = [
        rows_from_json(bodies, answer_types(plan, query)) for query, bodies in _bodies(table, "answer")
    ]
    late = {
        stream: rows_from_json(bodies, _column_types(plan, stream))
        for stream, bodies in _bodies(table, "late")
    }
    bad = [in_file_order(rows_from_json(bodies, BAD_TYPES)) for _, bodies in _bodies(table, "bad")]
    bad += [
        given_up_rows(plan.stream(stream), bodies.to_pylist())
        for stream, bodies in _bodies(table, "given_up")
    ]
    counts = _counts(table)
    seen = counts.pop("rows", 0)
    return RunReport(tuple(answers), late, join_rows([Rows.empty(BAD_TYPES), *bad]), counts, seen)


@contextmanager
def spark_trouble() -> Iterator[None]:
    """What goes wrong on Spark, without Java's stack traces."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as fault:  # the last: its JVM is gone
        # The message of a Java exception seldom holds its causes; its stack trace does.
        raise error_from_fault(f"{fault}\n{getattr(fault, '_stackTrace', '')}") from fault


def in_file_order(bad: Rows) -> Rows:
    """Bad rows as they stand in their files."""
    return bad.take(np.lexsort([bad["line"].ranks(), bad["file"].ranks()]))


def with_listed_paths(report: RunReport, inputs: Mapping[str, Sequence[str]]) -> RunReport:
    """The same with files named as in `inputs`: Spark's processes stand elsewhere, so they get whole paths."""
    files = report.bad["file"]
    assert files.names is not None
    if not report.bad.count:
        return report
    listed = {str(Path(path).resolve()): path for paths in inputs.values() for path in paths}
    named = strings([_as_listed(name, listed) for name in files.names.tolist()])
    codes = named.values[files.values] if len(named) else files.values
    return replace(report, bad=report.bad.having(file=Column(files.type, codes, files.valid, named.names)))


def _as_listed(file: str, listed: Mapping[str, str]) -> str:
    for whole, listed_path in listed.items():
        if file == whole or file.startswith(f"{whole}/"):
            return str(Path(listed_path) / file[len(whole) + 1 :]) if file != whole else listed_path
    return file


def _bodies(table: pa.RecordBatch | pa.Table, kind: str) -> Iterator[tuple[str, pa.StringArray]]:
    """The JSON texts of one kind by the name beside them."""
    chosen = table.filter(pc.equal(table.column("kind"), kind))
    for name in pc.unique(chosen.column("name")).to_pylist():
        bodies = chosen.filter(pc.equal(chosen.column("name"), name)).column("body")
        yield name, bodies.combine_chunks() if isinstance(bodies, pa.ChunkedArray) else bodies


def _counts(table: pa.RecordBatch | pa.Table) -> dict[str, int]:
    chosen = table.filter(pc.equal(table.column("kind"), "count"))
    counts: dict[str, int] = {}
    names, amounts = chosen.column("name").to_pylist(), chosen.column("amount").to_pylist()
    for name, amount in zip(names, amounts, strict=True):
        add_counts(counts, {name: int(amount)})
    return counts


def _column_types(plan: Plan, stream: str) -> dict[str, ColumnType]:
    types = plan.stream(stream).types
    return {name: types[name] for name in plan.columns_read(stream)}
