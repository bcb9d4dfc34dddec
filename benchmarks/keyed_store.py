"""What does a step cost that touches few keys of many? Finding, putting and encoding records, by number of keys.

python -m benchmarks.keyed_store
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from headwater.model import (
    END,
    KeyedStore,
    Ragged,
    Records,
    empty_store,
    encode,
    key_ids,
    no_records,
    strings,
)

TOUCHED = 62
STEPS = 300


def records(keys: Sequence[int]) -> Records:
    names, count = strings([f"sensor-{key}" for key in keys]), len(keys)
    lines = {"value": np.ones(count), "at": np.arange(count)}
    table = {"name": names, "pair": np.ones((count, 2)), "number": np.arange(count)}
    lists = {"rows": Ragged(np.arange(count + 1), lines)}
    return Records(key_ids([names], count), np.full(count, END), np.full(count, 5), table, lists)


def filled(keys: int) -> KeyedStore:
    store = empty_store(records([]))
    for first in range(0, keys, 100_000):
        store = store.put(records(range(first, min(first + 100_000, keys))), no_records().ids)
    return store


def measure(keys: int) -> tuple[float, int]:
    """Milliseconds and bytes written, a step."""
    store, random = filled(keys), np.random.default_rng(0)
    batches = [records(random.choice(keys, TOUCHED, replace=False).tolist()) for _ in range(STEPS)]
    saved = {run.number for run in store.runs}
    written, began = 0, time.process_time()
    for step, batch in enumerate(batches):
        store.find(batch.ids)
        store.due(step, step + 1)
        store = store.put(batch, no_records().ids)
        new = [run for run in store.runs if run.number not in saved]
        written += sum(len(encode(tree)) for run in new for tree in run.trees())
        saved.update(run.number for run in new)
    return (time.process_time() - began) / STEPS * 1e3, written // STEPS


def main() -> None:
    measure(1_000)  # compiles
    print(f"{'keys':>10} {'ms a step':>10} {'bytes written a step':>21}")
    for keys in (1_000, 100_000, 1_000_000):
        milliseconds, written = measure(keys)
        print(f"{keys:>10,} {milliseconds:>10.2f} {written:>21,}")


if __name__ == "__main__":
    main()
