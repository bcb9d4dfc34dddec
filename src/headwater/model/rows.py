"""Rows as columns: what readings, answers and windows are made of.

Rule 1  A column is one numpy array and, where there are NULLs, a mask of the valid places. Under a NULL the
        array holds zero, so that equal columns are equal bytes.
Rule 2  Strings are dictionary-coded: `values` are codes into `names`, which is sorted by code point and free of
        repeats, so that comparing codes compares strings. A dictionary may hold names that no row uses.
Rule 3  Nothing here changes in place. Taking, slicing and joining give new rows that may share memory.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.bool_]
Indices = NDArray[np.int64]

_MANY_NAMES: Final = 8
"""A dictionary with more than so many names for each row is large."""

_NAME_BYTES: Final = 16
"""The assumed size of a name of a dictionary."""


class ColumnType(enum.Enum):
    """The type of a column's values, and the numpy type that stores them."""

    STRING = "STRING"
    DOUBLE = "DOUBLE"
    BIGINT = "BIGINT"
    BOOLEAN = "BOOLEAN"
    TIMESTAMP = "TIMESTAMP"
    ID = "ID"  # 32 hex digits: the identity of an answer

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of `Column.values`."""
        return _DTYPES[self]

    @property
    def numeric(self) -> bool:
        """Whether arithmetic makes sense."""
        return self in (ColumnType.DOUBLE, ColumnType.BIGINT)


_DTYPES: dict[ColumnType, np.dtype[Any]] = {
    ColumnType.STRING: np.dtype(np.int32),
    ColumnType.DOUBLE: np.dtype(np.float64),
    ColumnType.BIGINT: np.dtype(np.int64),
    ColumnType.BOOLEAN: np.dtype(np.bool_),
    ColumnType.TIMESTAMP: np.dtype(np.int64),
    ColumnType.ID: np.dtype("S32"),
}

_NO_NAMES: Array = np.empty(0, object)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `values[n]`, `valid[n]` (None: all valid), and for strings the dictionary `names`."""

    type: ColumnType
    values: Array
    valid: Mask | None = None
    names: Array | None = None

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def of(cls, column_type: ColumnType, items: Iterable[Any]) -> Column:
        """From Python values, None for NULL. For tests, builders and small things."""
        listed = list(items)
        valid = np.array([item is not None for item in listed], np.bool_)
        if column_type is ColumnType.STRING:
            return strings(listed)
        zero = column_type.dtype.type()
        values = np.array([zero if item is None else item for item in listed], column_type.dtype)
        return cls(column_type, values, None if valid.all() else valid)

    @classmethod
    def nulls(cls, column_type: ColumnType, count: int) -> Column:
        """A column of `count` NULLs."""
        names = _NO_NAMES if column_type is ColumnType.STRING else None
        return cls(column_type, np.zeros(count, column_type.dtype), np.zeros(count, np.bool_), names)

    @property
    def is_valid(self) -> Mask:
        """The mask of valid places, made when there is none."""
        return np.ones(len(self.values), np.bool_) if self.valid is None else self.valid

    @property
    def size(self) -> int:
        """Bytes, about."""
        valid = 0 if self.valid is None else self.valid.nbytes
        names = 0 if self.names is None else _NAME_BYTES * len(self.names)
        return int(self.values.nbytes) + valid + names

    def take(self, chosen: Indices | Mask | slice) -> Column:
        """The chosen places, as indices, a mask or a slice."""
        valid = None if self.valid is None else self.valid[chosen]
        return Column(self.type, self.values[chosen], valid, self.names)

    def tolist(self) -> list[Any]:
        """Python values, None for NULL; instants stay integers, identities become strings."""
        if self.type is ColumnType.STRING:
            assert self.names is not None
            if not len(self.names):
                return [None] * len(self.values)
            items = self.names[self.values].tolist()
        elif self.type is ColumnType.ID:
            items = [item.decode() for item in self.values.tolist()]
        else:
            items = self.values.tolist()
        return (
            items
            if self.valid is None
            else [i if ok else None for i, ok in zip(items, self.valid.tolist(), strict=True)]
        )

    def ranks(self) -> Array:
        """Values to sort by: NULL first, then by value (strings by code point)."""
        if self.valid is None:
            return self.values
        if self.type is ColumnType.DOUBLE:
            return np.where(self.valid, self.values, -np.inf)
        if self.type is ColumnType.STRING:
            return np.where(self.valid, self.values.astype(np.int64), -1)
        if self.type is ColumnType.BOOLEAN:
            return np.where(self.valid, self.values.astype(np.int64), -1)
        return np.where(self.valid, self.values, np.iinfo(np.int64).min)


