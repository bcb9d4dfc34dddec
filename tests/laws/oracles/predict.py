"""PREDICT, straight from its definition: every choice of updates and pieces, each judged by itself.

Updates are taken in the order of the stream. A line is f(t) = v + slope · (t − t0); it lives in [t0, the sensor's next update), at
most its heartbeat. An *answer* is a choice of one living line for each alias and of one piece for each condition (`>=` on the size
of a difference has two: above, and below) whose sets of times (`predict_areas`) are not empty and have a time in common.

VALIDATED tells what holds when all updates are known. TENTATIVE is replayed: after every update all answers are found again from
nothing, and what is new, shorter or gone is told. Of two updates of one sensor at one time the former never answers, not even for the
moment until the latter is read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from headwater.kernels.predict.choices import Comparator
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery, Value
from headwater.model import BEGINNING, SECOND, Instant, StreamSchema
from tests.laws.oracles.predict_areas import (
    Disc,
    Form,
    Found,
    Half,
    Product,
    best_value,
    corners,
    extent,
    later_time,
    meets_disc,
)
from tests.laws.oracles.predict_chances import (
    EQUAL,
    FALLING,
    LINE,
    MAY,
    MUST,
    PROBABILITY,
    RISING,
    Piece,
    difference_function,
    difference_pieces,
    difference_probability,
    pieces_of,
    value_function,
    value_pieces,
    value_probability,
    written,
)

Row = dict[str, Any]
Condition = Callable[[Row], bool]


@dataclass(frozen=True)
class Update:
    """A line with its life; `number` is its place in the stream."""

    number: int
    source: int | None
    key: Any
    time: Instant
    values: tuple[Fraction, ...]
    slopes: tuple[Fraction, ...]
    tolerance: Fraction
    heartbeat_us: int
    start: Instant
    end: Instant

    def line(self, dimension: int) -> tuple[Fraction, Fraction]:
        """Slope a microsecond, and value at 1970."""
        slope = self.slopes[dimension] / SECOND
        return slope, self.values[dimension] - slope * self.time


@dataclass(frozen=True)
class Answer:
    """One choice of updates and pieces that comes true. `probability` is between two numbers; None: not known."""

    updates: tuple[Update, ...]
    pieces: tuple[int, ...]
    when: Found
    probability: tuple[float, float] | None

    @property
    def identity(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What stays the same when an answer is cut."""
        return tuple(update.number for update in self.updates), self.pieces

    @property
    def begins(self) -> Instant:
        """To the nearest microsecond."""
        return math.floor(self.when.begins + Fraction(1, 2))

    @property
    def ends(self) -> Instant:
        """To the nearest microsecond."""
        return math.floor(self.when.ends + Fraction(1, 2))


@dataclass(frozen=True)
class EmittedRow:
    """A row about an answer. `certain` off: it hangs on the last digits whether it is told, at a tick."""

    event_time: Instant
    answer: Answer
    begins: Instant
    ends: Instant
    withdrawn: bool = False
    certain: bool = True

    @property
    def sure(self) -> bool:
        """Whether it has to be told; or may be, because it hangs on the last digits."""
        return self.certain and not self.answer.when.doubtful

    @property
    def who(self) -> tuple[Any, ...]:
        """Keys and update times, alias by alias, and whether it is withdrawn."""
        return (*((update.key, update.time) for update in self.answer.updates), self.withdrawn)


