"""Does what a case names exist in its queries? Streams, sets, queries, columns, and values that a column can have.

Every mistake is reported, with its place in the test file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from headwater.hosts.declared_sets import used_fences, used_points
from headwater.model import ColumnType, QueryError, Span
from headwater.query.language.suggestions import suggest
from headwater.query.planning.plan import Plan
from headwater.testing.cases import Case, CaseFile, Table
from headwater.testing.input_files import header_of
from headwater.testing.matching import can_be
from headwater.testing.runs import checked, columns_declared


def wrong_names(file: CaseFile, case: Case, plan: Plan) -> list[QueryError]:
    """Everything in a case that its queries do not have."""
    lines = file.text.split("\n")
    found = chain(
        _wrong_inputs(case, plan), _wrong_answers(case, plan, lines), _wrong_late(case, plan, lines)
    )
    unique = {(error.span, error.message): error for error in found}  # one table may be that of two runs
    return list(unique.values())


def answer_columns(plan: Plan, query: str) -> dict[str, ColumnType]:
    """The columns that an expected answer may have."""
    return {"event_time": ColumnType.TIMESTAMP, "match_id": ColumnType.ID, **plan.selected(query)}


def _wrong_inputs(case: Case, plan: Plan) -> Iterator[QueryError]:
    known = {
        "rows": ("streams", [stream.name for stream in plan.streams]),
        "points": ("points", [points.name for points in plan.points]),
        "fences": ("fences", [fences.name for fences in plan.fences]),
    }
    declared = columns_declared(plan)
    for file, (kind, name, line) in zip(case.files, case.inputs, strict=True):
        what, names = known[kind]
        if name not in names:
            is_stream = kind == "rows"
            message = f"there {'is no stream' if is_stream else f'are no {what}'} named '{name}'"
            code = "unknown-stream" if is_stream else f"unknown-{what}"
            yield _error(code, message, Span(line, 1), suggest(name, names, what))
            continue
        for column in header_of(file) if name in declared else ():
            if column not in declared[name]:
                advice = suggest(column, declared[name], "columns")
                advice.append(f"'== {kind} {name} as csv' allows other columns too")
                message = f"{kind} of '{name}' have no column named '{column}'"
                yield _error("unknown-column", message, Span(line + 1, 1), advice)
    in_case = {file.stream for file in case.files}
    used = {points.name: "points" for points in used_points(plan)}
    used |= {fences.name: "fences" for fences in used_fences(plan)}
    for name, kind in used.items():
        if name not in in_case:
            message = f"the queries use the {kind} '{name}', and the case '{case.name}' does not give them"
            yield _error("incomplete-case", message, Span(case.line, 1), [f"write '== {kind} {name}'"])


def _wrong_answers(case: Case, plan: Plan, lines: list[str]) -> Iterator[QueryError]:
    queries = checked(case).queries
    public = [name for name, query in queries.items() if not query.tree.hidden]
    for expected in case.expected.values():
        for name, table in expected.answers.items():
            if name not in public:
                message = f"there is no query named '{name}'"
                yield _error(
                    "unknown-query", message, Span(table.section_line, 1), suggest(name, public, "queries")
                )
            else:
                yield from _wrong_cells(table, answer_columns(plan, name), f"answers of '{name}'", lines)


def _wrong_late(case: Case, plan: Plan, lines: list[str]) -> Iterator[QueryError]:
    streams = {stream.name: stream for stream in plan.streams}
    for expected in case.expected.values():
        for name, table in expected.late.items():
            if name not in streams:
                message = f"there is no stream named '{name}'"
                yield _error(
                    "unknown-stream", message, Span(table.section_line, 1), suggest(name, streams, "streams")
                )
            else:
                types = {column: streams[name].types[column] for column in plan.columns_read(name)}
                yield from _wrong_cells(table, types, f"late rows of '{name}'", lines)


def _wrong_cells(
    table: Table, types: Mapping[str, ColumnType], whose: str, lines: list[str]
) -> Iterator[QueryError]:
    for name in table.header:
        if name not in types:
            span = _span(lines, table.header_line, name)
            yield _error(
                "unknown-column",
                f"{whose} have no column named '{name}'",
                span,
                suggest(name, types, "columns"),
            )
    for number, line in zip(table.numbers, table.lines, strict=True):
        for name, cell in zip(table.header, line, strict=True):
            if name in types and not can_be(cell, types[name]):
                message = f"'{cell}' is not a {types[name].name} (column '{name}')"
                yield _error("wrong-table", message, _span(lines, number, cell), [])


def _span(lines: list[str], number: int, words: str) -> Span:
    place = lines[number - 1].find(words)
    return Span(number, max(place, 0) + 1, len(words) if place >= 0 else 1)


def _error(code: str, message: str, span: Span, advice: Iterable[str]) -> QueryError:
    return QueryError(code, message, span=span, advice=tuple(advice))
