"""A SUPPRESS operator as its kernel sees it: checked, with every choice made."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.kernels.suppress.choices import Predictor


@dataclass(frozen=True, slots=True)
class SuppressQuery:
    """One SUPPRESS operator.

    `where` is the index of its condition in the kernel's list. `dimensions` are numeric columns; `tolerance` is a
    Euclidean distance over all of them, not below 0; `heartbeat_us` is above 0. `parameters` are those of the predictor:
    (n,) with n at least 2; (α, β), both above 0 and at most 1; (q, r), both above 0; or none. A sensor without a sample for
    longer than `forget_us` is forgotten; None: never.
    """

    name: str
    fingerprint: str
    shape: int
    where: int | None
    dimensions: tuple[str, ...]
    tolerance: float
    heartbeat_us: int
    predictor: Predictor
    parameters: tuple[float, ...]
    forget_us: int | None = None
