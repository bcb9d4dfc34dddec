"""Where answers, late rows and bad rows of a run go: files that are complete or not there, or standard output."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.apps.cli.bad_row_groups import join_runs
from headwater.hosts.files import BAD_TYPES, LATE_TYPES, Output, json_lines, open_output
from headwater.hosts.local import RunReport
from headwater.model import Column, ColumnType, Rows, StreamSchema, format_duration, strings
from headwater.query.planning.plan import Plan


class Outputs:
    """The outputs of one run."""

    def __init__(self, plan: Plan, *, answers: str | None, late: str | None, bad: str | None) -> None:
        self.plan = plan
        self.opened: list[Output] = []
        try:
            self.late = self._open(late, [LATE_TYPES]) if late else None
            self.bad = self._open(bad, [BAD_TYPES]) if bad else None
            self.answers = self._open(
                answers, [answer_types(plan, query.name) for query in plan.public_queries]
            )
        except BaseException:
            self.discard()
            raise

    def take(self, report: RunReport) -> None:
        """Write some more of what the run tells."""
        if report.answers:
            self.answers.write(report.answers)
        if self.late and report.late:
            self.late.write([late_rows(self.plan.stream(name), rows) for name, rows in report.late.items()])
        if self.bad and report.bad.count:
            self.bad.write([join_runs(report.bad)])

    def close(self) -> None:
        """Everything is written."""
        while self.opened:
            try:
                self.opened[-1].close()
            except BaseException:
                self.discard()
                raise
            self.opened.pop()

    def discard(self) -> None:
        """Leave nothing behind."""
        while self.opened:
            self.opened.pop().discard()

    def _open(self, path: str | None, types: list[Mapping[str, ColumnType]]) -> Output:
        output = open_output(path, types)
        self.opened.append(output)
        return output


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
