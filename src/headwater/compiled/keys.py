"""Under which key is the code of one entry stored?

A folder for what runs it (Python, numba, LLVM, numpy, the processor with its features), and in it a name: the loop, and a digest of
its fingerprint and the types it was called with. Equal keys mean equal code, so what is stored under a key never changes.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import config, types

from headwater.compiled.fingerprints import fingerprint
from headwater.compiled.loops import Loop

PIPELINE: Final = 2
"""To be raised whenever entries and parts are compiled in another way."""


def key_of(loop: Loop, arguments: tuple[Any, ...]) -> str | None:
    """None where the types of the arguments depend on this process, so that nothing can be stored."""
    texts = [_text(argument) for argument in arguments]
    if any(text is None for text in texts):
        return None
    said = repr((PIPELINE, _fingerprint(loop), texts))
    name = f"{loop.py_func.__module__.rpartition('.')[2]}.{loop.py_func.__name__}"
    return f"{machine()}/{name}-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


_fingerprint = cache(fingerprint)


@cache
def machine() -> str:
    """Everything that is no code of ours, for which machine code is made."""
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    versions = f"numba{numba.__version__}-llvmlite{llvmlite.__version__}-numpy{np.__version__}"
    cpu = config.CPU_NAME or llvm.get_host_cpu_name()
    features = config.CPU_FEATURES
    if features is None:
        features = llvm.get_host_cpu_features().flatten()
    settings = (sys.implementation.cache_tag, llvm.get_process_triple(), cpu, features)
    switches = (
        str(config.OPT),
        config.BOUNDSCHECK,
        config.DEBUGINFO_DEFAULT,
        config.LOOP_VECTORIZE,
        config.SLP_VECTORIZE,
    )
    digest = hashlib.sha256(repr((settings, switches)).encode()).hexdigest()[:8]
    return f"{python}-{versions}-{cpu}-{digest}"


def _text(argument: Any) -> str | None:
    """A type in words that mean the same in every process."""
    kinds: Any = types
    if isinstance(argument, kinds.Dispatcher):
        return None
    if isinstance(argument, kinds.BaseNamedTuple):
        named = argument.instance_class
        parts = [_text(part) for part in argument.types]
        if any(part is None for part in parts):
            return None
        return f"{named.__module__}.{named.__qualname__}({', '.join(map(str, parts))})"
    if isinstance(argument, kinds.Tuple):
        parts = [_text(part) for part in argument.types]
        return None if any(part is None for part in parts) else f"({', '.join(map(str, parts))})"
    text = str(argument)
    return None if " at 0x" in text else text
