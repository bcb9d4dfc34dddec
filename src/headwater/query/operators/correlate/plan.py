"""From a checked CORRELATE to what its kernel is asked."""

from __future__ import annotations

from headwater.kernels.correlate.subscription import Subscription
from headwater.query.operators.correlate.operator import CorrelateOperator


def make_subscription(
    asked: CorrelateOperator, *, name: str, fingerprint: str, shape: int, where: int | None
) -> Subscription:
    """What the kernel is asked."""
    return Subscription(
        name,
        fingerprint,
        shape,
        asked.clauses,
        asked.within_us,
        asked.within_m,
        asked.region,
        asked.sensors,
        asked.distinct_sensors,
        asked.emit,
        asked.limit,
        where,
    )
