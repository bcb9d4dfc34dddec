"""What a run reports while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.hosts.files import BAD_TYPES
from headwater.hosts.zone import StateSize
from headwater.model import Rows


@dataclass(frozen=True, slots=True)
class RunReport:
    """Part of what a run reports: answers, late rows by stream, bad rows (as `BAD_TYPES`), and counts by name.

    `state` is what is remembered now, by the names of those it is for; None: not measured.
    `seen` rows were read to get this far, good and bad ones; `files` were read to their end.
    """

    answers: tuple[Rows, ...] = ()
    late: Mapping[str, Rows] = field(default_factory=dict)
    bad: Rows = field(default_factory=lambda: Rows.empty(BAD_TYPES))
    counts: Mapping[str, int] = field(default_factory=dict)
    seen: int = 0
    files: int = 0
    state: Mapping[str, StateSize] | None = None
