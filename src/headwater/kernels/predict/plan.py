"""What does a PREDICT query require, as arrays for its loops?

Rule 1  Conditions on the same two aliases are one join, which also has the value conditions of both. The left alias is the one
        that the first of them names first.
Rule 2  An answer has one *piece*: a choice among the pieces of every condition, mixed radix in the order written, first condition
        fastest. `piece_of` says which piece of a join that is; a value condition has one choice in all joins of its alias.
Rule 3  Two aliases of one stream that can be swapped without a change of meaning give each pair once, smaller key first.
Rule 4  A search begins with the alias that a new line takes and continues along the joins: `steps` says which alias comes next, and
        which joins hold between it and those before it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.predict.choices import Certainty, Comparator
from headwater.kernels.predict.geometry import pieces_of, shapes, value_pieces_of
from headwater.kernels.predict.geometry.shapes import LOOP, Join, Real, Single, Whole
from headwater.kernels.predict.question import Difference, Distance, PredictQuery, Value

# Places in `Plan.rules`, int64[…].
ALIASES: Final = 0
JOINS: Final = 1
PIECES: Final = 2
ONCE: Final = 3  # each pair once, smaller key first
WITHIN: Final = 4
TENTATIVE: Final = 5
AHEAD: Final = 6  # -1: emitted when made
EVERY: Final = 7  # 0: no ticks
ZONE: Final = 8
ZONES: Final = 9  # 0: all pairs belong to this zone
POLYGON: Final = 10
SOURCES: Final = 11
PLAIN: Final = 12  # a quick test is enough for most pairs: see `plain_pair_test`
RULES: Final = 13


class Joins(NamedTuple):
    """All joins of a query, their conditions one after the other. `spans` int64[joins, 6]: where the differences begin and end,
    and the value conditions of the left and of the right alias; `left`, `right` int64[joins]: the aliases."""

    left: Whole
    right: Whole
    spans: Whole
    left_dimension: Whole
    right_dimension: Whole
    comparator: Whole
    bound: Real
    distance: Real
    distance_strict: NDArray[np.bool_]
    value_dimension: Whole
    value_comparator: Whole
    value_bound: Real
    within_us: int
    certainty: int
    p: float


class Plan(NamedTuple):
    """A query in the form of its loops.

    `source` int64[aliases]: which of the query's sources an alias reads. `piece_of` int64[joins, pieces]. `steps`
    int64[aliases, aliases − 1, 3]: per first alias, the aliases that follow, the join by which each is found and the alias
    from which it is reached. `single` are the conditions if there is one alias.
    """

    rules: Whole
    source: Whole
    joins: Joins
    piece_of: Whole
    steps: Whole
    single: Single


def plan_of(query: PredictQuery) -> Plan:
    """The plan of a query."""
    sources = sources_of(query)
    groups = _groups(query)
    joins = _joins(query, groups)
    radix = [_radix(query, condition) for condition in query.conditions]
    rules = np.zeros(RULES, np.int64)
    rules[ALIASES] = len(query.aliases)
    rules[JOINS] = len(groups)
    rules[PIECES] = int(np.prod(radix, dtype=np.int64))
    rules[ONCE] = can_be_swapped(query)
    rules[WITHIN] = query.within_us
    rules[TENTATIVE] = query.tentative
    rules[AHEAD] = -1 if query.ahead_us is None else query.ahead_us
    rules[EVERY] = query.every_us or 0
    if query.share is not None:
        rules[ZONE], rules[ZONES] = query.share
    rules[POLYGON] = query.polygon
    rules[SOURCES] = len(sources)
    rules[PLAIN] = _is_plain(query)
    source = np.array([sources.index(alias.source) for alias in query.aliases], np.int64)
    return Plan(
        rules, source, joins, _pieces(query, groups, radix), _steps(query, groups), shapes.single_of(query, 0)
    )


def follows_from_lives(query: PredictQuery) -> bool:
    """Whether all that a query emits follows from pairs of lines and their lives alone: see `pairs`."""
    return _is_plain(query) and not query.tentative and query.buffer is None and not query.polygon


def sources_of(query: PredictQuery) -> list[int | None]:
    """The sources that a query reads, each once."""
    return list(dict.fromkeys(alias.source for alias in query.aliases))


def can_be_swapped(query: PredictQuery) -> bool:
    """Whether a pair and the same pair with its aliases swapped mean the same."""
    if len(query.aliases) != 2 or query.aliases[0].source != query.aliases[1].source:
        return False
    values: tuple[set[Any], set[Any]] = set(), set()
    for condition in query.conditions:
        if isinstance(condition, Value):
            values[condition.alias].add((condition.dimension, condition.comparator, condition.bound))
    differences = [c for c in query.conditions if isinstance(c, Difference)]
    one_way = {(c.left_dimension, c.right_dimension, c.comparator, c.bound) for c in differences}
    other_way = {(c.right_dimension, c.left_dimension, c.comparator, c.bound) for c in differences}
    return values[0] == values[1] and one_way == other_way


@loop(**LOOP, forceinline=True)
def join_of(joins: Joins, j: int) -> Join:
    """One of the joins."""
    s = joins.spans
    return Join(
        joins.left_dimension[s[j, 0] : s[j, 1]],
        joins.right_dimension[s[j, 0] : s[j, 1]],
        joins.comparator[s[j, 0] : s[j, 1]],
        joins.bound[s[j, 0] : s[j, 1]],
        joins.distance[j],
        joins.distance_strict[j],
        joins.value_dimension[s[j, 2] : s[j, 3]],
        joins.value_comparator[s[j, 2] : s[j, 3]],
        joins.value_bound[s[j, 2] : s[j, 3]],
        joins.value_dimension[s[j, 4] : s[j, 5]],
        joins.value_comparator[s[j, 4] : s[j, 5]],
        joins.value_bound[s[j, 4] : s[j, 5]],
        joins.within_us,
        joins.certainty,
        joins.p,
    )


class _Group(NamedTuple):
    """A join's aliases and the places of its conditions: left values, right values, differences; and its distance."""

    left: int
    right: int
    left_values: list[int]
    right_values: list[int]
    differences: list[int]
    distances: list[int]


