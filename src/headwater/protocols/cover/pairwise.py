"""Is a box covered by a single other box? What most publish/subscribe systems ask: cheap, and blind to unions."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.protocols.cover.boxes import DECIDED, OPEN, Boxes, Real, Verdict, ask


@dataclass(frozen=True, slots=True)
class Pairwise:
    """Covered if one row holds the box."""

    def covers(self, low: Real, high: Real, others: Boxes, *, seed: int = 0) -> Verdict:
        """The answer; the seed changes nothing."""
        state = ask(low, high, others).state
        return Verdict(False, "no row alone") if state == OPEN else DECIDED[state]
