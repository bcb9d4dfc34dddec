"""A plan travels to Python workers once and is opened once a process, however many tasks use it."""

from __future__ import annotations

import base64
import pickle
import zlib
from dataclasses import dataclass
from hashlib import blake2b

from headwater.query.plan import Plan

_OPENED: dict[str, Plan] = {}
_MOST_OPEN = 8


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """A plan as bytes made by this driver for its own workers; never read from a file or a peer."""

    digest: str
    data: bytes

    @classmethod
    def of(cls, plan: Plan) -> SharedPlan:
        """Close a plan for travel."""
        data = zlib.compress(pickle.dumps(plan, protocol=5), 1)
        return cls(blake2b(data, digest_size=16).hexdigest(), data)

    @classmethod
    def from_text(cls, text: str) -> SharedPlan:
        """From `as_text`, for options that must be strings."""
        digest, _, data = text.partition(":")
        return cls(digest, base64.b64decode(data))

    def as_text(self) -> str:
        """As printable text."""
        return f"{self.digest}:{base64.b64encode(self.data).decode()}"

    def open(self) -> Plan:
        """The plan; the same object for every task of a process."""
        if self.digest not in _OPENED:
            while len(_OPENED) >= _MOST_OPEN:
                _OPENED.pop(next(iter(_OPENED)))
            _OPENED[self.digest] = pickle.loads(zlib.decompress(self.data))
        return _OPENED[self.digest]
