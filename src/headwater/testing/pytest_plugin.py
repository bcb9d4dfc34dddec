"""pytest collects `.hwtest` files: every case is a test.

pytest loads this module in every run of an environment that has Headwater, so it imports nothing before there is such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from headwater.testing.cases import Case, CaseFile


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a file of cases."""
    return HwtestFile.from_parent(parent, path=file_path) if file_path.suffix == ".hwtest" else None


class QueryTestFailed(Exception):  # noqa: N818 - said as a person would
    """A case has failed; the text is the difference."""


class HwtestFile(pytest.File):
    """The cases of one file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Every case; a file that is not a test file is an error."""
        from headwater.testing.assertions import prepare

        prepare()
        from headwater.testing.reader import read_test_file

        file = read_test_file(self.path, self.nodeid)
        for case in file.cases:
            yield HwtestCase.from_parent(self, name=case.name, file=file, case=case)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Mistakes in the file, without a traceback."""
        return _without_traceback(excinfo) or super().repr_failure(excinfo)


class HwtestCase(pytest.Item):
    """One case."""

    def __init__(self, *, file: CaseFile, case: Case, **rest: Any) -> None:
        super().__init__(**rest)
        self.file = file
        self.case = case

    def runtest(self) -> None:
        """Run it in the plain loop."""
        from headwater.testing.outcomes import run_case
        from headwater.testing.runs import LocalEngine

        outcome = run_case(self.file, self.case, LocalEngine())
        if not outcome.passed:
            raise QueryTestFailed("\n".join([f"{outcome.place}: {self.case.name}", *outcome.lines()]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The difference, without a traceback."""
        return _without_traceback(excinfo) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is."""
        return self.path, self.case.line - 1, self.name


def _without_traceback(excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
    from headwater.model import HeadwaterError

    is_ours = isinstance(excinfo.value, QueryTestFailed | HeadwaterError)
    return str(excinfo.value) if is_ours else None
