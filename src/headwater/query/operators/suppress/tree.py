"""SUPPRESS, as written: it turns readings into updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.suppress.choices import Predictor
from headwater.model import Span, StreamSchema
from headwater.query.language.tree.expressions import Quantity, no_places, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.suppress.operator import SuppressOperator


Number = float | int


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column whose values are predicted."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Suppress(OperatorNode):
    """`SUPPRESS (dimensions TOLERANCE tolerance HEARTBEAT t [USING predictor] [FORGET t])`.

    A `tolerance` without unit is in that of the dimensions. `predictor` None: there is no USING. `parameters` are the numbers
    after it: n, α and β, or q and r. `places` has the places of the options, by their word.
    """

    keyword: ClassVar[str] = "SUPPRESS"
    read_alone: ClassVar[tuple[str, ...]] = ("predictor_used",)
    makes_updates: ClassVar[bool] = True

    dimensions: tuple[Dimension, ...]
    tolerance: Number | Quantity
    heartbeat: Quantity
    predictor: Predictor | None = None
    parameters: tuple[Number, ...] = ()
    forget: Quantity | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = no_places()

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.suppress.rules import SuppressRules

        return SuppressRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.suppress.advice import SuppressAdvice

        return SuppressAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.suppress.text import suppress_text

        return suppress_text(self)

    def check(
        self, source: StreamSchema | None, complaints: Complaints, *, place_known: bool
    ) -> SuppressOperator | None:
        """See `check`."""
        from headwater.query.operators.suppress.check import check_suppress

        return check_suppress(self, source, complaints, place_known=place_known)
