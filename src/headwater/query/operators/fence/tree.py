"""FENCE, which asks who enters what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.fence.words import Detect
from headwater.model import Span
from headwater.query.language.tree.expressions import Expression, Quantity, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.language.shared_rules import SharedRules


@dataclass(frozen=True, slots=True)
class Fence(OperatorNode):
    """`FENCE (fences [WHERE condition] [RADIUS r | BOX w, h | SHAPE column] [DETECT word, …] [FORGET t])`.

    At most one of `radius`, `box` and `shape` is given. Lengths without unit are metres. `detect` None: DETECT is not said. `places`
    says where the options and the name of the fences stand, by their word and by "fences".
    """

    keyword: ClassVar[str] = "FENCE"

    fences: str
    where: Expression | None = None
    radius: Quantity | None = None
    box: tuple[Quantity, Quantity] | None = None
    shape: str | None = None
    detect: tuple[Detect, ...] | None = None
    forget: Quantity | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    def place_of(self, word: str) -> Span | None:
        """Where an option stands; the whole operator where that is not known."""
        return self.places.get(word, self.span)

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.fence.rules import FenceRules

        return FenceRules

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.fence.text import fence_text

        return fence_text(self)
