"""CORRELATE, as written, and the areas it may be about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.correlate.subscription import Emit
from headwater.model import Span, StreamSchema
from headwater.query.language.tree.expressions import Between, Binary, Quantity, nowhere
from headwater.query.language.tree.nodes import Holder
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.operators.correlate.operator import CorrelateOperator


@dataclass(frozen=True, slots=True)
class CircleArea:
    """`CIRCLE (x, y, radius)`; a radius without unit is metres."""

    x: float | int
    y: float | int
    radius: Quantity
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class BoxArea:
    """`BOX (west, south, east, north)`."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class PolygonArea:
    """`POLYGON ((x, y), (x, y), (x, y), …)`."""

    corners: tuple[tuple[float | int, float | int], ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class SensorsArea:
    """`SENSORS ('s1', 's2')`: not a region but a list of keys."""

    keys: tuple[str | int, ...]
    span: Span | None = nowhere()


Area = CircleArea | BoxArea | PolygonArea | SensorsArea


@dataclass(frozen=True, slots=True)
class Clause(Holder):
    """`[n OF] ['sensor'.]attribute condition [AS name]`.

    `condition` is a Between or a Binary comparison whose left side is the Name of the attribute and whose other sides
    are constants.
    """

    condition: Between | Binary
    sensor: str | int | None = None
    count: int | None = None
    alias: str | None = None
    span: Span | None = nowhere()

    def inside(self) -> tuple[Between | Binary]:
        """Its condition."""
        return (self.condition,)


@dataclass(frozen=True, slots=True)
class Correlate(OperatorNode):
    """`CORRELATE (clauses [DISTINCT SENSORS] WITHIN t [, d] [INSIDE area] [EMIT …] [LIMIT n PER ROW])`."""

    keyword: ClassVar[str] = "CORRELATE"
    read_alone: ClassVar[tuple[str, ...]] = ("clause", "area")

    clauses: tuple[Clause, ...]
    within: Quantity
    distance: Quantity | None = None
    area: Area | None = None
    distinct_sensors: bool = False
    emit: Emit | None = None
    limit: int | None = None
    span: Span | None = nowhere()

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.correlate.rules import CorrelateRules

        return CorrelateRules

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.correlate.text import correlate_text

        return correlate_text(self)

    def check(
        self, source: StreamSchema | None, complaints: Complaints, *, place_known: bool
    ) -> CorrelateOperator | None:
        """See `check`."""
        from headwater.query.operators.correlate.check import check_correlate

        return check_correlate(self, source, complaints, place_known=place_known)

    def inside(self) -> tuple[Between | Binary, ...]:
        """The conditions of its clauses."""
        return tuple(clause.condition for clause in self.clauses)