def _groups(query: PredictQuery) -> list[_Group]:
    groups: dict[frozenset[int], _Group] = {}
    for place, condition in enumerate(query.conditions):
        if isinstance(condition, Value):
            continue
        pair = frozenset((condition.left, condition.right))
        if pair not in groups:
            sides = [
                [p for p, c in enumerate(query.conditions) if isinstance(c, Value) and c.alias == alias]
                for alias in (condition.left, condition.right)
            ]
            groups[pair] = _Group(condition.left, condition.right, sides[0], sides[1], [], [])
        kind = groups[pair].differences if isinstance(condition, Difference) else groups[pair].distances
        kind.append(place)
    return list(groups.values())


def _joins(query: PredictQuery, groups: list[_Group]) -> Joins:
    """All joins in one; each in the form of the geometry."""
    joins = [shapes.join_of(query, group.left, group.right) for group in groups]
    spans = np.zeros((len(joins), 6), np.int64)
    counts = [(len(j.bound), len(j.left_value_bound), len(j.right_value_bound)) for j in joins]
    differences = values = 0
    for span, (many, left, right) in zip(spans, counts, strict=True):
        span[:] = differences, differences + many, values, values + left, values + left, values + left + right
        differences += many
        values += left + right
    no_whole, no_real = [np.empty(0, np.int64)], [np.empty(0)]
    sides = [(j[6:9], j[9:12]) for j in joins]
    return Joins(
        np.array([group.left for group in groups], np.int64),
        np.array([group.right for group in groups], np.int64),
        spans,
        np.concatenate(no_whole + [j.left_dimension for j in joins]),
        np.concatenate(no_whole + [j.right_dimension for j in joins]),
        np.concatenate(no_whole + [j.comparator for j in joins]),
        np.concatenate(no_real + [j.bound for j in joins]),
        np.array([j.distance for j in joins], np.float64),
        np.array([j.distance_strict for j in joins], np.bool_),
        np.concatenate(no_whole + [side[0] for both in sides for side in both]),
        np.concatenate(no_whole + [side[1] for both in sides for side in both]),
        np.concatenate(no_real + [side[2] for both in sides for side in both]),
        query.within_us,
        int(query.certainty),
        float(query.p),
    )


def _radix(query: PredictQuery, condition: Value | Difference | Distance) -> int:
    """How many pieces a condition has, as the geometry counts them."""
    alone = replace(query, conditions=(condition,))
    if isinstance(condition, Value):
        return int(value_pieces_of(shapes.single_of(alone, condition.alias)))
    return int(pieces_of(shapes.join_of(alone, condition.left, condition.right)))


def _pieces(query: PredictQuery, groups: list[_Group], radix: list[int]) -> Whole:
    """int64[joins, pieces]: which piece of a join belongs to which piece of the answer."""
    total = int(np.prod(radix, dtype=np.int64))
    digits, rest = [], np.arange(total)
    for base in radix:
        digits.append(rest % base)
        rest = rest // base
    found = np.zeros((len(groups), total), np.int64)
    for row, group in zip(found, groups, strict=True):
        weight = 1
        for place in (*group.left_values, *group.right_values, *group.differences):
            row += weight * digits[place]
            weight *= radix[place]
    return found


def _steps(query: PredictQuery, groups: list[_Group]) -> Whole:
    """The joins along which a search continues, per alias that it begins with."""
    many = len(query.aliases)
    steps = np.zeros((many, max(many - 1, 0), 3), np.int64)
    for first in range(many):
        reached = [first]
        while len(reached) < many:
            found = [
                (group.right if group.left in reached else group.left, j, group)
                for j, group in enumerate(groups)
                if (group.left in reached) != (group.right in reached)
            ]
            assert found, "aliases that no join connects"
            alias, j, group = found[0]
            steps[first, len(reached) - 1] = alias, j, group.left if group.right == alias else group.right
            reached.append(alias)
    return steps


def _is_plain(query: PredictQuery) -> bool:
    """Whether the query is one plain join: see `plain_pair_test`."""
    if len(query.aliases) != 2 or query.certainty is Certainty.PROBABILITY:
        return False
    return all(
        isinstance(condition, Difference) and condition.comparator in (Comparator.LESS_EQUAL, Comparator.LESS)
        for condition in query.conditions
    )
