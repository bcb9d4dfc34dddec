"""What does the code of a loop depend on?

Rule 1  On the bytecode and the constants of its function, on its options, and on those of every loop it calls, at any distance. Not on
        file times, line numbers, folders, comments or docstrings: an upgrade that leaves them alone leaves compiled code alone.
Rule 2  A global that is a number, a text, a tuple, an array or a class of named fields counts by its value; a module or class of a
        library by its name, as the versions of libraries stand in the key (`keys.py`). Of anything else the whole file counts.
Rule 3  All names of a function are looked up, those of attributes too: rather one dependency too many.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, ModuleType
from typing import Any, Final

import numpy as np

from headwater.compiled.loops import Loop

_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_LIBRARIES: Final = ("builtins", "math", "numpy", "operator", "typing", "collections")


def fingerprint(loop: Loop) -> str:
    """Of a loop with everything it calls: equal for equal code, in any process and any folder."""
    digests = {id(loop): _digest_of(loop)}
    waiting = [loop]
    while waiting:
        for called in _called(waiting.pop()):
            if id(called) not in digests:
                digests[id(called)] = _digest_of(called)
                waiting.append(called)
    first, *others = digests.values()
    return hashlib.sha256("".join([first, *sorted(others)]).encode()).hexdigest()


@cache
def _digest_of(loop: Loop) -> str:
    """Of one loop alone. It names the loops it calls; what they are, their own digests say."""
    function: Any = loop.py_func
    digest = hashlib.sha256()
    options = sorted(loop.targetoptions.items())
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    said = [_name(loop), options, function.__defaults__, sorted((function.__kwdefaults__ or {}).items())]
    for value in (*said, *cells):
        digest.update(_written(value))
    for piece in _code(function):
        digest.update(piece)
    for name, value in _globals(loop):
        digest.update(f"{name}=".encode() + _written(value))
    return digest.hexdigest()


def _code(function: Any) -> Iterator[bytes]:
    """All that is computed, and nothing of lines, files and docstrings."""
    waiting: list[CodeType] = [function.__code__]
    while waiting:
        code = waiting.pop()
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags)).encode()
        yield repr((code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable)).encode()
        constants = code.co_consts
        if (
            code is function.__code__
            and function.__doc__ is not None
            and constants[:1] == (function.__doc__,)
        ):
            constants = (None, *constants[1:])
        for constant in constants:
            if isinstance(constant, CodeType):
                waiting.append(constant)
            else:
                yield _written(constant)


@cache
def _called(loop: Loop) -> tuple[Loop, ...]:
    function: Any = loop.py_func
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    held = [*cells, *(value for _, value in _globals(loop))]
    return tuple(value for value in held if isinstance(value, Loop))


def _globals(loop: Loop) -> Iterator[tuple[str, Any]]:
    """What the names of a function stand for; of a module of ours, what is named and may be of it."""
    function: Any = loop.py_func
    names = sorted(_names(function.__code__))
    for name in names:
        if name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if isinstance(value, ModuleType) and not _is_of_a_library(value):
            yield from ((f"{name}.{inner}", vars(value)[inner]) for inner in names if inner in vars(value))
        else:
            yield name, value


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names


def _written(value: Any) -> bytes:
    """A value as bytes that are equal for equal values alone."""
    if isinstance(value, Loop):
        return f"loop {_name(value)} {sorted(value.targetoptions.items())}".encode()
    if isinstance(value, enum.Enum):
        return f"enum {_name(type(value))}.{value.name} ".encode() + _written(value.value)
    if isinstance(value, np.generic):
        return f"{value.dtype.str} ".encode() + value.tobytes()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.dtype.descr} {value.shape} ".encode() + value.tobytes()
    if isinstance(value, _PLAIN):
        return f"{type(value).__name__} {value!r};".encode()
    if isinstance(value, tuple | list):
        return f"{_name(type(value))} {len(value)} (".encode() + b",".join(map(_written, value)) + b")"
    if isinstance(value, frozenset | set):
        return b"set {" + b",".join(sorted(map(_written, value))) + b"}"
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        fields: Any = value
        return f"fields {_name(value)} {fields._fields} ".encode() + _written(
            sorted(fields._field_defaults.items())
        )
    if isinstance(value, type | ModuleType | BuiltinFunctionType | np.ufunc) and _is_of_a_library(value):
        return f"library {_name(value)}".encode()
    return f"file {_name(value)} ".encode() + _file_of(value)


def _name(value: Any) -> str:
    module = getattr(value, "__module__", None) or ""
    return (
        f"{module}.{getattr(value, '__qualname__', None) or getattr(value, '__name__', type(value).__name__)}"
    )


def _is_of_a_library(value: Any) -> bool:
    module = (
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or "numpy"
    )
    return module.partition(".")[0] in _LIBRARIES


def _file_of(value: Any) -> bytes:
    """The content of the file that a value comes from."""
    for held in (value, type(value)):
        try:
            found = inspect.getsourcefile(held)
        except TypeError:
            continue
        if found:
            return _content(found)
    return b""


@cache
def _content(file: str) -> bytes:
    return hashlib.sha256(Path(file).read_bytes()).digest()
