"""Can a FOLLOW be answered: its events, its focal objects, what is near to them, and when that changes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from headwater.kernels.follow.choices import Update
from headwater.model import ColumnType, Span, StreamSchema
from headwater.query.checking.answer_columns import STAMPS
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.merges import merged_name
from headwater.query.checking.places import NO_PLACE, kind_of_place
from headwater.query.checking.query_sources import QuerySources
from headwater.query.checking.region_options import check_shape, radius_and_box
from headwater.query.checking.selects import check_where
from headwater.query.checking.streams import duration_us, length_m
from headwater.query.language.limits import FORGET_US
from headwater.query.language.tree import Quantity
from headwater.query.operators.follow.operator import QUALITY_US, FollowOperator, interest_columns
from headwater.query.operators.follow.tree import Follow

SOURCE: Final = "source"
"""The column that says of which source an event is, where there are several."""


class EventSource(NamedTuple):
    """A source of events: its schema, None if it is broken; its place in the text; False: its PLACE was refused already."""

    name: str
    schema: StreamSchema | None
    span: Span | None
    place_known: bool = True


def events_schema(schemas: Sequence[StreamSchema]) -> StreamSchema:
    """The stream of events of some sources: the only one as it is; of several, the union of their columns by name.

    The union begins with `event_time` and `source`. It has the key and the place that all of its sources have.
    """
    first = schemas[0]
    if len(schemas) == 1:
        return first
    columns = {"event_time": ColumnType.TIMESTAMP, SOURCE: ColumnType.STRING}
    for schema in schemas:
        for name, kind in schema.columns:
            columns.setdefault(name, kind)
    same_key = all((other.key, _key_type(other)) == (first.key, _key_type(first)) for other in schemas)
    same_place = all(other.place == first.place for other in schemas)
    return StreamSchema(
        merged_name([schema.name for schema in schemas]),
        tuple(columns.items()),
        "event_time",
        first.key if same_key else None,
        first.place if same_place else None,
    )


def check_follow(tree: Follow, sources: QuerySources) -> FollowOperator | None:
    """The operator with every choice made, or None and complaints; what is not known is not held against it."""
    complaints, focals = sources.complaints, sources.schemas.get(tree.focals)
    events = [
        EventSource(name, sources.schemas.get(name), sources.span(name), sources.is_place_known(name))
        for name in sources.names
    ]
    before = len(complaints.errors)
    checker = _Checker(tree, events, focals, complaints)
    checker.check_events()
    checker.check_focals(place_known=sources.is_place_known(tree.focals))
    radius_m, box_m = checker.region()
    last_us = checker.duration(tree.last, "LAST", least=0, example="LAST 30 MINUTES")
    every_us = checker.duration(tree.every, "EVERY", least=1, example="UPDATE EVERY 10 SECONDS")
    moved_m = checker.moved_m()
    precision, recall = checker.quality()
    example = "UPDATE QUALITY 0.8, 0.8 OVER 1 MINUTE"
    over_us = checker.duration(tree.over, "OVER", least=1, example=example, word="QUALITY")
    forget_us = checker.duration(tree.forget, "FORGET", least=1, example="FORGET 10 MINUTES")
    checker.check_effort()
    if tree.interests:
        checker.check_interests()
    if focals is None or any(event.schema is None for event in events) or len(complaints.errors) > before:
        return None
    if focals.place is None:  # refused where it is declared, which is no second error
        return None
    update = tree.update or Update.ALWAYS
    return FollowOperator(
        focals=tree.focals,
        where=tree.where,
        radius_m=radius_m,
        box_m=box_m,
        shape=tree.shape,
        last_us=last_us or 0,
        update=update,
        every_us=every_us or 0,
        moved_m=moved_m,
        precision=precision,
        recall=recall,
        over_us=(over_us or last_us or QUALITY_US) if update is Update.QUALITY else 0,
        forget_us=FORGET_US if forget_us is None else forget_us,
        each=bool(tree.each),
        best_effort=tree.best_effort,
        interests=tree.interests,
        events=tuple(event.name for event in events),
    )


@dataclass(slots=True)
class _Checker:
    """One operator; every method complains of its part."""

    tree: Follow
    events: Sequence[EventSource]
    focals: StreamSchema | None
    complaints: Complaints

    # --- sources --------------------------------------------------------------------------------------------------

    def check_events(self) -> None:
        """Events have a place, the same everywhere; their columns leave the stamps free, and have one type each."""
        for event in self.events:
            if event.schema is None:
                continue
            if event.schema.place is None and event.place_known:
                self._refuse(
                    "needs-place",
                    f"FOLLOW needs the places of events, but '{event.name}' has no PLACE",
                    event.span or self.tree.span,
                    *NO_PLACE,
                )
            taken = [name for name, _ in event.schema.columns if name in self._taken()]
            for name in taken:
                self._refuse(
                    "reserved-column",
                    f"'{event.name}' has a column '{name}', and every answer downstream of FOLLOW already has one",
                    event.span or self.tree.span,
                    f"give it another name in a query, and read that query: SELECT {name} AS {name}_1, … FROM {event.name}",
                )
        self._check_types()
        self._check_places()

    def _taken(self) -> tuple[str, ...]:
        return (*STAMPS, SOURCE) if len(self.events) > 1 else STAMPS

    def _check_types(self) -> None:
        seen: dict[str, tuple[str, ColumnType]] = {}
        for event in self.events:
            for name, kind in event.schema.columns if event.schema else ():
                first, expected = seen.setdefault(name, (event.name, kind))
                if kind is not expected:
                    self._refuse(
                        "type-mismatch",
                        f"'{name}' is {expected.value} in '{first}' and {kind.value} in '{event.name}'",
                        event.span or self.tree.span,
                        f"give one of them another name in a query, and read that query: SELECT {name} AS {name}_1, … FROM {event.name}",
                    )

    def _check_places(self) -> None:
        placed = [(event, event.schema) for event in self.events if event.schema and event.schema.place]
        for event, schema in placed[1:]:
            first, other = placed[0][1].place, schema.place
            assert first is not None and other is not None
            if first.geographic != other.geographic:
                self._refuse_kinds(placed[0][1], schema, event.span)
            elif first != other:
                self._refuse(
                    "wrong-sources",
                    f"the PLACE of '{placed[0][0].name}' is ({first.x}, {first.y}), and that of '{event.name}' is ({other.x}, {other.y})",
                    event.span or self.tree.span,
                    f"give one of them the names of the other in its CREATE STREAM: PLACE ({first.x}, {first.y})",
                )

    def _refuse_kinds(self, first: StreamSchema, other: StreamSchema, span: Span | None) -> None:
        self._refuse(
            "wrong-sources",
            f"the PLACE of '{first.name}' is {kind_of_place(first)}, and that of '{other.name}' is {kind_of_place(other)}",
            span or self.tree.span,
            "distances can only be measured between places of one kind",
        )

    def check_focals(self, *, place_known: bool) -> None:
        """Focal objects have names and places."""
        focals, span = self.focals, self.tree.place_of("focals")
        if focals is None:
            return
        if focals.key is None:
            self._refuse(
                "needs-key",
                f"FOLLOW identifies focal objects by key, but '{focals.name}' has no KEY",
                span,
                "mark the column that names the object with KEY, or select it under its own name",
            )
        if focals.place is None and place_known:
            self._refuse(
                "needs-place",
                f"FOLLOW needs the places of focal objects, but '{focals.name}' has no PLACE",
                span,
                *NO_PLACE,
            )
        placed = next((event.schema for event in self.events if event.schema and event.schema.place), None)
        if placed and placed.place and focals.place and placed.place.geographic != focals.place.geographic:
            self._refuse_kinds(placed, focals, span)
        check_where(self.tree.where, focals.types, self.complaints)

    # --- what is near ---------------------------------------------------------------------------------------------

    def region(self) -> tuple[float | None, tuple[float, float] | None]:
        """The radius, or the width and height, in metres; the column of SHAPE holds text."""
        tree = self.tree
        if tree.shape is not None and self.focals is not None:
            check_shape(tree.shape, self.focals, tree.place_of("SHAPE"), self.complaints)
        return radius_and_box(tree, "region", self.complaints)

    # --- when it changes, and all else ----------------------------------------------------------------------------

    def duration(
        self, length: Quantity | None, what: str, *, least: int, example: str, word: str | None = None
    ) -> int | None:
        """A time of at least so many microseconds; `word` is its option."""
        if length is None or (found := duration_us(length, what, self.complaints)) is None:
            return None
        if found < least:
            wrong = "is not longer than zero" if least else "is negative"
            self._refuse(
                "negative-duration",
                f"{what} {wrong}",
                self.tree.place_of(word or what),
                f"write it like {example}",
            )
        return found

    def moved_m(self) -> float:
        """How far an object goes before its interest moves."""
        length = self.tree.moved
        if length is None or (found := length_m(length, "MOVED", self.complaints)) is None:
            return 0.0
        if found < 0:
            self._refuse(
                "negative-bound",
                "MOVED is negative, but a distance cannot be negative",
                self.tree.place_of("MOVED"),
                "write it like UPDATE MOVED 100 METERS; with MOVED 0 an interest moves when its object does",
            )
        return found

    def quality(self) -> tuple[float, float]:
        """The least precision and recall with which an interest may continue."""
        precision, recall = self.tree.quality or (0.0, 0.0)
        for what, share in (("precision", precision), ("recall", recall)):
            if not 0 <= share <= 1:
                self._refuse(
                    "wrong-quality",
                    f"the {what} of QUALITY is {share}",
                    self.tree.place_of("QUALITY"),
                    "both are shares of events, from 0 to 1: UPDATE QUALITY 0.8, 0.8",
                )
        if self.tree.quality is not None and self.tree.shape is not None:
            self._refuse(
                "wrong-quality",
                "QUALITY does not support SHAPE: it compares circles or boxes",
                self.tree.place_of("QUALITY"),
                "give the distance that an object may move instead: UPDATE MOVED 100 METERS",
            )
        return float(precision), float(recall)

    def check_effort(self) -> None:
        """So many events or none, not fewer."""
        if self.tree.best_effort is not None and self.tree.best_effort < 0:
            self._refuse(
                "not-a-count",
                f"BEST EFFORT {self.tree.best_effort} is negative",
                self.tree.place_of("BEST EFFORT"),
                "BEST EFFORT 0 uses no events from before an interest; without BEST EFFORT all are used",
            )

    def check_interests(self) -> None:
        """The columns of an interest have different names."""
        if self.focals is None or self.focals.key is None or self.focals.place is None:
            return
        if self.tree.shape is not None:
            self._refuse(
                "wrong-quality",
                "EMIT INTERESTS measures how well circles and boxes fit, and does not support SHAPE",
                self.tree.place_of("EMIT"),
                "leave it out, or give a radius around the object: RADIUS 500 METERS",
            )
        names = [name for name, _ in interest_columns(self.focals)]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            self._refuse(
                "duplicate-name",
                f"two columns of an interest would be named '{name}'",
                self.tree.place_of("EMIT"),
                f"give the place columns of '{self.focals.name}' other names",
            )

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.complaints.refuse(code, message, span, *advice)


def _key_type(schema: StreamSchema) -> ColumnType | None:
    return schema.types[schema.key] if schema.key else None
