"""The methods of an operator as written: its keyword, its rules, its advice, its text, and its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from headwater.model import Span, StreamSchema
from headwater.query.language.tree.nodes import Holder

if TYPE_CHECKING:
    from headwater.query.checking.complaints import Complaints
    from headwater.query.checking.query_sources import QuerySources
    from headwater.query.language.shared_rules import SharedRules
    from headwater.query.language.syntax_advice import SyntaxAdvice
    from headwater.query.operators.union import AnyOperator


class OperatorNode(Holder):
    """The base of the node of every operator. The folder of an operator has its rules, its advice, its text and its checks; they are imported when used."""

    __slots__ = ()

    keyword: ClassVar[str]
    """The word it begins with. In lower case it is the name of its rule in the grammar."""

    read_alone: ClassVar[tuple[str, ...]] = ()
    """Rules of its grammar that builders read from a text of their own."""

    reads_together: ClassVar[bool] = False
    """Whether it takes all sources of FROM as one, at any place in a chain."""

    with_several_sources: ClassVar[str] = ""
    """How it is written where FROM names several streams for it; empty: FROM names one."""

    reads_itself: ClassVar[str] = ""
    """What is written after a source to read it together with itself, where that is possible."""

    words_at_start: ClassVar[tuple[str, ...]] = ()
    """Words that are keywords directly after its opening bracket, and names anywhere else."""

    takes_fences: ClassVar[bool] = False
    """Whether what it names inside its parentheses may be fences, not only a stream or a query."""

    makes_updates: ClassVar[bool] = False
    """Whether its answers are updates: lines that hold for a while."""

    @property
    def span(self) -> Span | None:
        """Its place."""
        raise AssertionError("every node has a span")

    @property
    def places(self) -> Mapping[str, Span]:
        """The places of its options, by their words."""
        return {}

    def place_of(self, word: str) -> Span | None:
        """The place of an option; that of the whole operator if it is not known."""
        return self.places.get(word, self.span)

    def further_sources(self) -> tuple[tuple[str, Span | None], ...]:
        """Its sources besides those of FROM: the names inside its parentheses, and their places."""
        return ()

    def source_schema(self, schemas: Sequence[StreamSchema | None]) -> StreamSchema | None:
        """What it reads as one, from the schemas of FROM; None where something of it is not known."""
        return schemas[0]

    @staticmethod
    def rules() -> type[SharedRules]:
        """What each of its rules in the grammar adds to the tree."""
        raise AssertionError("every operator has rules")

    @staticmethod
    def syntax_advice() -> SyntaxAdvice:
        """What it adds to the message about a text that goes wrong inside it."""
        from headwater.query.language.syntax_advice import SyntaxAdvice

        return SyntaxAdvice()

    def text(self) -> str:
        """The canonical text."""
        raise AssertionError(f"{self.keyword} has no text")

    def check(
        self, source: StreamSchema | None, complaints: Complaints, *, place_known: bool
    ) -> AnyOperator | None:
        """The operator with every choice made, or None and complaints; without a source, what can be checked is.

        `place_known` is False for a stream whose PLACE was refused: then a missing place is no second error. An operator that reads more
        than its source overrides `check_with`.
        """
        raise AssertionError(f"{self.keyword} reads more than its source")

    def check_with(self, sources: QuerySources) -> AnyOperator | None:
        """The same, with all that the query reads."""
        return self.check(sources.schema, sources.complaints, place_known=sources.place_known)
