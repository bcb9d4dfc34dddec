"""What does a cell of text say: a number, an instant, yes or no?

This is the language of cells. Readers may use something faster that understands less, never something that understands
more or otherwise: whether a row is bad must not depend on its neighbours.

Numbers   digits with sign, point and exponent; spaces around are nothing. NaN and infinity are read, and refused later.
Integers  digits with sign, in 64 bits.
Booleans  true, false in any case, 1, 0.
Instants  ISO 8601: `2026-01-31`, then `T` or a space, hours, minutes, seconds, a fraction (cut off after microseconds), and
          an offset (`Z`, `+01`, `+0130`, `+01:30`); without one it is UTC. A plain number is seconds since 1970. Years 1 to
          9999.
"""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.model import SECOND

FIRST_INSTANT: Final = -62_135_596_800 * SECOND  # 0001-01-01
LAST_INSTANT: Final = 253_402_300_800 * SECOND - 1  # the last microsecond of the year 9999
SPACES: Final = " \t"

Parsed = tuple[NDArray[Any], NDArray[np.bool_]]
"""values[n] (zero where there is none), understood[n]; a NULL is not understood. Cells come without spaces around them."""

_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
_NOT_FINITE = r"(?i)^[+-]?(?:nan|inf|infinity)$"
_INTEGER = r"^[+-]?[0-9]+$"
_ISO = (
    r"^(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
    r"(?:[Tt ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
    r" ?(?P<zone>[Zz]|(?P<zone_sign>[+-])(?P<zone_hour>[0-9]{2})(?::?(?P<zone_minute>[0-9]{2}))?)?)?$"
)
_ARROW_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d(?::\d\d(?::\d\d(?:\.\d{1,6})?)?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?$"
)
_EPOCH = r"^(?P<sign>[+-]?)(?P<whole>[0-9]{1,12})(?:\.(?P<fraction>[0-9]*))?$"
_SURE_DIGITS = 18


def parse_numbers(cells: pa.StringArray) -> Parsed:
    """float64[n]."""
    odd = _true(pc.match_substring_regex(cells, _NOT_FINITE))
    understood = _true(pc.match_substring_regex(cells, _NUMBER)) | odd
    return _cast(cells, understood, pa.float64(), "0"), understood


def parse_integers(cells: pa.StringArray) -> Parsed:
    """int64[n]."""
    understood = _true(pc.match_substring_regex(cells, _INTEGER))
    digits = pc.utf8_ltrim(cells, "+")
    long = understood & (
        pc.fill_null(pc.utf8_length(digits), 0).to_numpy(zero_copy_only=False) > _SURE_DIGITS
    )
    for index in np.flatnonzero(long).tolist():
        understood[index] = _fits(digits[index].as_py())
    return _cast(digits, understood, pa.int64(), "0"), understood


def parse_booleans(cells: pa.StringArray) -> Parsed:
    """bool[n]."""
    cells = pc.utf8_lower(cells)
    yes = _true(pc.is_in(cells, value_set=pa.array(["true", "1"])))
    return yes, yes | _true(pc.is_in(cells, value_set=pa.array(["false", "0"])))


def parse_instants(cells: pa.StringArray) -> Parsed:
    """int64[n], microseconds."""
    quickly = _arrow_instants(cells)
    if quickly is not None:
        return quickly
    values, understood = _iso_instants(cells)
    if not understood.all():
        seconds, numbers = _epoch_instants(cells)
        values, understood = np.where(numbers, seconds, values), understood | numbers
    understood &= _in_range(values)
    return np.where(understood, values, 0), understood


def arrow_style(cell: str | None) -> pa.DataType:
    """The Arrow type whose reader takes an instant written like this, or text if none does."""
    match = _ARROW_ISO.match(cell or "")
    if not match:
        return pa.string()
    return pa.timestamp("us", "UTC") if match["zone"] else pa.timestamp("us")


def _arrow_instants(cells: pa.StringArray) -> Parsed | None:
    """All cells by Arrow's own reader, if they are written alike and it takes them all."""
    style = arrow_style(cells[0].as_py()) if len(cells) and not cells.null_count else pa.string()
    if style == pa.string():
        return None
    try:
        values = pc.cast(cells, style).view(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    return (values, np.ones(len(values), np.bool_)) if _in_range(values).all() else None


def _in_range(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (values >= FIRST_INSTANT) & (values <= LAST_INSTANT)


def _fits(digits: str) -> bool:
    significant = digits.lstrip("-").lstrip("0")
    size = int(significant or "0") if len(significant) <= _SURE_DIGITS + 1 else 2**64
    return size < 2**63 or (size == 2**63 and digits.startswith("-"))


def _iso_instants(cells: pa.StringArray) -> Parsed:
    fields = pc.extract_regex(cells, _ISO)
    understood = _true(fields.is_valid())
    if not understood.any():
        return np.zeros(len(cells), np.int64), understood

    def part(name: str) -> NDArray[np.int64]:
        return _integers(fields.field(name), understood)

    year, month, day = part("year"), part("month"), part("day")
    hour, minute, second = part("hour"), part("minute"), part("second")
    zone_hour, zone_minute = part("zone_hour"), part("zone_minute")
    understood = understood & (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    understood &= (hour < 24) & (minute < 60) & (second < 60) & (zone_hour < 24) & (zone_minute < 60)
    months = np.where(understood, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(understood, day - 1, 0)
    understood &= days.astype("datetime64[M]") == months
    west = _true(pc.equal(fields.field("zone_sign"), "-"))
    offset_s = np.where(west, -1, 1) * (zone_hour * 3600 + zone_minute * 60)
    seconds = days.astype("datetime64[s]").astype(np.int64) + hour * 3600 + minute * 60 + second - offset_s
    return seconds * SECOND + _micros(fields.field("fraction"), understood), understood


def _epoch_instants(cells: pa.StringArray) -> Parsed:
    fields = pc.extract_regex(cells, _EPOCH)
    understood = _true(fields.is_valid())
    size = _integers(fields.field("whole"), understood) * SECOND + _micros(
        fields.field("fraction"), understood
    )
    return np.where(_true(pc.equal(fields.field("sign"), "-")), -size, size), understood


def _micros(fraction: pa.StringArray, understood: NDArray[np.bool_]) -> NDArray[np.int64]:
    six = pc.utf8_slice_codeunits(pc.utf8_rpad(pc.fill_null(fraction, ""), 6, "0"), 0, 6)
    return _integers(six, understood)


def _integers(digits: pa.StringArray, understood: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Short runs of digits as numbers; nothing is zero."""
    there = understood & _true(pc.greater(pc.binary_length(digits), 0))
    return _cast(digits, there, pa.int64(), "0")


def _cast(cells: pa.StringArray, understood: NDArray[np.bool_], kind: pa.DataType, zero: str) -> NDArray[Any]:
    if not understood.all():
        cells = pc.if_else(pa.array(understood), cells, zero)
    return pc.cast(cells, kind).to_numpy(zero_copy_only=False)


def _true(mask: pa.BooleanArray) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))
