"""All subscriptions of a kernel as arrays: which readings are required, and by which subscription.

A *scope* says which rows a clause reads (region, sensors, WHERE). A *class* is one scope, attribute and range: equal
clauses of different subscriptions are one class, matched once, and stored once. A class fans out to the subscriptions
that have it.

Rule 1  A subscription is *plain* if no choice for one clause can forbid a choice for another: no distance, no sensors
        that must differ, no reading that could serve two clauses. Its latest answer is the latest match of each clause.
Rule 2  All others are *searched* (`search.py`). The classes they use store their matches by sensor, or by sensor and place,
        because only the latest few of each can be part of a latest answer.
Rule 3  A clause bound to a sensor reads that sensor wherever it is; the area of a subscription is for its other clauses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.clauses import Clause, Interval
from headwater.kernels.correlate.ranks import range_of
from headwater.kernels.correlate.subscription import Emit, Subscription
from headwater.model import Region, StreamSchema

Numbers = NDArray[np.int64]

# How a subscription is answered.
LATEST_PLAIN, READINGS_PLAIN, LATEST_SEARCH, ALL_SEARCH, READINGS_SEARCH = range(5)

# How much is stored of a class: its latest match; all in a chain; also the latest few by sensor (and place).
HEAD, CHAIN, BY_SENSOR = range(3)

# Areas that are no regions: any row, or any row that has a place.
EVERYWHERE, PLACED, FIRST_REGION = 0, 1, 2

NO_OWNER = -1
UNLIMITED = 2**40
MOST_LISTED = 64  # an ALL that may emit more than this at a row is searched over its whole window


@dataclass(frozen=True, slots=True)
class Scope:
    """Which rows a clause reads: `area` (0 any, 1 with a place, 2 + n region n), sensors, WHERE, and having a key."""

    area: int
    sensors: tuple[str | int, ...] | None
    where: int | None
    keyed: bool


ROOM: Final = 256
"""Events of a step that there is room for at first, and candidates of one; the room grows."""


class SubscriptionTable(NamedTuple):
    """Subscriptions s, their clauses (`first_clause[s]` and on) and classes c, in the form of the loops."""

    first_subscriber: Numbers  # class -> the subscriptions that have it
    subscriber: Numbers
    class_mode: Numbers
    class_keep: Numbers  # how many matches of one sensor or place can matter
    class_reach: NDArray[np.float64]  # the width of its cells, if it is searched by place; or 0
    class_owner: Numbers  # a subscription that is the only one of the class, to note what it emitted; or -1
    class_attribute: Numbers
    first_clause: Numbers  # subscription -> clauses
    clause_class: Numbers
    clause_attribute: Numbers
    clause_group: Numbers
    kind: Numbers
    within_us: Numbers
    within_m: NDArray[np.float64]
    distinct: NDArray[np.bool_]
    exchangeable: NDArray[np.bool_]  # mutually exclusive candidates form groups: see search.completes
    limit: Numbers
    from_lists: NDArray[np.bool_]  # searched over lists of needed matches, not over whole chains
    most: Numbers  # candidates of one clause that can matter to a search, for each that is stored of a sensor
    geographic: bool
    room: int  # events that there is room for at first, and candidates of one


@dataclass(frozen=True, slots=True)
class Range:
    """A class, for the index: ranks `low..high` of an attribute within a scope."""

    scope: int
    attribute: int
    low: int
    high: int
    reach: float
    keep: int
    owner: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The subscriptions as a table, and the input of the index."""

    table: SubscriptionTable
    attributes: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    scopes: tuple[Scope, ...]
    regions: tuple[Region, ...]
    ranges: tuple[Range, ...]

    @property
    def longest_us(self) -> int:
        """The longest δt: how long any row can matter."""
        return int(self.table.within_us.max(initial=0))


def tabulate(schema: StreamSchema, subscriptions: Sequence[Subscription]) -> Contents:
    """All subscriptions as arrays."""
    clauses = [clause for subscription in subscriptions for clause in subscription.clauses]
    attributes = tuple(sorted({clause.attribute for clause in clauses}))
    texts = tuple(
        tuple(sorted({c.text for c in clauses if c.attribute == name and c.text is not None}))
        for name in attributes
    )
    writer = _Writer(schema, attributes, texts)
    for number, subscription in enumerate(subscriptions):
        writer.add(number, subscription)
    return writer.contents(subscriptions)


