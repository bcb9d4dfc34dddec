"""What a long text of Spark's says went wrong, in the words that help.

Rule 1  An error of our own, found in the text, is that error: its code, its message and its advice.
Rule 2  Trouble with Spark's saved state is `state-unreadable`, unless the disk or the system is to blame.
Rule 3  Nobody answers any more: Spark's Java process is gone.
Rule 4  Of anything else the deepest cause is shown, which stands last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from headwater.model import HostError
from headwater.model.codec import DAMAGED_STATE

_OURS: Final = re.compile(r"error\[([a-z]+(?:-[a-z]+)*)\]: (.+)")
_CAUSE: Final = re.compile(r"(?:Caused by: )?((?:\w+[.$])*\w*(?:Error|Exception)(?:: .+|$))")
_STATE: Final = re.compile(
    r"RocksDBException|CANNOT_LOAD_STATE_STORE|STATE_STORE_|checksum|\bCorruption\b|\.sst\b|\.changelog\b|Partition should start with 0|/_stateSchema/|/_metadata/v2\b",
    re.IGNORECASE,
)
_SYSTEM: Final = re.compile(r"No space left|Too many open files|Disk quota|Permission denied|OutOfMemory")
_FULL: Final = re.compile(r"No space left on device|Disk quota exceeded")
_GONE: Final = re.compile(
    r"\[Errno \d+\] (?:Connection refused|Connection reset|Broken pipe)|Answer from Java side is empty"
    r"|An error occurred while trying to connect to the Java server|Error while sending or receiving"
    r"|^An error occurred while calling \S+\w$"  # without a trace, which Java would give if it were there
)
_FRAME: Final = re.compile(r"\s+at \S|\s+\.\.\. \d+ more|\s+File \"")
_NO_CAUSE: Final = "Traceback (most recent call last):"


def error_from_fault(text: str) -> HostError:
    """The error that a fault's text tells."""
    lines = [line for line in text.splitlines() if not _FRAME.match(line)]
    for number, line in enumerate(lines):
        if ours := _OURS.search(line):
            return HostError(ours[1], ours[2], advice=_advice(lines[number + 1 :]))
    cause = _last_cause(lines)
    headlines = "\n".join(line for line in lines if not line[:1].isspace())  # without the code of a traceback
    if _STATE.search(headlines) and not _SYSTEM.search(headlines):
        return HostError(
            "state-unreadable",
            f"saved state cannot be read: {cause}",
            advice=[DAMAGED_STATE],
        )
    if _GONE.search(cause):
        return HostError(
            "spark-failed",
            "the run on Spark failed: its Java process ended",
            advice=[
                "the process was killed, perhaps because the machine ran out of memory",
                "start it again: a run with --checkpoint continues where it stopped",
            ],
        )
    if _FULL.search(cause):
        advice = "free some space and start it again: a run with --checkpoint continues where it stopped"
    else:
        advice = "--debug shows Spark's log"
    return HostError("spark-failed", f"the run on Spark failed: {cause}", advice=[advice])


def _advice(lines: Sequence[str]) -> list[str]:
    """The lines that belong to the error above them: they are indented by two spaces."""
    advice = []
    for line in lines:
        if not line.startswith("  "):
            break
        advice.append(line[2:].rstrip())
    return advice


def _last_cause(lines: Sequence[str]) -> str:
    causes = [found[1] for line in lines if (found := _CAUSE.match(line)) and not line.endswith(_NO_CAUSE)]
    if causes:
        return causes[-1].strip()
    return next((line.strip() for line in lines if line.strip()), "it gave no reason")
