"""Golden cases on every host: one small function a host, and many cases in one run of it.

Starting Spark for every case would take minutes, so all cases become one text: streams and queries get a prefix of their
case, and the files of a case become the files of its own inputs. What comes out is given back to the case it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from headwater.hosts.declared_sets import DeclaredSets, sets_from_files
from headwater.hosts.files import find_files, read_file_rows, rows_to_arrow
from headwater.hosts.local import RunReport as LocalReport
from headwater.hosts.local import run_local, stream_local
from headwater.model import Rows, join_rows
from headwater.query.language.parse import parse
from headwater.query.language.printer import show
from headwater.query.language.tree import CreateQuery, Literal, Operator, Script, Statement
from headwater.query.operators.fence.tree import Fence
from headwater.query.operators.follow.tree import Follow
from headwater.query.operators.nearest.tree import EachTarget, Nearest
from headwater.query.planning.plan import Plan, compile_text
from headwater.testing.input_files import input_paths, write_files
from headwater.testing.runs import Observed, Row, gathered, objects
from tests.golden.case import Case

ZONES = 4


class Together:
    """Many cases as one text and one set of inputs, in one of their starts; a case that has no more goes on as it was."""

    def __init__(self, cases: Sequence[Case], folder: Path, start: int = 0) -> None:
        self.cases = cases
        self.paths: dict[str, list[str]] = {}
        self.points = DeclaredSets()
        self.streams: set[str] = set()
        statements: list[Statement] = []
        for number, case in enumerate(cases):
            script, errors = parse(case.starts[: start + 1][-1].text)
            assert not errors, f"{case.name}: {errors[0]}"
            statements += prefixed(script, f"c{number}_")
            for stream, paths in write_inputs(case, folder / f"c{number}", start).items():
                self.paths[f"c{number}_{stream}"] = paths
        self.text = show(Script(tuple(statements)))

    def plan(self, *, zones: int = ZONES) -> Plan:
        """The plan of all cases, with their points."""
        plan, self.points = with_points(
            compile_text(self.text, zones=zones, file="all golden files"), self.paths
        )
        self.streams = {stream.name for stream in plan.streams}
        return plan

    @property
    def stream_paths(self) -> dict[str, list[str]]:
        """The inputs of the plan's streams."""
        return {name: paths for name, paths in self.paths.items() if name in self.streams}

    def shared_out(self, table: Iterable[tuple[str, str, str]]) -> dict[str, Observed]:
        """(kind, name, body) of a whole run, by case; and the bad rows among the points."""
        observed = {case.name: Observed() for case in self.cases}
        bad = (("bad", row["stream"], json.dumps(row)) for row in objects(self.points.bad))
        for kind, name, body in chain(bad, table):
            if kind in ("answer", "late", "bad"):
                number, _, own = name.partition("_")
                row = _own_names(json.loads(body), f"{number}_")
                observed[self.cases[int(number[1:])].name].take(kind, own, row)
        return observed


@cache
def compiled(text: str) -> Plan:
    """The plan of a case, which no run changes: every host and every comparison uses the same."""
    return compile_text(text)


def run_on_local(case: Case, folder: Path) -> Observed:
    """One case by itself, under its own names, in the plain loop, as a bounded run."""
    paths = write_inputs(case, folder)
    plan, points = with_points(compiled(case.text), paths)
    return gathered([LocalReport(bad=points.bad), *run_local(plan, paths)])


def follow_on_local(case: Case, folder: Path) -> Observed:
    """One case by itself, in the plain loop, its files followed in the order in which the case gives them."""
    names = [f"{file.stream} {file.input}" for file in case.files]
    inputs = {
        stream: tuple(
            dict.fromkeys(name for name, file in zip(names, case.files, strict=True) if file.stream == stream)
        )
        for stream in case.streams
    }
    plan, points = with_points(compiled(case.text), write_inputs(case, folder))
    arrivals = [
        (name, str(path))
        for name, file, path in zip(names, case.files, write_files(case.files, folder), strict=True)
        if not file.points
    ]
    return gathered([LocalReport(bad=points.bad), *stream_local(plan, arrivals, inputs=inputs)])


def run_together_on_local(cases: Sequence[Case], folder: Path) -> dict[str, Observed]:
    """All cases in one bounded run of the plain loop: identities hold the names of queries, so these compare with Spark's."""
    together = Together(cases, folder)
    answers = [
        ("answer", answer["query"], json.dumps(answer))
        for part in run_local(together.plan(zones=1), together.paths)
        for rows in part.answers
        for answer in objects(rows)
    ]
    return together.shared_out(answers)


def run_on_spark_batch(cases: Sequence[Case], folder: Path, spark: Any) -> dict[str, Observed]:
    """All cases in one batch."""
    from headwater.hosts.spark.file_runs import run_batch

    together = Together(cases, folder)
    plan = together.plan()
    table = pa.Table.from_batches(run_batch(spark, plan, together.stream_paths))
    return together.shared_out(lines_in(table))


