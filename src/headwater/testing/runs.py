"""Runs the queries of a case over its rows, in the plain loop, and gives everything that comes out.

A Spark session gives the same: `spark_runs.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from headwater.hosts.declared_sets import sets_from_files
from headwater.hosts.files import json_lines
from headwater.hosts.local import RunReport, run_local, stream_local
from headwater.hosts.temporary_folders import temporary_folder
from headwater.model import END, Rows
from headwater.query.checking.catalogue import Catalogue
from headwater.query.checking.check import check
from headwater.query.checking.history_limit import MOST_HISTORY_US
from headwater.query.planning.plan import Plan, make_plan
from headwater.testing.cases import Case, InputFile, Queries, RunKind
from headwater.testing.input_files import input_paths, with_all_columns, write_files

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Observed:
    """What a run gave: answers by query and late rows by stream as JSON objects, and bad rows."""

    answers: dict[str, list[Row]] = field(default_factory=dict)
    late: dict[str, list[Row]] = field(default_factory=dict)
    bad: list[Row] = field(default_factory=list)

    def take(self, kind: str, name: str, row: Row) -> None:
        """One row of a run's table."""
        if kind == "answer":
            self.answers.setdefault(name, []).append(row)
        elif kind == "late":
            self.late.setdefault(name, []).append(row)
        elif kind == "bad":
            self.bad.append(row)


class Engine(Protocol):
    """What runs cases; its plans have `zones` zones."""

    zones: int

    def observe(self, plan: Plan, files: Sequence[InputFile], run: RunKind, folder: Path) -> Observed:
        """Run a plan that has its sets over files of rows."""


class LocalEngine:
    """The plain loop in this process."""

    zones = 1

    def observe(self, plan: Plan, files: Sequence[InputFile], run: RunKind, folder: Path) -> Observed:
        """Bounded over all files at once, or followed in the order in which the case has them."""
        if run is RunKind.BOUNDED:
            return gathered(run_local(plan, input_paths(files, folder)))
        names = [f"{file.stream} {file.input}" for file in files]
        inputs: dict[str, tuple[str, ...]] = {}
        for name, file in zip(names, files, strict=True):
            inputs[file.stream] = tuple(dict.fromkeys((*inputs.get(file.stream, ()), name)))
        paths = [str(path) for path in write_files(files, folder)]
        return gathered(stream_local(plan, list(zip(names, paths, strict=True)), inputs=inputs))


def checked(case: Case) -> Catalogue:
    """The checked streams and queries of a case; raises QueriesRefused."""
    return _checked(case.queries, bool(case.errors))


def plan_of(case: Case, zones: int = 1) -> Plan:
    """The queries that the case expects answers of, views among them, and what they read: rows need no columns for others.

    If it expects no answers, the plan has all queries.
    """
    tested = {query for expected in case.expected.values() for query in expected.answers}
    chosen = frozenset(tested.intersection(checked(case).queries))
    return _planned(case.queries, bool(case.errors), zones, chosen)


@lru_cache(maxsize=16)
def _checked(queries: Queries, expects_errors: bool) -> Catalogue:
    # Few rows are stored here: queries that a run with --most-history accepts can be tested, and their error can be expected.
    longest = MOST_HISTORY_US if expects_errors else END
    return check(queries.text, file=queries.file, most_history_us=longest)


@lru_cache(maxsize=16)
def _planned(queries: Queries, expects_errors: bool, zones: int, chosen: frozenset[str]) -> Plan:
    catalogue = _checked(queries, expects_errors)
    return make_plan(catalogue, queries.text, zones=zones, chosen=chosen or None)


def observe(case: Case, run: RunKind, engine: Engine) -> Observed:
    """Everything that a run of a case gives."""
    plan = plan_of(case, engine.zones)
    files = complete_files(case, plan)
    with temporary_folder("test") as folder:
        write_files(files, folder.path)
        plan, observed = with_sets(plan, files, folder.path)
        rows = [file for file in files if not file.points]
        ran = engine.observe(plan, rows, run, folder.path)
    return Observed(ran.answers, ran.late, [*observed.bad, *ran.bad])


def complete_files(case: Case, plan: Plan) -> list[InputFile]:
    """The files of a case; rows that leave columns out have them."""
    declared = columns_declared(plan)
    return [with_all_columns(file, declared.get(file.stream, ())) for file in case.files]


def columns_declared(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The columns of every stream and every set of points."""
    found = {stream.name: tuple(name for name, _ in stream.columns) for stream in plan.streams}
    return found | {points.name: tuple(name for name, _ in points.columns) for points in plan.points}


def with_sets(plan: Plan, files: Iterable[InputFile], folder: Path) -> tuple[Plan, Observed]:
    """A plan with the points and fences that its queries use, and the bad rows among those."""
    observed = Observed()
    if not plan.points and not plan.fences:
        return plan, observed
    sets = sets_from_files(plan, input_paths((file for file in files if file.points), folder))
    for row in objects(sets.bad):
        observed.take("bad", row["stream"], row)
    return plan.with_sets(sets.rows), observed


def gathered(run: Iterable[RunReport]) -> Observed:
    """All reports of a run of the plain loop."""
    observed = Observed()
    for part in run:
        for rows in part.answers:
            for answer in objects(rows):
                observed.take("answer", answer["query"], answer)
        for stream, rows in part.late.items():
            for row in objects(rows):
                observed.take("late", stream, row)
        for row in objects(part.bad):
            observed.take("bad", row["stream"], row)
    return observed


def objects(rows: Rows) -> list[Row]:
    """Rows as JSON objects."""
    return [json.loads(line) for line in json_lines(rows).to_pylist()]
