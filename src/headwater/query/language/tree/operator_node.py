"""What shared code asks of an operator as written: its keyword, its rules, its text, and what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from headwater.model import Span, StreamSchema

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.operators.union import AnyOperator


class OperatorNode:
    """The base of the node of every operator. The folder of an operator has its rules, its text and its checks; they are imported when used."""

    __slots__ = ()

    keyword: ClassVar[str]
    """The word it begins with. In lower case it is the name of its rule in the grammar."""

    span: Span | None

    @staticmethod
    def rules() -> type[SharedRules]:
        """What each of its rules in the grammar adds to the tree."""
        raise AssertionError("every operator has rules")

    def text(self) -> str:
        """The canonical text."""
        raise AssertionError(f"{self.keyword} has no text")

    def check(
        self, source: StreamSchema | None, complaints: Complaints, *, place_known: bool
    ) -> AnyOperator | None:
        """The operator with every choice made, or None and complaints; without a source, what can be checked is.

        `place_known` is False for a stream whose PLACE was refused: then a missing place is no second error. An operator that reads more
        than one stream named in FROM is checked by `checking.check`, which knows the others.
        """
        raise AssertionError(f"{self.keyword} reads more than its source")
