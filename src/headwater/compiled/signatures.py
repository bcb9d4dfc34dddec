"""The types that an entry is called with, as plain text and back.

A type is a list: `["array", "int64", 1, "C", true]`, `["tuple", …]`, `["fields", "module:Class", …]`, `["none"]`, or the name of a
number. Other types have no text; their entries are compiled when they are called.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from numba.core import types

_kinds: Any = types
_NUMBERS: Final = (
    "boolean",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
)
_NAMES: Final = {str(getattr(_kinds, name)): name for name in _NUMBERS}


def text_of(kind: Any) -> Any:
    """A type as lists and words; None if it has none."""
    if str(kind) in _NAMES:
        return [_NAMES[str(kind)]]
    if isinstance(kind, _kinds.NoneType):
        return ["none"]
    if type(kind) is _kinds.Array and kind.aligned and str(kind.dtype) in _NAMES:
        return ["array", _NAMES[str(kind.dtype)], kind.ndim, kind.layout, kind.mutable]
    if isinstance(kind, _kinds.BaseTuple):
        parts = [text_of(part) for part in kind.types]
        if None in parts:
            return None
        if isinstance(kind, _kinds.BaseNamedTuple):
            named = kind.instance_class
            return ["fields", f"{named.__module__}:{named.__qualname__}", *parts]
        return ["tuple", *parts]
    return None


def type_of(text: Any) -> Any:
    """The type that a text means."""
    word, *rest = text
    if word == "none":
        return _kinds.none
    if word == "array":
        number, dimensions, layout, mutable = rest
        return _kinds.Array(_number(number), dimensions, layout, readonly=not mutable)
    if word == "tuple":
        return _kinds.Tuple(tuple(map(type_of, rest)))
    if word == "fields":
        module, _, name = rest[0].partition(":")
        named = getattr(import_module(module), name)
        parts = tuple(map(type_of, rest[1:]))
        alike = len(set(parts)) == 1
        return _kinds.NamedUniTuple(parts[0], len(parts), named) if alike else _kinds.NamedTuple(parts, named)
    return _number(word)


def _number(name: str) -> Any:
    if name not in _NUMBERS:
        raise ValueError(f"'{name}' is no type of a number")
    return getattr(_kinds, name)
