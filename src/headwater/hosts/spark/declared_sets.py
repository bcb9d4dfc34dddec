"""Points and fences that come as a DataFrame, of Spark's or of pandas': a table, collected here before the first row comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from headwater.hosts.declared_sets import (
    GivenPoints,
    asked_columns,
    asked_fences,
    asked_points,
    most_points,
    points_from_tables,
    probable_queries,
)
from headwater.hosts.spark.zone_report import ZoneTold, table_of
from headwater.hosts.zone import Output
from headwater.model import GEOMETRY, DataError, FencesSchema, PointsSchema
from headwater.query.planning.plan import Plan

_TOLD_ROWS = 3


def frame_points(plan: Plan, frames: Mapping[str, Any], *, memory: int | None = None) -> GivenPoints:
    """The points and fences of DataFrames by the name of their set; `memory` is what there is, if that is not to be asked."""
    asked: list[PointsSchema | FencesSchema] = [*asked_points(plan), *asked_fences(plan)]
    tables = {schema.name: _table(plan, schema, frames[schema.name], memory) for schema in asked}
    return points_from_tables(plan, tables, memory=memory)


def check_audit(plan: Plan, share: float | None) -> float:
    """The share of points that is audited, if that makes sense."""
    if share is None:
        return 0.0
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise DataError("wrong-audit", f"audit is a share above 0 and up to 1, not {share}")
    if not probable_queries(plan):
        raise DataError(
            "wrong-audit", "there is nothing to audit: no query is USING PROBABLE", advice=["leave audit out"]
        )
    return share


def with_bad_points(table: DataFrame, given: GivenPoints) -> DataFrame:
    """The table of a run (see `table`) with the rows that are no points."""
    if not given.bad.count:
        return table
    told = table_of([ZoneTold(Output(), given.bad, 0)])
    return table.union(table.sparkSession.createDataFrame(told))


def refuse_bad_points(given: GivenPoints) -> None:
    """Before a stream, whose batches have no place for the bad rows of a table."""
    if not given.bad.count:
        return
    columns = (given.bad[name].tolist()[:_TOLD_ROWS] for name in ("stream", "line", "reason"))
    rows = [f"row {line} of '{name}': {reason}" for name, line, reason in zip(*columns, strict=True)]
    more = given.bad.count - len(rows)
    named = " and ".join(f"'{name}'" for name in dict.fromkeys(given.bad["stream"].tolist()))
    raise DataError(
        "bad-points",
        f"{given.bad.count:,} row{'s' * (given.bad.count != 1)} of {named} cannot be used",
        advice=[
            *rows,
            *([f"and {more:,} more"] if more else []),
            "take them out first: df.dropna(), df.dropDuplicates()",
        ],
    )


def _table(plan: Plan, schema: PointsSchema | FencesSchema, frame: Any, memory: int | None) -> pa.Table:
    is_fences = isinstance(schema, FencesSchema)
    what, code = ("fences", "fences-table") if is_fences else ("points", "points-table")
    wanted = (*asked_columns(plan, schema), *((GEOMETRY,) if is_fences else ()))
    if not isinstance(frame, DataFrame):
        try:
            return pa.Table.from_pandas(
                frame[[name for name in wanted if name in frame]], preserve_index=False
            )
        except (pa.ArrowException, AttributeError, TypeError, KeyError, ValueError) as cause:
            raise DataError(
                code,
                f"the {what} '{schema.name}' cannot be read: {cause}",
                advice=["give a DataFrame of Spark's or of pandas', each of its columns of one type"],
            ) from cause
    if frame.isStreaming:
        raise DataError(
            code,
            f"the {what} '{schema.name}' are a stream: {what} are a table, read once before the first row",
            advice=["give a static DataFrame"],
        )
    present = frame.select(*(f"`{name}`" for name in wanted if name in frame.columns))
    most = None if isinstance(schema, FencesSchema) else most_points(plan, schema, memory=memory)
    return (present if most is None else present.limit(most + 1)).toArrow()
