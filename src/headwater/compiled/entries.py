"""Where does a call from Python go, and where does its code come from?

Rule 1  For new types of arguments the store is asked first. What it has is loaded, in a few milliseconds.
Rule 2  Otherwise the store lets one process at a time compile a loop: whoever waited finds what the other one stored.
Rule 3  Stored are the machine code and the two names in it that Python needs. Numba would also store the code it was made from, to
        build it into other functions, which no entry is.
"""

from __future__ import annotations

import pickle
from typing import Any

from numba.core import config
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from headwater.compiled.keys import key_of
from headwater.compiled.loops import Loop
from headwater.compiled.parts import EntryCompiler
from headwater.compiled.stores import code_store


def entry_of(loop: Loop) -> Any:
    """What calls from Python go to: with NUMBA_DISABLE_JIT the function itself, for a debugger."""
    if config.DISABLE_JIT:
        return loop.py_func
    options = {**loop.targetoptions, "no_cfunc_wrapper": True}
    dispatcher = EntryDispatcher(loop.py_func, targetoptions=options, pipeline_class=EntryCompiler)
    dispatcher.serves(loop)
    return dispatcher


class EntryDispatcher(CPUDispatcher):
    """Numba's, with another store."""

    def serves(self, loop: Loop) -> None:
        """Which loop this is the entry of."""
        self._loop = loop
        self._cache = self._stored = _Stored(loop)

    def compile(self, signature: Any) -> Any:
        """Load or compile it for the types of a signature; what is to be called."""
        arguments, _ = normalize_signature(signature)
        store, key = code_store(), key_of(self._loop, tuple(arguments))
        if tuple(arguments) in self.overloads or store is None or key is None or self._stored.fetch(key):
            return self._compile_with_environments(signature)
        with store.compiling(key, self._loop.py_func.__module__):
            self._stored.fetch(key)
            return self._compile_with_environments(signature)

    def _compile_with_environments(self, signature: Any) -> Any:
        entry = super().compile(signature)
        arguments, _ = normalize_signature(signature)
        made = self.overloads[tuple(arguments)]
        if made.metadata is not None:  # compiled here, not loaded
            # Parts have no machine code of their own, so theirs were not set yet.
            for environment in made._find_referenced_environments():
                made.library.codegen.set_env(environment.env_name, environment)
        return entry


class _Stored(NullCache):
    """What numba asks for code and gives code to."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._fetched: dict[str, bytes] = {}

    def fetch(self, key: str) -> bool:
        """Read the code of a key, if it is there."""
        store = code_store()
        code = store.load(key) if store is not None else None
        if code is not None:
            self._fetched[key] = code
        return code is not None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What was fetched."""
        arguments, _ = normalize_signature(signature)
        code = self._fetched.pop(key_of(self._loop, tuple(arguments)) or "", None)
        if code is None:
            return None
        target.refresh()
        return CompileResult._rebuild(target, *pickle.loads(code))

    def save_overload(self, signature: Any, made: Any) -> None:
        """Store what was compiled."""
        arguments, _ = normalize_signature(signature)
        store, key = code_store(), key_of(self._loop, tuple(arguments))
        if store is not None and key is not None and not made.library.has_dynamic_globals:
            store.save(key, dumps(_reduced(made)))


def _reduced(made: Any) -> tuple[Any, ...]:
    """What `CompileResult._rebuild` takes."""
    described = made.fndesc
    described.typemap = described.calltypes = None
    environments = tuple(made._find_referenced_environments())
    code = made.library.serialize_entry(described)
    return (code, described, made.environment, made.signature, False, (), "", made.reload_init, environments)
