"""Does all exist that a query names, and is it what it must be: a stream or a query, points, fences?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.model import Span
from headwater.query.checking.complaints import Complaints
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import (
    CreateFences,
    CreatePoints,
    CreateQuery,
    CreateStream,
    Statement,
)


@dataclass(frozen=True, slots=True)
class Created:
    """What a script creates, by name; `unread` are names that statements may have created which could not be read, if any could not."""

    named: Mapping[str, Statement]
    unread: frozenset[str] | None
    complaints: Complaints

    def is_unread(self, name: str) -> bool:
        """Whether a statement that could not be read may have created it."""
        return self.unread is not None and name in self.unread

    def points_exist(self, name: str, span: Span | None) -> None:
        """Those of TO EACH OF."""
        created = self.named.get(name)
        if isinstance(created, CreateStream | CreateQuery | CreateFences):
            self.complaints.refuse(
                "wrong-source",
                f"'{name}' {what_it_is(created)}, but TO EACH OF takes points",
                span,
                f"create points with another name: CREATE POINTS {name}_points (id STRING KEY, …)",
            )
        elif created is None and not self.is_unread(name):
            known = [other for other, tree in self.named.items() if isinstance(tree, CreatePoints)]
            advice = suggest(name, known, "points")
            self.complaints.refuse(
                "unknown-points",
                f"there are no points named '{name}'",
                span,
                *advice,
                *([] if known else [f"create them: CREATE POINTS {name} (id STRING KEY, …)"]),
            )

    def sources_exist(self, tree: CreateQuery) -> None:
        """All that a query reads."""
        fences = _fences_of(tree)
        for source, span in spans_of(tree).items():
            if source not in fences or source in (tree.select.source, *tree.select.further_sources):
                self._source_exists(tree, source, span)
            else:
                self._fences_exist(source, span)

    def _fences_exist(self, name: str, span: Span | None) -> None:
        created = self.named.get(name)
        if isinstance(created, CreatePoints):
            self.complaints.refuse(
                "wrong-source",
                f"'{name}' are points, but FENCE takes fences",
                span,
                f"create fences with another name: CREATE FENCES {name}_fences (name STRING KEY); or declare them as a stream with KEY and PLACE",
            )
        elif created is None and not self.is_unread(name):
            known = [other for other, tree in self.named.items() if isinstance(tree, CreateFences)]
            self.complaints.refuse(
                "unknown-fences",
                f"there are no fences and no stream named '{name}'",
                span,
                *suggest(name, known, "fences"),
                *([] if known else [f"create them: CREATE FENCES {name} (name STRING KEY)"]),
            )

    def _source_exists(self, tree: CreateQuery, source: str, span: Span | None) -> None:
        if isinstance(self.named.get(source), CreatePoints):
            self.complaints.refuse(
                "wrong-source",
                f"'{source}' are points, but queries read streams",
                span,
                f"read a stream and find what is near each point: NEAREST (1 TO EACH OF {source} …)",
            )
        if isinstance(self.named.get(source), CreateFences):
            self.complaints.refuse(
                "wrong-source",
                f"'{source}' are fences, but queries read streams",
                span,
                f"read a stream of positions and test them against the fences: FENCE ({source})",
            )
        if source in self.named or self.is_unread(source):
            return
        own = {tree.name, tree.name.rpartition("/")[0] if tree.hidden else tree.name}
        streams = (
            name
            for name, created in self.named.items()
            if not isinstance(created, CreatePoints | CreateFences)
            and not is_hidden(created)
            and name not in own
        )
        self.complaints.refuse(
            "unknown-stream",
            f"there is no stream named '{source}'",
            span,
            *suggest(source, streams, "streams"),
        )


def sources_of(tree: CreateQuery) -> tuple[str, ...]:
    """All that a query reads, each once; last the focals of a FOLLOW, or the fences of a FENCE."""
    return tuple(spans_of(tree))


def spans_of(tree: CreateQuery) -> dict[str, Span | None]:
    """The places of all sources of a query, by their names."""
    select = tree.select
    named = (select.source, *select.further_sources)
    places = (select.source_span or tree.span, *select.further_spans)
    found: dict[str, Span | None] = {}
    for number, name in enumerate(named):
        found.setdefault(name, places[number] if number < len(places) else tree.span)
    for operator in (*select.chain, select.operator):
        for name, span in operator.further_sources() if operator else ():
            found.setdefault(name, span or tree.span)
    return found


def _fences_of(tree: CreateQuery) -> set[str]:
    """The fences that a query names."""
    operators = (*tree.select.chain, tree.select.operator)
    takers = (operator for operator in operators if operator and operator.takes_fences)
    return {name for operator in takers for name, _ in operator.further_sources()}


def is_hidden(created: Statement) -> bool:
    """Whether it is a link of a chain, which the user did not write as a query."""
    return isinstance(created, CreateQuery) and created.hidden


def what_it_is(created: Statement) -> str:
    """In words, as what follows its name."""
    if isinstance(created, CreatePoints):
        return "are points"
    if isinstance(created, CreateFences):
        return "are fences"
    if isinstance(created, CreateQuery):
        return "is a view" if created.view else "is a query"
    return "is a stream"
