"""A plain SELECT has nothing to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from headwater.model import Kernel, StreamSchema
from headwater.query.operators.contract import Explained, KernelPlace, Operator, Words

if TYPE_CHECKING:
    from headwater.query.planning.query_plan import QueryPlan


@dataclass(frozen=True, slots=True)
class SelectOperator(Operator):
    """A query without an operator."""

    kind: ClassVar[str] = "select"
    keyword: ClassVar[str] = "SELECT"
    has_state: ClassVar[bool] = False

    @property
    def beside_shared(self) -> Literal["always", "before", "never"]:
        """It needs nothing but its rows."""
        return "always"

    def passes_on(self, source: str) -> tuple[str, ...]:
        """Its rows."""
        return (source,)

    def looks_back_us(self, heartbeat_us: int | None) -> int:
        """Not at all."""
        return 0

    @property
    def separates_by(self) -> tuple[str, ...] | None:
        """Each row alone."""
        return None

    @property
    def answers_from_first_row(self) -> bool:
        """Each row is an answer."""
        return True

    def finds_the_same_later(self, source: StreamSchema) -> bool:
        """Each row alone."""
        return True

    def words(self, explained: Explained) -> Words:
        """Each row, and nothing is remembered."""
        where = explained.query.where is not None
        return Words([("answers", "each row for which WHERE holds" if where else "each row")], "none")

    @property
    def answers_by_interest(self) -> bool:
        """It can."""
        return True

    @staticmethod
    def make_kernel(queries: Sequence[QueryPlan], place: KernelPlace) -> Kernel[Any]:
        """See `plan`."""
        from headwater.query.operators.select.plan import make_kernel

        return make_kernel(queries, place)
