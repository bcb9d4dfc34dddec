"""What does a command leave out where the process is its own?

Rule 1  PyArrow imports pandas for its first array of anything, in case there are pandas values among them: a third of a second. Commands
        that run on the local engine have none, so in their process pandas is as if it were not installed.
Rule 2  Imports make hundreds of thousands of objects that stay. Python looks through them for garbage again and again, and once more when
        the process ends: a third of the time of a short command. Here it looks less often, and not at the end.
Rule 3  Where somebody else called the command, from Python or a test, nothing is changed, and neither is pandas where it is loaded already.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Final

_LEFT_OUT: Final = "pandas"

_OBJECTS_BETWEEN_LOOKS: Final = 10_000
"""New objects until Python looks for garbage among them; its own choice is 700."""


def look_for_garbage_seldom() -> None:
    """From now on."""
    gc.set_threshold(_OBJECTS_BETWEEN_LOOKS)


def leave_garbage_behind() -> None:
    """The process ends: the system takes its memory back, and nobody needs to look for what is garbage."""
    gc.freeze()


class _NotFound(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == _LEFT_OUT:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)


def leave_pandas_out(arguments: argparse.Namespace) -> None:
    """From now on, for the rest of the process; PyArrow must not have looked for it yet."""
    if arguments.own_process and _LEFT_OUT not in sys.modules:
        sys.meta_path.insert(0, _NotFound())
