"""SELECT … WHERE without an operator: every row that satisfies the condition, as it is, at its own time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]


def answers(
    time: str, rows: Sequence[Row], name: str, condition: Callable[[Row], bool] = lambda row: True
) -> list[Row]:
    """Everything a query answers, in order, without `match_id`."""
    return [{"query": name, "event_time": row[time], **row} for row in rows if condition(row)]
