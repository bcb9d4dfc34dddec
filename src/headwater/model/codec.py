"""Arrays and scalars to bytes and back: how state is saved, and rows are sent.

Rule 1  A tree is a dictionary of numpy arrays, numbers, strings, None, lists and dictionaries, nothing else: reading
        bytes from anywhere can give wrong values but never run code.
Rule 2  The first bytes say which version wrote them. A version this code cannot read is a HostError with advice, and so
        are bytes that are not a tree at all: whatever the bytes, nothing else is raised.
Rule 3  A checksum (CRC-32) covers all other bytes, so damaged ones are refused and never reach a kernel: compiled code
        trusts the indices in its state. It does not protect against an attacker, who can compute it.

Layout  `HW` + version + length of the header + checksum, the header (JSON: the tree with arrays replaced by
        references), then the arrays' bytes, each at a multiple of 8.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from zlib import crc32

import numpy as np

from headwater.model.errors import HeadwaterError, HostError
from headwater.model.rows import Column, ColumnType, Rows

CODEC_VERSION = 2
DAMAGED_STATE: Final = "restore it from a copy, or start with a new --checkpoint folder"
OTHER_VERSION: Final = (
    "start with a new --checkpoint folder, or run the version of Headwater that wrote this one"
)
_PREFIX = struct.Struct("<2sHI")
_CHECKSUM = struct.Struct("<I")
_START = _PREFIX.size + _CHECKSUM.size
_ARRAY = "\x00array"
_SAVED_KINDS = "biufS"
_PLAIN = {str, int}
"""Types of items that are stored directly in a list."""

_LARGE = 4096
"""From so many bytes on, an array is read in place instead of copied."""

Tree = dict[str, Any]
Buffer = bytes | memoryview


def encode(tree: Tree) -> bytes:
    """The bytes of a tree. Arrays are copied once: into them."""
    buffers: list[Buffer] = []
    layout: list[list[Any]] = []
    header = json.dumps(
        [_outline(tree, buffers, layout), layout], ensure_ascii=False, separators=(",", ":")
    ).encode()
    prefix = _PREFIX.pack(b"HW", CODEC_VERSION, len(header))
    parts = [header, b"\0" * (-(_START + len(header)) % 8), *buffers]
    return b"".join([prefix, _CHECKSUM.pack(_checksum([prefix, *parts])), *parts])


def decode(data: bytes | memoryview) -> Tree:
    """The tree of some bytes; arrays share memory with them and are read-only."""
    if len(data) < _START:
        raise _unreadable("it is too short")
    magic, version, length = _PREFIX.unpack_from(data)
    if magic != b"HW" or version != CODEC_VERSION:
        raise _unreadable(
            f"it has format {version if magic == b'HW' else 'unknown'}, this version reads {CODEC_VERSION}",
            advice=OTHER_VERSION if magic == b"HW" else DAMAGED_STATE,
        )
    whole = memoryview(data)
    if _CHECKSUM.unpack_from(data, _PREFIX.size)[0] != _checksum([whole[: _PREFIX.size], whole[_START:]]):
        raise _unreadable("it is damaged")
    with readable("it is damaged"):
        outline, layout = json.loads(bytes(whole[_START : _START + length]))
        tree = _fill(outline, _arrays(data, _START + length, layout))
        _require(isinstance(tree, dict))
    return tree


@contextmanager
def readable(otherwise: str) -> Iterator[None]:
    """Turns any error while saved bytes are decoded into a HostError, with the original as its cause."""
    try:
        yield
    except HeadwaterError:
        raise
    except Exception as error:
        raise _unreadable(otherwise) from error


def rows_tree(rows: Rows) -> Tree:
    """Rows as a tree."""
    columns = {name: column_tree(column) for name, column in rows.columns.items()}
    return {"count": rows.count, "columns": columns}


def column_tree(column: Column) -> Tree:
    """A column as a tree."""
    return {
        "type": column.type.value,
        "values": column.values,
        "valid": column.valid,
        "names": None if column.names is None else column.names.tolist(),
    }


def tree_rows(tree: Tree) -> Rows:
    """Rows from their tree; a HostError if it is not a tree of rows."""
    with readable("it holds no rows"):
        count = tree["count"]
        columns = {name: column_from_tree(saved, count) for name, saved in tree["columns"].items()}
    return Rows(columns, count)


def column_from_tree(saved: Tree, count: int) -> Column:
    """A column of so many rows from its tree; a ValueError or similar if it is not one."""
    kind, values, valid = ColumnType(saved["type"]), saved["values"], saved["valid"]
    _require(values.dtype == kind.dtype and values.shape == (count,))
    _require(valid is None or (valid.dtype == np.bool_ and valid.shape == (count,)))
    if kind is not ColumnType.STRING:
        return Column(kind, values, valid)
    names = np.array([*saved["names"], ""], object)[:-1]
    used = values if valid is None else values[valid]
    _require(not len(used) or (used.min() >= 0 and used.max() < len(names)))
    return Column(kind, values, valid, names)


def _arrays(data: bytes | memoryview, offset: int, layout: list[list[Any]]) -> list[Any]:
    arrays = []
    offset += -offset % 8
    for name, shape, size in layout:
        dtype = np.dtype(name)
        count = math.prod(shape)
        _require(dtype.kind in _SAVED_KINDS and min(shape, default=0) >= 0 and size == count * dtype.itemsize)
        arrays.append(np.frombuffer(data, dtype, offset=offset, count=count).reshape(shape))
        offset += size + -size % 8
    return arrays


def _outline(node: Any, buffers: list[Buffer], layout: list[list[Any]]) -> Any:
    if isinstance(node, np.ndarray):
        assert node.dtype.kind in _SAVED_KINDS, f"only plain arrays are saved, not {node.dtype}"
        layout.append([node.dtype.str, list(node.shape), node.nbytes])
        buffers.append(np.ascontiguousarray(node).data if node.nbytes >= _LARGE else node.tobytes())
        if padding := -node.nbytes % 8:
            buffers.append(b"\0" * padding)
        return {_ARRAY: len(layout) - 1}
    if isinstance(node, dict):
        return {key: _outline(value, buffers, layout) for key, value in node.items()}
    if isinstance(node, list | tuple):
        if set(map(type, node)) <= _PLAIN:
            return list(node)
        return [_outline(value, buffers, layout) for value in node]
    if isinstance(node, np.generic):
        return node.item()
    assert node is None or isinstance(node, str | int | float | bool), f"cannot save {type(node)}"
    return node


def _fill(node: Any, arrays: list[Any]) -> Any:
    if isinstance(node, dict):
        if _ARRAY in node:
            return arrays[node[_ARRAY]]
        return {key: _fill(value, arrays) for key, value in node.items()}
    if isinstance(node, list):
        if set(map(type, node)) <= _PLAIN:
            return node
        return [_fill(value, arrays) for value in node]
    return node


def _checksum(parts: Iterable[Buffer]) -> int:
    value = 0
    for part in parts:
        value = crc32(part, value)
    return value


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError


def _unreadable(why: str, *, advice: str = DAMAGED_STATE) -> HostError:
    return HostError("state-unreadable", f"saved state cannot be read: {why}", advice=[advice])
