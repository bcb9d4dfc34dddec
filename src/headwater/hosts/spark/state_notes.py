"""How much did the queries of a checkpoint remember, as last noted? A restart with other queries says by that what it drops.

Rule 1  The notes are for people: a run never goes by them. Without them, or where they are damaged, no sizes are said.
Rule 2  They are written when a run ends and at most every EVERY_S seconds before, so after a kill they may be so much older.

Memory  One line for each group of queries, in `headwater/state.notes`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from headwater.hosts.spark.atomic_files import replace_file
from headwater.hosts.spark.checked_lines import ChangedLine, from_lines, to_line
from headwater.hosts.zone import StateSize

NOTES: Final = "state.notes"
EVERY_S: Final = 10.0


class StateNotes:
    """Notes the sizes of a run's state in its checkpoint folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "headwater" / NOTES
        self._sizes: Mapping[str, StateSize] | None = None
        self._written = time.monotonic()

    def take(self, sizes: Mapping[str, StateSize] | None) -> None:
        """What is remembered now, by the names of the queries it belongs to."""
        self._sizes = sizes
        if time.monotonic() - self._written >= EVERY_S:
            self.write()

    def write(self) -> None:
        """Replace the notes by what was taken last."""
        self._written = time.monotonic()
        if self._sizes is not None:
            lines = [to_line({"name": n, "size": s.size, "keys": s.keys}) for n, s in self._sizes.items()]
            with suppress(OSError):  # a full disk ends the run elsewhere, in words
                replace_file(self._path, b"".join(lines))


def read_state_notes(folder: Path) -> dict[str, StateSize]:
    """The sizes that were noted last."""
    try:
        lines = from_lines((folder / "headwater" / NOTES).read_bytes())
        return {line["name"]: StateSize(line["size"], keys=line["keys"]) for line in lines}
    except (OSError, ChangedLine):
        return {}


def are_intact(path: Path) -> bool:
    """Whether notes are what was written."""
    try:
        list(from_lines(path.read_bytes()))
    except ChangedLine:
        return False
    return True
