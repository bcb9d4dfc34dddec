"""Commands of a package of its own, `headwater-lab`: where are they, and what is said where it is not installed?

Rule 1  A package adds a command by an entry point of the group `headwater.commands`: its name is the command, its value a module with
        `add_arguments` and `run`. Installed packages are searched only when one of these commands is called.
Rule 2  Help lists these commands whether they are installed or not; one that is not installed says how to get it, and the exit code is
        that of any command line that makes no sense.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from headwater.apps.cli.arguments import UsageError

LAB_COMMANDS: Final = {
    "bench": "measure speed on this machine (in headwater-lab)",
    "reproduce": "reproduce a published figure and report whether its claims hold here (in headwater-lab)",
}

GROUP: Final = "headwater.commands"


def is_missing(command: str) -> bool:
    """Whether this is a command of the laboratory, and the laboratory is not installed."""
    return command in LAB_COMMANDS and _entry_point(command) is None


def load_lab_command(command: str) -> Any:
    """The module of a command that is installed."""
    entry = _entry_point(command)
    assert entry is not None
    return entry.load()


def missing_lab(command: str) -> UsageError:
    """What is said where it is not installed."""
    from headwater.apps.cli.arguments import UsageError

    return UsageError(
        "lab-not-installed",
        f"'headwater {command}' is in a separate package, which is not installed: pip install headwater-lab",
    )


def _entry_point(command: str) -> EntryPoint | None:
    from importlib.metadata import entry_points

    return next(iter(entry_points(group=GROUP, name=command)), None)
