"""A query that is ready to run."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model import StreamSchema
from headwater.query.language.tree import Expression
from headwater.query.operators.contract import OpenedSet
from headwater.query.operators.union import AnyOperator
from headwater.query.planning.zones import zone_of


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """One query, ready to run.

    `fingerprint` changes with the meaning of the query and of all it reads. `schema` is the query's answers
    as a stream. `spread` are the columns by which the query is spread over all zones; without any it lives in one.
    `opened_set` are the loaded points or fences of its operator, None until they are loaded. `scatter` names the NEAREST in whose points' zones the
    query lives, in `parts` of them: one, or every one. `audit` is the share of points for which a loss is measured.
    `shared`: it lives in every zone, a PREDICT of pairs with its share of them, any other query as a copy of which one emits.
    `hidden`: only other queries read its answers, because it is a `view` or a link of a chain. `downstream_of` is the FOLLOW for each of whose interests it runs,
    for a FOLLOW itself; and `before_us` how far back from an interest those downstream of it look, `window_us` how far one of those looks
    itself, `left_off` the names of the savings that a FOLLOW does not make.
    """

    name: str
    reads: str
    operator: AnyOperator
    fingerprint: str
    zone_key: str
    shape: int
    where: Expression | None
    schema: StreamSchema
    spread: tuple[str, ...] = ()
    opened_set: OpenedSet | None = None
    scatter: str | None = None
    parts: int = 1
    audit: float = 0.0
    shared: bool = False
    hidden: bool = False
    view: bool = False
    downstream_of: str | None = None
    before_us: int = 0
    window_us: int = 0
    left_off: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        """Which kernel answers it."""
        return self.operator.kind

    @property
    def is_inside(self) -> bool:
        """Whether it runs inside a FOLLOW, not beside it."""
        return self.downstream_of is not None and self.downstream_of != self.name

    def lives_in(self, zone: int, zones: int) -> bool:
        """Whether a zone answers it."""
        everywhere = self.spread or self.parts > 1 or self.shared
        return bool(everywhere) or zone_of(self.zone_key, zones) == zone
