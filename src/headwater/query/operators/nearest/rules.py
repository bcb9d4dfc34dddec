"""What each rule of NEAREST in `grammar.lark` beside it adds to the tree; the methods have the names of the rules.

Everything after the target may be in any order. What is required (BY, OVER) and what is not allowed (BY after HIGHEST)
is checked here, because the tree has no room for it.
"""

from __future__ import annotations

from typing import Any

from lark import Token, v_args

from headwater.kernels.nearest.choices import Algorithm, Emission
from headwater.query.language.leaves import Number, name_of, number_of, refused, stretch, whole_number
from headwater.query.language.options import Option, once
from headwater.query.language.shared_rules import SharedRules, Signed
from headwater.query.language.suggestions import suggest
from headwater.query.language.tokens import span_of
from headwater.query.language.tree import Literal, Quantity
from headwater.query.operators.nearest.tree import (
    EachTarget,
    NearAttribute,
    Nearest,
    PointTarget,
    Target,
    Using,
    ValueTarget,
)


@v_args(inline=True)
class NearestRules(SharedRules):
    """The rules between `NEAREST (` and its end."""

    def nearest(self, word: Token, k: Signed, target: Target, *listed: Option) -> Nearest:
        """`NEAREST (k TO target options)`."""
        options = once(listed)
        _check_by(word, target, listed, options)
        if "OVER" not in options:
            advice = "give the length of the window: OVER 1 HOUR, or OVER 1000 ROWS"
            raise refused("NEAREST without OVER", span_of(word), advice)
        over = options["OVER"]
        using = options.get("USING", Using())
        emission, every = options.get("EMIT", (None, None))
        return Nearest(
            _whole(k, "NEAREST"),
            target,
            options.get("BY"),
            over if isinstance(over, Quantity) else None,
            None if isinstance(over, Quantity) else over,
            options.get("WEIGHTED"),
            options.get("PER"),
            "WITH TIES" in options,
            using.exact,
            using.sigma,
            using.algorithm,
            emission,
            every,
            options.get("FORGET"),
            span=span_of(word),
            places={"k": stretch(k.minus or k.number, k.number)} | {part.word: part.span for part in listed},
        )

    # --- what is near to what -------------------------------------------------------------------------------------

    def point_target(self, start: Token, *coordinates: Any) -> PointTarget:
        """`(x, y, …)`."""
        *listed, end = coordinates
        return PointTarget(_numbers(listed), span=stretch(start, end))

    def each_target(self, _: Token, name: Token) -> EachTarget:
        """`EACH OF points`."""
        return EachTarget(name_of(name), span=span_of(name))

    def highest_target(self, _: Token, name: Token, alias: Token | None) -> ValueTarget:
        """`HIGHEST attribute [AS name]`."""
        return _value_target(name, alias, highest=True)

    def lowest_target(self, _: Token, name: Token, alias: Token | None) -> ValueTarget:
        """`LOWEST attribute [AS name]`."""
        return _value_target(name, alias, highest=False)

    def by_attributes(self, word: Token, *attributes: Any) -> Option:
        """`BY (attributes)`."""
        return Option("BY", attributes[:-1], span_of(word))

    def by_place(self, word: Token, place: Token) -> Option:
        """`BY PLACE`."""
        return Option("BY", None, stretch(word, place))

    def near_attribute(self, name: Token, alias: Token | None) -> NearAttribute:
        """`attribute [AS name]`."""
        return NearAttribute(
            name_of(name), None if alias is None else name_of(alias), span=stretch(name, alias or name)
        )

    # --- options --------------------------------------------------------------------------------------------------

    def weighted_option(self, word: Token, *weights: Any) -> Option:
        """`WEIGHTED (weights)`."""
        *listed, end = weights
        return Option("WEIGHTED", _numbers(listed), stretch(word, end))

    def over_time(self, word: Token, over: Quantity) -> Option:
        """`OVER 1 HOUR`."""
        return Option("OVER", over, stretch(word, over))

    def over_rows(self, word: Token, rows: Signed, end: Token) -> Option:
        """`OVER n ROWS`."""
        return Option("OVER", _whole(rows, "OVER … ROWS"), stretch(word, end))

    def per_option(self, word: Token, name: Token) -> Option:
        """`PER column`."""
        return Option("PER", name_of(name), span_of(name))

    def ties_option(self, word: Token) -> Option:
        """`WITH TIES`."""
        return Option("WITH TIES", True, span_of(word))

    def using_option(self, using: Using) -> Option:
        """`USING …`."""
        return Option("USING", using, using.span)  # type: ignore[arg-type]

    def exact_option(self, word: Token, exact: Token, algorithm: Token | None) -> Using:
        """`USING EXACT [ALGORITHM name]`."""
        return Using(exact=True, algorithm=_algorithm(algorithm), span=stretch(word, algorithm or exact))

    def probable_option(self, word: Token, _: Token, sigma: Signed, algorithm: Token | None) -> Using:
        """`USING PROBABLE sigma [ALGORITHM name]`."""
        return Using(
            sigma=number_of(sigma.number, sigma.minus),
            algorithm=_algorithm(algorithm),
            span=stretch(word, algorithm or sigma.number),
        )

    def emission_option(self, word: Token, emission: tuple[Emission, Quantity | None]) -> Option:
        """`EMIT …`."""
        return Option("EMIT", emission, span_of(word))

    def emission_of_enters(self, _: Token) -> tuple[Emission, None]:
        """`ENTERS`."""
        return Emission.ENTERS, None

    def emission_of_changes(self, _: Token) -> tuple[Emission, None]:
        """`CHANGES`."""
        return Emission.CHANGES, None

    def emission_of_sets(self, _: Token, every: Quantity) -> tuple[Emission, Quantity]:
        """`EVERY t`."""
        return Emission.EVERY, every


def _check_by(word: Token, target: Target, listed: tuple[Option, ...], options: dict[str, Any]) -> None:
    """BY belongs to points, and to nothing else."""
    if not isinstance(target, ValueTarget):
        if "BY" not in options:
            advice = "give the columns of the distance: BY (solar, volts), or BY PLACE"
            raise refused("NEAREST without BY", span_of(word), advice)
    elif "BY" in options:
        which = "HIGHEST" if target.highest else "LOWEST"
        span = next(option.span for option in listed if option.word == "BY")
        advice = f"leave BY out, or give a point: TO (0.31, 0.22) BY (solar, {target.attribute})"
        raise refused(f"{which} already names its column, so BY is not allowed", span, advice)


def _value_target(name: Token, alias: Token | None, *, highest: bool) -> ValueTarget:
    said = None if alias is None else name_of(alias)
    return ValueTarget(name_of(name), highest, said, span=stretch(name, alias or name))


def _numbers(listed: list[Literal]) -> tuple[Number, ...]:
    return tuple(literal.value for literal in listed)  # type: ignore[misc]


def _whole(listed: Signed, what: str) -> int:
    return whole_number(listed.number, what, listed.minus)


def _algorithm(word: Token | None) -> Algorithm | None:
    if word is None:
        return None
    names = [algorithm.value for algorithm in Algorithm]
    if word.upper() not in names:
        message = f"there is no algorithm named '{word}'"
        raise refused(message, span_of(word), *suggest(word, names, "algorithms"))
    return Algorithm(word.upper())
