"""Points and fences that come as a DataFrame of Spark's: a table, collected here before the first row comes."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from headwater.hosts.declared_sets import DeclaredSets, most_points, used_columns
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.hosts.zone import StepOutput
from headwater.model import GEOMETRY, DataError, FencesSchema, PointsSchema, Rows
from headwater.query.planning.plan import Plan

_SHOWN_ROWS = 3


def collected_set(
    plan: Plan, schema: PointsSchema | FencesSchema, frame: DataFrame, *, memory: int | None = None
) -> pa.Table:
    """The columns of a set that queries use; `memory` is how many bytes there are, if the system is not to say."""
    is_fences = isinstance(schema, FencesSchema)
    what, code = ("fences", "fences-table") if is_fences else ("points", "points-table")
    if frame.isStreaming:
        raise DataError(
            code,
            f"the {what} '{schema.name}' are a stream, but {what} must be a table, which is read once before the first row",
            advice=["pass a static DataFrame"],
        )
    columns = (*used_columns(plan, schema), *((GEOMETRY,) if is_fences else ()))
    present = frame.select(*(f"`{name}`" for name in columns if name in frame.columns))
    most = None if isinstance(schema, FencesSchema) else most_points(plan, schema, memory=memory)
    return (present if most is None else present.limit(most + 1)).toArrow()


def with_bad_rows(table: DataFrame, bad: Rows, *, seen: int = 0) -> DataFrame:
    """The table of a run (see `output_table`) with bad rows that were found before it, of which `seen` are counted as rows read."""
    if not bad.count and not seen:
        return table
    report = table_of([ZoneReport(StepOutput(), bad, seen)])
    return table.union(table.sparkSession.createDataFrame(report))


def refuse_bad_points(sets: DeclaredSets) -> None:
    """Before a stream, whose batches have no place for the bad rows of a table."""
    if not sets.bad.count:
        return
    columns = (sets.bad[name].tolist()[:_SHOWN_ROWS] for name in ("stream", "line", "reason"))
    rows = [f"row {line} of '{name}': {reason}" for name, line, reason in zip(*columns, strict=True)]
    more = sets.bad.count - len(rows)
    named = " and ".join(f"'{name}'" for name in dict.fromkeys(sets.bad["stream"].tolist()))
    raise DataError(
        "bad-points",
        f"{sets.bad.count:,} row{'s' * (sets.bad.count != 1)} of {named} cannot be used",
        advice=[
            *rows,
            *([f"and {more:,} more"] if more else []),
            "remove them first: df.dropna(), df.dropDuplicates()",
        ],
    )
