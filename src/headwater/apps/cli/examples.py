"""`headwater examples`: complete examples that come with the package, to be copied and run.

Each is a folder of `apps/examples` with an `about.txt`: a sentence, then the commands that run it there.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

from headwater.apps.cli.commands import DONE

ABOUT: Final = "about.txt"

_EXAMPLES = """\
examples:
  headwater examples
  headwater examples copy alerts
  headwater examples copy network valley/
"""


class Example(NamedTuple):
    """What an example is about, and how it is run in its folder."""

    name: str
    about: str
    commands: tuple[str, ...]
    folder: Traversable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    actions.add_parser("list", help="list the examples (also without an action)")
    copy = actions.add_parser("copy", help="copy an example into a new folder")
    copy.add_argument(
        "name", metavar="NAME", help="which example", choices=[each.name for each in all_examples()]
    )
    copy.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, help="a new or empty folder (default: NAME)"
    )


def run(arguments: argparse.Namespace) -> int:
    """List the examples, or copy one."""
    if arguments.action == "copy":
        chosen = next(each for each in all_examples() if each.name == arguments.name)
        folder = arguments.folder or Path(chosen.name)
        _copy(chosen, folder)
        print(
            "\n".join(
                [
                    f"copied into '{folder}'; next:",
                    f"  cd {shlex.quote(str(folder))}",
                    *_indented(chosen.commands),
                ]
            )
        )
        return DONE
    known = list(all_examples())
    width = max(len(each.name) for each in known)
    print("\n".join(f"{each.name:<{width}}  {each.about}" for each in known))
    print("\n'headwater examples copy NAME [FOLDER]' copies one and prints how to run it")
    return DONE


def all_examples() -> Iterator[Example]:
    """Every example, by name."""
    folders = (each for each in files("headwater.apps").joinpath("examples").iterdir() if each.is_dir())
    for folder in sorted(folders, key=lambda each: each.name):
        about = folder.joinpath(ABOUT)
        if about.is_file():
            first, *commands = about.read_text(encoding="utf-8").splitlines()
            yield Example(folder.name, first, tuple(filter(None, commands)), folder)


def _copy(example: Example, folder: Path) -> None:
    """Every file of an example but the one about it, into a folder that has none yet."""
    from headwater.apps.cli.arguments import UsageError, folder_for, unwritable

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "usage",
            f"'{folder}' is there already: an example is copied into a new or empty folder",
            advice=[f"name another one: headwater examples copy {example.name} FOLDER"],
        )
    try:
        for file in example.folder.iterdir():
            if file.is_file() and file.name != ABOUT:
                (folder_for(folder) / file.name).write_bytes(file.read_bytes())
    except OSError as fault:
        raise unwritable(folder, fault) from fault


def _indented(lines: tuple[str, ...]) -> list[str]:
    return [f"  {line}" for line in lines]
