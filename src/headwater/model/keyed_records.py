"""The state of each of many keys, as columns: one line a key, and lists of any length a key.

Rule 1  Records of different shape can be joined: a column that some of them lack is zero or NULL there, a list is empty.
        So records written for other queries stay readable.
Rule 2  The texts of keys are held as bytes (`Text`): a million keys are two arrays, not a million Python strings. Code that
        needs strings converts only those that it needs.
Rule 3  Nothing here changes in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.model.codec import Tree, column_from_tree, column_tree
from headwater.model.identity import content_hash
from headwater.model.rows import Column, ColumnType, Mask, compacted, join_columns, strings

Array = NDArray[Any]
Ids = NDArray[np.uint64]
"""uint64[n, 2]: 128 bits a key."""
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Text:
    """A text a line, as UTF-8: that of line i is `data[offsets[i]:offsets[i + 1]]`; NULL where `valid` is false."""

    offsets: Whole
    data: NDArray[np.uint8]
    valid: Mask | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, chosen: Whole) -> Text:
        """The chosen lines."""
        offsets, lines = _gathered(self.offsets, chosen)
        return Text(offsets, self.data[lines], None if self.valid is None else self.valid[chosen])

    def column(self) -> Column:
        """The same as a STRING column."""
        data, bounds = self.data.tobytes(), self.offsets.tolist()
        texts: list[str | None] = [data[low:high].decode() for low, high in pairwise(bounds)]
        if self.valid is not None:
            texts = [text if ok else None for text, ok in zip(texts, self.valid.tolist(), strict=True)]
        return strings(texts)


Values = Array | Column | Text
"""A column of records: an array whose first axis is the lines, a Column, or the texts of a STRING column."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """Any number of lines a key: those of key i are `offsets[i]` to `offsets[i + 1]` of every column."""

    offsets: Whole
    lines: Mapping[str, Values]

    def take(self, chosen: Whole) -> Ragged:
        """The lists of the chosen keys."""
        offsets, lines = _gathered(self.offsets, chosen)
        return Ragged(offsets, {name: take_values(values, lines) for name, values in self.lines.items()})


@dataclass(frozen=True, slots=True)
class Records:
    """Records of keys, each key once, in any order.

    `due`: when the key must be read even if no row comes; END: never. `hold`: the least event time that an
    answer about the key may still have; END: none will come without a row. `table`: one line a key.
    """

    ids: Ids
    due: Whole
    hold: Whole
    table: Mapping[str, Values] = field(default_factory=dict)
    lists: Mapping[str, Ragged] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, chosen: Whole) -> Records:
        """The records at these places."""
        return Records(
            self.ids[chosen],
            self.due[chosen],
            self.hold[chosen],
            {name: take_values(values, chosen) for name, values in self.table.items()},
            {name: ragged.take(chosen) for name, ragged in self.lists.items()},
        )

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(array.nbytes for array in self._arrays())

    def _arrays(self) -> Iterator[Array]:
        yield from (self.ids, self.due, self.hold)
        for values in self.table.values():
            yield from _arrays_of(values)
        for ragged in self.lists.values():
            yield ragged.offsets
            for values in ragged.lines.values():
                yield from _arrays_of(values)


def no_records() -> Records:
    """None."""
    return Records(np.zeros((0, 2), np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64))


def key_ids(columns: Sequence[Column], count: int) -> Ids:
    """The identity of the key in every one of `count` rows: a hash of 128 bits over its columns, with NULL as a value.

    Collisions are ignored, as with `match_id`. Without columns all rows are of one key.
    """
    if not columns:
        return np.zeros((count, 2), np.uint64)
    return np.ascontiguousarray(content_hash([compacted(column) for column in columns]).T)


def shaped(records: Records, like: Records) -> Records:
    """The records with exactly the columns and lists of `like`; missing ones are zero, NULL or empty."""
    count = len(records)
    table = {
        name: records.table[name] if name in records.table else _blank(values, count)
        for name, values in like.table.items()
    }
    lists = {}
    for name, template in like.lists.items():
        found = records.lists.get(name) or Ragged(np.zeros(count + 1, np.int64), {})
        length = int(found.offsets[-1])
        lines = {
            key: found.lines[key] if key in found.lines else _blank(values, length)
            for key, values in template.lines.items()
        }
        lists[name] = Ragged(found.offsets, lines)
    return Records(records.ids, records.due, records.hold, table, lists)


def join_records(parts: Sequence[Records]) -> Records:
    """One after the other."""
    filled = [part for part in parts if len(part)]
    if len(filled) <= 1:
        return filled[0] if filled else no_records()
    counts = [len(part) for part in filled]
    return Records(
        np.concatenate([part.ids for part in filled]),
        np.concatenate([part.due for part in filled]),
        np.concatenate([part.hold for part in filled]),
        join_lines([part.table for part in filled], counts),
        {name: _join_ragged([part.lists.get(name) for part in filled], counts) for name in _names(filled)},
    )


def stored(records: Records) -> Records:
    """The records in their stored form: texts of keys as bytes, dictionaries without other rows' names, nothing shared with columns of a step."""
    table = {name: _stored(values, as_bytes=True) for name, values in records.table.items()}
    lists = {
        name: Ragged(
            ragged.offsets, {key: _stored(values, as_bytes=False) for key, values in ragged.lines.items()}
        )
        for name, ragged in records.lists.items()
    }
    return Records(records.ids, records.due, records.hold, table, lists)


def take_values(values: Values, chosen: Whole) -> Values:
    """The chosen lines of a column."""
    return values[chosen] if isinstance(values, np.ndarray) else values.take(chosen)


