"""What does a command leave out where the process is its own?

Rule 1  PyArrow imports pandas for its first array of anything, in case there are pandas values among them: a third of a second. Commands
        that run on the local engine have none, so in their process pandas is as if it were not installed.
Rule 2  Where somebody else called the command, from Python or a test, or pandas is there already, nothing is changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Final

_LEFT_OUT: Final = "pandas"


class _NotFound(MetaPathFinder):
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if fullname == _LEFT_OUT:
            raise ModuleNotFoundError(f"No module named '{fullname}'", name=fullname)


def leave_pandas_out(arguments: argparse.Namespace) -> None:
    """From now on, for the rest of the process; PyArrow must not have looked for it yet."""
    if arguments.own_process and _LEFT_OUT not in sys.modules:
        sys.meta_path.insert(0, _NotFound())
