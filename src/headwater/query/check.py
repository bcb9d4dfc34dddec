"""Can every query of a text be answered? Names, types and meaning, with every error there is, all at once.

Statements may stand in any order: a query may read a stream or a query created further down. What a broken statement
gives is left open, so that one mistake is told once and not again by everything that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwater.kernels.correlate.subscription import Emit
from headwater.model import QueriesRefused, QueryError, StreamSchema
from headwater.query.catalogue import (
    RESERVED,
    Catalogue,
    CheckedQuery,
    CheckedStream,
    Columns,
    Correlation,
    Recognition,
    SelectList,
)
from headwater.query.checks.answers import (
    answers_as_stream,
    correlation_columns,
    recognition_columns,
    row_columns,
)
from headwater.query.checks.complaints import Complaints, suggest
from headwater.query.checks.correlations import check_correlation
from headwater.query.checks.patterns import check_recognition
from headwater.query.checks.selects import check_select_list, check_where
from headwater.query.checks.streams import check_stream
from headwater.query.parse import parse
from headwater.query.tree import CreateQuery, CreateStream, MatchRecognize, Script, Statement

_CREATED = re.compile(r'\bCREATE\s+\w+\s+("(?:[^"]|"")*"|\w+)', re.IGNORECASE)

_Shown = tuple[Columns, SelectList, Columns]


def check(
    script: Script | str, text: str = "", file: str = "query", *, syntax: Sequence[QueryError] = ()
) -> Catalogue:
    """The checked streams and queries of a script or of a text; raises QueriesRefused with all errors.

    `text` is what the script was read from. `syntax` are errors of statements that could not be read and are not in the
    script: they are told along, and names that those statements may have created are not called unknown.
    """
    if isinstance(script, str):
        text = script
        script, syntax = parse(text)
    complaints = Complaints()
    complaints.errors += syntax
    catalogue = _Checker(script, complaints, unread=_names_in(text) if syntax else None).run()
    if complaints.errors:
        raise QueriesRefused(complaints.in_order(), text, file)
    return catalogue


@dataclass(slots=True)
class _Checker:
    """One pass over a script; what is not in `schemas` is unknown or broken.

    `unread` are names that statements may have created which could not be read; None: all could be read.
    """

    script: Script
    complaints: Complaints
    unread: frozenset[str] | None
    streams: dict[str, CheckedStream] = field(default_factory=dict)
    queries: dict[str, CheckedQuery] = field(default_factory=dict)
    schemas: dict[str, StreamSchema] = field(default_factory=dict)
    named: dict[str, Statement] = field(default_factory=dict)
    repeated: list[Statement] = field(default_factory=list)
    starred: dict[object, _Shown] = field(default_factory=dict)

    def run(self) -> Catalogue:
        """Streams first, then queries in the order in which they read one another."""
        self._names()
        for statement in self.named.values():
            if isinstance(statement, CreateStream) and (stream := check_stream(statement, self.complaints)):
                self.streams[stream.schema.name] = stream
                self.schemas[stream.schema.name] = stream.schema
        created = {name: tree for name, tree in self.named.items() if isinstance(tree, CreateQuery)}
        if self.unread is None and not any(isinstance(tree, CreateQuery) for tree in self.script.statements):
            self.complaints.refuse(
                "empty-script", "there is no query to answer", None, "add CREATE QUERY name AS SELECT …"
            )
        for tree in self._in_reading_order(created):
            if query := self._query(tree):
                self.queries[query.name] = query
        self._check_repeated()
        return Catalogue(self.streams, self.queries)

    def _names(self) -> None:
        for statement in self.script.statements:
            if statement.name not in self.named:
                self.named[statement.name] = statement
                continue
            self.repeated.append(statement)
            first = "stream" if isinstance(self.named[statement.name], CreateStream) else "query"
            self.complaints.refuse(
                "duplicate-name",
                f"there is a {first} named '{statement.name}' already",
                statement.span,
                "streams and queries share their names: rename one of the two",
            )

    def _check_repeated(self) -> None:
        """What has a name that is taken has its own errors as well."""
        for statement in self.repeated:
            if isinstance(statement, CreateStream):
                check_stream(statement, self.complaints)
            else:
                self._query(statement)

    def _in_reading_order(self, created: Mapping[str, CreateQuery]) -> list[CreateQuery]:
        """Each query after the one it reads; those that read one another in a circle are refused and left out."""
        placed: dict[str, CreateQuery] = {}
        refused: set[str] = set()
        for name in created:
            path: list[str] = []
            while name in created and name not in placed and name not in refused and name not in path:
                path.append(name)
                name = created[name].select.source
            if name in path:
                circle = path[path.index(name) :]
                self._refuse_circle(circle, created)
                refused.update(circle)
            for step in reversed(path):
                if step not in refused:
                    placed[step] = created[step]
        return list(placed.values())

    def _refuse_circle(self, circle: Sequence[str], created: Mapping[str, CreateQuery]) -> None:
        steps = " reads ".join(f"'{name}'" for name in [*circle, circle[0]])
        self.complaints.refuse(
            "cyclic-query",
            f"queries cannot read one another in a circle: {steps}",
            created[circle[0]].select.source_span or created[circle[0]].span,
            "let one of them read a stream",
        )

    def _query(self, tree: CreateQuery) -> CheckedQuery | None:
        select = tree.select
        schema = self.schemas.get(select.source)
        self._source_exists(tree)
        before = len(self.complaints.errors)
        correlation: Correlation | None = None
        recognition: Recognition | None = None
        if schema:
            check_where(select.where, schema.types, self.complaints)
        if isinstance(select.operator, MatchRecognize):
            recognition = check_recognition(select.operator, schema, self.complaints)
        elif select.operator:
            stream = self.streams.get(select.source)
            refused_place = bool(stream and stream.tree.place and not stream.schema.place)
            correlation = check_correlation(
                select.operator, schema, self.complaints, place_known=not refused_place
            )
        if schema is None or (select.operator and not correlation and not recognition):
            return None
        shown = self._columns(tree, schema, correlation, recognition)
        if shown is None:
            return None
        answers, selected, columns = shown
        readings = correlation is not None and correlation.emit is Emit.READINGS
        derived = answers_as_stream(tree.name, schema, columns, readings=readings)
        self.schemas.setdefault(tree.name, derived)
        if len(self.complaints.errors) > before:
            return None
        return CheckedQuery(tree, correlation, recognition, answers, selected, derived)

    def _columns(
        self,
        tree: CreateQuery,
        schema: StreamSchema,
        correlation: Correlation | None,
        recognition: Recognition | None,
    ) -> _Shown | None:
        """What a query's kernel answers and what is selected of it; made once for queries that ask for the same by `*`."""
        before = len(self.complaints.errors)
        key = None
        if tree.select.items is None and correlation:
            key = schema.name, correlation.emit, tuple((c.name, c.attribute) for c in correlation.clauses)
            if key in self.starred:
                return self.starred[key]
        if correlation:
            answers, starred = correlation_columns(schema, correlation.clauses, correlation.emit)
            self._columns_differ(tree, answers)
        elif recognition:
            answers, starred = recognition_columns(schema, recognition)
        else:
            answers, starred = row_columns(schema)
        selected = check_select_list(tree.select.items, answers, starred, self.complaints)
        if selected is None:
            return None
        shown = answers, selected, tuple((name, kind) for name, _, kind in selected)
        if key and len(self.complaints.errors) == before:
            self.starred[key] = shown
        return shown

    def _source_exists(self, tree: CreateQuery) -> None:
        source = tree.select.source
        if source in self.named or (self.unread and source in self.unread):
            return
        self.complaints.refuse(
            "unknown-stream",
            f"there is no stream named '{source}'",
            tree.select.source_span or tree.span,
            *suggest(source, (name for name in self.named if name != tree.name), "streams"),
        )

    def _columns_differ(self, tree: CreateQuery, answers: Columns) -> None:
        """The columns made from clause names must be different from one another and from the reserved ones."""
        seen: set[str] = set()
        for name, _ in answers:
            if name in RESERVED:
                self.complaints.refuse(
                    "reserved-column",
                    f"a clause would give a column '{name}', which every answer has already",
                    tree.select.operator.span if tree.select.operator else tree.span,
                    "name the clause with AS",
                )
            elif name in seen:
                self.complaints.refuse(
                    "duplicate-name",
                    f"two columns of the answer would be named '{name}'",
                    tree.select.operator.span if tree.select.operator else tree.span,
                    "name the clauses with AS",
                )
            seen.add(name)


def _names_in(text: str) -> frozenset[str]:
    """The names behind every CREATE of a text, whatever else is wrong with it."""
    quoted = (name.removeprefix('"').removesuffix('"').replace('""', '"') for name in _CREATED.findall(text))
    return frozenset(quoted)
