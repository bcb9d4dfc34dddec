"""Which columns do answers and late rows have?"""

from __future__ import annotations

from headwater.hosts.files import LATE_TYPES, json_lines
from headwater.model import Column, ColumnType, Rows, StreamSchema, format_duration, strings
from headwater.query.planning.plan import Plan


def answer_types(plan: Plan, query: str) -> dict[str, ColumnType]:
    """The columns of a query's answers."""
    return {
        "query": ColumnType.STRING,
        "event_time": ColumnType.TIMESTAMP,
        "match_id": ColumnType.ID,
        **plan.selected(query),
    }


def late_rows(stream: StreamSchema, rows: Rows) -> Rows:
    """Late rows as the late output has them; none of a stream that declares LATE … DROP."""
    if stream.drop_late:
        return Rows.empty(LATE_TYPES)
    reason = f"late: more than {format_duration(stream.late_us)} behind" if stream.late_us else "late: behind"
    return Rows.of(
        {
            "stream": strings([stream.name] * rows.count),
            "time": Column(ColumnType.TIMESTAMP, rows[stream.time].values),
            "reason": strings([reason] * rows.count),
            "row": strings(json_lines(rows).to_pylist()),
        }
    )
