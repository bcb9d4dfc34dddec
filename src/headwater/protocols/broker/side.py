"""What a node knows about one side of itself: a neighbour, or the node's own sensors and users.

```
sources    advertised from there
requested  operators that came from there and are not covered by others from there
covered    operators that came from there and are
sent       operators this node requested from that side
held       operators it would have requested, covered by those it did
sent_slots which readings went there, or came from there: bool[row, slot]; one row for the side, or one for each operator
```
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.model import Matcher, Matching, Operator, Source
from headwater.protocols.broker.filtering import Requests
from headwater.protocols.broker.messages import Request, read_request
from headwater.protocols.broker.propagation import Manner
from headwater.protocols.broker.store import Slots
from headwater.protocols.byte_arrays import join_bytes, split_bytes

Pair = tuple[str, str]


class Side:
    """One side, and in which manner readings for it are chosen."""

    def __init__(self, manner: Manner) -> None:
        self.manner, self.each = manner, manner.each
        self.sources: dict[Pair, Source] = {}
        self.requested, self.covered = Requests(), Requests()
        self.sent, self.held = Requests(), Requests()
        self.reasons: dict[str, set[str]] = {}
        """For each operator in `sent` or `held`: which operators it is a part of."""
        self._sent_slots: NDArray[np.bool_] = np.zeros((1, 0), np.bool_)  # row 0: what came from there
        self._row: dict[str, int] = {}
        self._spare: list[int] = []
        self._ready: tuple[Matching, list[Request], NDArray[np.int64], int] | None = None
        self._ready_for = 0

    def changed(self) -> None:
        """The operators are others now: prepare them again when they are next matched."""
        self._ready = None

    def matching(
        self,
        matcher: Matcher,
        sources: Sequence[Source],
        tests: Callable[[Operator], list[Operator]],
    ) -> tuple[Matching, list[Request], NDArray[np.int64], int]:
        """The operators from there, ready to be matched; the rows of what was sent for them; their longest δt."""
        if self._ready is None or self._ready_for != len(sources):
            requests = self.active_requests()
            operators = [test for one in requests for test in tests(one.operator)]
            rows = np.array([self.row(one) for one in requests] if self.each else [0], np.int64)
            reach = max(one.operator.within_us for one in requests)
            self._ready = (matcher.prepare(operators, sources), requests, rows, reach)
            self._ready_for = len(sources)
        return self._ready

    def active_requests(self) -> list[Request]:
        """The operators that readings are sent for: those that are covered too, where each has its own result set."""
        return [*self.requested, *self.covered] if self.each else list(self.requested)

    def row(self, request: Request) -> int:
        """Where it is noted what was sent for an operator."""
        if not self.each:
            return 0
        row = self._row.get(request.name)
        if row is None:
            row = self._row[request.name] = self._spare.pop() if self._spare else len(self._row) + 1
            if row >= len(self._sent_slots):
                more = np.zeros((len(self._sent_slots), self._sent_slots.shape[1]), np.bool_)
                self._sent_slots = np.concatenate([self._sent_slots, more])
        return row

    def forget(self, name: str) -> None:
        """An operator is gone: so is what was sent for it."""
        row = self._row.pop(name, None)
        if row is not None:
            self._sent_slots[row] = False
            self._spare.append(row)

    def unsent(self, rows: NDArray[np.int64], slots: Slots) -> NDArray[np.bool_]:
        """Which slots were not sent yet: bool[row, slot]."""
        table = self._table(slots)
        if not self.each:
            return ~table[:1, slots]
        unsent = ~table[np.ix_(rows, slots)]
        return unsent if self.manner is Manner.RETURN else unsent & ~table[0, slots]

    def mark_sent(self, rows: NDArray[np.int64], slots: Slots, sent: NDArray[np.bool_]) -> None:
        """Note what is sent now."""
        self._table(slots)[np.ix_(rows, slots)] |= sent

    def came(self, slots: Slots) -> None:
        """Readings came from there."""
        self._table(slots)[0, slots] = True

    def free(self, slots: Slots) -> None:
        """Slots hold nothing any more."""
        known = slots[slots < self._sent_slots.shape[1]]
        self._sent_slots[:, known] = False

    def save(self) -> dict[str, Any]:
        """All of it."""
        bodies = {key: [one.body for one in getattr(self, name)] for key, name in _SAVED_AS.items()}
        return {
            "sources": [[s.key, s.attribute, s.x, s.y] for s in self.sources.values()],
            **{key: join_bytes(some) for key, some in bodies.items()},
            "reasons": {name: sorted(parents) for name, parents in self.reasons.items()},
            "rows": dict(self._row),
            "spare": list(self._spare),
            "told": self._sent_slots,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """What `save` gave."""
        for key, attribute, x, y in saved["sources"]:
            self.sources[key, attribute] = Source(key, attribute, x, y)
        for key, name in _SAVED_AS.items():
            for body in split_bytes(saved[key]):
                getattr(self, name).add(read_request(body))
        self.reasons = {name: set(parents) for name, parents in saved["reasons"].items()}
        self._row, self._sent_slots = dict(saved["rows"]), np.array(saved["told"])
        self._spare = list(saved["spare"])

    def _table(self, slots: Slots) -> NDArray[np.bool_]:
        wide = int(slots.max()) + 1 if len(slots) else 0
        if wide > self._sent_slots.shape[1]:
            more = np.zeros(
                (len(self._sent_slots), max(wide, 2 * self._sent_slots.shape[1]) - self._sent_slots.shape[1]),
                np.bool_,
            )
            self._sent_slots = np.concatenate([self._sent_slots, more], axis=1)
        return self._sent_slots


_SAVED_AS = {"asked": "requested", "covered": "covered", "sent": "sent", "held": "held"}
"""The key in saved state of each set of operators."""
