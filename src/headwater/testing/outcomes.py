"""Runs a case and says what is not as it expects: the result of one test.

Late rows and bad rows that nobody expects are failures too: they are readings that no query saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from headwater.model import ColumnType, HeadwaterError, QueriesRefused, QueryError
from headwater.query.planning.plan import Plan
from headwater.testing.cases import Case, CaseFile, ExpectedError, RunKind, Table
from headwater.testing.differences import difference_lines, in_words
from headwater.testing.matching import Comparison, Row, Types, compare
from headwater.testing.names import answer_columns, wrong_names
from headwater.testing.reasons import reasons
from headwater.testing.runs import Engine, Observed, observe, plan_of

_BAD_TYPES: Final[Types] = {
    "stream": ColumnType.STRING,
    "file": ColumnType.STRING,
    "line": ColumnType.BIGINT,
    "reason": "part",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that is not as expected, in words; `table` is what `rows` were compared with, None if it is not in the file."""

    title: str
    lines: tuple[str, ...]
    table: Table | None = None
    rows: tuple[Row, ...] = ()
    comparison: Comparison | None = None
    types: Types = field(default_factory=dict)
    run: RunKind | None = None
    """The run that it is about, if it is not every run of the case."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one case: without a failure it passed."""

    file: CaseFile
    case: Case
    failures: tuple[Failure, ...]

    @property
    def passed(self) -> bool:
        """Whether everything is as expected."""
        return not self.failures

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file.shown}:{self.case.line}"

    def lines(self) -> list[str]:
        """All failures, for people."""
        return [
            line
            for failure in self.failures
            for line in (failure.title, *(f"  {one}".rstrip() for one in failure.lines))
        ]


def run_case(file: CaseFile, case: Case, engine: Engine) -> Outcome:
    """Run a case and compare."""
    return Outcome(file, case, tuple(_failures(file, case, engine)))


def _failures(file: CaseFile, case: Case, engine: Engine) -> Iterator[Failure]:
    try:
        plan = plan_of(case, engine.zones)
    except QueriesRefused as refused:
        yield from _refused(case, refused)
        return
    if case.errors:
        yield Failure("errors are expected, and the queries have none", _expected_errors(case.errors))
        return
    if wrong := wrong_names(file, case, plan):
        yield _error("the case does not fit its queries", QueriesRefused(wrong, file.text, file.shown))
        return
    found: dict[RunKind, list[Failure]] = {}
    try:
        for run in case.runs:
            found[run] = list(_compared(case, plan, run, observe(case, run, engine)))
    except HeadwaterError as fault:
        yield _error("the queries could not be run", fault)
        return
    yield from _of_all_runs(found)


def _error(title: str, fault: HeadwaterError) -> Failure:
    return Failure(title, tuple(str(fault).split("\n")))


def _of_all_runs(found: Mapping[RunKind, Sequence[Failure]]) -> Iterator[Failure]:
    """What fails in every run once, what fails in one of several with the name of the run."""
    said: list[Failure] = []
    for run, failures in found.items():
        for failure in failures:
            if failure in said:
                continue
            everywhere = all(failure in others for others in found.values())
            said.append(failure)
            yield failure if everywhere else replace(failure, title=f"when {run}, {failure.title}", run=run)


# --- rows -----------------------------------------------------------------------------------------------------------


def _compared(case: Case, plan: Plan, run: RunKind, observed: Observed) -> Iterator[Failure]:
    expected = case.expected[run]
    for query, table in expected.answers.items():
        columns = answer_columns(plan, query)
        for failure in _difference(f"answers of '{query}'", table, observed.answers.get(query, []), columns):
            assert failure.table and failure.comparison
            why = reasons(case, plan, query, failure.table, failure.comparison)
            yield replace(failure, lines=(*failure.lines, *why))
    dropped = {stream.name for stream in plan.streams if stream.drop_late}
    streams = [stream.name for stream in plan.streams if stream.name in observed.late]
    for stream in dict.fromkeys((*expected.late, *streams)):
        late = expected.late.get(stream)
        if late is None and stream in dropped:
            continue
        schema = plan.stream(stream)
        columns = {name: schema.types[name] for name in plan.columns_read(stream)}
        title = f"late rows of '{stream}'"
        advice = f"== late {stream}"
        yield from _difference(title, late, observed.late.get(stream, []), columns, advice=advice)
    yield from _bad(case, observed)


def _bad(case: Case, observed: Observed) -> Iterator[Failure]:
    rows = [
        {**row, "file": Path(row["file"]).name}
        for row in sorted(observed.bad, key=lambda row: (row["file"], row["line"]))
    ]
    for failure in _difference("bad rows", case.bad, rows, _BAD_TYPES, advice="== bad"):
        yield replace(failure, table=None)  # a reason is written in part, by hand


def _difference(
    title: str, table: Table | None, rows: Sequence[Row], types: Types, *, advice: str = ""
) -> Iterator[Failure]:
    """What differs; without a table no row is expected."""
    columns = tuple(name for name in types if name != "match_id")
    compared = table or Table((), ())
    if not compared.header:
        compared = replace(compared, header=columns)
    comparison = compare(compared, rows, types)
    if comparison.is_equal:
        return
    lines = difference_lines(compared, rows, types, comparison)
    if table is None and advice:
        lines.append(f"if they are expected, write them below '{advice}'")
    title = f"{title}: {in_words(comparison)}"
    yield Failure(title, tuple(lines), table and compared, tuple(rows), comparison, types)


# --- errors ---------------------------------------------------------------------------------------------------------


def _refused(case: Case, refused: QueriesRefused) -> Iterator[Failure]:
    if not case.errors:
        yield _error("the queries are refused", refused)
        return
    found = list(refused.errors)
    missing = []
    for expected in case.errors:
        error = next((one for one in found if _is_error(expected, one)), None)
        if error is None:
            missing.append(expected)
        else:
            found.remove(error)
    if missing:
        yield Failure(f"{len(missing)} of the expected errors missing", _expected_errors(missing))
    if found:
        text = str(QueriesRefused(found, refused.text, refused.file))
        yield Failure("the queries have errors that are not expected", tuple(text.split("\n")))


def _is_error(expected: ExpectedError, error: QueryError) -> bool:
    place = (error.span.line, error.span.column) if error.span else None
    return (expected.place, expected.code) == (place, error.code) and expected.message in error.message


def _expected_errors(errors: Sequence[ExpectedError]) -> tuple[str, ...]:
    return tuple(
        f"- {f'{error.place[0]}:{error.place[1]}' if error.place else 'nowhere'} {error.code}"
        + (f": {error.message}" if error.message else "")
        for error in errors
    )
