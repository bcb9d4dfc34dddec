"""Record which loops each operator enters from Python, and with which types (`make kernels`).

Every operator is rehearsed in a process of its own: what it enters is its own, or that of SELECT, which all have in common.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Final

from headwater.apps.cli.rehearsals import REHEARSALS, rehearse, rehearse_network
from headwater.compiled import Loop
from headwater.hosts.cores import usable_cores
from headwater.hosts.kernel_entries import ENTRIES_FILE, EVERYWHERE, all_entries, written
from headwater.hosts.stored_code import use_compiled_code

NETWORK: Final = "NETWORK"
"""Stands for a simulated network, which no operator of the language is."""


def main() -> None:
    """Write the list anew."""
    known = {
        (entry.loop, json.dumps(entry.types)): entry.cost
        for entry in (all_entries() if ENTRIES_FILE.exists() else ())
    }
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for keyword, entered in _rehearsed():
        for loop, types, cost in entered:
            entry = found.setdefault(
                (loop, types), {"loop": loop, "types": json.loads(types), "keywords": []}
            )
            entry["cost"] = max(cost, entry.get("cost", 0.0), known.get((loop, types), 0.0))
            if entry["keywords"] != [EVERYWHERE]:
                entry["keywords"].append(keyword)
    ENTRIES_FILE.write_text(written(found.values()), encoding="utf-8")


def _rehearsed() -> Iterator[tuple[str, list[tuple[str, str, float]]]]:
    """By operator, SELECT first."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(usable_cores(), mp_context=fresh, max_tasks_per_child=1) as beside:
        begun = {keyword: beside.submit(entered_by, keyword) for keyword in [*REHEARSALS, NETWORK]}
        for keyword, entered in begun.items():
            yield keyword, entered.result()


def entered_by(keyword: str) -> list[tuple[str, str, float]]:
    """What a rehearsal enters in this process: loop, types as JSON, seconds that compiling took (0: it was compiled already)."""
    use_compiled_code()
    if keyword == NETWORK:
        rehearse_network()
    else:
        rehearse(REHEARSALS[keyword])
    return sorted(entered())


def entered() -> Iterator[tuple[str, str, float]]:
    """All that was entered in this process so far, but what is called with types that have no text."""
    from headwater.compiled.signatures import text_of

    for loop in (held for held in gc.get_objects() if isinstance(held, Loop)):
        for types, made in loop.compiled().items():
            texts = [text_of(kind) for kind in types]
            if None not in texts:
                timers = (made.metadata or {}).get("timers", {})
                name = f"{loop.py_func.__module__}:{loop.py_func.__name__}"
                yield name, json.dumps(texts), round(timers.get("compiler_lock", 0.0), 2)


if __name__ == "__main__":
    main()
