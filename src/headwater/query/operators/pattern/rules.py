"""What each rule of MATCH_RECOGNIZE in `grammar.lark` beside it adds to the tree; the methods have the names of the rules.

Parentheses around a part of a pattern only group it: they leave no node, so `((A))` is the tree of `A`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from lark import Token, v_args

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch, SkipTo
from headwater.query.language.leaves import name_of, refused, stretch, whole_number
from headwater.query.language.options import Option, once
from headwater.query.language.shared_rules import SharedRules
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Expression, Quantity
from headwater.query.operators.pattern.tree import (
    Choice,
    Column,
    Definition,
    Edge,
    Empty,
    Exclusion,
    Loop,
    MatchRecognize,
    Measure,
    Never,
    NodeMode,
    Pattern,
    Permutation,
    Sequence,
    Skip,
    Subset,
    Variable,
)

_LINKS: Final = {"~>": Contiguity.RELAXED, "~~>": Contiguity.ANY}
_CONTIGUITIES: Final = {"~": Contiguity.RELAXED, "~~": Contiguity.ANY}


class _Bounds(NamedTuple):
    """How often a loop goes round, and the last token that says so."""

    least: int
    most: int | None
    end: Token


class _Until(NamedTuple):
    condition: Expression
    end: Token


@v_args(inline=True)
class PatternRules(SharedRules):
    """The rules between `MATCH_RECOGNIZE (` and its end."""

    def match_recognize(self, word: Token, *parts: Any) -> MatchRecognize:
        """The clauses in the order of the grammar; those left out are None."""
        partition, order, measures, rows, every, mode, skip, pattern, *listed, subsets, define = parts
        options = once(listed)
        return MatchRecognize(
            pattern,
            define or (),
            partition or (),
            order or (),
            measures or (),
            rows,
            every is not None,
            mode,
            skip,
            options.get("WITHIN"),
            options.get("WITHIN … BETWEEN ROWS"),
            "WITH TIMEOUTS" in options,
            options.get("LIMIT"),
            options.get("FORGET"),
            subsets or (),
            span=span_of(word),
        )

    # --- clauses --------------------------------------------------------------------------------------------------

    def partition(self, *columns: Column) -> tuple[Column, ...]:
        """`PARTITION BY columns`."""
        return columns

    def order(self, *columns: Column) -> tuple[Column, ...]:
        """`ORDER BY columns`."""
        return columns

    def partition_column(self, name: Token) -> Column:
        """A column that keeps rows apart."""
        return Column(name_of(name), span=span_of(name))

    def order_column(self, name: Token, direction: Token | None) -> Column:
        """`column [ASC]`; time only goes forward."""
        if direction is not None and direction.upper() == "DESC":
            advice = "rows are matched in the order in which they happened: leave DESC out"
            raise refused("a pattern cannot be read backwards in time", span_of(direction), advice)
        return Column(name_of(name), span=span_of(name))

    def direction(self, word: Token) -> Token:
        """ASC or DESC."""
        return word

    def measures(self, *measures: Measure) -> tuple[Measure, ...]:
        """`MEASURES …`."""
        return measures

    def measure(self, expression: Expression, name: Token) -> Measure:
        """`expression AS name`."""
        return Measure(expression, name_of(name), span=stretch(expression, name))

    def one_row(self) -> RowsPerMatch:
        """`ONE ROW PER MATCH`."""
        return RowsPerMatch.ONE

    def all_rows(self, omitted: Token | None = None) -> RowsPerMatch:
        """`ALL ROWS PER MATCH [SHOW EMPTY MATCHES | OMIT EMPTY MATCHES]`."""
        return RowsPerMatch.ALL_SHOW_EMPTY if omitted is None else RowsPerMatch.ALL_OMIT_EMPTY

    def unmatched_rows(self) -> RowsPerMatch:
        """`ALL ROWS PER MATCH WITH UNMATCHED ROWS`."""
        return RowsPerMatch.ALL_WITH_UNMATCHED

    def every(self) -> bool:
        """`MATCH EVERY`."""
        return True

    def mode(
        self, word: Token, mode: Token, hold: Token | None, events: Token | None, seed: int | None
    ) -> NodeMode:
        """`MODE mode [HOLD n EVENTS] [CHOOSE ONE SEED n]`."""
        held = None if hold is None else whole_number(hold, "HOLD")
        return NodeMode(Mode(mode.upper()), held, seed, span=stretch(word, events or mode))

    def mode_word(self, word: Token) -> Token:
        """UNRESTRICTED, FIRST or RECENT."""
        return word

    def no_skip(self, word: Token) -> Skip:
        """`AFTER MATCH NO SKIP`."""
        return Skip(SkipTo.NOWHERE, span=span_of(word))

    def skip_past_last(self, word: Token) -> Skip:
        """`AFTER MATCH SKIP PAST LAST ROW`."""
        return Skip(SkipTo.PAST_LAST_ROW, span=span_of(word))

    def skip_to_next(self, word: Token) -> Skip:
        """`AFTER MATCH SKIP TO NEXT ROW`."""
        return Skip(SkipTo.NEXT_ROW, span=span_of(word))

    def skip_to_first(self, _: Token, name: Token) -> Skip:
        """`AFTER MATCH SKIP TO FIRST variable`."""
        return Skip(SkipTo.FIRST, name_of(name), span=span_of(name))

    def skip_to_last(self, _: Token, name: Token) -> Skip:
        """`AFTER MATCH SKIP TO [LAST] variable`."""
        return Skip(SkipTo.LAST, name_of(name), span=span_of(name))

    def pattern_within(self, word: Token, within: Quantity) -> Option:
        """`WITHIN t`."""
        return Option("WITHIN", within, span_of(word))

    def pattern_between_rows(self, word: Token, within: Quantity) -> Option:
        """`WITHIN t BETWEEN ROWS`."""
        return Option("WITHIN … BETWEEN ROWS", within, span_of(word))

    def pattern_timeouts(self, word: Token) -> Option:
        """`WITH TIMEOUTS`."""
        return Option("WITH TIMEOUTS", True, span_of(word))

    def pattern_limit(self, word: Token, number: Token) -> Option:
        """`LIMIT n PARTIAL MATCHES`."""
        return Option("LIMIT", whole_number(number, "LIMIT"), span_of(word))

    def pattern_forget(self, word: Token, forget: Quantity) -> Option:
        """`FORGET t`."""
        return Option("FORGET", forget, span_of(word))

    def subsets(self, *subsets: Subset) -> tuple[Subset, ...]:
        """`SUBSET …`."""
        return subsets

    def subset(self, name: Token, *members: Token) -> Subset:
        """`name = (members)`; the last argument is the closing parenthesis."""
        *listed, end = members
        return Subset(name_of(name), tuple(map(name_of, listed)), span=stretch(name, end))

    def define(self, *definitions: Definition) -> tuple[Definition, ...]:
        """`DEFINE …`."""
        return definitions

    def definition(self, name: Token, condition: Expression) -> Definition:
        """`name AS condition`; its place is that of the name, the condition has its own."""
        return Definition(name_of(name), condition, span=span_of(name))

    # --- the pattern ----------------------------------------------------------------------------------------------

    def choice(self, *choices: Pattern) -> Choice:
        """`a | b`."""
        return Choice(choices, span=stretch(choices[0], choices[-1]))

    def sequence(self, first: Pattern, *others: Any) -> Sequence:
        """`a b ~> c`: links and parts by turns."""
        links = [Contiguity.STRICT if link is None else link for link in others[::2]]
        return Sequence((first, *others[1::2]), tuple(links), span=stretch(first, others[-1]))

    def link(self, sign: Token) -> Contiguity:
        """`~>` or `~~>`."""
        return _LINKS[sign]

    def loop(
        self,
        pattern: Pattern,
        contiguity: Contiguity | None,
        bounds: _Bounds,
        reluctant: Token | None,
        blocking: Token | None,
        until: _Until | None,
    ) -> Loop:
        """`a~+?! UNTIL (…)`."""
        end = until.end if until else blocking or reluctant or bounds.end
        return Loop(
            pattern,
            bounds.least,
            bounds.most,
            reluctant is not None,
            blocking is not None,
            contiguity or Contiguity.STRICT,
            until.condition if until else None,
            span=stretch(pattern, end),
        )

    def contiguity(self, sign: Token) -> Contiguity:
        """`~` or `~~`."""
        return _CONTIGUITIES[sign]

    def any_number(self, sign: Token) -> _Bounds:
        """`*`."""
        return _Bounds(0, None, sign)

    def one_or_more(self, sign: Token) -> _Bounds:
        """`+`."""
        return _Bounds(1, None, sign)

    def none_or_one(self, sign: Token) -> _Bounds:
        """`?`."""
        return _Bounds(0, 1, sign)

    def exact_number(self, number: Token, end: Token) -> _Bounds:
        """`{n}`."""
        count = whole_number(number, "a loop")
        return _Bounds(count, count, end)

    def number_from(self, number: Token, upper: Token | None, end: Token) -> _Bounds:
        """`{n,}` or `{n,m}`."""
        least = whole_number(number, "a loop")
        most = None if upper is None else whole_number(upper, "a loop")
        if most is not None and most < least:
            advice = f"the smaller number comes first: {{{most},{least}}}"
            raise refused(f"a loop of at least {least} and at most {most}", stretch(number, upper), advice)
        return _Bounds(least, most, end)

    def number_up_to(self, number: Token, end: Token) -> _Bounds:
        """`{,m}`."""
        return _Bounds(0, whole_number(number, "a loop"), end)

    def until(self, _: Token, condition: Expression, end: Token) -> _Until:
        """`UNTIL (condition)`."""
        return _Until(condition, end)

    def variable(self, name: Token) -> Variable:
        """A pattern variable."""
        return Variable(name_of(name), span=span_of(name))

    def never(self, word: Token, name: Token) -> Never:
        """`NOT a`."""
        return Never(name_of(name), span=stretch(word, name))

    def empty(self, begin: Token, end: Token) -> Empty:
        """`()`."""
        return Empty(span=stretch(begin, end))

    def permutation(self, word: Token, *parts: Any) -> Permutation:
        """`PERMUTE (a, b)`; the last argument is the closing parenthesis."""
        return Permutation(parts[:-1], span=stretch(word, parts[-1]))

    def exclusion(self, begin: Token, pattern: Pattern, end: Token) -> Exclusion:
        """`{- a -}`."""
        return Exclusion(pattern, span=stretch(begin, end))

    def beginning(self, sign: Token) -> Edge:
        """`^`."""
        return Edge(end=False, span=span_of(sign))

    def ending(self, sign: Token) -> Edge:
        """`$`."""
        return Edge(end=True, span=span_of(sign))
