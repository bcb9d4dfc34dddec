"""Can a PREDICT be answered: its streams, its aliases, its condition, how sure an answer must be, when it is emitted?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.question import Difference, Distance, Value
from headwater.model import Span, StreamSchema
from headwater.query.checking.answer_columns import RESERVED
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import duration_us
from headwater.query.language.limits import MOST_DIMENSIONS
from headwater.query.language.tree import Quantity
from headwater.query.operators.predict.check_conditions import Condition, Lowering
from headwater.query.operators.predict.operator import MOST_ALIASES, MOST_PIECES, MOST_STORED, PredictOperator
from headwater.query.operators.predict.tree import Predict

_AT_MOST = (Comparator.LESS_EQUAL, Comparator.LESS)


def check_predict(
    tree: Predict, schemas: Sequence[StreamSchema | None], complaints: Complaints
) -> PredictOperator | None:
    """The operator with every choice made, or None and complaints.

    `schemas` are those of the sources, None where one is not known: then what can be checked is.
    """
    before = len(complaints.errors)
    checker = _Checker(tree, schemas, complaints)
    sources = checker.sources()
    checker.check_aliases()
    checker.check_keys()
    lowered = None if sources is None else Lowering(tree, sources, schemas, complaints).run()
    if lowered:
        checker.check_joins(lowered[0])
        checker.check_certainty(lowered[0])
        checker.check_size(*lowered)
    within_us = checker.within_us()
    checker.check_probability()
    ahead_us, every_us = checker.answer_times()
    checker.check_buffer()
    if sources is None or lowered is None or within_us is None or len(complaints.errors) > before:
        return None
    conditions, dimensions = lowered
    return PredictOperator(
        aliases=tuple(alias.name for alias in tree.aliases) or ("",),
        sources=tuple(sources) if len(schemas) > 1 else (None,) * len(sources),
        dimensions=dimensions,
        conditions=conditions,
        within_us=within_us,
        certainty=tree.certainty or Certainty.LINE,
        p=1.0 if tree.p is None else float(tree.p),
        tentative=bool(tree.tentative),
        ahead_us=ahead_us,
        every_us=every_us,
        buffer=tree.buffer,
        give_up=tree.give_up or GiveUp.LEAST,
        seed=tree.seed or 0,
        polygon=False,
    )


@dataclass(slots=True)
class _Checker:
    """One operator; every method complains of its part."""

    tree: Predict
    schemas: Sequence[StreamSchema | None]
    complaints: Complaints

    def sources(self) -> list[int] | None:
        """Which source each alias reads, a condition on single updates being one alias; None and a complaint."""
        aliases, count = self.tree.aliases, len(self.schemas)
        if count == 1:
            return [0] * max(1, len(aliases))
        if not aliases:
            self._refuse(
                "wrong-sources",
                "a condition on single updates reads one stream",
                self.tree.span,
                "write a query for each, or PAIRS a, b WHERE … to join them",
            )
            return None
        if len(aliases) != count:
            self._refuse(
                "wrong-sources",
                f"PAIRS has {len(aliases)} aliases, but FROM names {count} streams",
                aliases[0].span or self.tree.span,
                "give each stream an alias, in the same order; or use one stream for all aliases",
            )
            return None
        return list(range(count))

    def check_aliases(self) -> None:
        """Two or more, with names of their own."""
        aliases = self.tree.aliases
        if len(aliases) == 1:
            alias = aliases[0]
            self._refuse(
                "not-joined",
                f"PAIRS has one alias, '{alias.name}'",
                alias.span or self.tree.span,
                "give two, as in PAIRS a, b WHERE …; a condition on single updates needs no PAIRS",
            )
        seen: set[str] = set()
        for alias in aliases:
            span = alias.span or self.tree.span
            if alias.name in seen:
                self._refuse(
                    "duplicate-name",
                    f"there already is an alias '{alias.name}'",
                    span,
                    "rename one of the two",
                )
            elif f"{alias.name}_time" in RESERVED:
                self._refuse(
                    "reserved-column",
                    f"the alias '{alias.name}' would make a column '{alias.name}_time', which every answer already has",
                    span,
                    "give it another name",
                )
            seen.add(alias.name)
        if len(aliases) > MOST_ALIASES:
            self._too_large(f"PAIRS has {len(aliases)} aliases", MOST_ALIASES, aliases[0].span)

    def check_keys(self) -> None:
        """Pairs are of different sensors, so there are keys, of one type."""
        if not self.tree.aliases:
            return
        keyed: list[StreamSchema] = []
        for schema in self.schemas:
            if schema is None:
                continue
            if schema.key is None:
                self._refuse(
                    "needs-key",
                    f"PAIRS joins the updates of different sensors, but '{schema.name}' has no KEY",
                    self.tree.span,
                    "mark the column that names the sensor with KEY, or select it under its own name",
                )
            else:
                keyed.append(schema)
        for schema in keyed[1:]:
            first = keyed[0]
            mine, other = schema.types[schema.key or ""], first.types[first.key or ""]
            if mine is not other:
                self._refuse(
                    "type-mismatch",
                    f"the KEY of '{first.name}' is {other.value}, and that of '{schema.name}' is {mine.value}",
                    self.tree.span,
                    "streams that are joined must have keys of one type",
                )

    def check_joins(self, conditions: Sequence[Condition]) -> None:
        """Every alias is joined to the others."""
        names = [alias.name for alias in self.tree.aliases]
        if len(names) < 2 or len(set(names)) < len(names):
            return
        reached = {0}
        pairs = [{c.left, c.right} for c in conditions if not isinstance(c, Value)]
        while more := [pair for pair in pairs if pair & reached and not pair <= reached]:
            reached.update(*more)
        for place, alias in enumerate(self.tree.aliases):
            if place not in reached:
                self._refuse(
                    "not-joined",
                    f"no condition joins '{alias.name}' to '{names[0]}'",
                    alias.span or self.tree.span,
                    f"add a condition on both, as in ABS({names[0]}.x - {alias.name}.x) <= 5",
                )
                return

    def check_certainty(self, conditions: Sequence[Condition]) -> None:
        """PROBABILITY where there is a formula for it."""
        if self.tree.certainty is not Certainty.PROBABILITY:
            return
        span = self.tree.place_of("PROBABILITY")
        joins: dict[frozenset[int], list[Difference]] = {}
        for condition in conditions:
            if isinstance(condition, Distance):
                self._refuse(
                    "no-closed-form",
                    "there is no closed form for the PROBABILITY of a DISTANCE",
                    span,
                    "use MAY or MUST, or compare the dimensions one by one: ABS(a.x - b.x) <= 5",
                )
                return
            if isinstance(condition, Difference):
                joins.setdefault(frozenset((condition.left, condition.right)), []).append(condition)
        for several in joins.values():
            if len({(c.left, c.left_dimension, c.right, c.right_dimension) for c in several}) < len(several):
                self._refuse(
                    "no-closed-form",
                    "PROBABILITY takes one condition on a difference, but there are two here",
                    span,
                    "keep the narrower one, or use MAY or MUST",
                )
                return
            if len(several) > 1 and any(condition.comparator not in _AT_MOST for condition in several):
                self._refuse(
                    "no-closed-form",
                    "PROBABILITY over several dimensions of two updates allows only <= and <",
                    span,
                    "use one dimension, or use MAY or MUST",
                )
                return

    def check_size(self, conditions: Sequence[Condition], dimensions: Sequence[Sequence[str]]) -> None:
        """Not too many pieces, nor dimensions."""
        pieces = 1
        for condition in conditions:
            pieces *= pieces_of(condition)
        if pieces > MOST_PIECES:
            self._too_large(f"the condition is split into {pieces:,} pieces", MOST_PIECES, self.tree.span)
        for names in dimensions:
            if len(names) > MOST_DIMENSIONS:
                self._too_large(f"{len(names)} dimensions are compared", MOST_DIMENSIONS, self.tree.span)

    def within_us(self) -> int | None:
        """How far apart in time the two values may be; 0 for a condition on single updates."""
        within, span = self.tree.within, self.tree.place_of("WITHIN")
        if within is None:
            if self.tree.aliases:
                self._refuse(
                    "wrong-within",
                    "PAIRS without WITHIN",
                    span,
                    "give the longest time between the two values: WITHIN 3 SECONDS, or WITHIN 0 SECONDS",
                )
                return None
            return 0
        found = duration_us(within, "WITHIN", self.complaints)
        if not self.tree.aliases:
            self._refuse(
                "wrong-within",
                "WITHIN is for PAIRS, but this is a condition on single updates",
                span,
                "leave it out",
            )
        elif found is not None and found < 0:
            self._refuse(
                "negative-duration",
                "WITHIN is negative",
                span,
                "WITHIN 0 SECONDS compares values at one instant",
            )
        return found

    def check_probability(self) -> None:
        """p is a probability, and not zero."""
        p = self.tree.p
        if p is not None and not 0 < p <= 1:
            self._refuse(
                "wrong-probability",
                f"PROBABILITY >= {p}: it must be greater than 0 and at most 1",
                self.tree.place_of("PROBABILITY"),
                "write PROBABILITY >= 0.9, or MAY for everything that is possible",
            )

    def answer_times(self) -> tuple[int | None, int | None]:
        """AHEAD and EVERY."""
        tree = self.tree
        if tree.ahead and not tree.tentative:
            self._refuse(
                "wrong-combination",
                "AHEAD needs TENTATIVE: VALIDATED answers are never emitted ahead",
                tree.place_of("AHEAD"),
                "write TENTATIVE AHEAD 10 SECONDS, or leave AHEAD out",
            )
        if tree.every and tree.tentative:
            self._refuse(
                "wrong-combination",
                "EVERY needs VALIDATED: TENTATIVE answers are emitted whole",
                tree.place_of("EVERY"),
                "write VALIDATED EVERY 1 SECOND, or leave EVERY out",
            )
        ahead_us = self._duration(tree.ahead, "AHEAD", least=0, example="TENTATIVE AHEAD 10 SECONDS")
        every_us = self._duration(tree.every, "EVERY", least=1, example="VALIDATED EVERY 1 SECOND")
        return ahead_us, every_us

    def _duration(self, written: Quantity | None, word: str, *, least: int, example: str) -> int | None:
        if written is None:
            return None
        found = duration_us(written, word, self.complaints)
        if found is not None and found < least:
            what = "is not longer than zero" if least else "is negative"
            self._refuse(
                "negative-duration", f"{word} {what}", self.tree.place_of(word), f"write it like {example}"
            )
        return found

    def check_buffer(self) -> None:
        """A buffer holds something, and only a buffer gives something up."""
        tree = self.tree
        if tree.buffer is not None and tree.buffer < 1:
            self._refuse(
                "not-a-count",
                f"a BUFFER of {tree.buffer} updates is empty",
                tree.place_of("BUFFER"),
                "use at least BUFFER 1; without BUFFER there is no bound",
            )
        if tree.buffer is not None and tree.buffer > MOST_STORED:
            self._too_large(f"the BUFFER has {tree.buffer:,} updates", MOST_STORED, tree.place_of("BUFFER"))
        if tree.give_up and tree.buffer is None:
            self._refuse(
                "wrong-combination",
                "GIVE UP needs BUFFER: without a bound nothing is given up",
                tree.place_of("GIVE UP"),
                f"write BUFFER 1000 GIVE UP {tree.give_up.name}, or leave it out",
            )

    def _too_large(self, message: str, most: int, span: Span | None) -> None:
        self._refuse("predict-too-large", message, span or self.tree.span, f"at most {most:,} are possible")

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.complaints.refuse(code, message, span, *advice)


def pieces_of(condition: Condition) -> int:
    """Into how many convex pieces a condition falls."""
    if isinstance(condition, Distance):
        return 1
    if isinstance(condition, Value):
        return 2 if condition.comparator is Comparator.DIFFERENT else 1
    if condition.comparator in _AT_MOST:
        return 1
    if condition.comparator is Comparator.DIFFERENT:
        return 3 if condition.bound else 2
    return 1 if condition.comparator is Comparator.EQUAL and not condition.bound else 2
