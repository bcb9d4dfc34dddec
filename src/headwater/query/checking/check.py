"""Can every query of a text be answered? Checks names, types and meaning, and reports all errors at once.

Statements may be in any order: a query may read a stream or a query created further down. The result of a broken statement
stays unknown, so that one mistake is reported once and not again by everything that reads it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwater.model import QueriesRefused, QueryError, StreamSchema
from headwater.query.checking.answer_columns import Columns, SelectList
from headwater.query.checking.answers import (
    answers_as_stream,
    used_of,
    visible_columns,
)
from headwater.query.checking.catalogue import (
    Catalogue,
    CheckedFences,
    CheckedPoints,
    CheckedQuery,
    CheckedStream,
)
from headwater.query.checking.chain_length import check_chain_length
from headwater.query.checking.chains import check_chain
from headwater.query.checking.complaints import Complaints, EnoughErrors
from headwater.query.checking.downstream_of_follow import (
    Read,
    check_bounded,
    check_downstream_sources,
    check_stamp_names,
    stamps_in,
)
from headwater.query.checking.history_limit import MOST_HISTORY_US, check_history
from headwater.query.checking.operator_pairs import emits_interests, runs_others
from headwater.query.checking.points_and_fences import check_fences, check_points
from headwater.query.checking.query_sources import QuerySources
from headwater.query.checking.selects import check_select_list, check_where
from headwater.query.checking.sources import Created, is_hidden, sources_of, spans_of, what_it_is
from headwater.query.checking.streams import check_stream
from headwater.query.checking.written_out_chains import expand
from headwater.query.language.parse import parse
from headwater.query.language.tokens import MOST_ERRORS
from headwater.query.language.tree import (
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Script,
    Statement,
)
from headwater.query.operators.contract import Beside
from headwater.query.operators.union import AnyOperator, SelectOperator

_CREATED = re.compile(r'\bCREATE\s+\w+\s+("(?:[^"]|"")*"|\w+)', re.IGNORECASE)

_Shown = tuple[Columns, SelectList, Columns]


def check(
    script: Script | str,
    text: str = "",
    file: str = "query",
    *,
    syntax: Sequence[QueryError] = (),
    most_history_us: int = MOST_HISTORY_US,
) -> Catalogue:
    """The checked streams, points, fences and queries of a script or of a text; raises QueriesRefused with all errors.

    `text` is the text that the script was read from. `syntax` are errors of statements that could not be read and are not in the
    script: they are reported too, and names that those statements may have created are not called unknown. `most_history_us` is
    how long a FOLLOW may store events.
    """
    if isinstance(script, str):
        text = script
        script, syntax = parse(text)
    complaints = Complaints(most=MOST_ERRORS)
    complaints.errors += syntax
    with contextlib.suppress(EnoughErrors):
        script, broken = _without_chains(script, complaints)
        unread = _names_in(text) if syntax else None
        catalogue = _Checker(script, complaints, unread, broken).run()
        check_history(catalogue, most_history_us, complaints)
        if not complaints.errors:
            return catalogue
    unfinished = len(complaints.errors) >= MOST_ERRORS
    raise QueriesRefused(complaints.in_order(), text, file, unfinished=unfinished)


@dataclass(slots=True)
class _Checker:
    """One pass over a script; a name that is not in `schemas` is unknown or broken.

    `unread` are names that unreadable statements may have created; None: all statements could be read. `broken` are the
    queries of which nothing after FROM can be checked, by `id`. `downstream_of` is the FOLLOW that a query is downstream of, `stamps` are
    the columns that a FOLLOW adds to answers.
    """

    script: Script
    complaints: Complaints
    unread: frozenset[str] | None
    broken: frozenset[int]
    streams: dict[str, CheckedStream] = field(default_factory=dict)
    queries: dict[str, CheckedQuery] = field(default_factory=dict)
    points: dict[str, CheckedPoints] = field(default_factory=dict)
    fences: dict[str, CheckedFences] = field(default_factory=dict)
    schemas: dict[str, StreamSchema] = field(default_factory=dict)
    named: dict[str, Statement] = field(default_factory=dict)
    repeated: list[Statement] = field(default_factory=list)
    starred: dict[object, _Shown] = field(default_factory=dict)
    downstream_of: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, Columns] = field(default_factory=dict)

    @property
    def created(self) -> Created:
        """What is created, for questions about it."""
        return Created(self.named, self.unread, self.complaints)

    def run(self) -> Catalogue:
        """Streams, points and fences first, then queries in the order in which they read one another."""
        self._names()
        for statement in self.named.values():
            if isinstance(statement, CreateStream) and (stream := check_stream(statement, self.complaints)):
                self.streams[stream.schema.name] = stream
                self.schemas[stream.schema.name] = stream.schema
            elif isinstance(statement, CreatePoints) and (points := check_points(statement, self.complaints)):
                self.points[points.schema.name] = points
            elif isinstance(statement, CreateFences) and (fences := check_fences(statement, self.complaints)):
                self.fences[fences.schema.name] = fences
        created = {name: tree for name, tree in self.named.items() if isinstance(tree, CreateQuery)}
        if self.unread is None and not any(isinstance(tree, CreateQuery) for tree in self.script.statements):
            self.complaints.refuse(
                "empty-script", "there is no query to answer", None, "add CREATE QUERY name AS SELECT …"
            )
        places: dict[str, int] = {}
        for tree in self._in_reading_order(created):
            places[tree.name] = check_chain_length(tree, places, self.complaints)
            if query := self._query(tree):
                self.queries[query.name] = query
        self._check_repeated()
        return Catalogue(self.streams, self.queries, self.points, self.fences)

    def _names(self) -> None:
        for statement in self.script.statements:
            if statement.name not in self.named:
                self.named[statement.name] = statement
                continue
            self.repeated.append(statement)
            self.complaints.refuse(
                "duplicate-name",
                f"there {what_it_is(self.named[statement.name])} named '{statement.name}' already",
                statement.span,
                "streams, points, fences and queries share one namespace: rename one of the two",
            )

    def _check_repeated(self) -> None:
        """What has a name that is taken has its own errors as well."""
        for statement in self.repeated:
            if isinstance(statement, CreateStream):
                check_stream(statement, self.complaints)
            elif isinstance(statement, CreatePoints):
                check_points(statement, self.complaints)
            elif isinstance(statement, CreateFences):
                check_fences(statement, self.complaints)
            else:
                self._query(statement)

    def _in_reading_order(self, created: Mapping[str, CreateQuery]) -> list[CreateQuery]:
        """Each query after those it reads; those that read one another in a circle are refused and left out."""
        placed: dict[str, CreateQuery] = {}
        left: set[str] = set()
        refused: set[str] = set()
        for start in created:
            path = {} if start in left else {start: iter(sources_of(created[start]))}
            while path:
                name = next(reversed(path))
                source = next(path[name], None)
                if source is None:
                    del path[name]
                    left.add(name)
                    if name not in refused:
                        placed[name] = created[name]
                elif source in path:
                    names = list(path)
                    circle = names[names.index(source) :]
                    self._refuse_circle(circle, created)
                    refused.update(circle)
                elif source in created and source not in left:
                    path[source] = iter(sources_of(created[source]))
        return list(placed.values())

    def _refuse_circle(self, circle: Sequence[str], created: Mapping[str, CreateQuery]) -> None:
        written = [name for name in circle if not created[name].hidden]
        steps = " reads ".join(f"'{name}'" for name in [*written, written[0]])
        self.complaints.refuse(
            "cyclic-query",
            f"queries cannot read one another in a cycle: {steps}",
            created[circle[0]].select.source_span or created[circle[0]].span,
            "let one of them read a stream",
        )

    def _query(self, tree: CreateQuery) -> CheckedQuery | None:
        self.created.sources_exist(tree)
        if id(tree) in self.broken:
            return None
        before = len(self.complaints.errors)
        follow = self._find_follow(tree)
        schema = self._schema_read(tree)
        if schema:
            self._check_where(tree, schema, follow)
        operator = self._operator(tree, schema)
        if schema is None or operator is None:
            return None
        if follow and follow != tree.name:
            check_bounded(tree, operator, self.queries, self.streams, self.complaints)
        beside = self._schema_of(operator.declared_set or operator.reads_beside)
        if added := operator.stamps(beside):
            self.stamps.setdefault(tree.name, added)
        stamps = self.stamps.get(follow, ()) if follow else ()
        shown = self._columns(tree, schema, operator, beside, stamps)
        if shown is None:
            return None
        answers, selected, columns = shown
        own = answers[: len(answers) - len(stamps)]
        operator = operator.having_selected(own, selected)
        derived = answers_as_stream(tree.name, schema, columns, operator.key_names(schema, beside))
        self.schemas.setdefault(tree.name, derived)
        if len(self.complaints.errors) > before:
            return None
        return CheckedQuery(tree, operator, answers, selected, derived, follow)

    def _schema_read(self, tree: CreateQuery) -> StreamSchema | None:
        """What a query reads as one; None where something of it is not known."""
        select = tree.select
        if select.operator is None:
            return self.schemas.get(select.source)
        names = (select.source, *select.further_sources)
        return select.operator.source_schema([self.schemas.get(name) for name in names])

    def _check_where(self, tree: CreateQuery, schema: StreamSchema, follow: str | None) -> None:
        """WHERE is a condition on rows; stamps are no columns of theirs."""
        where = tree.select.where
        stamps = stamps_in(where) if follow and follow != tree.name else ()
        if not stamps:
            check_where(where, schema.types, self.complaints)
            return
        self.complaints.refuse(
            "unknown-column",
            f"rows downstream of FOLLOW have no '{stamps[0].name}'; only answers have it",
            stamps[0].span or tree.select.span,
            "select focal objects in FOLLOW (… WHERE …); a SELECT list may name focal, interest and historical",
        )

    def _operator(self, tree: CreateQuery, schema: StreamSchema | None) -> AnyOperator | None:
        """The operator with every choice made; None where something is wrong with it."""
        if tree.select.operator is None:
            return SelectOperator()
        sources = QuerySources(
            tree, schema, self.streams, self.schemas, self.points, self.fences, self.created
        )
        return tree.select.operator.check_with(sources)

    def _find_follow(self, tree: CreateQuery) -> str | None:
        """The FOLLOW that a query is downstream of, if any."""
        if not self.downstream_of and not runs_others(tree.select.operator):
            return None
        sources = [
            Read(
                self._written(name),
                span or tree.span,
                self.downstream_of.get(name),
                self._emits_interests(name),
            )
            for name, span in spans_of(tree).items()
            if name in self.schemas
        ]
        follow = check_downstream_sources(tree, sources, self.complaints)
        if follow:
            self.downstream_of.setdefault(tree.name, follow)
        return follow

    def _emits_interests(self, name: str) -> bool:
        query = self.queries.get(name)
        return query is not None and emits_interests(query.operator)

    def _written(self, name: str) -> str:
        """The name of the query as written, for one that is a link of it."""
        created = self.named.get(name)
        return name.rpartition("/")[0] if created and is_hidden(created) else name

    def _columns(
        self, tree: CreateQuery, schema: StreamSchema, operator: AnyOperator, beside: Beside, stamps: Columns
    ) -> _Shown | None:
        """What a query's kernel answers and what is selected of it; made once for queries that ask for the same by `*`."""
        before = len(self.complaints.errors)
        alike = None if tree.select.items is not None else operator.columns_depend_on
        if alike and (schema.name, alike) in self.starred:
            return self.starred[schema.name, alike]
        answers, starred, further = operator.columns(schema, beside)
        operator.check_select_list(tree.select.items or (), self.complaints)
        if stamps:
            check_stamp_names(tree, answers, self.complaints)
        scope, starred = (*answers, *further, *stamps), (*stamps, *starred)
        selected = check_select_list(tree.select.items, scope, starred, self.complaints)
        if selected is None:
            return None
        used = used_of(further, selected) if further else ()
        answers = (*answers, *used, *stamps) if used or stamps else answers
        shown = answers, selected, visible_columns(selected, stamps)
        if alike and len(self.complaints.errors) == before:
            self.starred[schema.name, alike] = shown
        return shown

    def _schema_of(self, name: str | None) -> Beside:
        """The schema of what an operator reads beside FROM, or of its set."""
        if name in self.points:
            return self.points[name].schema
        if name in self.fences:
            return self.fences[name].schema
        return self.schemas.get(name) if name else None


def _without_chains(script: Script, complaints: Complaints) -> tuple[Script, frozenset[int]]:
    """The script with chains of operators written out, and the queries of which nothing after FROM can be checked, by `id`."""
    if not any(_reads_further(statement) for statement in script.statements):
        return script, frozenset()
    statements: list[Statement] = []
    broken: set[int] = set()
    for statement in script.statements:
        whole = check_chain(statement, complaints) if isinstance(statement, CreateQuery) else statement
        if whole is None:
            broken.add(id(statement))
            statements.append(statement)
        else:
            statements += expand(Script((whole,))).statements
    return Script(tuple(statements)), frozenset(broken)


def _reads_further(statement: Statement) -> bool:
    if not isinstance(statement, CreateQuery):
        return False
    return bool(statement.select.chain or statement.select.further_sources)


def _names_in(text: str) -> frozenset[str]:
    """The names after every CREATE of a text, whatever its other errors."""
    quoted = (name.removeprefix('"').removesuffix('"').replace('""', '"') for name in _CREATED.findall(text))
    return frozenset(quoted)