def text_of(column: Column) -> Text:
    """A STRING column as bytes."""
    assert column.names is not None
    used = compacted(column)
    assert used.names is not None
    encoded = [name.encode() for name in used.names.tolist()]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    names = Text(offsets, np.frombuffer(b"".join(encoded), np.uint8))
    if len(encoded):
        lines = names.take(used.values.astype(np.int64))
        return lines if used.valid is None else Text(lines.offsets, lines.data, used.valid)
    return Text(np.zeros(len(used) + 1, np.int64), np.zeros(0, np.uint8), used.valid)


# --- for the codec ----------------------------------------------------------------------------------------------------


def records_tree(records: Records) -> Tree:
    """Records, ready for the codec."""
    lists = {
        name: {"offsets": ragged.offsets, "lines": _columns_tree(ragged.lines)}
        for name, ragged in records.lists.items()
    }
    return {
        "ids": records.ids,
        "due": records.due,
        "hold": records.hold,
        "table": _columns_tree(records.table),
        "lists": lists,
    }


def records_from_tree(tree: Tree) -> Records:
    """Records from their tree."""
    lists = {
        name: Ragged(saved["offsets"], _columns_from_tree(saved["lines"], int(saved["offsets"][-1])))
        for name, saved in tree["lists"].items()
    }
    table = _columns_from_tree(tree["table"], len(tree["ids"]))
    return Records(tree["ids"], tree["due"], tree["hold"], table, lists)


def _columns_tree(columns: Mapping[str, Values]) -> Tree:
    tree: Tree = {}
    for name, values in columns.items():
        if isinstance(values, Column):
            tree[name] = {"column": column_tree(values)}
        elif isinstance(values, Text):
            tree[name] = {"offsets": values.offsets, "data": values.data, "valid": values.valid}
        else:
            tree[name] = values
    return tree


def _columns_from_tree(tree: Tree, count: int) -> dict[str, Values]:
    columns: dict[str, Values] = {}
    for name, saved in tree.items():
        if isinstance(saved, np.ndarray):
            columns[name] = saved
        elif "column" in saved:
            columns[name] = column_from_tree(saved["column"], count)
        else:
            columns[name] = Text(saved["offsets"], saved["data"], saved["valid"])
    return columns


# --- putting together -------------------------------------------------------------------------------------------------


def _names(parts: Sequence[Records]) -> list[str]:
    return list(dict.fromkeys(name for part in parts for name in part.lists))


def _join_ragged(parts: Sequence[Ragged | None], counts: Sequence[int]) -> Ragged:
    offsets = [np.zeros(1, np.int64)]
    lines: list[Mapping[str, Values]] = []
    lengths: list[int] = []
    reached = 0
    for part, count in zip(parts, counts, strict=True):
        if part is None:
            offsets.append(np.full(count, reached, np.int64))
            continue
        offsets.append(part.offsets[1:] + reached)
        reached += int(part.offsets[-1])
        lines.append(part.lines)
        lengths.append(int(part.offsets[-1]))
    return Ragged(np.concatenate(offsets), join_lines(lines, lengths))


def join_lines(parts: Sequence[Mapping[str, Values]], counts: Sequence[int]) -> dict[str, Values]:
    """Columns by name, one part after the other; `counts` says how many lines each has."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: _join_values([part.get(name) for part in parts], counts) for name in names}


def _join_values(parts: Sequence[Values | None], counts: Sequence[int]) -> Values:
    """Columns of one kind, one after the other; None means so many zeros or NULLs."""
    like = next(part for part in parts if part is not None)
    filled: list[Any] = [
        _blank(like, count) if part is None else part for part, count in zip(parts, counts, strict=True)
    ]
    if isinstance(like, np.ndarray):
        return np.concatenate(filled)
    return join_columns(filled) if isinstance(like, Column) else _join_texts(filled)


def _blank(like: Values, count: int) -> Values:
    """So many zeros or NULLs."""
    if isinstance(like, np.ndarray):
        return np.zeros((count, *like.shape[1:]), like.dtype)
    if isinstance(like, Column):
        return Column.nulls(like.type, count)
    return Text(np.zeros(count + 1, np.int64), np.zeros(0, np.uint8), np.zeros(count, np.bool_))


def _join_texts(parts: Sequence[Text]) -> Text:
    valid = None
    if any(part.valid is not None for part in parts):
        valid = np.concatenate(
            [np.ones(len(part), np.bool_) if part.valid is None else part.valid for part in parts]
        )
    starts = np.cumsum([0, *(len(part.data) for part in parts)])
    offsets = [part.offsets[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    data = np.concatenate([part.data for part in parts])
    return Text(np.concatenate([np.zeros(1, np.int64), *offsets]), data, valid)


def _gathered(offsets: Whole, chosen: Whole) -> tuple[Whole, Whole]:
    """For consecutive lists: the offsets of the chosen ones, and their lines."""
    starts = offsets[chosen]
    lengths = offsets[chosen + 1] - starts
    after = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=after[1:])
    return after, np.repeat(starts - after[:-1], lengths) + np.arange(after[-1])


def _stored(values: Values, *, as_bytes: bool) -> Values:
    if isinstance(values, Column) and values.type is ColumnType.STRING:
        return text_of(values) if as_bytes else compacted(values)
    return values


def _arrays_of(values: Values) -> Iterator[Array]:
    if isinstance(values, np.ndarray):
        yield values
        return
    if isinstance(values, Text):
        yield from (values.offsets, values.data)
    else:
        yield values.values
        if values.names is not None:
            yield np.zeros(sum(map(len, values.names.tolist())), np.uint8)
    if values.valid is not None:
        yield values.valid
