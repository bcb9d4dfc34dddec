"""Who keeps compiled code from one process to the next?

One store for the process, installed by a host. Without one, every process compiles what it calls.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class CodeStore(Protocol):
    """Code by key. A key says everything that the code depends on, so what is stored under it never changes."""

    def load(self, key: str) -> bytes | None:
        """The code; None if it is not there or damaged."""

    def save(self, key: str, code: bytes) -> None:
        """Keep the code. A store that cannot is silent: it is compiled again next time."""

    def compiling(self, key: str, name: str) -> AbstractContextManager[None]:
        """While the loop `name` is compiled. It waits for another process that compiles the same, and the code may be there afterwards."""


_installed: list[CodeStore] = []


def keep_code_in(store: CodeStore | None) -> None:
    """From now on, in this process."""
    _installed[:] = [store] if store is not None else []


def code_store() -> CodeStore | None:
    """The store that was installed last."""
    return _installed[0] if _installed else None
