"""A zone's state as bytes that a key-value store can hold: one small head, and chunks that are written once.

Rule 1  Between two saves only new chunks are written and gone ones deleted; the head is written every time.
Rule 2  Every queue and every group has its own part of the head, under its name. A group that is new finds nothing and
        begins at the stream's present; a group that is gone is not carried on; the others keep what they had.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headwater.hosts.zone.clock import InputClock
from headwater.hosts.zone.program import Program, ZoneState, waiting_for
from headwater.hosts.zone.queue import QueueState
from headwater.model import Chunk, Log, Rows, Saved, decode, encode, log_from, readable, tree_rows


@dataclass(frozen=True, slots=True)
class SavedZone:
    """The head as bytes, and every chunk by its key; chunk keys are never used for two contents."""

    head: bytes
    chunks: Mapping[str, Chunk]


def save_zone(program: Program, state: ZoneState) -> SavedZone:
    """The state of a zone, ready to be written."""
    chunks: dict[str, Chunk] = {}
    queues = {}
    for name, queue in state.queues.items():
        queues[name] = {
            "handed": queue.handed,
            "clocks": {
                i: [c.reached, c.contrary, c.arrival_time, c.held.tolist(), c.ticked]
                for i, c in queue.clocks.items()
            },
            "waiting": _outline(f"queue/{name}/waiting", queue.waiting, chunks),
        }
    groups = {}
    for group in program.groups:
        saved = group.kernel.save(state.groups[group.name])
        logs = {name: _outline(f"group/{group.name}/{name}", log, chunks) for name, log in saved.logs.items()}
        groups[group.name] = {"values": saved.values, "logs": logs}
    waits = {}
    for name, fingerprint in program.waits.items():
        outline = _outline(f"waiting/{name}", state.groups[waiting_for(name)], chunks)
        waits[name] = {"fingerprint": fingerprint, "log": outline}
    head = {"zones": program.plan.zones, "queues": queues, "groups": groups, "waiting": waits}
    return SavedZone(encode(head), chunks)


@readable("its parts do not fit together")
def load_zone(program: Program, head: bytes, chunk: Callable[[str], Rows]) -> ZoneState:
    """The state that was saved, for this program's queries; `chunk` gives the rows of a key."""
    tree = decode(head)
    queues = {}
    for name, queue in program.queues.items():
        if name not in tree["queues"]:
            queues[name] = queue.start()
            continue
        saved = tree["queues"][name]
        clocks = {
            i: InputClock(reached, np.array(held, np.int64).reshape(-1, 4), contrary, arrival, *ticked)
            for i, (reached, contrary, arrival, held, *ticked) in saved["clocks"].items()
        }
        waiting = _log(f"queue/{name}/waiting", saved["waiting"], chunk)
        queues[name] = queue.adopt(QueueState(clocks, saved["handed"], waiting))
    present = ZoneState(queues, {})
    groups: dict[str, Any] = {}
    for group in program.groups:
        since = program.since(present, group)
        if group.name not in tree["groups"]:
            groups[group.name] = group.kernel.start(since)
            continue
        part = tree["groups"][group.name]
        logs = {
            name: _log(f"group/{group.name}/{name}", outline, chunk) for name, outline in part["logs"].items()
        }
        groups[group.name] = group.kernel.load(Saved(part["values"], logs), since)
    waits = tree.get("waiting", {})
    for name, fingerprint in program.waits.items():
        known = waits.get(name, {})
        same = known.get("fingerprint") == fingerprint
        groups[waiting_for(name)] = _log(f"waiting/{name}", known["log"], chunk) if same else Log()
    return ZoneState(queues, groups)


def chunk_rows(data: bytes) -> Rows:
    """The rows of a chunk's bytes."""
    return tree_rows(decode(data))


def _outline(prefix: str, log: Log, chunks: dict[str, Chunk]) -> Any:
    chunks.update({f"{prefix}/{chunk.number}": chunk for chunk in log.chunks})
    return log.outline()


def _log(prefix: str, outline: Any, chunk: Callable[[str], Rows]) -> Log:
    numbers = [int(number) for number in outline["chunks"][:, 0]]
    return log_from(outline, {number: chunk(f"{prefix}/{number}") for number in numbers})
