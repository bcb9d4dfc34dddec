"""The command line: `headwater run` and all other commands.

Every command is a module with `add_arguments` and `run`; only the one that is used is imported, so that a quick
question has a quick answer.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code of a command line; without one, that of this process."""
    from headwater.apps.cli.own_process import leave_garbage_behind, look_for_garbage_seldom

    if argv is None:
        look_for_garbage_seldom()
    from headwater.apps.cli.commands import run_command

    code = run_command(argv)
    if argv is None:
        leave_garbage_behind()
    return code
