"""Loops over arrays that are compiled to machine code when they are first called.

`loop` is the decorator. Nothing here imports numba before some loop is called, so that reading a query needs no compiler. What was
compiled is kept by a store that a host installs (`keep_code_in`): this room opens no files.
"""

from headwater.compiled.loops import Loop, also_in_loops, loop
from headwater.compiled.stores import CodeStore, code_store, keep_code_in

__all__ = ["CodeStore", "Loop", "also_in_loops", "code_store", "keep_code_in", "loop"]
