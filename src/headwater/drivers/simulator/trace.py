"""What happened in a world, one line of bytes for each event: time, what, node, sender, kind of message, size, digest.

The same seed gives the same lines, byte for byte (law 12). The digest over all lines goes on when lines are no longer stored.
"""

from __future__ import annotations

from hashlib import blake2b

from headwater.model import Instant, NodeId

MOST_LINES = 2_000_000  # of 60 to 100 bytes; later lines are counted in the digest only
_DIGEST_BYTES = 8


class Trace:
    """Lines in the order of events; `keep` how many, beginning with the first."""

    def __init__(self, *, keep: int = MOST_LINES) -> None:
        self.lines: list[bytes] = []
        self.count = 0
        self._keep = keep
        self._whole = blake2b()

    def record(
        self, time: Instant, what: str, node: NodeId, sender: NodeId = "-", kind: str = "-", body: bytes = b""
    ) -> None:
        """One event."""
        digest = blake2b(body, digest_size=_DIGEST_BYTES).hexdigest()
        line = f"{time} {what} {node} {sender} {kind} {len(body)} {digest}\n".encode()
        self._whole.update(line)
        self.count += 1
        if self.count <= self._keep:
            self.lines.append(line)

    def digest(self) -> str:
        """Of all lines, stored or not."""
        return self._whole.copy().hexdigest()

    def __bytes__(self) -> bytes:
        return b"".join(self.lines)
