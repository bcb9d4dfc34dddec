"""Can a CORRELATE be answered: its window, its places, its sensors, its bounds?"""

from __future__ import annotations

from headwater.kernels.correlate.subscription import Emit
from headwater.model import ColumnType, Region, Span, StreamSchema
from headwater.query.checking.answer_columns import RESERVED, Columns
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import duration_us, length_m
from headwater.query.operators.correlate.check_clauses import attribute_of, check_clauses
from headwater.query.operators.correlate.check_regions import check_region
from headwater.query.operators.correlate.operator import (
    LIMIT_PER_ROW,
    MOST_READINGS,
    MOST_READINGS_WITH_DISTANCE,
    CorrelateOperator,
)
from headwater.query.operators.correlate.tree import Correlate, SensorsArea

Sensors = tuple[str | int, ...]

_NUMBER = ColumnType.DOUBLE


def check_correlate(
    tree: Correlate, schema: StreamSchema | None, complaints: Complaints, *, place_known: bool = True
) -> CorrelateOperator | None:
    """The operator with every choice made, or None and complaints.

    `place_known` is False for a stream whose PLACE was refused: then a missing place is no second error.
    """
    before = len(complaints.errors)
    clauses = check_clauses(tree.clauses, schema, complaints)
    within_us = _window(tree, complaints)
    within_m = _distance(tree, complaints)
    region, sensors = _area(tree, schema, complaints)
    if schema is not None:
        _needs(tree, schema, complaints, place_known=place_known)
        _key_types(tree, schema, complaints)
        _values(tree, schema, complaints)
    _bounds(tree, complaints)
    _possible(tree, complaints)
    if clauses is None or within_us is None or len(complaints.errors) > before:
        return None
    emit = tree.emit or Emit.LATEST
    limit = (tree.limit or LIMIT_PER_ROW) if emit is Emit.ALL else None
    operator = CorrelateOperator(
        clauses, within_us, within_m, region, sensors, tree.distinct_sensors, emit, limit
    )
    if schema is not None:
        _columns_differ(tree, operator.columns(schema, None).answers, complaints)
    return operator


def _columns_differ(tree: Correlate, answers: Columns, complaints: Complaints) -> None:
    """The columns made from clause names must be different from one another and from the reserved ones."""
    seen: set[str] = set()
    for name, _ in answers:
        if name in RESERVED:
            complaints.refuse(
                "reserved-column",
                f"a clause would make a column '{name}', which every answer already has",
                tree.span,
                "name the clause with AS",
            )
        elif name in seen:
            complaints.refuse(
                "duplicate-name",
                f"two columns of the answer would be named '{name}'",
                tree.span,
                "name the clauses with AS",
            )
        seen.add(name)


def _window(tree: Correlate, complaints: Complaints) -> int | None:
    within_us = duration_us(tree.within, "WITHIN", complaints)
    if within_us is not None and within_us <= 0:
        complaints.refuse(
            "zero-window",
            "the time of WITHIN is not longer than zero, so no two readings are within it",
            tree.within.span,
            "give the longest time between the readings, as in WITHIN 30 SECONDS",
        )
        return None
    return within_us


def _distance(tree: Correlate, complaints: Complaints) -> float | None:
    if tree.distance is None:
        return None
    within_m = length_m(tree.distance, "the distance of WITHIN", complaints)
    if within_m is not None and within_m <= 0:
        complaints.refuse(
            "zero-distance",
            "the distance of WITHIN is not greater than zero, so no two readings are within it",
            tree.distance.span,
            "give the distance below which any two readings must be, as in WITHIN 30 SECONDS, 500 METERS",
        )
    return within_m


def _area(
    tree: Correlate, schema: StreamSchema | None, complaints: Complaints
) -> tuple[Region | None, Sensors | None]:
    if tree.area is None:
        return None, None
    if not isinstance(tree.area, SensorsArea):
        geographic = schema.place.geographic if schema and schema.place else None
        return check_region(tree.area, geographic, complaints), None
    if not tree.area.keys:
        complaints.refuse(
            "empty-region", "SENSORS names no sensor", tree.area.span, "name one, as in SENSORS ('s1')"
        )
    return None, tuple(dict.fromkeys(tree.area.keys))


