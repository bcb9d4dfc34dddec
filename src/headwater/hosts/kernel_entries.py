"""Which compiled loops does each operator enter from Python, and with which types?

The list is a file of the package, `kernel_entries.json`, recorded by `make kernels` from queries of every kind. With it, code is compiled
before any row is read, on several cores. What is not in the list is compiled when it is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from headwater.compiled.loops import import_numba

ENTRIES_FILE: Final = Path(__file__).with_name("kernel_entries.json")
EVERYWHERE: Final = "SELECT"
"""What this operator enters, all do: reading rows, sorting them, keys."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A loop, as `module:name`, and the types it is called with, as `compiled/signatures.py` writes them."""

    loop: str
    types: tuple[Any, ...]
    keywords: tuple[str, ...]
    """Of the operators that enter it."""
    cost: float
    """Seconds that compiling took where the list was recorded: those that take longest come first."""

    def signature(self) -> tuple[Any, ...]:
        """The types as numba has them."""
        import_numba()
        from headwater.compiled.signatures import type_of

        return tuple(map(type_of, self.types))

    def dispatcher(self) -> Any:
        """What compiles it."""
        module, _, name = self.loop.partition(":")
        return getattr(import_module(module), name).entry()

    def key(self) -> str | None:
        """Under which its code is stored."""
        import_numba()
        from headwater.compiled.keys import key_of

        module, _, name = self.loop.partition(":")
        return key_of(getattr(import_module(module), name), self.signature())


@cache
def all_entries() -> tuple[Entry, ...]:
    """The list of the package."""
    listed = json.loads(ENTRIES_FILE.read_text(encoding="utf-8"))
    return tuple(
        Entry(entry["loop"], tuple(entry["types"]), tuple(entry["keywords"]), entry["cost"])
        for entry in listed
    )


def entries_of(keywords: Iterable[str]) -> list[Entry]:
    """Those of some operators, with those that every operator enters."""
    wanted = {EVERYWHERE, *keywords}
    return [entry for entry in all_entries() if wanted & set(entry.keywords)]


def written(entries: Iterable[Mapping[str, Any]]) -> str:
    """The text of the file: an entry on a line, the expensive ones first."""
    ordered = sorted(entries, key=lambda entry: (-entry["cost"], entry["loop"], json.dumps(entry["types"])))
    return "[\n" + ",\n".join(json.dumps(entry) for entry in ordered) + "\n]\n"
