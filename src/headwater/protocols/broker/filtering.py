"""Is an operator already covered by others, so that it need not be asked for?

Rule 1  Only operators that ask for the same kind of thing can cover one another (`Outline.make`): they stand on one shelf board.
Rule 2  A board keeps its boxes as arrays, so that a decision is arithmetic and not a walk through objects.
Rule 3  An operator that is taken away may have covered others: the node asks again for those (`exposed`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

from headwater.protocols.broker.cover_candidates import Board
from headwater.protocols.broker.messages import Asked
from headwater.protocols.cover import Cover

Where = Literal["nowhere", "receipt", "sender"]


@dataclass(frozen=True, slots=True)
class Filtering:
    """Which test decides, and where: when an operator is received, or before it is sent."""

    where: Where = "nowhere"
    cover: Cover | None = None
    seed: int = 0

    def covers(self, shelf: Shelf, asked: Asked) -> bool:
        """Whether what stands on a shelf leaves nothing to ask for."""
        if self.cover is None:
            return False
        board = shelf.board(asked)
        if board is None:
            return False
        seed = (int(asked.name[:12], 16) + self.seed) % 2**63
        return board.covers(asked.outline, self.cover, seed=seed).covered


class Shelf:
    """Operators in the order they came, and beside one another those that may cover one another."""

    def __init__(self) -> None:
        self._asked: dict[str, Asked] = {}
        self._boards: dict[Hashable, Board] | None = (
            None  # made when first asked for: most shelves decide nothing
        )

    def __iter__(self) -> Iterator[Asked]:
        return iter(self._asked.values())

    def __contains__(self, name: str) -> bool:
        return name in self._asked

    def __len__(self) -> int:
        return len(self._asked)

    def get(self, name: str) -> Asked | None:
        """The operator of a name."""
        return self._asked.get(name)

    def add(self, asked: Asked) -> None:
        """Put an operator there."""
        self._asked[asked.name] = asked
        if self._boards is not None:
            _lay(self._boards, asked)

    def take(self, name: str) -> Asked:
        """Take an operator away."""
        asked = self._asked.pop(name)
        if self._boards is not None:
            board = self._boards[asked.outline.make]
            board.remove(name)
            if not len(board):
                del self._boards[asked.outline.make]
        return asked

    def board(self, asked: Asked) -> Board | None:
        """The operators comparable with one."""
        if self._boards is None:
            self._boards = {}
            for one in self:
                _lay(self._boards, one)
        return self._boards.get(asked.outline.make)

    def like(self, asked: Asked) -> list[Asked]:
        """The operators comparable with one, in the order they came."""
        return [one for one in self if one.outline.make == asked.outline.make]


def _lay(boards: dict[Hashable, Board], asked: Asked) -> None:
    boards.setdefault(asked.outline.make, Board()).add(asked.name, asked.outline)
