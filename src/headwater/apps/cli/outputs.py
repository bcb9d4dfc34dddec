"""Where answers, late rows and bad rows of a run go: files that are complete or not there, or standard output."""

from __future__ import annotations

from collections.abc import Callable

from headwater.apps.cli.bad_row_groups import join_runs
from headwater.hosts.files import BAD_TYPES, LATE_TYPES, Output, open_output
from headwater.hosts.local import RunReport
from headwater.hosts.run_reports.answer_columns import late_rows
from headwater.query.planning.plan import Plan


class Outputs:
    """The outputs of one run; `answers` opens that of the answers, which has no file until it is called."""

    def __init__(
        self, plan: Plan, *, answers: Callable[[], Output], late: str | None, bad: str | None
    ) -> None:
        self.plan = plan
        self.opened: list[Output] = []
        try:
            self.late = self._opened(open_output(late, [LATE_TYPES])) if late else None
            self.bad = self._opened(open_output(bad, [BAD_TYPES])) if bad else None
            self.answers = self._opened(answers())
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

    def _opened(self, output: Output) -> Output:
        self.opened.append(output)
        return output
