"""Which readings does each side get, and when?

Rule 1  Whether a reading is a member of an operator depends on the readings that the node holds, whatever the order of arrival. More readings never
        remove a member, so nothing sent is ever wrong and nothing waits for a clock.
Rule 2  A reading never goes back where it came from (except from the centre, which does everything), and is sent to a side once, or
        once for each operator from there (`propagation`).
        Readings of a source that has left go nowhere: no other node knows it any more.
Rule 3  New readings can only make members of readings less than the longest δt away: only those are tested. A new operator tests all.
Rule 4  A reading that is further ahead of now than readings are valid is dropped and counted, since it would stay for ever; so is one
        that arrives when it is no longer valid.

Memory  the store, and a byte for each reading held and each result set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.model import (
    BEGINNING,
    END,
    Answers,
    Column,
    ColumnType,
    Deliver,
    Instant,
    Matcher,
    NodeId,
    Operator,
    PeerError,
    Readings,
    Rows,
    coded,
    content_ids,
)
from headwater.protocols.broker.directory import Directory
from headwater.protocols.broker.messages import MOST_ROWS, Events, Request, events
from headwater.protocols.broker.outbox import Outbox
from headwater.protocols.broker.propagation import Manner
from headwater.protocols.broker.side import Pair, Side
from headwater.protocols.broker.splitting import Splitting
from headwater.protocols.broker.store import Slots, Store


class Flow:
    """The readings of a node, on their way."""

    def __init__(
        self,
        name: NodeId,
        sides: Mapping[NodeId, Side],
        directory: Directory,
        outbox: Outbox,
        *,
        matcher: Matcher,
        splitting: Splitting,
        validity_us: int,
    ) -> None:
        self._name, self._sides, self._directory, self._outbox = name, sides, directory, outbox
        self._matcher, self._tests, self._validity_us = matcher, splitting.tests, validity_us
        self._store = Store()
        self._fresh: tuple[Instant, Instant] | None = None
        self._fresh_sources: set[int] = set()
        self.counts: Counter[str] = Counter()

    def add(self, received: Events, sender: NodeId, now: Instant) -> bool:
        """Take readings in; whether there are any to be matched."""
        self._expire(now)
        received = self._in_time(self._understood(received, sender), now)
        numbers = np.array([self._directory.number.get(pair, -1) for pair in received.sources], np.int32)
        slots = self._store.add(received.readings._replace(source=numbers[received.readings.source]))
        if len(slots):
            if sender != self._name:
                self._sides[sender].came(slots)
            self._note_fresh(self._store.at(slots))
        if received.sets:
            self._relay(received, sender)
        return self._fresh is not None

    def match(self) -> None:
        """Send every side what became a member because of the readings since the last time."""
        if self._fresh is None:
            return
        (first, last), sources = self._fresh, list(self._fresh_sources)
        self._fresh, self._fresh_sources = None, set()
        for name, side in self._sides.items():
            if side.manner is Manner.ALL:
                slots = self._store.between(first, last)
                everything = np.ones((1, len(slots)), np.bool_)
                self._hand_over(name, [None], np.zeros(1, np.int64), slots, everything)
            elif side.manner is not Manner.RELAY and len(side.requested):
                self._match_side(name, first, last, sources)

    def catch_up(self, request: Request, name: NodeId, now: Instant) -> None:
        """A new operator gets what is held and still valid."""
        self._expire(now)
        side, slots = self._sides[name], self._store.order
        if not len(slots) or side.manner in (Manner.RELAY, Manner.ALL):
            return
        if request.name in side.covered and not side.each:
            return
        matching = self._matcher.prepare(self._tests_for(name)(request.operator), self._directory.sources)
        members = matching.members(self._store.at(slots), each=False)
        self._hand_over(name, [request if side.each else None], np.array([side.row(request)]), slots, members)

    def save(self) -> dict[str, Any]:
        """Everything held."""
        return {
            "store": self._store.save(),
            "fresh": None if self._fresh is None else list(self._fresh),
            "fresh_sources": sorted(self._fresh_sources),
            "counts": dict(self.counts),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """What `save` gave."""
        self._store = Store.load(saved["store"])
        self._fresh = None if saved["fresh"] is None else (saved["fresh"][0], saved["fresh"][1])
        self._fresh_sources = set(saved["fresh_sources"])
        self.counts = Counter(saved["counts"])

    def _note_fresh(self, readings: Readings) -> None:
        first, last = self._fresh or (END, BEGINNING)
        self._fresh = min(first, int(readings.time.min())), max(last, int(readings.time.max()))
        self._fresh_sources.update(readings.source.tolist())

    def _match_side(self, name: NodeId, first: Instant, last: Instant, sources: list[int]) -> None:
        side = self._sides[name]
        matching, requests, rows, reach = side.matching(
            self._matcher, self._directory.sources, self._tests_for(name)
        )
        if not matching.sources[sources].any():
            return
        slots = self._store.between(first - reach, last + reach)
        slots = slots[matching.sources[self._store.at(slots).source]]
        members = matching.members(self._store.at(slots), each=side.each)
        self._hand_over(name, requests if side.each else [None], rows, slots, members)

    def _understood(self, received: Events, sender: NodeId) -> Events:
        """Without readings of sources that are not on that side, which are reported."""
        side = self._sides[sender]
        # What comes back from the centre may have been measured anywhere.
        known: Mapping[Pair, object] = self._directory.number if side.manner is Manner.ALL else side.sources
        is_known = np.array([pair in known for pair in received.sources], np.bool_)
        if is_known.all():
            return received
        key, attribute = received.sources[int(np.argmin(is_known))]
        error = PeerError(
            "unknown-source", f"readings of '{attribute}' of '{key}', which is not advertised there"
        )
        self._outbox.report(sender, error)
        return _rows(received, is_known[received.readings.source])

    def _in_time(self, received: Events, now: Instant) -> Events:
        late = received.readings.time < now - self._validity_us
        early = received.readings.time > now + self._validity_us
        if not (late.any() or early.any()):
            return received
        self.counts["readings that came when they were no longer valid"] += int(late.sum())
        self.counts["readings from the future"] += int(early.sum())
        return _rows(received, ~(late | early))

    def _tests_for(self, name: NodeId) -> Callable[[Operator], list[Operator]]:
        """Users get what they subscribed to, other nodes what the policy lets pass."""
        if name == self._name:
            return _itself
        return lambda operator: self._tests(
            operator, self._name, self._directory.where(operator.filters, but=name)
        )

    def _hand_over(
        self,
        name: NodeId,
        requests: Sequence[Request | None],
        rows: NDArray[np.int64],
        slots: Slots,
        members: NDArray[np.bool_],
    ) -> None:
        """Send members that were not sent before, or deliver them to the users here."""
        side = self._sides[name]
        fresh = members & side.unsent(rows, slots)
        if name != self._name and self._directory.away:
            fresh &= ~np.isin(self._store.at(slots).source, list(self._directory.away))
        if not fresh.any():
            return
        side.mark_sent(rows, slots, fresh)
        if name == self._name:
            self._deliver(requests, slots, fresh)
            return
        which, at = np.nonzero(fresh)
        sets = tuple(one.name for one in requests if one is not None)
        self._send(name, slots[at], sets, which.astype(np.int32))

    def _send(self, name: NodeId, slots: Slots, sets: tuple[str, ...], of: NDArray[np.int32]) -> None:
        for start in range(0, len(slots), MOST_ROWS):
            piece = slice(start, start + MOST_ROWS)
            self._send_piece(name, slots[piece], sets, of[piece])

    def _send_piece(self, name: NodeId, slots: Slots, sets: tuple[str, ...], of: NDArray[np.int32]) -> None:
        readings = self._store.at(slots)
        used, codes = np.unique(readings.source, return_inverse=True)
        sources = [self._directory.sources[i] for i in used.tolist()]
        pairs = tuple((s.key, s.attribute) for s in sources)
        sent = Events(pairs, readings._replace(source=codes.astype(np.int32)), *_used(sets, of))
        self._outbox.send(name, events(sent), len(slots))

    def _relay(self, received: Events, sender: NodeId) -> None:
        """Pass result sets on towards the users they are for."""
        for name, side in self._sides.items():
            if name != sender and side.manner is Manner.RELAY:
                part = _rows(
                    received, np.array([one in side.requested for one in received.sets])[received.of]
                )
                if len(part.of):
                    part = Events(part.sources, part.readings, *_used(part.sets, part.of))
                    self._outbox.send(name, events(part), len(part.of))

    def _deliver(self, requests: Sequence[Request | None], slots: Slots, fresh: NDArray[np.bool_]) -> None:
        which, at = np.nonzero(fresh)
        readings = self._store.at(slots[at])
        used, codes = np.unique(which, return_inverse=True)
        names = [one.operator.subscription for one in (requests[i] for i in used.tolist()) if one is not None]
        query = coded(codes.astype(np.int32), np.array(names, object))
        columns = self._reading_columns(readings)
        head = {
            "query": query,
            "event_time": columns["reading_time"],
            "match_id": content_ids([query, *columns.values()]),
        }
        self._outbox.effects.append(Deliver(Answers(0, Rows(head | columns, len(which)))))

    def _reading_columns(self, readings: Readings) -> dict[str, Column]:
        used, codes = np.unique(readings.source, return_inverse=True)
        sources = [self._directory.sources[i] for i in used.tolist()]
        codes = codes.astype(np.int32)
        return {
            "attribute": coded(codes, np.array([s.attribute for s in sources], object)),
            "key": coded(codes, np.array([s.key for s in sources], object)),
            "reading_time": Column(ColumnType.TIMESTAMP, readings.time),
            "value": Column(ColumnType.DOUBLE, readings.value),
            "x": Column(ColumnType.DOUBLE, np.array([s.x for s in sources])[codes]),
            "y": Column(ColumnType.DOUBLE, np.array([s.y for s in sources])[codes]),
            "number": Column(ColumnType.BIGINT, readings.number),
        }

    def _expire(self, now: Instant) -> None:
        freed, given_up = self._store.expire(now - self._validity_us)
        if given_up:
            self.counts["readings given up while they were valid"] += given_up
        if len(freed):
            for side in self._sides.values():
                side.free(freed)


def _itself(operator: Operator) -> list[Operator]:
    return [operator]


def _rows(received: Events, chosen: NDArray[np.bool_]) -> Events:
    """Some of the rows."""
    return received._replace(readings=received.readings.take(chosen), of=received.of[chosen])


def _used(sets: tuple[str, ...], of: NDArray[np.int32]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """The result sets that have rows."""
    if not sets:
        return (), of
    used, codes = np.unique(of, return_inverse=True)
    return tuple(sets[i] for i in used.tolist()), codes.astype(np.int32)
