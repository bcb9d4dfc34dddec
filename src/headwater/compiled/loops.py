"""Which functions are compiled, and what happens when one is called?

Rule 1  Called from Python, a loop is compiled for the types of its arguments, once, with everything it calls built in. Its code
        is stored (`entries.py`).
Rule 2  Called from another loop, it becomes part of that one: no machine code of its own, no file of its own.
Rule 3  Numba is imported by the first call of any loop, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from typing import Any


class Loop:
    """A function that is compiled when it is first called. Numba takes one for a function of its own: it has the same attributes."""

    py_func: Callable[..., Any]
    targetoptions: dict[str, Any]

    def __init__(
        self, function: Callable[..., Any], options: dict[str, Any], *, interpreted: bool = False
    ) -> None:
        self.py_func = function
        self.targetoptions = {"nopython": True, "boundscheck": None, **options}
        self._entry = function if interpreted else self._compile_entry
        self._part: Any = None
        update_wrapper(self, function)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it from Python."""
        return self._entry(*arguments, **named)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    @property
    def _numba_type_(self) -> Any:
        """How numba asks what a global is."""
        if self._part is None:
            from headwater.compiled.parts import part_of

            self._part = part_of(self)
        return self._part._numba_type_

    def _compile_entry(self, *arguments: Any, **named: Any) -> Any:
        self._entry = self.entry()
        return self._entry(*arguments, **named)

    def compiled(self) -> dict[Any, Any]:
        """What it was called with from Python so far: by types, what numba made."""
        return dict(getattr(self._entry, "overloads", {}))

    def entry(self) -> Any:
        """What calls from Python go to."""
        import_numba()
        from headwater.compiled.entries import entry_of

        return entry_of(self)


def import_numba() -> None:
    """Import all of numba that is used, by one thread while others wait.

    Its modules import one another in circles: two threads that begin at different places would find some of them half made.
    """
    import_module("headwater.compiled.entries")  # Python lets others wait until this module is whole


def loop(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function when it is first called: `@loop`, or `@loop(nogil=True)` with options of numba's."""
    if function is not None:
        return Loop(function, options)
    return lambda function: Loop(function, options)


def also_in_loops(function: Callable[..., Any]) -> Any:
    """A function that Python runs as it stands, on arrays too, and that loops may call."""
    return Loop(function, {}, interpreted=True)
