"""Points and fences that come as a DataFrame, of Spark's or of pandas': a table, collected here before the first row comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from headwater.hosts.declared_sets import (
    DeclaredSets,
    most_points,
    probable_queries,
    sets_from_tables,
    used_columns,
    used_fences,
    used_points,
)
from headwater.hosts.spark.zone_report import ZoneReport, table_of
from headwater.hosts.zone import Output
from headwater.model import GEOMETRY, DataError, FencesSchema, PointsSchema
from headwater.query.planning.plan import Plan

_SHOWN_ROWS = 3


def sets_from_frames(plan: Plan, frames: Mapping[str, Any], *, memory: int | None = None) -> DeclaredSets:
    """The points and fences of DataFrames by the name of their set; `memory` is how many bytes there are, if the system is not to say."""
    schemas: list[PointsSchema | FencesSchema] = [*used_points(plan), *used_fences(plan)]
    tables = {schema.name: _table(plan, schema, frames[schema.name], memory) for schema in schemas}
    return sets_from_tables(plan, tables, memory=memory)


def check_audit(plan: Plan, share: float | None) -> float:
    """The share of points that is audited, if that makes sense."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise DataError("wrong-audit", f"audit must be above 0 and at most 1, not {share}")
    if not probable_queries(plan):
        raise DataError(
            "wrong-audit", "there is nothing to audit: no query is USING PROBABLE", advice=["leave audit out"]
        )
    return share


def with_bad_points(table: DataFrame, sets: DeclaredSets) -> DataFrame:
    """The table of a run (see `output_table`) with the rows that are no points."""
    if not sets.bad.count:
        return table
    bad_rows = table_of([ZoneReport(Output(), sets.bad, 0)])
    return table.union(table.sparkSession.createDataFrame(bad_rows))


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


def _table(plan: Plan, schema: PointsSchema | FencesSchema, frame: Any, memory: int | None) -> pa.Table:
    is_fences = isinstance(schema, FencesSchema)
    what, code = ("fences", "fences-table") if is_fences else ("points", "points-table")
    columns = (*used_columns(plan, schema), *((GEOMETRY,) if is_fences else ()))
    if not isinstance(frame, DataFrame):
        try:
            return pa.Table.from_pandas(
                frame[[name for name in columns if name in frame]], preserve_index=False
            )
        except (pa.ArrowException, AttributeError, TypeError, KeyError, ValueError) as cause:
            raise DataError(
                code,
                f"the {what} '{schema.name}' cannot be read: {cause}",
                advice=["pass a Spark or pandas DataFrame, with one type in each column"],
            ) from cause
    if frame.isStreaming:
        raise DataError(
            code,
            f"the {what} '{schema.name}' are a stream, but {what} must be a table, which is read once before the first row",
            advice=["pass a static DataFrame"],
        )
    present = frame.select(*(f"`{name}`" for name in columns if name in frame.columns))
    most = None if isinstance(schema, FencesSchema) else most_points(plan, schema, memory=memory)
    return (present if most is None else present.limit(most + 1)).toArrow()