def is_plain(subscription: Subscription) -> bool:
    """Whether the choice of one clause never forbids a choice of another."""
    clauses = subscription.clauses
    if len(clauses) == 1:
        return True
    if subscription.within_m is not None or subscription.distinct_sensors:
        return False
    return not any(
        a.group == b.group or may_share(a, b) for i, a in enumerate(clauses) for b in clauses[i + 1 :]
    )


def may_share(one: Clause, other: Clause) -> bool:
    """Whether one reading could match both clauses."""
    if one.attribute != other.attribute:
        return False
    if one.sensor is not None and other.sensor is not None and one.sensor != other.sensor:
        return False
    if one.interval is None or other.interval is None:
        return one.text == other.text
    return _overlap(one.interval, other.interval)


def _overlap(one: Interval, other: Interval) -> bool:
    """Whether two intervals have a value in common, not counting an end that only one of them contains."""
    for a, b in ((one, other), (other, one)):
        if a.high < b.low or (a.high == b.low and (a.high_open or b.low_open)):
            return False
    return True


class _Writer:
    """Takes subscriptions one by one, and gives equal scopes, regions and classes one number."""

    def __init__(
        self, schema: StreamSchema, attributes: tuple[str, ...], texts: tuple[tuple[str, ...], ...]
    ) -> None:
        self.schema, self.attributes, self.texts = schema, attributes, texts
        self.numbers = {name: number for number, name in enumerate(attributes)}
        self.scopes: dict[Scope, int] = {}
        self.regions: dict[Region, int] = {}
        self.classes: dict[Range, int] = {}
        self.modes: list[int] = []
        self.subscribers: list[dict[int, None]] = []
        self.clause_class: list[int] = []
        self.kinds: list[int] = []

    def add(self, number: int, subscription: Subscription) -> None:
        """Enter a subscription."""
        kind = _kind(subscription)
        listed = _has_few_per_sensor(subscription)
        owner = number if kind == READINGS_SEARCH else NO_OWNER
        mode = BY_SENSOR if listed else HEAD if kind == LATEST_PLAIN else CHAIN
        for clause in subscription.clauses:
            attribute = self.numbers[clause.attribute]
            column_type = self.schema.types[clause.attribute]
            low, high = range_of(clause, column_type, self.texts[attribute])
            scope = self._scope(subscription, clause)
            reach, keep = (_reach(subscription), _keep(subscription, clause)) if listed else (0.0, 1)
            known = self._class(Range(scope, attribute, low, high, reach, keep, owner))
            self.modes[known] = max(self.modes[known], mode)
            self.subscribers[known][number] = None
            self.clause_class.append(known)
        self.kinds.append(kind)

    def _scope(self, subscription: Subscription, clause: Clause) -> int:
        region, sensors = subscription.region, subscription.sensors
        if clause.sensor is not None:
            region, sensors = None, (clause.sensor,)
        area = EVERYWHERE if subscription.within_m is None or len(subscription.clauses) == 1 else PLACED
        if region is not None:
            area = FIRST_REGION + self.regions.setdefault(region, len(self.regions))
        scope = Scope(
            area,
            None if sensors is None else tuple(dict.fromkeys(sensors)),
            subscription.where,
            _must_differ(subscription, clause),
        )
        return self.scopes.setdefault(scope, len(self.scopes))

    def _class(self, class_range: Range) -> int:
        if class_range not in self.classes:
            self.classes[class_range] = len(self.classes)
            self.modes.append(HEAD)
            self.subscribers.append({})
        return self.classes[class_range]

    def contents(self, subscriptions: Sequence[Subscription]) -> Contents:
        """What was entered, as arrays."""
        ranges = tuple(self.classes)
        clauses = [clause for subscription in subscriptions for clause in subscription.clauses]
        table = SubscriptionTable(
            first_subscriber=_starts([len(subscribers) for subscribers in self.subscribers]),
            subscriber=_integers([s for subscribers in self.subscribers for s in subscribers]),
            class_mode=_integers(self.modes),
            class_keep=_integers([r.keep for r in ranges]),
            class_reach=np.array([r.reach for r in ranges], np.float64),
            class_owner=_integers([r.owner for r in ranges]),
            class_attribute=_integers([r.attribute for r in ranges]),
            first_clause=_starts([len(s.clauses) for s in subscriptions]),
            clause_class=_integers(self.clause_class),
            clause_attribute=_integers([self.numbers[c.attribute] for c in clauses]),
            clause_group=_integers([g for s in subscriptions for g in _groups(s)]),
            kind=_integers(self.kinds),
            within_us=_integers([s.within_us for s in subscriptions]),
            within_m=np.array(
                [math.inf if s.within_m is None else s.within_m for s in subscriptions], np.float64
            ),
            distinct=np.array([s.distinct_sensors for s in subscriptions], np.bool_),
            exchangeable=np.array([_exchangeable(s) for s in subscriptions], np.bool_),
            limit=_integers([UNLIMITED if s.limit is None else s.limit for s in subscriptions]),
            from_lists=np.array([_has_few_per_sensor(s) for s in subscriptions], np.bool_),
            most=_integers([_most(s) for s in subscriptions]),
            geographic=self.schema.place is not None and self.schema.place.geographic,
            room=ROOM,
        )
        return Contents(table, self.attributes, self.texts, tuple(self.scopes), tuple(self.regions), ranges)