def strings(items: Sequence[str | None]) -> Column:
    """A string column from Python strings, None for NULL."""
    valid = np.array([item is not None for item in items], np.bool_)
    filled = np.array([item or "" for item in items] + [""], object)[:-1]
    names, codes = (
        np.unique(filled[valid], return_inverse=True) if len(filled) else (_NO_NAMES, np.empty(0, np.int64))
    )
    values = np.zeros(len(filled), np.int32)
    values[valid] = codes
    return Column(ColumnType.STRING, values, None if valid.all() else valid, names)


def coded(codes: Array, names: Array, valid: Mask | None = None) -> Column:
    """A string column from codes into `names`, which may be unsorted but holds no repeats."""
    order = np.argsort(names)
    back = np.empty(len(names), np.int32)
    back[order] = np.arange(len(names), dtype=np.int32)
    safe = codes if valid is None else np.where(valid, codes, 0)
    values = back[safe] if len(names) else np.zeros(len(codes), np.int32)
    if valid is not None:
        values = np.where(valid, values, 0).astype(np.int32)
    return Column(ColumnType.STRING, values, valid, names[order])


def compacted(column: Column) -> Column:
    """The same column without the names that no row uses: data that is sent should not include other rows' names."""
    if column.names is None or not len(column.names):
        return column
    if _MANY_NAMES * len(column) < len(column.names):
        return _few(column)
    used = np.zeros(len(column.names), np.bool_)
    used[column.values if column.valid is None else column.values[column.valid]] = True
    if used.all():
        return column
    codes = np.cumsum(used, dtype=np.int32) - np.int32(1)
    values = np.maximum(codes, 0)[column.values]
    if column.valid is not None:
        values = np.where(column.valid, values, 0).astype(np.int32)
    return Column(column.type, values, column.valid, column.names[used])


def _few(column: Column) -> Column:
    """The same for few rows: finds their own names without reading all names."""
    assert column.names is not None
    valid_values = column.values if column.valid is None else column.values[column.valid]
    used, codes = np.unique(valid_values, return_inverse=True)
    values = codes.astype(np.int32)
    if column.valid is not None:
        values = np.zeros(len(column), np.int32)
        values[column.valid] = codes
    return Column(column.type, values, column.valid, column.names[used])


@dataclass(frozen=True, slots=True)
class Rows:
    """Named columns of one length."""

    columns: Mapping[str, Column]
    count: int

    @classmethod
    def of(cls, columns: Mapping[str, Column]) -> Rows:
        """Rows of these columns, which must be of one length and at least one."""
        lengths = {len(column) for column in columns.values()}
        assert len(lengths) == 1, f"columns of different lengths: {lengths}"
        return cls(dict(columns), lengths.pop())

    @classmethod
    def empty(cls, types: Mapping[str, ColumnType]) -> Rows:
        """No rows, with these columns."""
        return cls({name: Column.of(kind, ()) for name, kind in types.items()}, 0)

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    @property
    def types(self) -> dict[str, ColumnType]:
        """The type of every column."""
        return {name: column.type for name, column in self.columns.items()}

    @property
    def size(self) -> int:
        """Bytes, about."""
        return sum(column.size for column in self.columns.values())

    def take(self, chosen: Indices | Mask | slice) -> Rows:
        """The chosen rows, as indices, a mask or a slice."""
        taken = {name: column.take(chosen) for name, column in self.columns.items()}
        if taken:
            return Rows.of(taken)
        return Rows({}, len(np.arange(self.count)[chosen]))

    def select(self, names: Iterable[str]) -> Rows:
        """Only the named columns, in that order."""
        return Rows({name: self.columns[name] for name in names}, self.count)

    def having(self, **more: Column) -> Rows:
        """The rows with these columns added or replaced."""
        return Rows({**self.columns, **more}, self.count)

    def tolist(self) -> list[dict[str, Any]]:
        """One dictionary a row: for tests and small things."""
        lists = {name: column.tolist() for name, column in self.columns.items()}
        return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def join_columns(columns: Sequence[Column]) -> Column:
    """One column after the other; their dictionaries become one."""
    first = columns[0]
    if len(columns) == 1:
        return first
    valid = None
    if any(column.valid is not None for column in columns):
        valid = np.concatenate([column.is_valid for column in columns])
    if first.type is not ColumnType.STRING:
        return Column(first.type, np.concatenate([column.values for column in columns]), valid)
    if all(column.names is first.names for column in columns):
        return Column(first.type, np.concatenate([column.values for column in columns]), valid, first.names)
    names, codes = _one_dictionary(
        [_NO_NAMES if column.names is None else column.names for column in columns]
    )
    values = np.concatenate([_recode(*pair) for pair in zip(columns, codes, strict=True)])
    return Column(first.type, values, valid, names)


