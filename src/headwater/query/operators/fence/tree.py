"""FENCE, as written: which objects enter or leave which fences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.fence.choices import Detect
from headwater.model import Span
from headwater.query.language.tree.expressions import Expression, Quantity, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.query_sources import QuerySources
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.fence.operator import FenceOperator


@dataclass(frozen=True, slots=True)
class Fence(OperatorNode):
    """`FENCE (fences [WHERE condition] [RADIUS r | BOX w, h | SHAPE column] [DETECT word, …] [FORGET t])`.

    At most one of `radius`, `box` and `shape` is set. Lengths without unit are metres. `detect` None: there is no DETECT. `places`
    has the places of the options and of the name of the fences, by their word and by "fences".
    """

    keyword: ClassVar[str] = "FENCE"
    takes_fences: ClassVar[bool] = True

    fences: str
    where: Expression | None = None
    radius: Quantity | None = None
    box: tuple[Quantity, Quantity] | None = None
    shape: str | None = None
    detect: tuple[Detect, ...] | None = None
    forget: Quantity | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.fence.rules import FenceRules

        return FenceRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.fence.advice import FenceAdvice

        return FenceAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.fence.text import fence_text

        return fence_text(self)

    def further_sources(self) -> tuple[tuple[str, Span | None], ...]:
        """The fences."""
        return ((self.fences, self.place_of("fences")),)

    def inside(self) -> tuple[Expression, ...]:
        """The condition on its fences."""
        return (self.where,) if self.where else ()

    def check_with(self, sources: QuerySources) -> FenceOperator | None:
        """See `check`."""
        from headwater.query.operators.fence.check import check_fence

        return check_fence(self, sources)
