"""What is told, as the columns of answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.predict.geometry.shapes import Real, Whole
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.kernels.predict.telling import (
    EACH,
    FROM,
    ORDER,
    PARTS,
    TIME,
    TO,
    WHICH,
    WITHDRAWN,
)
from headwater.model import Column, ColumnType, Rows, coded, strings
from headwater.model.identity import content_hash

Bits = NDArray[np.uint64]

_SEEDS: Final = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)


def block(
    query: PredictQuery, sensors: Sensors, rows: Whole, chance: Real, polygons: Sequence[Real] | None
) -> Rows:
    """The answers of a query, in order."""
    order = in_order(rows, sensors.rank, len(query.aliases))
    rows, chance = rows[order], chance[order]
    times = ColumnType.TIMESTAMP
    columns: dict[str, Column] = {
        "query": _always(query.name, len(rows)),
        "event_time": Column(times, rows[:, TIME].copy()),
        "match_id": Column(ColumnType.ID, identities(query.name, rows, sensors.identity)),
    }
    single = len(query.aliases) == 1
    for number, alias in enumerate(query.aliases):
        key, time = ("key", "update_time") if single else (f"{alias.name}_key", f"{alias.name}_time")
        columns[key] = sensors.column(rows[:, PARTS + EACH * number])
        columns[time] = Column(times, rows[:, PARTS + EACH * number + 1].copy())
    columns["begins"] = Column(times, rows[:, FROM].copy())
    columns["ends"] = Column(times, rows[:, TO].copy())
    is_known = ~np.isnan(chance)
    columns["probability"] = Column(
        ColumnType.DOUBLE, np.where(is_known, chance, 0.0), None if is_known.all() else is_known
    )
    columns["withdrawn"] = Column(ColumnType.BOOLEAN, rows[:, WITHDRAWN] == 1)
    if polygons is not None:
        columns["polygon"] = strings([_text(polygons[place]) for place in order.tolist()])
    return Rows(columns, len(rows))


def identities(name: str, rows: Whole, identity: Whole) -> NDArray[np.bytes_]:
    """The match_id of every row: what `content_ids` makes of query, keys, update times and piece, without ordinals, since all rows
    of an answer have one."""
    first = np.ascontiguousarray(content_hash([_always(name, 1)])[:, 0])
    digits = np.empty((len(rows), 32), np.uint8)
    _identify(rows, identity.view(np.uint64), first, digits)
    return digits.reshape(-1).view("S32")


@njit(cache=True, nogil=True)
def in_order(rows: Whole, rank: Whole, many: int) -> Whole:
    """The permutation that puts told rows in order: by time, by what told them, by keys and update times, by piece."""
    count = len(rows)
    order, other = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            for place in range(low, high):
                if left < middle and (
                    right >= high or not _is_before(rows, rank, many, order[right], order[left])
                ):
                    other[place] = order[left]
                    left += 1
                else:
                    other[place] = order[right]
                    right += 1
        order, other = other, order
        width *= 2
    return order


@njit(cache=True, nogil=True, _nrt=False)
def _is_before(rows: Whole, rank: Whole, many: int, one: int, other: int) -> bool:
    if rows[one, TIME] != rows[other, TIME]:
        return rows[one, TIME] < rows[other, TIME]
    if rows[one, ORDER] != rows[other, ORDER]:
        return rows[one, ORDER] < rows[other, ORDER]
    for alias in range(many):
        place = PARTS + EACH * alias
        a, b = rank[rows[one, place]], rank[rows[other, place]]
        if a != b:
            return a < b
        if rows[one, place + 1] != rows[other, place + 1]:
            return rows[one, place + 1] < rows[other, place + 1]
    return rows[one, WHICH] < rows[other, WHICH]


@njit(cache=True, nogil=True, _nrt=False)
def _identify(rows: Whole, identity: Bits, first: Bits, digits: NDArray[np.uint8]) -> None:
    for row in range(len(rows)):
        for lane in range(2):
            bits, seed = first[lane], _SEEDS[lane]
            for part in range(PARTS, rows.shape[1], EACH):
                bits = _mix(bits ^ identity[rows[row, part]]) + seed
                bits = _mix(bits ^ np.uint64(rows[row, part + 1])) + seed
            bits = _mix(bits ^ np.uint64(rows[row, WHICH])) + seed
            for byte in range(8):
                two = (bits >> np.uint64(8 * byte)) & np.uint64(255)
                digits[row, 16 * lane + 2 * byte] = _HEX[two >> np.uint64(4)]
                digits[row, 16 * lane + 2 * byte + 1] = _HEX[two & np.uint64(15)]


@njit(cache=True, nogil=True, _nrt=False)
def _mix(bits: Any) -> Any:
    """The finisher of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _always(name: str, count: int) -> Column:
    return coded(np.zeros(count, np.int32), np.array([name], object))


def _text(corners: Real) -> str | None:
    """A polygon as text; NULL where there is none."""
    if not len(corners):
        return None
    return "(" + ", ".join(f"({_number(a)}, {_number(b)})" for a, b in corners.tolist()) + ")"


def _number(value: float) -> str:
    """Seconds to the nearest thousandth of a microsecond, without noise."""
    return np.format_float_positional(round(value, 9) + 0.0, trim="-")
