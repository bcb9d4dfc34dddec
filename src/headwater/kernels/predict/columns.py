"""What is told, as the columns of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.predict.geometry.shapes import Real, Whole
from headwater.kernels.predict.ordering import in_order, places
from headwater.kernels.predict.question import PredictQuery
from headwater.kernels.predict.sensors import Sensors
from headwater.model import Column, ColumnType, Rows, coded, strings
from headwater.model.identity import content_hash

Bits = NDArray[np.uint64]

_ONE: Final = np.uint64(0x9E3779B97F4A7C15)  # the seeds of the two halves of a hash
_OTHER: Final = np.uint64(0xC2B2AE3D27D4EB4F)
_HALF: Final = np.uint64(0xFFFFFFFF)
_PAIRS: Final = np.uint64(0x0000FFFF0000FFFF)
_SINGLES: Final = np.uint64(0x00FF00FF00FF00FF)
_LOW: Final = np.uint64(0x000F000F000F000F)
_ZEROS: Final = np.uint64(0x3030303030303030)
_SIXES: Final = np.uint64(0x0606060606060606)
_ONES: Final = np.uint64(0x0101010101010101)
_TO_LETTERS: Final = np.uint64(ord("a") - ord("9") - 1)


@dataclass(frozen=True, slots=True)
class Said:
    """Rows that are told, in any order. By row: `time`, `begins`, `ends`; `lines`, one per alias; `chance`, the probability or NaN.

    Where None is given, `order` (what told them), `piece` and `withdrawn` are 0 for all rows, and the probability is not known.
    """

    time: Whole
    begins: Whole
    ends: Whole
    lines: tuple[Whole, ...]
    chance: Real | None
    order: Whole | None = None
    piece: Whole | None = None
    withdrawn: Whole | None = None

    def __len__(self) -> int:
        return len(self.time)

    def sorted(self, rank: Whole, t0: Whole) -> tuple[Said, Whole]:
        """In order: by time, by what told them, by keys and update times, by piece; and the places that they came from.

        `rank` and `t0` by line.
        """
        place = places(self.lines, rank, t0)
        keys = [self.time, self.order, *(place.take(line) for line in self.lines), self.piece]
        order = in_order([key for key in keys if key is not None])
        time = self.time.take(order)
        return Said(
            time,
            self.begins.take(order),
            time if self.ends is self.time else self.ends.take(order),
            tuple(line.take(order) for line in self.lines),
            None if self.chance is None else self.chance.take(order),
            None,
            None if self.piece is None else self.piece.take(order),
            None if self.withdrawn is None else self.withdrawn.take(order),
        ), order


def block(
    query: PredictQuery,
    sensors: Sensors,
    code: Whole,
    t0: Whole,
    said: Said,
    polygons: Sequence[Real] | None,
) -> Rows:
    """The answers of a query, in order. `code` and `t0` by line."""
    said, order = said.sorted(sensors.rank[code], t0)
    times, count = ColumnType.TIMESTAMP, len(said)
    columns: dict[str, Column] = {
        "query": _always(query.name, count),
        "event_time": Column(times, said.time),
        "match_id": Column(ColumnType.ID, identities(query.name, said, sensors.identity[code], t0)),
    }
    keys = sensors.column(code)
    for alias, lines in zip(query.aliases, said.lines, strict=True):
        single = len(query.aliases) == 1
        key, time = ("key", "update_time") if single else (f"{alias.name}_key", f"{alias.name}_time")
        columns[key] = keys.take(lines)
        columns[time] = Column(times, t0.take(lines))
    columns["begins"] = Column(times, said.begins)
    columns["ends"] = Column(times, said.ends)
    columns["probability"] = _probability(said.chance, count)
    withdrawn = np.zeros(count, np.bool_) if said.withdrawn is None else said.withdrawn == 1
    columns["withdrawn"] = Column(ColumnType.BOOLEAN, withdrawn)
    if polygons is not None:
        columns["polygon"] = strings([_text(polygons[place]) for place in order.tolist()])
    return Rows(columns, count)


def identities(name: str, said: Said, identity: Whole, t0: Whole) -> NDArray[np.bytes_]:
    """The match_id of every row: what `content_ids` makes of query, keys, update times and piece, without ordinals, since all rows
    of an answer have one. `identity` and `t0` by line."""
    first = np.ascontiguousarray(content_hash([_always(name, 1)])[:, 0])
    whom, when = identity.view(np.uint64), t0.astype(np.uint64)
    count, *before, last = len(said), *said.lines
    hashes, of = first.reshape(1, 2), np.zeros(count, np.int64)
    for place, lines in enumerate(before):
        if not place:  # a line that many rows begin with is hashed once
            hashes, of = np.repeat(hashes, len(t0), axis=0), lines
            _go_on(hashes, whom, when, np.arange(len(t0)))
        else:
            hashes, of = hashes[of], np.arange(count)
            _go_on(hashes, whom, when, lines)
    digits = np.empty((count, 4), np.uint64)
    _finish(hashes, of, whom, when, last, np.zeros(1, np.int64) if said.piece is None else said.piece, digits)
    return digits.reshape(-1).view("S32")


@njit(cache=True, nogil=True, _nrt=False)
def _go_on(hashes: Bits, identity: Bits, t0: Bits, lines: Whole) -> None:
    """Go on with a key and an update time."""
    for row in range(len(lines)):
        key, time = identity[lines[row]], t0[lines[row]]
        hashes[row, 0] = _mix((_mix(hashes[row, 0] ^ key) + _ONE) ^ time) + _ONE
        hashes[row, 1] = _mix((_mix(hashes[row, 1] ^ key) + _OTHER) ^ time) + _OTHER


@njit(cache=True, nogil=True, _nrt=False)
def _finish(
    hashes: Bits, of: Whole, identity: Bits, t0: Bits, lines: Whole, piece: Whole, digits: Bits
) -> None:
    """Go on with the last key and update time and with the piece, and write the hashes down. `of`: with which hash a row goes on."""
    for row in range(len(lines)):
        key, time = identity[lines[row]], t0[lines[row]]
        which = np.uint64(piece[row if len(piece) > 1 else 0])
        one = _mix((_mix(hashes[of[row], 0] ^ key) + _ONE) ^ time) + _ONE
        other = _mix((_mix(hashes[of[row], 1] ^ key) + _OTHER) ^ time) + _OTHER
        one, other = _mix(one ^ which) + _ONE, _mix(other ^ which) + _OTHER
        digits[row, 0], digits[row, 1] = _eight_digits(one & _HALF), _eight_digits(one >> np.uint64(32))
        digits[row, 2], digits[row, 3] = _eight_digits(other & _HALF), _eight_digits(other >> np.uint64(32))


@njit(cache=True, nogil=True, _nrt=False)
def _eight_digits(bits: Any) -> Any:
    """Four bytes as hexadecimal digits, the lowest byte first, in one word: all eight at once."""
    bits = (bits | (bits << np.uint64(16))) & _PAIRS
    bits = (bits | (bits << np.uint64(8))) & _SINGLES
    bits = ((bits >> np.uint64(4)) & _LOW) | ((bits & _LOW) << np.uint64(8))
    is_letter = ((bits + _SIXES) >> np.uint64(4)) & _ONES
    return bits + _ZEROS + is_letter * _TO_LETTERS


@njit(cache=True, nogil=True, _nrt=False)
def _mix(bits: Any) -> Any:
    """The finisher of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _always(name: str, count: int) -> Column:
    return coded(np.zeros(count, np.int32), np.array([name], object))


def _probability(chance: Real | None, count: int) -> Column:
    """NULL where it is not known."""
    if chance is None:
        return Column(ColumnType.DOUBLE, np.zeros(count), np.zeros(count, np.bool_))
    is_known = ~np.isnan(chance)
    if is_known.all():
        return Column(ColumnType.DOUBLE, chance)
    return Column(ColumnType.DOUBLE, np.where(is_known, chance, 0.0), is_known)


def _text(corners: Real) -> str | None:
    """A polygon as text; NULL where there is none."""
    if not len(corners):
        return None
    return "(" + ", ".join(f"({_number(a)}, {_number(b)})" for a, b in corners.tolist()) + ")"


def _number(value: float) -> str:
    """Seconds to the nearest thousandth of a microsecond, without noise."""
    return np.format_float_positional(round(value, 9) + 0.0, trim="-")