def _needs(tree: Correlate, schema: StreamSchema, complaints: Complaints, *, place_known: bool) -> None:
    def place(what: str, span: Span | None) -> None:
        complaints.refuse(
            "needs-place",
            f"{what} needs a place, but '{schema.name}' has none",
            span,
            "add PLACE (x, y) or PLACE (lon, lat) GEOGRAPHIC to the stream, or select the columns of its place",
        )

    def key(what: str, span: Span | None) -> None:
        complaints.refuse(
            "needs-key",
            f"{what} distinguishes sensors, but '{schema.name}' has no KEY",
            span,
            "mark the column that names the sensor, as in station STRING KEY",
        )

    if schema.place is None and place_known:
        if tree.distance is not None:
            place("a distance", tree.distance.span)
        if tree.area is not None and not isinstance(tree.area, SensorsArea):
            place("INSIDE a region", tree.area.span)
    if schema.key is None:
        for clause in tree.clauses:
            if clause.sensor is not None:
                key("a clause of one sensor", clause.span)
            if clause.count is not None:
                key("n OF", clause.span)
        if tree.distinct_sensors:
            key("DISTINCT SENSORS", tree.span)
        if isinstance(tree.area, SensorsArea):
            key("INSIDE SENSORS", tree.area.span)


def _key_types(tree: Correlate, schema: StreamSchema, complaints: Complaints) -> None:
    if schema.key is None:
        return
    kind = schema.types[schema.key]
    expected: type = str if kind is ColumnType.STRING else int
    named = [(clause.sensor, clause.span) for clause in tree.clauses if clause.sensor is not None]
    if isinstance(tree.area, SensorsArea):
        named += [(sensor, tree.area.span) for sensor in tree.area.keys]
    for sensor, span in named:
        if not isinstance(sensor, expected):
            complaints.refuse(
                "type-mismatch",
                f"the key '{schema.key}' is {kind.value}, but {sensor!r} is not",
                span,
                "name a sensor as 's1' if the key is STRING, and as 1 if it is BIGINT",
            )


def _bounds(tree: Correlate, complaints: Complaints) -> None:
    readings = sum(1 if clause.count is None else max(clause.count, 0) for clause in tree.clauses)
    if tree.distance is not None and readings > MOST_READINGS_WITH_DISTANCE:
        complaints.refuse(
            "too-many-clauses",
            f"{readings} readings that are all near one another, but at most {MOST_READINGS_WITH_DISTANCE} can be decided",
            tree.distance.span or tree.span,
            "use fewer clauses, or INSIDE a region instead of the distance",
        )
    elif readings > MOST_READINGS:
        complaints.refuse(
            "too-many-clauses",
            f"{readings} readings in one answer, but at most {MOST_READINGS} are possible",
            tree.span,
            "split the query into two, of which the second reads the first",
        )
    if tree.limit is not None and tree.limit < 1:
        complaints.refuse(
            "not-a-count", f"LIMIT {tree.limit} leaves no answer", tree.span, "use at least LIMIT 1 PER ROW"
        )
    if tree.limit is not None and tree.emit is not Emit.ALL:
        complaints.refuse(
            "limit-without-all",
            f"LIMIT bounds EMIT ALL, but this query has EMIT {(tree.emit or Emit.LATEST).value}",
            tree.span,
            "leave LIMIT out: a row gives at most one LATEST answer; or write EMIT ALL",
        )


def _possible(tree: Correlate, complaints: Complaints) -> None:
    """Refuse a query that needs more different sensors than it admits; a clause bound to a sensor finds it anywhere."""
    listed = len(set(tree.area.keys)) if isinstance(tree.area, SensorsArea) else 0
    bound: set[str | int] = set()
    unbound = 0
    for clause in tree.clauses:
        expected = clause.count or 1
        why = None
        if clause.sensor is None:
            unbound += expected
            if listed and expected > listed:
                why = f"{expected} OF needs more sensors than the {listed} that SENSORS lists"
        elif expected > 1:
            why = f"{expected} OF needs different sensors, but the clause is bound to {clause.sensor!r}"
        elif tree.distinct_sensors and clause.sensor in bound:
            why = f"DISTINCT SENSORS, but two clauses are bound to {clause.sensor!r}"
        else:
            bound.add(clause.sensor)
        if why:
            complaints.refuse(
                "never-true", f"this query never answers: {why}", clause.span, "change one of the two"
            )
    if tree.distinct_sensors and listed and unbound > listed:
        why = f"DISTINCT SENSORS of {unbound} clauses, but SENSORS lists {listed}"
        complaints.refuse(
            "never-true", f"this query never answers: {why}", tree.span, "change one of the two"
        )


def _values(tree: Correlate, schema: StreamSchema, complaints: Complaints) -> None:
    """EMIT READINGS has one column for the values of all attributes, so they must be numbers."""
    for clause in tree.clauses:
        attribute = attribute_of(clause)
        if tree.emit is Emit.READINGS and attribute and not schema.types.get(attribute, _NUMBER).numeric:
            complaints.refuse(
                "readings-of-text",
                f"EMIT READINGS emits values as numbers, but '{attribute}' is {schema.types[attribute].value}",
                clause.span,
                "use EMIT LATEST or EMIT ALL, or put the condition on it into WHERE",
            )