def _one_dictionary(dictionaries: Sequence[Array]) -> tuple[Array, list[Array]]:
    """All names of several dictionaries in order, and where each dictionary's names are among them."""
    every_name = np.concatenate(dictionaries)
    # Dictionaries are sorted, and a stable sort merges what is sorted: it compares names a few times, not log n times.
    order = np.argsort(every_name, kind="stable")
    names = every_name[order]
    is_new = np.ones(len(names), np.bool_)
    is_new[1:] = names[1:] != names[:-1]
    codes = np.empty(len(names), np.int32)
    codes[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    return names[is_new], np.split(codes, np.cumsum([len(one) for one in dictionaries[:-1]]))


def _recode(column: Column, codes: Array) -> Array:
    """The values of a string column after its names have got these codes."""
    if not len(codes):
        return np.zeros(len(column.values), np.int32)
    values = codes[column.values]
    return values if column.valid is None else np.where(column.valid, values, 0).astype(np.int32)


def join_rows(parts: Sequence[Rows]) -> Rows:
    """One after the other. A column that some part lacks is NULL there."""
    filled = [part for part in parts if part.count]
    if len(filled) <= 1:
        return filled[0] if filled else parts[0]
    types: dict[str, ColumnType] = {}
    for part in filled:
        types.update(part.types)
    return Rows(
        {
            name: join_columns(
                [p.columns[name] if name in p.columns else Column.nulls(kind, p.count) for p in filled]
            )
            for name, kind in types.items()
        },
        sum(part.count for part in filled),
    )


def join_by_time(answers: Sequence[Rows]) -> Rows:
    """The answers of several queries, those of each by `event_time`, as one by time; at one time in the order of the queries."""
    if len(answers) == 1:
        return answers[0]
    rows = join_rows(answers)
    return rows.take(np.argsort(rows["event_time"].values, kind="stable"))


def compacted_rows(rows: Rows) -> Rows:
    """The same rows, every column without the names that no row uses."""
    return Rows({name: compacted(column) for name, column in rows.columns.items()}, rows.count)


def order_of(rows: Rows, names: Sequence[str]) -> Indices:
    """The permutation that sorts rows by the named columns, first name first; NULL first, ties stay as they are."""
    first = rows[names[0]].ranks()
    order: Indices = np.argsort(first, kind="stable")
    # Most rows differ in their first two columns (time and key): the others are read only if some do not.
    for depth in (2, len(names)):
        if not _has_ties(rows, names[: 1 if depth == 2 else 2], order) or len(names) < 2:
            return order
        order = np.lexsort([rows[name].ranks() for name in reversed(names[:depth])])
    return order


def _has_ties(rows: Rows, names: Sequence[str], order: Indices) -> bool:
    tied = np.ones(max(len(order) - 1, 0), np.bool_)
    for name in names:
        ranks = rows[name].ranks()[order]
        tied &= ranks[1:] == ranks[:-1]
    return bool(tied.any())


def same_as_previous(rows: Rows, names: Sequence[str]) -> Mask:
    """For sorted rows: whether each equals the one before it in every named column."""
    same = np.zeros(rows.count, np.bool_)
    if rows.count > 1:
        same[1:] = True
        for name in names:
            column = rows[name]
            same[1:] &= column.values[1:] == column.values[:-1]
            if column.valid is not None:
                same[1:] &= column.valid[1:] == column.valid[:-1]
    return same