def run_on_spark_streaming(cases: Sequence[Case], folder: Path, spark: Any) -> dict[str, Observed]:
    """All cases in one streaming query; file i of every case comes in micro-batch i, then the input ends."""
    from headwater.hosts.spark.checkpoint import hold
    from headwater.hosts.spark.file_runs import run_streaming
    from headwater.hosts.spark.streaming import StreamingOptions
    from headwater.hosts.spark.zone_report import ZoneReport, table_of

    together = Together(cases, folder / "in")
    plan = together.plan()
    lines: list[tuple[str, str, str]] = []

    def each(zones: Sequence[ZoneReport], _: int) -> None:
        lines.extend(lines_in(table_of(zones)))

    with hold(folder / "checkpoint", plan) as held:
        query = run_streaming(
            spark,
            plan,
            together.stream_paths,
            each,
            checkpoint=held,
            options=StreamingOptions(files_per_batch=1, ends=True),
        )
        query.awaitTermination()
        assert query.exception() is None
    return together.shared_out(lines)


def run_on_dataframes(cases: Sequence[Case], folder: Path, spark: Any) -> dict[str, Observed]:
    """All cases in one run over static DataFrames: what is of use is decided by Catalyst, and not by the readers."""
    import headwater as hw

    together = Together(cases, folder)
    plan = together.plan()
    frames = {}
    for stream, paths in together.stream_paths.items():
        schema = plan.stream(stream)
        names = [name for name, _ in schema.columns]
        files = [file for path in paths for file in find_files(path)]
        pieces = [piece.rows for file in files for piece in read_file_rows(file, schema, names)]
        frames[stream] = spark.createDataFrame(rows_to_arrow(join_rows([Rows.empty(schema.types), *pieces])))
    for name, rows in together.points.rows.items():
        frames[name] = spark.createDataFrame(rows_to_arrow(rows))
    answers = hw.run(together.text, frames, zones=ZONES).all().df.collect()
    return together.shared_out(("answer", row.query, row.answer) for row in answers)


def prefixed(script: Script, prefix: str) -> list[Statement]:
    """The statements with a prefix before every stream, query and set of points, so that cases cannot meet."""
    renamed: list[Statement] = []
    for statement in script.statements:
        new = replace(statement, name=prefix + statement.name)
        if isinstance(new, CreateQuery):
            further = tuple(prefix + name for name in new.select.further_sources)
            select = replace(new.select, source=prefix + new.select.source, further_sources=further)
            if isinstance(near := select.operator, Nearest) and isinstance(near.target, EachTarget):
                target = replace(near.target, points=prefix + near.target.points)
                select = replace(select, operator=replace(near, target=target))
            if select.operator:
                select = replace(select, operator=_prefixed_focals(select.operator, prefix))
            chain = tuple(_prefixed_focals(operator, prefix) for operator in select.chain)
            select = replace(select, chain=chain)
            if further:
                observed = {
                    name: prefix + name
                    for name in (statement.select.source, *statement.select.further_sources)
                }
                select = _with_names(select, observed)
            new = replace(new, select=select)
        renamed.append(new)
    return renamed


def _prefixed_focals(operator: Operator, prefix: str) -> Operator:
    if isinstance(operator, Fence):
        return replace(operator, fences=prefix + operator.fences)
    return replace(operator, focals=prefix + operator.focals) if isinstance(operator, Follow) else operator


def _with_names(part: Any, names: Mapping[str, str]) -> Any:
    """A tree in which texts that are names of streams, to which `source` is compared, are other names."""
    if isinstance(part, Literal):
        return replace(part, value=names.get(part.value, part.value)) if isinstance(part.value, str) else part
    if isinstance(part, tuple):
        return tuple(_with_names(one, names) for one in part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(
            part, **{one.name: _with_names(getattr(part, one.name), names) for one in fields(part)}
        )
    return part


def _own_names(row: Row, prefix: str) -> Row:
    """An answer whose `source` is named as in its own case."""
    named = row.get("source")
    return {**row, "source": named.removeprefix(prefix)} if isinstance(named, str) else row


def with_points(plan: Plan, paths: Mapping[str, Sequence[str]]) -> tuple[Plan, DeclaredSets]:
    """A plan with the points that its queries ask about."""
    if not plan.points and not plan.fences:
        return plan, DeclaredSets()
    given = sets_from_files(plan, paths)
    return plan.with_sets(given.rows), given


def write_inputs(case: Case, folder: Path, start: int = 0) -> dict[str, list[str]]:
    """The files of one start of a case, one folder an input: the folders of every input, empty or not yet written to as well."""
    paths = input_paths((file for each in case.starts for file in each.files), folder)
    for each in case.starts[start : start + 1]:
        write_files(each.files, folder)
    return paths


def lines_in(table: pa.Table) -> list[tuple[str, str, str]]:
    """(kind, name, body) of a table that a host tells."""
    return list(zip(*(table[name].to_pylist() for name in ("kind", "name", "body")), strict=True))
