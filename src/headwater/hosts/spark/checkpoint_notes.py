"""Our notes in a checkpoint, `headwater/run.json`: for whom it was made, and what ran at the last start.

A checksum covers what they say, so damaged notes are refused. Zones, tasks and the definitions of streams never change; the
queries are those of the last start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args
from zlib import crc32

from headwater.hosts.spark.atomic_files import replace_file
from headwater.model import HostError
from headwater.model.codec import DAMAGED_STATE, OTHER_VERSION
from headwater.query.operators.union import AnyOperator

FORMAT = 8

_STATELESS: Final = frozenset(operator.kind for operator in get_args(AnyOperator) if not operator.has_state)


@dataclass(frozen=True, slots=True)
class QueryNote:
    """What was known of a query at the last start: its operator, what it reads, and what changes with its meaning.

    `hidden`: it is a link of a chain, which nobody named. A view is noted as a query is, for one may become the other.
    """

    kind: str
    reads: str
    fingerprint: str
    hidden: bool = False

    @property
    def has_state(self) -> bool:
        """Whether anything is stored for it from one batch to the next."""
        return self.kind not in _STATELESS


@dataclass(frozen=True, slots=True)
class Notes:
    """What is noted. `streams`: the definitions of all there ever were; `declared`: which of them there were at the last start.

    `parts`: over how many zones the points of queries lie. `version`: the Headwater of the last start.
    """

    run: str
    version: str
    zones: int
    tasks: int
    streams: Mapping[str, str]
    declared: Sequence[str]
    queries: Mapping[str, QueryNote]
    parts: Mapping[str, int] = field(default_factory=dict)


def read_notes(folder: Path) -> Notes | None:
    """The notes of a checkpoint folder; None if it has none yet."""
    path = folder / "headwater" / "run.json"
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as cause:
        raise unusable(folder, "its notes are damaged") from cause
    try:
        fields = json.loads(text)
        known = fields["format"]
    except (ValueError, LookupError, TypeError, RecursionError) as cause:
        raise unusable(folder, "its notes are damaged") from cause
    if type(known) is not int:
        raise unusable(folder, "its notes are damaged")
    if known != FORMAT:
        raise unusable(folder, f"it has format {known}, this version reads {FORMAT}", advice=[OTHER_VERSION])
    if fields.pop("checksum", None) != _checksum(fields):
        raise unusable(folder, "its notes are damaged")
    del fields["format"]
    queries = {name: QueryNote(**note) for name, note in fields.pop("queries").items()}
    return Notes(queries=queries, **fields)


def write_notes(folder: Path, notes: Notes) -> None:
    """Replace the notes of a checkpoint folder."""
    replace_file(folder / "headwater" / "run.json", notes_text(notes))


def notes_text(notes: Notes) -> bytes:
    """Notes as they are written."""
    fields: dict[str, Any] = {"format": FORMAT, **asdict(notes)}
    return json.dumps({**fields, "checksum": _checksum(fields)}, indent=1).encode()


def unusable(folder: Path, why: str, *, advice: Sequence[str] = (DAMAGED_STATE,)) -> HostError:
    """The refusal of a checkpoint as a whole."""
    return HostError("state-unreadable", f"the checkpoint '{folder}' cannot be used: {why}", advice=advice)


def _checksum(fields: Mapping[str, Any]) -> str:
    """Of what is said, however it is laid out."""
    return f"{crc32(json.dumps(fields, sort_keys=True).encode()):08x}"
