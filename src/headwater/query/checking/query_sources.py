"""What the operator of one query is checked against: what it reads, as far as that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.model import FencesSchema, PointsSchema, Span, StreamSchema
from headwater.query.checking.catalogue import CheckedFences, CheckedPoints, CheckedStream
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.sources import Created, spans_of
from headwater.query.language.tree import CreateQuery


@dataclass(frozen=True, slots=True)
class QuerySources:
    """`schema` is what the operator of `tree` reads as one. What was refused is not here, and is not held against those that read it."""

    tree: CreateQuery
    schema: StreamSchema | None
    streams: Mapping[str, CheckedStream]
    schemas: Mapping[str, StreamSchema]
    points: Mapping[str, CheckedPoints]
    fences: Mapping[str, CheckedFences]
    created: Created

    @property
    def complaints(self) -> Complaints:
        """What is wrong goes there."""
        return self.created.complaints

    @property
    def names(self) -> tuple[str, ...]:
        """The sources of FROM."""
        return (self.tree.select.source, *self.tree.select.further_sources)

    def span(self, name: str) -> Span | None:
        """Where a source is named."""
        return spans_of(self.tree)[name]

    @property
    def place_known(self) -> bool:
        """The same of what FROM names first as `is_place_known`."""
        return self.is_place_known(self.tree.select.source)

    def is_place_known(self, name: str) -> bool:
        """False for a stream whose PLACE was refused: then a missing place is no second error."""
        stream = self.streams.get(name)
        return not (stream and stream.tree.place and not stream.schema.place)

    def schema_of_points(self, name: str) -> PointsSchema | None:
        """Declared points."""
        return self.points[name].schema if name in self.points else None

    def schema_of_fences(self, name: str) -> StreamSchema | FencesSchema | None:
        """Declared fences, or a stream or query of fences that move."""
        return self.fences[name].schema if name in self.fences else self.schemas.get(name)
