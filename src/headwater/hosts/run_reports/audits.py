"""How much of the loss of PROBABLE is measured in a run?"""

from __future__ import annotations

from dataclasses import dataclass

from headwater.hosts.declared_sets import audited_points, probable_queries
from headwater.query.planning.plan import Plan


@dataclass(frozen=True, slots=True)
class Audited:
    """On how many of a query's points its loss is measured, beside the `sigma` that it is allowed."""

    sigma: float
    points: int
    of: int


def audits_of(plan: Plan) -> dict[str, Audited]:
    """The audit of each PROBABLE query of a plan that has its points."""
    audits = {}
    for query in probable_queries(plan):
        assert query.opened_set is not None, "the points have not been given"
        loss = query.operator.allowed_loss
        audits[query.name] = Audited(loss, audited_points(query), len(query.opened_set))
    return audits
