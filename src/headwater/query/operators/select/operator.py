"""A plain SELECT has nothing to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from headwater.query.operators.contract import Operator


@dataclass(frozen=True, slots=True)
class SelectOperator(Operator):
    """A query without an operator."""

    kind: ClassVar[str] = "select"