def emitted(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: PredictQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> list[EmittedRow]:
    """Everything a query without a buffer tells."""
    assert query.buffer is None
    updates = updates_of(schema, rows, query, conditions, since)
    return _tentative(query, updates) if query.tentative else _validated(query, updates)


def updates_of(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: PredictQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> list[Update]:
    """The rows that are updates, in order, each with the life it has as long as no other follows."""
    found = []
    for number, row in enumerate(rows):
        alias = _alias_of(row, query)
        if alias is None or row[schema.time] < since or not _satisfies(row, query, conditions):
            continue
        if is_update(schema, row, alias):
            time, beat = row[schema.time], round(row[alias.heartbeat] * SECOND)
            values = tuple(written(row[name]) for name in alias.values)
            slopes = tuple(written(row[name]) for name in alias.slopes)
            assert schema.key is not None
            found.append(
                Update(
                    number,
                    alias.source,
                    row[schema.key],
                    time,
                    values,
                    slopes,
                    written(row[alias.tolerance]),
                    beat,
                    time,
                    time + beat,
                )
            )
    return found


def not_updates(
    schema: StreamSchema,
    rows: Sequence[Row],
    query: PredictQuery,
    conditions: Sequence[Condition] = (),
    since: Instant = BEGINNING,
) -> int:
    """How many rows that satisfy WHERE lack something that an update has."""
    count = 0
    for row in rows:
        alias = _alias_of(row, query)
        mine = alias is not None and row[schema.time] >= since and _satisfies(row, query, conditions)
        count += mine and not is_update(schema, row, alias)
    return count


def is_update(schema: StreamSchema, row: Row, alias: Alias | None) -> bool:
    """Whether a row has all that an update needs."""
    assert alias is not None and schema.key is not None
    needed = (schema.key, *alias.values, *alias.slopes, alias.tolerance, alias.heartbeat)
    return all(row[name] is not None for name in needed)


def living(updates: Sequence[Update]) -> list[Update]:
    """The updates that have a life, each ended by the next of its sensor."""
    found = []
    for place, update in enumerate(updates):
        later = (u for u in updates[place + 1 :] if (u.source, u.key) == (update.source, update.key))
        follower = next(later, None)
        end = update.end if follower is None else min(update.end, follower.time)
        if end > update.start:
            found.append(replace(update, end=end))
    return found


def _alias_of(row: Row, query: PredictQuery) -> Alias | None:
    """Any alias that takes its updates from where the row comes from."""
    mine = [alias for alias in query.aliases if alias.source is None or alias.source == row["source"]]
    return mine[0] if mine else None


def _satisfies(row: Row, query: PredictQuery, conditions: Sequence[Condition]) -> bool:
    return query.where is None or conditions[query.where](row)


# --- answers ---------------------------------------------------------------------------------------------------------------


class Finder:
    """All answers of some lines; what was found for the same lines with the same lives is remembered."""

    def __init__(self, query: PredictQuery) -> None:
        self.query = query
        self._known: dict[Any, list[Answer]] = {}

    def answers(self, lines: Sequence[Update]) -> list[Answer]:
        """Every answer."""
        found = []
        for chosen in self._assignments(lines):
            known = tuple((line.number, line.start, line.end) for line in chosen)
            if known not in self._known:
                self._known[known] = list(self._of(chosen))
            found += self._known[known]
        return found

    def _assignments(self, lines: Sequence[Update]) -> Iterator[tuple[Update, ...]]:
        aliases = self.query.aliases
        sources = [[line for line in lines if line.source == alias.source] for alias in aliases]
        for chosen in itertools.product(*sources):
            pairs = list(itertools.combinations(chosen, 2))
            if any(one.source == other.source and one.key == other.key for one, other in pairs):
                continue
            if len(chosen) == 2 and self._is_symmetric() and not chosen[0].key < chosen[1].key:
                continue
            yield chosen

    def _is_symmetric(self) -> bool:
        if self.query.aliases[0].source != self.query.aliases[1].source:
            return False
        of_aliases: list[set[Any]] = [set(), set()]
        for one in self.query.conditions:
            if isinstance(one, Value):
                of_aliases[one.alias].add((one.dimension, one.comparator, one.bound))
        return of_aliases[0] == of_aliases[1]

    def probability(
        self, chosen: tuple[Update, ...], pieces: tuple[int, ...], begins: Instant, ends: Instant
    ) -> tuple[float, float] | None:
        """At the best instant between two, of several joins the least."""
        joins = [Join(self.query, chosen, left, right, pieces) for left, right in self._joins(chosen)]
        return _least([join.probability_between(begins, ends, several=len(joins) > 1) for join in joins])

    def _joins(self, chosen: tuple[Update, ...]) -> list[tuple[int, int]]:
        if len(chosen) == 1:
            return [(0, 0)]
        pairs = [(c.left, c.right) for c in self.query.conditions if not isinstance(c, Value)]
        return list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))

    def _of(self, chosen: tuple[Update, ...]) -> Iterator[Answer]:
        joins = self._joins(chosen)
        if any(not self._can_meet(chosen[left], chosen[right]) for left, right in joins):
            return
        counts = [pieces_of(condition) for condition in self.query.conditions]
        for pieces in itertools.product(*map(range, counts)):
            found = [Join(self.query, chosen, left, right, pieces) for left, right in joins]
            whens = [join.when() for join in found]
            if any(when is None for when in whens):
                continue
            when = _common([when for when in whens if when is not None])
            if when is not None:
                answer = Answer(chosen, pieces, when, None)
                chance = self.probability(chosen, pieces, answer.begins, answer.ends)
                yield replace(answer, probability=chance)

    def _can_meet(self, one: Update, other: Update) -> bool:
        return max(one.start, other.start) <= min(one.end, other.end) + self.query.within_us


