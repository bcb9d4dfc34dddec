"""The same answer has the same name after any restart, on any host.

`match_id` is 128 bits of hash over the content of an answer and nothing else: not the batch, not the zone, not the order
of arrival. Two answers of equal content get different ordinals; they have the same event time, so they are always made in
one step and the count is the same however the rows were split.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.model.rows import Column, ColumnType
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, splitmix64

Lanes = NDArray[np.uint64]  # uint64[2, n]

_SEEDS = np.array([[GOLDEN], [SECOND_FACTOR]], np.uint64)
_NULL = np.uint64(0x5BF03635DCB7A9D1)
_MOST_KNOWN = 65_536
_known: dict[str, int] = {}
"""Hashes of former texts; emptied when there are more than _MOST_KNOWN."""
_HEX = np.frombuffer(b"0123456789abcdef", np.uint8)


def content_ids(parts: Sequence[Column], groups: NDArray[np.int64] | None = None) -> Column:
    """The ID column of answers whose content is `parts`, one row of all columns an answer; ordinals included.

    Answers in different `groups` may have one identity: each group has ordinals of its own.
    """
    lanes = content_hash(parts)
    ordinal = _ordinals(
        lanes if groups is None else splitmix64(lanes ^ splitmix64(groups.view(np.uint64) ^ _SEEDS))
    )
    if ordinal.any():
        lanes = np.where(ordinal > 0, splitmix64(lanes ^ (ordinal.astype(np.uint64) * _SEEDS)), lanes)
    return hashed_ids(lanes)


def hashed_ids(lanes: Lanes) -> Column:
    """The ID column of hashes: equal ones stay equal."""
    return Column(ColumnType.ID, _hex(lanes))


def content_hash(parts: Sequence[Column]) -> Lanes:
    """uint64[2, n]: a hash of every row over all columns, in their order."""
    lanes = np.repeat(_SEEDS, len(parts[0]), axis=1)
    for part in parts:
        _mix_in(lanes, _bits(part))
    return lanes


def text_hash(text: str) -> int:
    """64 bits of a string, the same in every process."""
    return int(text_hashes([text])[0])


def text_hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    """uint64[n]: the same of many."""
    global _known
    known = _known
    if len(known) > _MOST_KNOWN:
        known = _known = {}
    fresh = [text for text in texts if text not in known]
    if fresh:
        digests = b"".join([blake2b(text.encode(), digest_size=8).digest() for text in fresh])
        known.update(zip(fresh, np.frombuffer(digests, "<u8").tolist(), strict=True))
    return np.fromiter(map(known.__getitem__, texts), np.uint64, len(texts))


def _bits(column: Column) -> Lanes:
    values: Any = column.values
    if column.type is ColumnType.STRING:
        assert column.names is not None
        hashes = text_hashes(column.names.tolist())
        bits = hashes[values] if len(hashes) else np.zeros(len(values), np.uint64)
    elif column.type is ColumnType.DOUBLE:
        bits = (values + 0.0).view(np.uint64)  # + 0.0: minus zero is zero
    elif column.type is ColumnType.ID:
        bits = (
            np.ascontiguousarray(values).view(np.uint64).reshape(len(values), 4).sum(axis=1, dtype=np.uint64)
        )
    else:
        bits = values.astype(np.int64).view(np.uint64)
    return bits if column.valid is None else np.where(column.valid, bits, _NULL)


@loop(nogil=True)
def _mix_in(lanes: Lanes, bits: NDArray[np.uint64]) -> None:
    """`lanes` become `splitmix64(lanes ^ bits) + seeds` in one pass: for few answers the number of calls is the cost."""
    for n in range(len(bits)):
        for lane in range(2):
            lanes[lane, n] = splitmix64(lanes[lane, n] ^ bits[n]) + _SEEDS[lane, 0]


def _ordinals(lanes: Lanes) -> NDArray[np.int64]:
    """0 for the first row of equal hash, 1 for the second, and so on."""
    order = np.argsort(lanes[0], kind="stable")
    ordered = lanes[0][order]
    ordinal = np.zeros(len(ordered), np.int64)
    if len(ordered) < 2 or not (ordered[1:] == ordered[:-1]).any():
        return ordinal
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    first = np.maximum.accumulate(np.where(starts, np.arange(len(ordered)), 0))
    ordinal[order] = np.arange(len(ordered)) - first
    return ordinal


def _hex(lanes: Lanes) -> NDArray[np.bytes_]:
    data = np.ascontiguousarray(lanes.T).view(np.uint8).reshape(-1, 16)
    digits = np.empty((len(data), 32), np.uint8)
    digits[:, 0::2] = _HEX[data >> 4]
    digits[:, 1::2] = _HEX[data & 15]
    return digits.reshape(-1).view("S32")
