"""NEAREST, as written, and its points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.model import Span
from headwater.query.language.tree.expressions import Quantity, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.query_sources import QuerySources
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.nearest.operator import NearestOperator


@dataclass(frozen=True, slots=True)
class PointTarget:
    """`TO (x, y, …)`: one point, a coordinate for each attribute."""

    coordinates: tuple[float | int, ...]
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class EachTarget:
    """`TO EACH OF points`: every point of a declared set."""

    points: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class ValueTarget:
    """`TO HIGHEST attribute` or `TO LOWEST attribute`."""

    attribute: str
    highest: bool
    alias: str | None = None
    span: Span | None = nowhere()


Target = PointTarget | EachTarget | ValueTarget


@dataclass(frozen=True, slots=True)
class NearAttribute:
    """`attribute [AS name]` of a BY list."""

    name: str
    alias: str | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Using:
    """`USING EXACT [ALGORITHM a]` or `USING PROBABLE sigma [ALGORITHM a]`, before it is a part of its operator."""

    exact: bool = False
    sigma: float | int | None = None
    algorithm: Algorithm | None = None
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Nearest(OperatorNode):
    """`NEAREST (k TO target [BY (attributes) | BY PLACE] [WEIGHTED (…)] OVER window [options])`.

    `attributes` None is BY PLACE, or a target that is a value. The window is `over` a time or `over_rows`. `sigma` makes it
    PROBABLE; `algorithm` is that of USING … ALGORITHM. `every` belongs to Emission.EVERY, `forget` to `per` with `over_rows`. `places` has the
    places of k and the options, by their word.
    """

    keyword: ClassVar[str] = "NEAREST"
    read_alone: ClassVar[tuple[str, ...]] = ("using",)

    k: int
    target: Target
    attributes: tuple[NearAttribute, ...] | None
    over: Quantity | None = None
    over_rows: int | None = None
    weights: tuple[float | int, ...] | None = None
    per: str | None = None
    ties: bool = False
    exact: bool = False
    sigma: float | int | None = None
    algorithm: Algorithm | None = None
    emission: Emission | None = None
    every: Quantity | None = None
    forget: Quantity | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.nearest.rules import NearestRules

        return NearestRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.nearest.advice import NearestAdvice

        return NearestAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.nearest.text import nearest_text

        return nearest_text(self)

    def check_with(self, sources: QuerySources) -> NearestOperator | None:
        """See `check`."""
        from headwater.query.operators.nearest.check import check_nearest

        return check_nearest(self, sources)