UNSAID = (-1.0, -1.0)
"""The probability of two conditions on one difference: 1 where they are sure, and else not told."""


def _common(whens: Sequence[Found]) -> Found | None:
    begins, ends = max(when.begins for when in whens), min(when.ends for when in whens)
    moves = (max(when.moves[0] for when in whens), max(when.moves[1] for when in whens))
    doubtful = any(when.doubtful for when in whens)
    if any(moves) and abs(ends - begins) <= sum(moves) + 1:
        return Found(begins, max(begins, ends), moves, True)
    return Found(begins, ends, moves, doubtful) if begins <= ends else None


def _least(all_of: Sequence[tuple[float, float] | None]) -> tuple[float, float] | None:
    if UNSAID in all_of:
        return UNSAID
    known = [one for one in all_of if one is not None]
    if len(known) < len(all_of):
        return None
    return min(low for low, _ in known), min(high for _, high in known)


class Join:
    """The conditions on two aliases, of one choice of pieces; one alias alone is joined with itself at the same time."""

    def __init__(
        self, query: PredictQuery, chosen: tuple[Update, ...], left: int, right: int, pieces: tuple[int, ...]
    ) -> None:
        self.query, self.left, self.right = query, chosen[left], chosen[right]
        self.alone = left == right
        self.total = self.left.tolerance + self.right.tolerance
        self.values: list[tuple[Value, int, Form, Fraction]] = []  # condition, piece, line, tolerance
        self.differences: list[tuple[Difference, int, Form]] = []
        self.distances: list[tuple[Distance, tuple[Form, ...]]] = []
        for condition, piece in zip(query.conditions, pieces, strict=True):
            if isinstance(condition, Value):
                if condition.alias in (left, right):
                    update = chosen[condition.alias]
                    slope, value = update.line(condition.dimension)
                    zero = Fraction(0)
                    form = (slope, zero, value) if condition.alias == left else (zero, slope, value)
                    self.values.append((condition, piece, form, update.tolerance))
            elif {condition.left, condition.right} == {left, right}:
                if isinstance(condition, Difference):
                    self.differences.append((condition, piece, self._difference(condition, left)))
                else:
                    self.distances.append((condition, self._distance()))
        self.halves = self._halves()

    def when(self) -> Found | None:
        """When the later of the two times is inside."""
        if self.halves is None:
            return None
        if self.distances:
            (condition, forms) = self.distances[0]
            assert len(self.distances) == 1 and self.query.certainty is not PROBABILITY
            move = {LINE: Fraction(0), MAY: self.total, MUST: -self.total}[self.query.certainty]
            bound = written(condition.bound) + move
            return later_time(self.halves, Disc(forms, bound, condition.strict))
        if self._is_product():
            return later_time(self.halves, Product(self._product(), self.query.p))
        return later_time(self.halves)

    def probability_between(
        self, begins: Instant, ends: Instant, *, several: bool
    ) -> tuple[float, float] | None:
        """At the best instant between two, which are known to the microsecond."""
        assert self.halves is not None
        one, zero, last = Fraction(1), Fraction(0), Fraction(ends + 1)
        until = [Half(one, zero, last), Half(zero, one, last)]
        later = [[Half(-one, zero, Fraction(-begins))], [Half(zero, -one, Fraction(-begins))]]
        found = []
        for also in later if several else [[]]:
            part = copy(self)
            part.halves = [*self.halves, *until, *also]
            if corners(part.halves):
                found.append(part._probability())
        if UNSAID in found:
            return UNSAID
        known = [chance for chance in found if chance is not None]
        return (max(low for low, _ in known), max(high for _, high in known)) if known else None

    def _probability(self) -> tuple[float, float] | None:
        """At the best instant, between two numbers."""
        assert self.halves is not None
        named = [
            (difference.left_dimension, difference.right_dimension) for difference, _, _ in self.differences
        ]
        if len(set(named)) < len(named) and self.total > 0:
            return UNSAID
        if self.distances:
            condition, forms = self.distances[0]
            disc = Disc(forms, written(condition.bound) - self.total, strict=False)
            if self.total > 0 and not meets_disc(self.halves, disc):
                return None
            return (0.0, 1.0) if self.differences and self.total > 0 else (1.0, 1.0)
        if self.total == 0:
            return 1.0, 1.0
        tops = self._tops()
        if len(tops) == 1:
            return tops[0], tops[0]
        if self.alone or all(condition.comparator in FALLING for condition, _, _ in self.differences):
            best = best_value(self.halves, Product(self._product(), None))
            return best, best
        some = self._product()
        tried = max(some(float(x), float(y)) for x, y in _spread(corners(self.halves)))
        return tried, math.prod(tops)

    def _difference(self, condition: Difference, left: int) -> Form:
        """Left minus right as the condition names them, over x and y."""
        turned = condition.left != left
        on_left = condition.right_dimension if turned else condition.left_dimension
        on_right = condition.left_dimension if turned else condition.right_dimension
        slope, value = self.left.line(on_left)
        other_slope, other_value = self.right.line(on_right)
        sign = -1 if turned else 1
        return sign * slope, -sign * other_slope, sign * (value - other_value)

    def _distance(self) -> tuple[Form, ...]:
        lines = [(self.left.line(d), self.right.line(d)) for d in range(len(self.left.values))]
        return tuple((slope, -other, value - rest) for (slope, value), (other, rest) in lines)

    def _is_product(self) -> bool:
        several = len(self.values) > 1 if self.alone else len(self.differences) > 1
        return self.query.certainty is PROBABILITY and several and self.total > 0

    def _halves(self) -> list[Half] | None:
        one, zero = Fraction(1), Fraction(0)
        within = Fraction(self.query.within_us)
        found = [
            Half(-one, zero, Fraction(-self.left.start)),
            Half(one, zero, Fraction(self.left.end), True),
            Half(zero, -one, Fraction(-self.right.start)),
            Half(zero, one, Fraction(self.right.end), True),
            Half(one, -one, zero if self.alone else within),
            Half(-one, one, zero if self.alone else within),
        ]
        certainty = MAY if self._is_product() else self.query.certainty
        value_certainty = MAY if self.alone and self._is_product() else self.query.certainty
        for value, piece, form, tolerance in self.values:
            halves = value_pieces(value, tolerance, value_certainty, self.query.p)
            if halves[piece] is None or (self._is_product() and self.alone and value.comparator is EQUAL):
                return None
            found += _as_halves(halves[piece], form)
        for difference, piece, form in self.differences:
            halves = difference_pieces(
                difference, self.left.tolerance, self.right.tolerance, certainty, self.query.p
            )
            if halves[piece] is None:
                return None
            found += _as_halves(halves[piece], form)
        return found

    def _tops(self) -> list[float]:
        """The best probability of each condition by itself."""
        assert self.halves is not None
        best = []
        if self.alone:
            for value, _, form, tolerance in self.values:
                ends = extent(self.halves, form)
                best.append(float(max(value_probability(value, at, tolerance) for at in ends)))
        for difference, _, form in self.differences:
            low, high = extent(self.halves, form)
            at = [low, high, Fraction(0)] if low <= 0 <= high else [low, high]
            tolerances = self.left.tolerance, self.right.tolerance
            best.append(float(max(difference_probability(difference, d, *tolerances) for d in at)))
        return best

    def _product(self) -> Callable[[float, float], float]:
        """The probability of all conditions together, on floats relative to the lines' own times."""
        factors: list[tuple[Callable[[float], float], Form]] = []
        origin = self.left.time, self.right.time
        if self.alone:
            by_dimension: dict[int, list[tuple[Value, Form, Fraction]]] = {}
            for value, _, form, tolerance in self.values:
                by_dimension.setdefault(value.dimension, []).append((value, form, tolerance))
            for parts_of_dimension in by_dimension.values():
                functions = [
                    (v.comparator, value_function(v, float(tolerance)))
                    for v, _, tolerance in parts_of_dimension
                ]
                factors.append((_all_of(functions), _moved(parts_of_dimension[0][1], origin)))
        for difference, _, form in self.differences:
            tolerances = float(self.left.tolerance), float(self.right.tolerance)
            factors.append((difference_function(difference, *tolerances), _moved(form, origin)))
        plain = [(of, float(a), float(b), float(c)) for of, (a, b, c) in factors]

        def product(x: float, y: float) -> float:
            x, y = x - origin[0], y - origin[1]
            return math.prod(of(a * x + b * y + c) for of, a, b, c in plain)

        return product


