"""The choices of MATCH_RECOGNIZE: how rows follow one another, which rows are emitted, where the search continues."""

from __future__ import annotations

import enum


class Contiguity(enum.Enum):
    """What may lie between two rows of a match."""

    STRICT = "strict"  # nothing: the very next row
    RELAXED = "relaxed"  # rows that do not satisfy the next condition
    ANY = "any"  # any rows


class RowsPerMatch(enum.Enum):
    """What is emitted of a match."""

    ONE = "ONE ROW PER MATCH"
    ALL_SHOW_EMPTY = "ALL ROWS PER MATCH SHOW EMPTY MATCHES"
    ALL_OMIT_EMPTY = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"
    ALL_WITH_UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


class SkipTo(enum.Enum):
    """Where the search for the next match begins."""

    PAST_LAST_ROW = "SKIP PAST LAST ROW"
    NEXT_ROW = "SKIP TO NEXT ROW"
    FIRST = "SKIP TO FIRST"
    LAST = "SKIP TO LAST"
    NOWHERE = "NO SKIP"


class Mode(enum.Enum):
    """Which events of a sequence a sensor node uses."""

    UNRESTRICTED = "UNRESTRICTED"
    FIRST = "FIRST"
    RECENT = "RECENT"
