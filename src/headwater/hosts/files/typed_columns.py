"""Arrow columns as they come from files, turned into the columns a stream declares, with what is wrong cell by cell.

Rule 1  Text is read by the language of `cell_parsing`; numbers, instants, dates and booleans are taken where they can say what
        is declared: whole numbers as BIGINT, any number as DOUBLE, timestamps of any unit and dates as TIMESTAMP. A
        number as TIMESTAMP is seconds since 1970, in every format.
Rule 2  NaN and infinities are bad values. Instants stay within the years 1 to 9999.
Rule 3  A cell that cannot be read is NULL in the column and has its reason in the faults; the caller drops its row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from headwater.hosts.files.cell_parsing import (
    FIRST_INSTANT,
    LAST_INSTANT,
    SPACES,
    Parsed,
    parse_booleans,
    parse_instants,
    parse_integers,
    parse_numbers,
)
from headwater.model import SECOND, Column, ColumnType

Faults = dict[int, str]
"""Row number -> reason, as `code: words`."""

SHOWN_CHARACTERS: Final = 60

_PER_UNIT = {"s": SECOND, "ms": 1000, "us": 1}
_DAY_US = 86_400 * SECOND


def fits(found: pa.DataType, target: ColumnType) -> bool:
    """Whether a column of this Arrow type can hold values of the target type."""
    if pa.types.is_dictionary(found):
        return fits(found.value_type, target)
    if pa.types.is_null(found) or _is_text(found):
        return True
    number = pa.types.is_integer(found) or pa.types.is_floating(found) or pa.types.is_decimal(found)
    return {
        ColumnType.STRING: pa.types.is_binary(found) or pa.types.is_large_binary(found),
        ColumnType.DOUBLE: number,
        ColumnType.BIGINT: pa.types.is_integer(found),
        ColumnType.BOOLEAN: pa.types.is_boolean(found),
        ColumnType.TIMESTAMP: number or pa.types.is_timestamp(found) or pa.types.is_date(found),
        ColumnType.ID: False,
    }[target]


def convert(array: pa.Array, target: ColumnType, name: str) -> tuple[Column, Faults]:
    """A column of the target type from an array that fits it, and the cells that cannot be read."""
    if pa.types.is_null(array.type):
        return Column.nulls(target, len(array)), {}
    if target is ColumnType.STRING:
        return _strings(array, name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if _is_text(array.type):
        array = _not_blank(_as_text(array)[0])
        values, understood = _TEXT[target](array)
    else:
        values, understood = _TYPED[target](array)
    valid = None if array.null_count == 0 else array.is_valid().to_numpy(zero_copy_only=False)
    wrong = ~understood if valid is None else valid & ~understood
    faults = {
        row: f"{_CODES[target]}: {show_cell(cell_text(array, row))} {_WORDS[target]} (column '{name}')"
        for row in np.flatnonzero(wrong).tolist()
    }
    if target is ColumnType.DOUBLE and not np.isfinite(values).all():
        odd = ~np.isfinite(values)
        for row in np.flatnonzero(odd).tolist():
            faults[row] = f"not-finite: {show_cell(cell_text(array, row))} (column '{name}')"
        wrong = wrong | odd
    if faults:
        valid = ~wrong if valid is None else valid & ~wrong
    if valid is not None:
        values = np.where(valid, values, values.dtype.type())
    return Column(target, values, valid), faults


def show_cell(text: str) -> str:
    """A text in quotes, shortened."""
    return f"'{text}'" if len(text) <= SHOWN_CHARACTERS else f"'{text[:SHOWN_CHARACTERS]}…'"


def cell_text(array: pa.Array, row: int) -> str:
    """A value as text, also where Python has none for it (the year 20000, bytes that are no text)."""
    try:
        return str(array[row].as_py())
    except (ValueError, OverflowError):
        one = array.slice(row, 1)
        one = one.dictionary_decode() if pa.types.is_dictionary(one.type) else one
        if _is_text(one.type):
            return str(one.cast(pa.binary())[0].as_py(), "utf-8", "backslashreplace")
        return str(one.cast(pa.string())[0].as_py())


_TEXT: dict[ColumnType, Callable[[pa.StringArray], Parsed]] = {
    ColumnType.DOUBLE: parse_numbers,
    ColumnType.BIGINT: parse_integers,
    ColumnType.BOOLEAN: parse_booleans,
    ColumnType.TIMESTAMP: parse_instants,
}

_CODES = {
    ColumnType.DOUBLE: "bad-number",
    ColumnType.BIGINT: "bad-number",
    ColumnType.BOOLEAN: "bad-boolean",
    ColumnType.TIMESTAMP: "bad-time",
}

_WORDS = {
    ColumnType.DOUBLE: "is not a number",
    ColumnType.BIGINT: "is not a 64-bit integer",
    ColumnType.BOOLEAN: "is neither true nor false",
    ColumnType.TIMESTAMP: "is not a timestamp",
}


def _doubles(array: pa.Array) -> Parsed:
    if array.type != pa.float64():
        array = pc.cast(array, pa.float64(), safe=False)
    return _plain(array, 0.0), np.ones(len(array), np.bool_)


def _integers(array: pa.Array) -> Parsed:
    understood = np.ones(len(array), np.bool_)
    if array.type == pa.uint64():
        understood = _plain(array, 0) < np.uint64(2**63)
    return _plain(pc.cast(array, pa.int64(), safe=False), 0), understood


def _booleans(array: pa.Array) -> Parsed:
    return _plain(array, False), np.ones(len(array), np.bool_)


def _instants(array: pa.Array) -> Parsed:
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        unit = kind.unit if pa.types.is_timestamp(kind) else "ms"
        ticks = _plain(array.view(pa.int64()), 0)
        if unit == "ns":
            return ticks // 1000, np.ones(len(ticks), np.bool_)
        return _scaled(ticks, _PER_UNIT[unit])
    if pa.types.is_date32(kind):
        return _scaled(_plain(array.view(pa.int32()), 0).astype(np.int64), _DAY_US)
    if pa.types.is_integer(kind):
        whole, understood = _integers(array)
        values, within = _scaled(whole, SECOND)
        return values, within & understood
    seconds = _doubles(array)[0]
    understood = (seconds >= FIRST_INSTANT / SECOND) & (seconds <= LAST_INSTANT / SECOND)
    return np.rint(np.where(understood, seconds, 0.0) * SECOND).astype(np.int64), understood


def _scaled(ticks: NDArray[np.int64], factor: int) -> Parsed:
    understood = (ticks >= -(-FIRST_INSTANT // factor)) & (ticks <= LAST_INSTANT // factor)
    return np.where(understood, ticks, 0) * factor, understood


_TYPED: dict[ColumnType, Callable[[pa.Array], Parsed]] = {
    ColumnType.DOUBLE: _doubles,
    ColumnType.BIGINT: _integers,
    ColumnType.BOOLEAN: _booleans,
    ColumnType.TIMESTAMP: _instants,
}


def string_column(array: pa.Array) -> tuple[Column, NDArray[np.bool_]]:
    """A STRING column from texts, bytes or a dictionary of them, and which rows are no UTF-8 (their text is escaped)."""
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary_decode()
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    valid = None if array.null_count == 0 else array.is_valid().to_numpy(zero_copy_only=False)
    codes = _plain(array.indices, 0)
    texts, broken = _as_text(array.dictionary)
    names, back = _sorted_names(texts)
    values = back[codes] if len(names) else np.zeros(len(codes), np.int32)
    if valid is not None:
        values = np.where(valid, values, np.int32(0))
    wrong = (
        np.isin(codes, broken) & (True if valid is None else valid)
        if broken
        else np.zeros(len(codes), np.bool_)
    )
    return Column(ColumnType.STRING, values, valid, names), wrong


def _strings(array: pa.Array, name: str) -> tuple[Column, Faults]:
    column, wrong = string_column(array)
    if not wrong.any():
        return column, {}
    valid = column.is_valid & ~wrong
    faults = dict.fromkeys(np.flatnonzero(wrong).tolist(), f"broken-utf8: in column '{name}'")
    return Column(ColumnType.STRING, np.where(valid, column.values, np.int32(0)), valid, column.names), faults


def _as_text(array: pa.Array) -> tuple[pa.StringArray, list[int]]:
    """Texts or bytes as checked texts, and the numbers of those that are no UTF-8 (escaped)."""
    try:
        texts = array if pa.types.is_string(array.type) else array.cast(pa.string())
        texts.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.cast(pa.binary()).to_pylist()
        broken = [number for number, item in enumerate(raw) if item is not None and not _is_utf8(item)]
        escaped = [None if item is None else item.decode("utf-8", "backslashreplace") for item in raw]
        return pa.array(escaped, pa.string()), broken
    return texts, []


def _not_blank(texts: pa.StringArray) -> pa.StringArray:
    """Texts without spaces around them; what is empty is NULL."""
    trimmed = pc.utf8_trim(texts, SPACES)
    blank = pc.equal(trimmed, "")
    return pc.if_else(blank, pa.scalar(None, pa.string()), trimmed) if pc.any(blank).as_py() else trimmed


def _sorted_names(texts: pa.StringArray) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The texts in the order of their code points without repeats, and for each text its place in them."""
    order = pc.sort_indices(texts).to_numpy()  # UTF-8 sorts by bytes as by code points
    names = texts.take(pa.array(order)).to_numpy(zero_copy_only=False)
    new = np.ones(len(names), np.bool_)
    new[1:] = names[1:] != names[:-1]
    back = np.empty(len(names), np.int32)
    back[order] = np.cumsum(new, dtype=np.int32) - np.int32(1)
    return names[new], back


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _plain(array: pa.Array, zero: Any) -> NDArray[Any]:
    filled = array if array.null_count == 0 else pc.fill_null(array, zero)
    return filled.to_numpy(zero_copy_only=False)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
