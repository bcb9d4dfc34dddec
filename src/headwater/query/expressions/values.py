"""Columns while an expression is worked out.

A constant is an array of one value, which numpy stretches to the length of the others. Under a NULL the array may hold
anything: only the mask counts until `to_column` puts zeros there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Column, ColumnType
from headwater.query.expressions.kinds import ExprType, of_column

Array = NDArray[Any]
Mask = NDArray[np.bool_]

FEW_COMBINATIONS: Final = 4096
"""Up to so many combinations of names and numbers all are worked out; of more, those that occur."""

_DTYPES: dict[ExprType, np.dtype[Any]] = {
    ExprType.STRING: np.dtype(np.int32),
    ExprType.DOUBLE: np.dtype(np.float64),
    ExprType.BIGINT: np.dtype(np.int64),
    ExprType.BOOLEAN: np.dtype(np.bool_),
    ExprType.TIMESTAMP: np.dtype(np.int64),
    ExprType.DURATION: np.dtype(np.int64),
    ExprType.ID: np.dtype("S32"),
    ExprType.NULL: np.dtype(np.bool_),
}


@dataclass(frozen=True, slots=True)
class Value:
    """`values[n]` or `values[1]`, `valid` of either length (None: all valid), for strings the sorted dictionary `names`."""

    kind: ExprType
    values: Array
    valid: Mask | None = None
    names: Array | None = None


def from_column(column: Column) -> Value:
    """A column as a value; they share memory."""
    return Value(of_column(column.type), column.values, column.valid, column.names)


def to_column(value: Value, count: int) -> Column:
    """A value as a column of `count` rows, zeros under its NULLs."""
    kind = value.kind.column
    values = np.broadcast_to(value.values, count)
    valid = None if value.valid is None else np.broadcast_to(value.valid, count)
    if valid is not None and valid.all():
        valid = None
    if value.kind is ExprType.NULL:
        return Column.nulls(kind, count)
    if value.kind is ExprType.DURATION:
        values = values / SECOND
    if valid is not None:
        values = np.where(valid, values, np.zeros(1, kind.dtype))
    if kind is ColumnType.DOUBLE:
        values = values + 0.0  # minus zero is zero
    return Column(kind, np.ascontiguousarray(values, kind.dtype), valid, value.names)


def constant(kind: ExprType, item: Any) -> Value:
    """One value for every row."""
    if kind is ExprType.STRING:
        return Value(kind, np.zeros(1, np.int32), None, _dictionary([item]))
    return Value(kind, np.array([item], _DTYPES[kind]))


def nulls(kind: ExprType) -> Value:
    """NULL for every row."""
    names = _dictionary([]) if kind is ExprType.STRING else None
    return Value(kind, np.zeros(1, _DTYPES[kind]), np.zeros(1, np.bool_), names)


def coerce(value: Value, kind: ExprType) -> Value:
    """The same value as another type that it fits: the word NULL as any, BIGINT as DOUBLE."""
    if value.kind is kind:
        return value
    if value.kind is ExprType.NULL:
        return nulls(kind)
    assert (value.kind, kind) == (ExprType.BIGINT, ExprType.DOUBLE), f"{value.kind} as {kind}"
    return Value(kind, value.values.astype(np.float64), value.valid)


def both_valid(*masks: Mask | None) -> Mask | None:
    """Where all masks are true; None is true everywhere."""
    present = [mask for mask in masks if mask is not None]
    if not present:
        return None
    found = present[0]
    for mask in present[1:]:
        found = found & mask
    return found


def is_valid(value: Value) -> Mask:
    """The mask of valid places, made if there is none."""
    return np.ones(len(value.values), np.bool_) if value.valid is None else value.valid


def doubles(values: Array, *masks: Mask | None) -> Value:
    """DOUBLE results: what is not finite is NULL."""
    finite = np.isfinite(values)
    return Value(ExprType.DOUBLE, values, both_valid(*masks, None if finite.all() else finite))


def same_dictionary(values: Sequence[Value]) -> tuple[list[Array], Array]:
    """The codes of string values in one dictionary, so that comparing codes compares strings."""
    dictionaries = [_names(value) for value in values]
    first = dictionaries[0]
    if all(names is first for names in dictionaries):
        return [value.values for value in values], first
    names = np.unique(np.concatenate(dictionaries))
    recoded = [
        np.searchsorted(names, own).astype(np.int32)[value.values]
        if len(own)
        else np.zeros_like(value.values)
        for value, own in zip(values, dictionaries, strict=True)
    ]
    return recoded, names


def rename(value: Value, change: Callable[[str], str]) -> Value:
    """A function of one string, worked out once for every name of the dictionary."""
    old = _names(value)
    names, back = np.unique(_dictionary([change(name) for name in old.tolist()]), return_inverse=True)
    codes = back.astype(np.int32)[value.values] if len(old) else value.values
    return Value(ExprType.STRING, codes, value.valid, names)


def measure(value: Value, change: Callable[[str], int]) -> Value:
    """A number for every string, worked out once for every name of the dictionary."""
    numbers = np.array([change(name) for name in _names(value).tolist()], np.int64)
    found = numbers[value.values] if len(numbers) else np.zeros(len(value.values), np.int64)
    return Value(ExprType.BIGINT, found, value.valid)


def combine(values: Sequence[Value], change: Callable[..., str]) -> Value:
    """A string function of strings and whole numbers, worked out once for every combination."""
    valid = both_valid(*(value.valid for value in values))
    tables, codes = zip(*(_table(value) for value in values), strict=True)
    if not all(len(table) for table in tables):
        return nulls(ExprType.STRING)
    spread = np.broadcast_arrays(*codes, *([] if valid is None else [valid]))[: len(tables)]
    keys, chosen = _combinations([len(table) for table in tables], spread)
    columns = [table[code].tolist() for table, code in zip(tables, chosen, strict=True)]
    made = [change(*items) for items in zip(*columns, strict=True)]
    names, back = np.unique(_dictionary(made), return_inverse=True)
    return Value(ExprType.STRING, back.astype(np.int32)[keys], valid, names)


def choose(conditions: Sequence[Mask], values: Sequence[Value], otherwise: Value) -> Value:
    """For every row the first value whose condition is true, else the last; all of one kind."""
    every = [*values, otherwise]
    kind = otherwise.kind
    names = None
    arrays = [value.values for value in every]
    if kind is ExprType.STRING:
        arrays, names = same_dictionary(every)
    found, valid = arrays[-1], is_valid(otherwise)
    for condition, value, array in zip(
        reversed(conditions), reversed(values), reversed(arrays[:-1]), strict=True
    ):
        found = np.where(condition, array, found)
        valid = np.where(condition, is_valid(value), valid)
    return Value(kind, found, valid, names)


def _combinations(sizes: Sequence[int], codes: Sequence[Array]) -> tuple[Array, Sequence[Array]]:
    """For every row the number of its combination of codes, and the codes of every combination."""
    if math.prod(sizes) <= FEW_COMBINATIONS:
        return np.ravel_multi_index(tuple(codes), sizes), np.unravel_index(np.arange(math.prod(sizes)), sizes)
    keys = np.zeros(len(codes[0]), np.int64)
    first = keys
    for size, code in zip(sizes, codes, strict=True):
        # Renumbering the combinations that occur, at every step, limits the size of the keys.
        _, first, keys = np.unique(keys * size + code, return_index=True, return_inverse=True)
    return keys, [code[first] for code in codes]


def _table(value: Value) -> tuple[Array, Array]:
    """The values that occur, and for every row which."""
    if value.kind is ExprType.STRING:
        return _names(value), value.values.astype(np.int64)
    table, codes = np.unique(value.values, return_inverse=True)
    return table, codes


def _names(value: Value) -> Array:
    assert value.names is not None, "a string value has a dictionary"
    return value.names


def _dictionary(names: Sequence[str]) -> Array:
    made = np.empty(len(names), object)
    made[:] = names
    return made