def _kind(subscription: Subscription) -> int:
    if subscription.emit is Emit.ALL:
        return ALL_SEARCH
    plain = is_plain(subscription)
    if subscription.emit is Emit.LATEST:
        return LATEST_PLAIN if plain else LATEST_SEARCH
    return READINGS_PLAIN if plain else READINGS_SEARCH


def _groups(subscription: Subscription) -> list[int]:
    """The group of every clause, as a number within the subscription."""
    return [clause.group for clause in subscription.clauses]


def _must_differ(subscription: Subscription, clause: Clause) -> bool:
    """Whether the clause's sensor must be another one than some other clause's."""
    together = sum(other.group == clause.group for other in subscription.clauses)
    return together > 1 or (subscription.distinct_sensors and len(subscription.clauses) > 1)


def _has_few_per_sensor(subscription: Subscription) -> bool:
    """Whether the latest few matches of each sensor are enough to search."""
    if is_plain(subscription):
        return False
    few = subscription.limit is not None and subscription.limit <= MOST_LISTED
    return subscription.emit is not Emit.ALL or few


def _reach(subscription: Subscription) -> float:
    """Slightly more than δl, so that rounding never puts two near places more than one cell apart."""
    return 0.0 if subscription.within_m is None else subscription.within_m * (1 + 1e-9) + 1e-6


def _keep(subscription: Subscription, clause: Clause) -> int:
    """How many of a sensor's readings can matter: others may use all but one of them, and ALL emits several."""
    if subscription.emit is Emit.ALL:
        assert subscription.limit is not None
        return subscription.limit + len(subscription.clauses)
    if subscription.distinct_sensors:
        return 1
    rivals = [
        other
        for other in subscription.clauses
        if other is not clause and other.group != clause.group and may_share(other, clause)
    ]
    return 1 + len(rivals)


def _most(subscription: Subscription) -> int:
    """How many latest sensors (or readings) of a clause a search must read.

    Each other clause can use one, so with one more than there are others, one is always left; ALL needs as many left
    as it may emit, and one to notice the cut. A distance can exclude any number.
    """
    if subscription.within_m is not None:
        return UNLIMITED
    if subscription.emit is not Emit.ALL:
        return len(subscription.clauses)
    if subscription.limit is None or not (is_plain(subscription) or _has_few_per_sensor(subscription)):
        return UNLIMITED
    return subscription.limit + len(subscription.clauses)


def _exchangeable(subscription: Subscription) -> bool:
    """Whether mutual exclusion is an equivalence: by sensor, by sensor within `n OF`, or by reading, not a mixture."""
    if subscription.distinct_sensors:
        return True
    groups = [clause.group for clause in subscription.clauses]
    grouped = {group for group in groups if groups.count(group) > 1}
    return not any(
        a.group != b.group and (a.group in grouped or b.group in grouped) and may_share(a, b)
        for i, a in enumerate(subscription.clauses)
        for b in subscription.clauses[i + 1 :]
    )


def _integers(items: Sequence[int]) -> Numbers:
    return np.array(items, np.int64)


def _starts(lengths: Sequence[int]) -> Numbers:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
