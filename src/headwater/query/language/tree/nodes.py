"""The methods of an operator's nodes that a walk over a tree uses, without knowing which operator it is."""

from __future__ import annotations

from headwater.query.language.tree.expressions import Expression


class Holder:
    """A node that has expressions, or levels, directly inside it."""

    __slots__ = ()

    def inside(self) -> tuple[Expression | Level, ...]:
        """Those, in the order written."""
        return ()


class Level(Holder):
    """A holder that is a level itself, as an expression is: a part of a pattern."""

    __slots__ = ()
