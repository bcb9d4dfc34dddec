"""A zone's state as bytes that a key-value store can hold: one small head, and chunks that are written once.

Rule 1  Between two saves only new chunks are written and dropped ones deleted; the head is written every time.
Rule 2  Every queue and every group has its own part of the head, under its name. A new group has no part and
        begins at the stream's present; a removed group is not saved again; the others keep theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.hosts.zone.clock import InputClock
from headwater.hosts.zone.graph import waiting_for
from headwater.hosts.zone.program import Program, ZoneState
from headwater.hosts.zone.queue import QueueState
from headwater.hosts.zone.sizes import StateSize, size_of_log, size_of_saved
from headwater.model import (
    Chunk,
    HostError,
    KeyedStore,
    Log,
    Rows,
    Run,
    Saved,
    decode,
    encode,
    keyed_store_from,
    log_from,
    readable,
    run_from,
    tree_rows,
)
from headwater.query.language.words import listed

Content = Rows | Run
"""The content of a chunk: rows of a log, or a run of a store."""
Fetch = Callable[[str, int], Content]
"""Gives the content of a chunk by its key and its number of cells."""

_SMALL: Final = 1_000
"""Bytes: smaller sizes, without rows and keys, are not reported."""
_MOST_NAMED: Final = 3
"""So many queries of a group are named in reports; the others are counted."""


@dataclass(frozen=True, slots=True)
class SavedZone:
    """The head as bytes, every chunk by its key, and the sizes by the names of their owners.

    Chunk keys are never used for two contents.
    """

    head: bytes
    chunks: Mapping[str, Chunk | Run]
    sizes: Mapping[str, StateSize]

    def contents(self) -> dict[str, Content]:
        """The content of every chunk, by its key."""
        return {key: chunk if isinstance(chunk, Run) else chunk.rows for key, chunk in self.chunks.items()}

    def cells(self) -> dict[str, bytes]:
        """The bytes of every cell of every chunk."""
        return {name: data for key, chunk in self.chunks.items() for name, data in cells_of(key, chunk)}


def cells_of(key: str, chunk: Chunk | Run) -> Iterator[tuple[str, bytes]]:
    """The cells of a chunk, each with its name."""
    yield from zip(cell_names(key, chunk.cells), map(encode, chunk.trees()), strict=True)


def cell_names(key: str, cells: int) -> list[str]:
    """The names of the cells over which a chunk is saved."""
    return [key, *(f"{key}#{number}" for number in range(1, cells))]


def count_cells(content: Content) -> int:
    """The number of cells over which it is saved."""
    return content.cells if isinstance(content, Run) else 1


def content_of(key: str, cells: Sequence[bytes]) -> Content:
    """A chunk's content from the bytes of its cells."""
    trees = [decode(cell) for cell in cells]
    return run_from(int(key.rpartition("/")[2]), trees) if "alive" in trees[0] else tree_rows(trees[0])


def fetch_from(cells: Mapping[str, bytes]) -> Fetch:
    """Contents from cells in memory."""
    return lambda key, count: content_of(key, [cells[name] for name in cell_names(key, count)])


def save_zone(program: Program, state: ZoneState) -> SavedZone:
    """The state of a zone, ready to be written."""
    chunks: dict[str, Chunk | Run] = {}
    sizes: dict[str, StateSize] = {}
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
        sizes[f"waiting rows of {name}"] = size_of_log(queue.waiting)
    groups = {}
    for group in program.groups:
        saved = group.kernel.save(state.groups[group.name])
        sizes[listed(group.queries, _MOST_NAMED) or group.name] = size_of_saved(saved)
        logs = {name: _outline(f"group/{group.name}/{name}", log, chunks) for name, log in saved.logs.items()}
        stores = {}
        for name, store in saved.stores.items():
            chunks.update({f"store/{group.name}/{name}/{run.number}": run for run in store.runs})
            stores[name] = store.outline()
        groups[group.name] = {"values": saved.values, "logs": logs, "stores": stores}
    waits = {}
    for name, fingerprint in program.waits.items():
        outline = _outline(f"waiting/{name}", state.groups[waiting_for(name)], chunks)
        waits[name] = {"fingerprint": fingerprint, "log": outline}
        sizes[f"waiting rows of {name}"] = size_of_log(state.groups[waiting_for(name)])
    head = {"zones": program.plan.zones, "queues": queues, "groups": groups, "waiting": waits}
    worth = {name: size for name, size in sizes.items() if size.rows or size.keys or size.size > _SMALL}
    return SavedZone(encode(head), chunks, worth)


@readable("its parts do not fit together")
def load_zone(program: Program, head: bytes, chunk: Fetch) -> ZoneState:
    """The saved state, for this program's queries; `chunk` gives the content of a key."""
    tree = decode(head)
    _refuse_other_zones(tree["zones"], program.plan.zones)
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
        stores = {
            name: _store(f"store/{group.name}/{name}", outline, chunk)
            for name, outline in part["stores"].items()
        }
        groups[group.name] = group.kernel.load(Saved(part["values"], logs, stores), since)
    waits = tree.get("waiting", {})
    for name, fingerprint in program.waits.items():
        known = waits.get(name, {})
        same = known.get("fingerprint") == fingerprint
        groups[waiting_for(name)] = _log(f"waiting/{name}", known["log"], chunk) if same else Log()
    return ZoneState(queues, groups)


def _refuse_other_zones(saved: int, now: int) -> None:
    """Refuses a state whose rows would now go to other zones."""
    if saved != now:
        raise HostError(
            "checkpoint-other-zones",
            f"state was saved with {saved} zones, but this run uses {now}",
            advice=[f"the number of zones is fixed when a checkpoint is created: hw.run(..., zones={saved})"],
        )


def _outline(prefix: str, log: Log, chunks: dict[str, Chunk | Run]) -> Any:
    chunks.update({f"{prefix}/{chunk.number}": chunk for chunk in log.chunks})
    return log.outline()


def _log(prefix: str, outline: Any, chunk: Fetch) -> Log:
    numbers = [int(number) for number in outline["chunks"][:, 0]]
    return log_from(outline, {number: chunk(f"{prefix}/{number}", 1) for number in numbers})


def _store(prefix: str, outline: Any, chunk: Fetch) -> KeyedStore:
    runs: dict[int, Run] = {}
    for number, cells in outline["runs"].tolist():
        run = chunk(f"{prefix}/{number}", cells)
        assert isinstance(run, Run)
        runs[number] = run
    return keyed_store_from(outline, runs)
