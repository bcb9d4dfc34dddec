"""The operator of a query as one kind or None: what is left of the time before there was one field, until every caller has moved on."""

from __future__ import annotations

from headwater.query.operators import (
    AnyOperator,
    CorrelateOperator,
    FenceOperator,
    FollowOperator,
    NearestOperator,
    PatternOperator,
    PredictOperator,
    SuppressOperator,
)


class OperatorViews:
    """Views of `operator`."""

    __slots__ = ()

    operator: AnyOperator

    @property
    def correlation(self) -> CorrelateOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, CorrelateOperator) else None

    @property
    def recognition(self) -> PatternOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, PatternOperator) else None

    @property
    def neighbourhood(self) -> NearestOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, NearestOperator) else None

    @property
    def suppression(self) -> SuppressOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, SuppressOperator) else None

    @property
    def prediction(self) -> PredictOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, PredictOperator) else None

    @property
    def following(self) -> FollowOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, FollowOperator) else None

    @property
    def fencing(self) -> FenceOperator | None:
        """If it is one."""
        return self.operator if isinstance(self.operator, FenceOperator) else None
