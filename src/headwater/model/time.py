"""Time is one number: microseconds since 1970-01-01 00:00 UTC, as a 64-bit integer.

Three times, never mixed: `event_time` (when it happened), `arrival_time` (when it reached us) and
`watermark` (up to where we know everything). Durations are microseconds too.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

Instant = int

SECOND: Final = 1_000_000
UNITS: Final = {"SECONDS": SECOND, "MINUTES": 60 * SECOND, "HOURS": 3600 * SECOND, "DAYS": 86_400 * SECOND}

# Room is left at both ends so that adding a duration never overflows.
BEGINNING: Final[Instant] = -(2**62)
END: Final[Instant] = 2**62

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_instant(text: str) -> Instant:
    """An ISO 8601 date or date and time; without an offset it is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(microseconds=1)


def format_instant(instant: Instant) -> str:
    """ISO 8601 in UTC, with microseconds only where there are any: 2026-01-31T06:00:00Z."""
    moment = _EPOCH + timedelta(microseconds=int(instant))
    return moment.replace(tzinfo=None).isoformat() + "Z"


def format_duration(duration_us: int) -> str:
    """The largest unit that divides it: 30 SECONDS, 2 HOURS, 0.5 SECONDS."""
    for unit in ("DAYS", "HOURS", "MINUTES", "SECONDS"):
        if duration_us and duration_us % UNITS[unit] == 0:
            return f"{duration_us // UNITS[unit]} {unit}"
    return f"{np.format_float_positional(duration_us / SECOND, trim='-')} SECONDS"


def format_instants(instants: NDArray[np.int64]) -> NDArray[np.str_]:
    """`format_instant` for a whole column."""
    if not len(instants):
        return np.empty(0, np.str_)
    texts = np.datetime_as_string(instants.astype("datetime64[us]"))
    whole = np.char.endswith(texts, ".000000")
    short = np.char.replace(texts, ".000000", "")
    return np.char.add(np.where(whole, short, texts), "Z")
