"""How is a loop compiled that another loop calls?

Numba compiles every function for itself: it is optimised, gets wrappers for Python and C and machine code, and its optimised form is
linked into each caller, where it is optimised again. Here a part is only tidied up function by function (without that, loops are a tenth
slower), and the entry that it ends up in is optimised with all of its parts, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from headwater.compiled.loops import Loop

_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def part_of(loop: Loop) -> CPUDispatcher:
    """What calls from other loops go to. It must never be called from Python: there is no machine code."""
    return CPUDispatcher(
        loop.py_func, targetoptions={**loop.targetoptions, **_NO_WRAPPERS}, pipeline_class=_PartCompiler
    )


class _Codegen:
    """What a library without machine code says to those who want to set its environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is nowhere to set it; the entry has one of its own."""


class PartLibrary(JITCodeLibrary):
    """The code of one part."""

    @property
    def codegen(self) -> _Codegen:
        """Who makes machine code, which is not made."""
        return _Codegen(self._codegen)

    def finalize(self) -> None:
        """Nothing is linked, and there is no machine code."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None."""
        return 0

    def linked(self) -> list[Any]:
        """The libraries of what it calls."""
        return list(self._linking_libraries)


class EntryLibrary(JITCodeLibrary):
    """The code of an entry and of all of its parts."""

    def finalize(self) -> None:
        """Link all parts, optimise, make machine code."""
        # LLVM's linker leaves out what nothing refers to yet, so callers come before what they call.
        linked: list[Any] = self._linking_libraries  # type: ignore[has-type]
        self._linking_libraries = list(reversed(list(_callees_first(linked, set()))))
        super().finalize()

    def serialize_entry(self, described: Any) -> tuple[str, str, tuple[bytes, bytes]]:
        """The machine code, in the form that numba loads. Instead of all functions once more, it gets the names of two."""
        names = (described.llvm_func_name, described.llvm_cpython_wrapper_name)
        text = "".join(f'define void @"{name}"() {{ ret void }}\n' for name in names)
        return self.name, "object", (self._get_compiled_object(), llvm.parse_assembly(text).as_bitcode())


def _callees_first(libraries: list[Any], seen: set[int]) -> Iterator[Any]:
    for library in libraries:
        if id(library) not in seen:
            seen.add(id(library))
            if isinstance(library, PartLibrary):
                yield from _callees_first(library.linked(), seen)
            yield library


class _WithLibrary(Compiler):
    _library: type[JITCodeLibrary]

    def compile_extra(self, function: Any) -> Any:
        self.state.library = self._library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class _PartCompiler(_WithLibrary):
    _library = PartLibrary


class EntryCompiler(_WithLibrary):
    """Numba's, for what is called from Python."""

    _library = EntryLibrary