def _moved(form: Form, origin: tuple[int, int]) -> Form:
    return form[0], form[1], form[2] + form[0] * origin[0] + form[1] * origin[1]


def _as_halves(piece: Piece, form: Form) -> list[Half]:
    assert piece is not None
    return [
        Half(sign * form[0], sign * form[1], bound - sign * form[2], strict) for sign, bound, strict in piece
    ]


def _spread(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The points and some between them."""
    found = list(points)
    for steps in range(1, 6):
        share = Fraction(steps, 6)
        for one, other in itertools.combinations(points, 2):
            found.append(
                (one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])),
            )
    return found


# --- telling -----------------------------------------------------------------------------------------------------------------


def _validated(query: PredictQuery, updates: Sequence[Update]) -> list[EmittedRow]:
    """A row of a tick has the probability of what it tells."""
    rows = []
    finder = Finder(query)
    for answer in finder.answers(living(updates)):
        rows.append(EmittedRow(answer.ends, answer, answer.begins, answer.ends))
        for tick in _ticks(query.every_us, answer) if query.every_us is not None else ():
            chance = finder.probability(answer.updates, answer.pieces, answer.begins, tick.ends)
            rows.append(replace(tick, answer=replace(answer, probability=chance)))
    return rows


def _ticks(every_us: int, answer: Answer) -> Iterator[EmittedRow]:
    move = max(answer.when.moves)
    slack = math.ceil(move) + 1 if move else 0
    tick = -((slack - answer.begins) // every_us) * every_us
    while tick < answer.ends + slack:
        near = min(abs(tick - answer.begins), abs(tick - answer.ends)) <= slack
        yield EmittedRow(tick, answer, answer.begins, tick, certain=not (slack and near))
        tick += every_us


def _tentative(query: PredictQuery, updates: Sequence[Update]) -> list[EmittedRow]:
    """Update by update. With AHEAD an answer waits until it is about to begin; all updates of that instant come first."""
    finder = Finder(query)
    counting = {update.number for update in living(updates)}
    rows: list[EmittedRow] = []
    shown: dict[Any, EmittedRow] = {}  # by identity: the last row of what stands
    waiting: dict[Any, tuple[Instant, Answer]] = {}  # by identity: when it was made
    for place, update in enumerate(updates):
        _tell_due(query, waiting, shown, rows, update.time)
        lines = [line for line in living(updates[: place + 1]) if line.number in counting]
        stands = {answer.identity: answer for answer in finder.answers(lines)}
        for identity, row in list(shown.items()):
            answer = stands.get(identity)
            if answer is None:
                del shown[identity]
                rows.append(replace(row, event_time=update.time, withdrawn=True))
            elif (answer.begins, answer.ends) != (row.begins, row.ends):
                shown[identity] = EmittedRow(update.time, answer, answer.begins, answer.ends)
                rows.append(shown[identity])
        for identity in list(waiting):
            if identity in stands:
                waiting[identity] = waiting[identity][0], stands[identity]
            else:
                del waiting[identity]
        for identity, answer in stands.items():
            if identity not in shown and identity not in waiting:
                waiting[identity] = update.time, answer
        if query.ahead_us is None:
            _tell_due(query, waiting, shown, rows, None)
    _tell_due(query, waiting, shown, rows, None)
    return rows


def _tell_due(
    query: PredictQuery,
    waiting: dict[Any, tuple[Instant, Answer]],
    shown: dict[Any, EmittedRow],
    rows: list[EmittedRow],
    before: Instant | None,
) -> None:
    """Tell what is due before an instant, or (None) all that waits."""
    for identity, (made, answer) in list(waiting.items()):
        due = made if query.ahead_us is None else max(made, answer.begins - query.ahead_us)
        if before is None or due < before:
            del waiting[identity]
            shown[identity] = EmittedRow(due, answer, answer.begins, answer.ends)
            rows.append(shown[identity])


def _all_of(functions: Sequence[tuple[Comparator, Callable[[float], float]]]) -> Callable[[float], float]:
    """How likely one value satisfies several conditions: it is above some bounds and below the others."""

    def chance(f: float) -> float:
        below = min((of(f) for comparator, of in functions if comparator not in RISING), default=1.0)
        above = min((of(f) for comparator, of in functions if comparator in RISING), default=1.0)
        return max(0.0, below + above - 1.0)

    return chance
