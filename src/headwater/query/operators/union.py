"""The operators of the language. Shared code uses them through the contract; this is the only list of them."""

from __future__ import annotations

from headwater.query.operators.correlate.operator import CorrelateOperator
from headwater.query.operators.fence.operator import FenceOperator
from headwater.query.operators.follow.operator import FollowOperator
from headwater.query.operators.nearest.operator import NearestOperator
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.predict.operator import PredictOperator
from headwater.query.operators.select.operator import SelectOperator
from headwater.query.operators.suppress.operator import SuppressOperator

AnyOperator = (
    SelectOperator
    | CorrelateOperator
    | PatternOperator
    | NearestOperator
    | SuppressOperator
    | PredictOperator
    | FollowOperator
    | FenceOperator
)
"""The operator of a query: one of these."""

__all__ = [
    "AnyOperator",
    "CorrelateOperator",
    "FenceOperator",
    "FollowOperator",
    "NearestOperator",
    "PatternOperator",
    "PredictOperator",
    "SelectOperator",
    "SuppressOperator",
]
