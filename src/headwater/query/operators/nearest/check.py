"""Can a NEAREST be answered: its columns, its point or points, its window, its algorithm and what it emits?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.kernels.nearest.choices import Algorithm, Emission, Metric
from headwater.model import PointsSchema, Span, StreamSchema
from headwater.query.checking.answer_columns import RESERVED
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.query_sources import QuerySources
from headwater.query.checking.streams import duration_us, forget_us
from headwater.query.language.suggestions import suggest
from headwater.query.language.words import counted
from headwater.query.operators.nearest.operator import (
    MOST_ATTRIBUTES,
    MOST_NEIGHBOURS,
    MOST_TICKS,
    MOST_WINDOW_ROWS,
    NearestOperator,
)
from headwater.query.operators.nearest.tree import (
    EachTarget,
    NearAttribute,
    Nearest,
    PointTarget,
    ValueTarget,
)


def check_nearest(tree: Nearest, sources: QuerySources) -> NearestOperator | None:
    """The operator with every choice made, or None and complaints; without a schema, what can be checked is."""
    schema, complaints = sources.schema, sources.complaints
    points: PointsSchema | None = None
    if isinstance(tree.target, EachTarget):
        sources.created.points_exist(tree.target.points, tree.target.span or tree.span)
        points = sources.schema_of_points(tree.target.points)
    before = len(complaints.errors)
    checker = _Checker(tree, schema, points, complaints)
    attributes = checker.attributes(place_known=sources.place_known)
    checker.check_bounds()
    checker.check_point(attributes)
    checker.check_weights(attributes)
    checker.check_using()
    checker.check_per()
    window_us = checker.window_us()
    every_us = checker.every_us()
    checker.check_ticks(window_us, every_us)
    forget_us = checker.forget_us()
    if schema is None or attributes is None or len(complaints.errors) > before:
        return None
    if isinstance(tree.target, EachTarget) and points is None:
        return None
    made = NearestOperator(
        k=tree.k,
        metric=checker.metric(),
        attributes=tuple(attribute.name for attribute in attributes),
        aliases=tuple(attribute.alias or attribute.name for attribute in attributes),
        point=_floats(tree.target.coordinates) if isinstance(tree.target, PointTarget) else None,
        points=tree.target.points if isinstance(tree.target, EachTarget) else None,
        weights=None if tree.weights is None else _floats(tree.weights),
        window_us=window_us,
        window_rows=tree.over_rows,
        per=tree.per,
        ties=tree.ties,
        exact=tree.sigma is None,
        algorithm=tree.algorithm,
        sigma=None if tree.sigma is None else float(tree.sigma),
        emission=tree.emission or Emission.ENTERS,
        every_us=every_us,
        columns_carried=_columns(tree.per if tree.per != schema.key else None, attributes),
        forget_us=forget_us,
    )
    checker.check_columns(made, attributes)
    return made if len(complaints.errors) == before else None


@dataclass(slots=True)
class _Checker:
    """One operator; every method complains of its part."""

    tree: Nearest
    schema: StreamSchema | None
    points: PointsSchema | None
    complaints: Complaints

    def metric(self) -> Metric:
        """What near means."""
        target = self.tree.target
        if isinstance(target, ValueTarget):
            return Metric.HIGHEST if target.highest else Metric.LOWEST
        return Metric.GEOGRAPHIC if self._geographic() else Metric.EUCLIDEAN

    def _geographic(self) -> bool:
        by_place = self.tree.attributes is None and not isinstance(self.tree.target, ValueTarget)
        return by_place and bool(self.schema and self.schema.place and self.schema.place.geographic)

    def attributes(self, *, place_known: bool) -> tuple[NearAttribute, ...] | None:
        """The columns that make a row an object; None where they are not known."""
        target = self.tree.target
        if isinstance(target, ValueTarget):
            written: tuple[NearAttribute, ...] = (
                NearAttribute(target.attribute, target.alias, span=target.span),
            )
        elif self.tree.attributes is not None:
            written = self.tree.attributes
        else:
            return self._place(place_known=place_known)
        seen: set[str] = set()
        for attribute in written:
            span = attribute.span or self.tree.span
            if attribute.name in seen:
                self._refuse(
                    "duplicate-name", f"'{attribute.name}' appears here twice", span, "remove one of them"
                )
            elif self.schema:
                self._check_attribute(attribute.name, span, self.schema)
            seen.add(attribute.name)
            self._check_coordinate(attribute.name, span)
        return written

    def _place(self, *, place_known: bool) -> tuple[NearAttribute, ...] | None:
        if self.schema is None:
            return None
        span = self.tree.place_of("BY")
        if self.schema.place is None:
            if place_known:
                self._refuse(
                    "needs-place",
                    f"BY PLACE needs a place, but '{self.schema.name}' has none",
                    span,
                    "add PLACE (x, y) or PLACE (lon, lat) GEOGRAPHIC to the stream, or name the columns: BY (x, y)",
                )
            return None
        axes = (self.schema.place.x, self.schema.place.y)
        for axis in axes:
            self._check_coordinate(axis, span)
        return tuple(NearAttribute(axis, span=span) for axis in axes)

    def _check_attribute(self, name: str, span: Span | None, schema: StreamSchema) -> None:
        kind = schema.types.get(name)
        if kind is None:
            self._unknown(name, span)
        elif not kind.numeric:
            self._refuse(
                "attribute-not-numeric",
                f"NEAREST compares numbers, but '{name}' is {kind.value}",
                span,
                "use a numeric column; put a condition on this one into WHERE",
            )

    def _check_coordinate(self, name: str, span: Span | None) -> None:
        """Points have a coordinate for every attribute, under its name."""
        if self.points is None:
            return
        if name == self.points.key:
            self._refuse(
                "wrong-points",
                f"'{name}' names the points of '{self.points.name}', so it cannot be a coordinate",
                span,
                "give the KEY of the points another name",
            )
        elif name not in self.points.types:
            others = [column for column in self.points.types if column != self.points.key]
            self._refuse(
                "unknown-column",
                f"the points '{self.points.name}' have no column named '{name}'",
                span,
                *suggest(name, others, "coordinates"),
                "points need a column for every attribute, with its name",
            )

    def check_bounds(self) -> None:
        """k, the attributes and the rows of the window are at least one and not too many."""
        tree = self.tree
        if tree.k < 1:
            self._refuse(
                "not-a-count",
                f"{tree.k} nearest objects are requested",
                tree.place_of("k"),
                "use at least 1 TO …",
            )
        self._most(tree.k, MOST_NEIGHBOURS, "the {0:,} nearest are requested", tree.place_of("k"))
        if tree.attributes is not None:
            self._most(len(tree.attributes), MOST_ATTRIBUTES, "BY has {0} attributes", tree.place_of("BY"))
        if tree.over_rows is None:
            return
        if tree.over_rows < 1:
            self._refuse(
                "not-a-count",
                f"a window of {tree.over_rows} ROWS is empty",
                tree.place_of("OVER"),
                "use at least OVER 1 ROWS",
            )
        self._most(tree.over_rows, MOST_WINDOW_ROWS, "the window has {0:,} rows", tree.place_of("OVER"))

    def _most(self, value: int, most: int, message: str, span: Span | None) -> None:
        if value > most:
            self._refuse("nearest-too-large", message.format(value), span, f"at most {most:,} are possible")

    def check_point(self, attributes: Sequence[NearAttribute] | None) -> None:
        """The point has a coordinate for every attribute, and is one on earth where places are."""
        target = self.tree.target
        if not isinstance(target, PointTarget):
            return
        span = target.span or self.tree.span
        written, needed = len(target.coordinates), 2 if attributes is None else len(attributes)
        if written != needed:
            by = "BY PLACE takes 2" if self.tree.attributes is None else f"BY has {_attributes(needed)}"
            numbers = "1 number" if written == 1 else f"{written} numbers"
            self._refuse(
                "wrong-point",
                f"the point has {numbers}, but {by}",
                span,
                "give one number for each, in the same order",
            )
        elif self._geographic():
            x, y = target.coordinates
            if abs(x) > 180 or abs(y) > 90:
                self._refuse(
                    "wrong-point",
                    f"({x}, {y}) is not a geographic place: longitudes go from -180 to 180, latitudes from -90 to 90",
                    span,
                    "the longitude comes first, then the latitude",
                )

    def check_weights(self, attributes: Sequence[NearAttribute] | None) -> None:
        """One weight for every attribute, each greater than zero."""
        weights, span = self.tree.weights, self.tree.place_of("WEIGHTED")
        if weights is None:
            return
        if isinstance(self.tree.target, ValueTarget) or self.tree.attributes is None:
            value = isinstance(self.tree.target, ValueTarget)
            why = "there is one value, and no distance" if value else "a place has no weights"
            self._refuse("wrong-weights", f"WEIGHTED has no meaning here: {why}", span, "leave it out")
            return
        needed = len(self.tree.attributes)
        if len(weights) != needed:
            self._refuse(
                "wrong-weights",
                f"WEIGHTED has {counted(len(weights), 'weight')}, but BY has {_attributes(needed)}",
                span,
                "give one weight for each, in the same order",
            )
        for weight in weights:
            if not weight > 0:
                advice = "to ignore an attribute, leave it out of BY"
                self._refuse("wrong-weights", f"the weight {weight} is not greater than zero", span, advice)

    def check_using(self) -> None:
        """The probability is one, and the algorithm keeps what is promised."""
        tree, span = self.tree, self.tree.place_of("USING")
        if tree.sigma is not None and not 0 < tree.sigma < 1:
            self._refuse(
                "wrong-probability",
                f"PROBABLE {tree.sigma}: the probability of losing an object must be between 0 and 1, both excluded",
                span,
                "write a small number, as in USING PROBABLE 0.001; or USING EXACT, which loses nothing",
            )
        if tree.algorithm is None or tree.algorithm.exact == (tree.sigma is None):
            return
        if tree.sigma is None:
            message, advice = "PA may lose an answer, so it is not EXACT", "write USING PROBABLE 0.001"
        else:
            message = f"{tree.algorithm.value} never loses an answer, so it is not PROBABLE"
            advice = f"write USING EXACT ALGORITHM {tree.algorithm.value}"
        names = [word.value for word in Algorithm if word.exact == (tree.sigma is None)]
        self._refuse("wrong-algorithm", message, span, f"{advice}, or ALGORITHM {' or '.join(names)}")

    def check_per(self) -> None:
        """PER names a column."""
        if self.tree.per is not None and self.schema and self.tree.per not in self.schema.types:
            self._unknown(self.tree.per, self.tree.place_of("PER"))

    def window_us(self) -> int | None:
        """How long an object stays."""
        if self.tree.over is None:
            return None
        span = self.tree.over.span or self.tree.span
        found = duration_us(self.tree.over, "OVER", self.complaints)
        if found is not None and found <= 0:
            self._refuse(
                "zero-window",
                "the time of OVER is not longer than zero, so no object is in the window",
                span,
                "give the length of the window, as in OVER 1 HOUR",
            )
        return found

    def every_us(self) -> int | None:
        """The time between two ticks."""
        if self.tree.every is None:
            return None
        found = duration_us(self.tree.every, "EVERY", self.complaints)
        if found is not None and found <= 0:
            self._refuse(
                "negative-duration",
                "EVERY is not longer than zero",
                self.tree.every.span or self.tree.span,
                "give the interval between two sets, as in EMIT EVERY 10 SECONDS",
            )
        return found

    def forget_us(self) -> int | None:
        """After how long without an object a value of PER is forgotten; None: never, or a complaint."""
        span = self.tree.place_of("FORGET")
        found = forget_us(self.tree.forget, span, self.complaints, advice="write it like FORGET 1 DAY")
        if found is None or found < 1:
            return found
        if self.tree.per is None or self.tree.over_rows is None:
            self._refuse(
                "wrong-combination",
                "FORGET needs PER and OVER n ROWS",
                span,
                "with a window of time, a value of PER is forgotten when its window is empty: leave FORGET out"
                if self.tree.per
                else "add PER with the column whose values are forgotten, or leave FORGET out",
            )
        return found

    def check_ticks(self, window_us: int | None, every_us: int | None) -> None:
        """A window does not hold too many ticks."""
        ticks = window_us // every_us if window_us and every_us and every_us > 0 else 0
        if ticks > MOST_TICKS and self.tree.every:
            self._refuse(
                "nearest-too-large",
                f"the window has {ticks:,} ticks of EVERY",
                self.tree.every.span or self.tree.span,
                f"at most {MOST_TICKS:,} are possible: use a longer EVERY or a shorter OVER",
            )

    def check_columns(self, made: NearestOperator, attributes: Sequence[NearAttribute]) -> None:
        """The columns of an answer have different names, none of them reserved."""
        assert self.schema is not None
        own_names = [name for name, _ in made.own_columns(self.schema, self.points)]
        taken = dict.fromkeys(own_names, "every answer of this query has a column of this name")
        if made.columns_carried[0] == (made.per, made.per):
            self._check_column(made.columns_carried[0][0], taken, self.tree.place_of("PER"), _renaming("PER"))
            taken.setdefault(made.columns_carried[0][0], "the column of PER has this name")
        for attribute in attributes:
            name = attribute.alias or attribute.name
            if attribute.name == made.per and name == made.per:
                continue  # reported once
            by_place = self.tree.attributes is None and not isinstance(self.tree.target, ValueTarget)
            word = "HIGHEST" if made.metric is Metric.HIGHEST else "LOWEST"
            example = f"{attribute.name} AS another_name"
            as_advice = f"{word} {example}" if made.metric.ranks_values else f"BY ({example})"
            advice = _renaming("PLACE") if by_place else f"name it with AS: {as_advice}"
            self._check_column(name, taken, attribute.span or self.tree.span, advice)
            taken.setdefault(name, "another attribute has this name")

    def _check_column(self, name: str, taken: dict[str, str], span: Span | None, advice: str) -> None:
        if name in RESERVED:
            self._refuse("reserved-column", f"every answer already has a column '{name}'", span, advice)
        elif name in taken:
            message = f"two columns of the answer would be named '{name}'"
            self._refuse("duplicate-name", message, span, taken[name], advice)

    def _unknown(self, name: str, span: Span | None) -> None:
        assert self.schema is not None
        known = suggest(name, self.schema.types, "columns")
        self._refuse("unknown-column", f"there is no column named '{name}'", span, *known)

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.complaints.refuse(code, message, span, *advice)


def _columns(per: str | None, attributes: Sequence[NearAttribute]) -> tuple[tuple[str, str], ...]:
    """Name in the answer and column of the stream: that of PER, then the attributes; an attribute that is PER occurs once."""
    named = [(attribute.alias or attribute.name, attribute.name) for attribute in attributes]
    return tuple(dict.fromkeys([*([(per, per)] if per is not None else []), *named]))


def _renaming(what: str) -> str:
    return f"give the column of {what} another name in a query, and read that query: SELECT … AS another_name FROM …"


def _attributes(count: int) -> str:
    return "1 attribute" if count == 1 else f"{count} attributes"


def _floats(numbers: Sequence[float | int]) -> tuple[float, ...]:
    return tuple(map(float, numbers))
