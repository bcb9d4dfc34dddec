"""Which readings has a READINGS subscription emitted already? This survives a restart.

A plain subscription needs one number for this (`emitted_until`, see `engine.py`). A searched one may have emitted a reading and not the
one before it, so each emitted reading is logged: time, subscription, row and attribute.

Memory  What was emitted within the longest δt; a log of it, of which each step saves only its own part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.correlate.chains import Chains
from headwater.kernels.correlate.subscription_table import READINGS_SEARCH, SubscriptionTable
from headwater.model import Column, ColumnType, Log, Rows, coded

TIME = "time"

Numbers = NDArray[np.int64]


def log_emitted(
    log: Log,
    subscriptions: SubscriptionTable,
    names: Sequence[str],
    attributes: Sequence[str],
    emitted: Numbers,
    time: Numbers,
) -> Log:
    """The log after searched subscriptions emitted readings in a step: `emitted[n, 4]` as the engine found it, at `time[n]`."""
    searched = subscriptions.kind[emitted[:, 0]] == READINGS_SEARCH
    if not searched.any():
        return log
    subscription, _, row, attribute = emitted[searched].T
    columns = {
        TIME: Column(ColumnType.TIMESTAMP, time[searched]),
        "query": _named(subscription, names),
        "row": Column(ColumnType.BIGINT, row.copy()),
        "attribute": _named(attribute, attributes),
    }
    return log.append(Rows.of(columns), TIME)


def mark_emitted(
    chains: Chains,
    subscriptions: SubscriptionTable,
    log: Log,
    queries: dict[str, int],
    attributes: Sequence[str],
) -> None:
    """Mark the readings of the log in the chains as emitted, for the `queries` (by number) that are unchanged."""
    rows = log.rows()
    if rows is None:
        return
    query = _renumbered(rows["query"], queries)
    attribute = _renumbered(rows["attribute"], {name: number for number, name in enumerate(attributes)})
    known = (query >= 0) & (attribute >= 0)
    owner = subscriptions.class_owner[chains.of_class]
    classes = _number(subscriptions, chains.row, owner, subscriptions.class_attribute[chains.of_class])
    logged = _number(subscriptions, rows["row"].values[known], query[known], attribute[known])
    chains.emitted[:] = (owner >= 0) & np.isin(classes, logged)


def _number(
    subscriptions: SubscriptionTable, row: Numbers, subscription: Numbers, attribute: Numbers
) -> Numbers:
    """One number for a row, a subscription and an attribute."""
    attributes = int(subscriptions.class_attribute.max(initial=0)) + 1
    return (row * len(subscriptions.kind) + subscription) * attributes + attribute


def _named(numbers: Numbers, names: Sequence[str]) -> Column:
    used, codes = np.unique(numbers, return_inverse=True)
    return coded(codes.astype(np.int32), np.array([*(names[n] for n in used.tolist()), ""], object)[:-1])


def _renumbered(column: Column, numbers: dict[str, int]) -> Numbers:
    assert column.names is not None
    table = np.array([numbers.get(name, -1) for name in column.names.tolist()], np.int64)
    return table[column.values]
