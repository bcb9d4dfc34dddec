"""Is an operator already covered by others, so that it need not be sent?

Rule 1  Only operators of the same kind can cover one another (`Outline.make`): these are grouped together.
Rule 2  A group stores its boxes as arrays, so that a decision is arithmetic and not a walk through objects.
Rule 3  An operator that is removed may have covered others: the node decides about those again (`exposed`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

from headwater.protocols.broker.cover_candidates import CoverCandidates
from headwater.protocols.broker.messages import Request
from headwater.protocols.cover import Cover

Where = Literal["nowhere", "receipt", "sender"]


@dataclass(frozen=True, slots=True)
class Filtering:
    """Which test decides, and where: when an operator is received, or before it is sent."""

    where: Where = "nowhere"
    cover: Cover | None = None
    seed: int = 0

    def covers(self, requests: Requests, request: Request) -> bool:
        """Whether the requests cover this one, so that it need not be sent."""
        if self.cover is None:
            return False
        candidates = requests.candidates(request)
        if candidates is None:
            return False
        seed = (int(request.name[:12], 16) + self.seed) % 2**63
        return candidates.covers(request.outline, self.cover, seed=seed).covered


class Requests:
    """Operators in the order they came, and beside one another those that may cover one another."""

    def __init__(self) -> None:
        self._requests: dict[str, Request] = {}
        self._candidates: dict[Hashable, CoverCandidates] | None = (
            None  # made on first use: most sides decide nothing
        )

    def __iter__(self) -> Iterator[Request]:
        return iter(self._requests.values())

    def __contains__(self, name: str) -> bool:
        return name in self._requests

    def __len__(self) -> int:
        return len(self._requests)

    def get(self, name: str) -> Request | None:
        """The operator of a name."""
        return self._requests.get(name)

    def add(self, request: Request) -> None:
        """Put an operator there."""
        self._requests[request.name] = request
        if self._candidates is not None:
            _add_candidate(self._candidates, request)

    def take(self, name: str) -> Request:
        """Take an operator away."""
        request = self._requests.pop(name)
        if self._candidates is not None:
            candidates = self._candidates[request.outline.make]
            candidates.remove(name)
            if not len(candidates):
                del self._candidates[request.outline.make]
        return request

    def candidates(self, request: Request) -> CoverCandidates | None:
        """The operators comparable with one."""
        if self._candidates is None:
            self._candidates = {}
            for one in self:
                _add_candidate(self._candidates, one)
        return self._candidates.get(request.outline.make)

    def like(self, request: Request) -> list[Request]:
        """The operators comparable with one, in the order they came."""
        return [one for one in self if one.outline.make == request.outline.make]


def _add_candidate(candidates: dict[Hashable, CoverCandidates], request: Request) -> None:
    candidates.setdefault(request.outline.make, CoverCandidates()).add(request.name, request.outline)
