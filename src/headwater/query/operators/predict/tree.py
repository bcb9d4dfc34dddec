"""PREDICT, as written: conditions on the lines of updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.predict.choices import Certainty, GiveUp
from headwater.model import Span
from headwater.query.language.tree.expressions import Expression, Quantity, no_places, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.query_sources import QuerySources
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.predict.operator import PredictOperator

Number = float | int


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for one update of a pair."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Predict(OperatorNode):
    """`PREDICT ([PAIRS aliases WHERE] condition [WITHIN t] [options])`.

    Without `aliases` it is a condition on single updates. `certainty` None: there is neither MAY, MUST nor PROBABILITY;
    `p` belongs to PROBABILITY. `tentative` None: there is neither TENTATIVE nor VALIDATED. `seed` belongs to GIVE UP RANDOM.
    `places` has the places of the options, by their word.
    """

    keyword: ClassVar[str] = "PREDICT"
    with_several_sources: ClassVar[str] = "PREDICT (PAIRS a, b WHERE … WITHIN 3 SECONDS)"
    words_at_start: ClassVar[tuple[str, ...]] = ("PAIRS",)
    reads_itself: ClassVar[str] = " PREDICT (PAIRS a, b WHERE …) joins its sensors with one another"

    aliases: tuple[Alias, ...]
    condition: Expression
    within: Quantity | None = None
    certainty: Certainty | None = None
    p: Number | None = None
    tentative: bool | None = None
    ahead: Quantity | None = None
    every: Quantity | None = None
    buffer: int | None = None
    give_up: GiveUp | None = None
    seed: int | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = no_places()

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.predict.rules import PredictRules

        return PredictRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.predict.advice import PredictAdvice

        return PredictAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.predict.text import predict_text

        return predict_text(self)

    def inside(self) -> tuple[Expression, ...]:
        """Its condition."""
        return (self.condition,)

    def check_with(self, sources: QuerySources) -> PredictOperator | None:
        """See `check`."""
        from headwater.query.operators.predict.check import check_predict

        return check_predict(self, [sources.schemas.get(name) for name in sources.names], sources.complaints)
