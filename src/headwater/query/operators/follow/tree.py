"""FOLLOW, as written: which events happen near objects that move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from headwater.kernels.follow.choices import Update
from headwater.model import Span, StreamSchema
from headwater.query.language.tree.expressions import Expression, Quantity, nowhere
from headwater.query.language.tree.operator_node import OperatorNode

if TYPE_CHECKING:
    from headwater.query.checking.query_sources import QuerySources
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.follow.operator import FollowOperator

Number = float | int


@dataclass(frozen=True, slots=True)
class Follow(OperatorNode):
    """`FOLLOW (focals [WHERE condition] RADIUS r | BOX w, h | SHAPE column [options])`.

    One of `radius`, `box` and `shape` is set. Lengths without unit are metres. `update` None: the text does not say it;
    `every`, `moved`, `quality` and `over` are the values of their words. `each` None: there is no DELIVER. `places` has the places of
    the options and of the name of the focals, by their word and by "focals".
    """

    keyword: ClassVar[str] = "FOLLOW"
    reads_together: ClassVar[bool] = True
    with_several_sources: ClassVar[str] = "FOLLOW (…)"

    focals: str
    where: Expression | None = None
    radius: Quantity | None = None
    box: tuple[Quantity, Quantity] | None = None
    shape: str | None = None
    last: Quantity | None = None
    update: Update | None = None
    every: Quantity | None = None
    moved: Quantity | None = None
    quality: tuple[Number, Number] | None = None
    over: Quantity | None = None
    forget: Quantity | None = None
    each: bool | None = None
    best_effort: int | None = None
    interests: bool = False
    span: Span | None = nowhere()
    places: Mapping[str, Span] = field(default_factory=dict, compare=False, repr=False, kw_only=True)

    @staticmethod
    def rules() -> type[SharedRules]:
        """See `rules`."""
        from headwater.query.operators.follow.rules import FollowRules

        return FollowRules

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """See `advice`."""
        from headwater.query.operators.follow.advice import FollowAdvice

        return FollowAdvice()

    def text(self) -> str:
        """See `text`."""
        from headwater.query.operators.follow.text import follow_text

        return follow_text(self)

    def further_sources(self) -> tuple[tuple[str, Span | None], ...]:
        """The focal objects."""
        return ((self.focals, self.place_of("focals")),)

    def source_schema(self, schemas: Sequence[StreamSchema | None]) -> StreamSchema | None:
        """The events of all sources."""
        from headwater.query.operators.follow.check import events_schema

        known = [schema for schema in schemas if schema is not None]
        return events_schema(known) if len(known) == len(schemas) else None

    def inside(self) -> tuple[Expression, ...]:
        """The condition on its focal objects."""
        return (self.where,) if self.where else ()

    def check_with(self, sources: QuerySources) -> FollowOperator | None:
        """See `check`."""
        from headwater.query.operators.follow.check import check_follow

        return check_follow(self, sources)
