"""Which command, and what becomes of it: exit codes, and errors said without a traceback.

0    done                          1  queries or data were refused, or the machine does not do what is needed
2    the command line makes no sense  130  interrupted with Ctrl-C: everything up to there was written
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from headwater import __version__
from headwater.apps.cli.command_line import CommandParser, unknown_command
from headwater.apps.cli.lab_commands import LAB_COMMANDS, is_missing, load_lab_command, missing_lab
from headwater.hosts.process_memory import retain_freed_memory
from headwater.hosts.stored_code import use_compiled_code

COMMANDS: Final = {
    "run": "answer the queries of a file over files or folders of readings",
    "check": "report every error in a query file",
    "explain": "show how the queries of a file will be answered",
    "test": "run the test cases of .hwtest files: rows, queries and expected answers",
    "why": "report how far the partial matches of a pattern got in recorded readings, and what stopped them",
    "suppress-report": "report what each predictor and tolerance of SUPPRESS saves on recorded readings, and what error remains",
    "plan": "report for a network of sensors which operator runs where, and what each link carries",
    "checkpoint": "show the contents of a checkpoint, verify it, or copy it so that it can continue elsewhere",
    "examples": "list complete examples, or copy one into a folder, with the commands that run it",
    "completion": "print a script that completes commands, flags and files in bash, zsh or fish",
    "demo": "run standing queries over generated stations, live, without preparation",
    "prepare": "compile the kernels once, so that later starts are fast",
}

DONE, REFUSED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def run_command(argv: Sequence[str] | None = None) -> int:
    """Run a command line and give its exit code."""
    use_compiled_code()
    retain_freed_memory()
    words = list(sys.argv[1:] if argv is None else argv)
    named = next((word for word in words if not word.startswith("-")), "")
    try:
        arguments = _arguments(words, named)
    except Exception as error:
        return _report_error(error, debug=False)
    if arguments is None:
        return DONE
    arguments.own_process = argv is None
    # py4j logs a traceback of its own for Ctrl-C when nobody has said where logs go.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        code = _module(arguments.command).run(arguments)
        sys.stdout.flush()
        return int(code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads our answers has seen enough. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        return _report_error(error, debug=arguments.debug)


def _arguments(words: list[str], named: str) -> argparse.Namespace | None:
    """What a command line says; None if it asks for help alone, which is printed. Raises UsageError if it makes no sense."""
    if is_missing(named):
        raise missing_lab(named)
    if named and named not in COMMANDS | LAB_COMMANDS:
        raise unknown_command(named, COMMANDS | LAB_COMMANDS)
    parser, command = command_parser(named)
    arguments, further = parser.parse_known_args(words)
    if further:
        command.refuse_further(further)
    if arguments.command is None:
        parser.print_help()
        return None
    return arguments


def command_parser(named: str) -> tuple[CommandParser, CommandParser]:
    """All commands, and the one that is named with its flags; without a name the first is also the second."""
    parser = CommandParser(
        prog="headwater",
        description="Standing queries over sensors and moving objects, answered for as long as readings arrive.",
        epilog="'headwater COMMAND --help' describes a command. 'headwater examples' lists what to begin with.",
    )
    parser.add_argument("--version", action="version", version=f"headwater {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    chosen = parser
    for name, summary in (COMMANDS | LAB_COMMANDS).items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            formatter_class=_HelpFormatter,
        )
        if name == named:
            chosen = command
            _module(name).add_arguments(command)
            command.add_argument("--debug", action="store_true", help="show tracebacks and Spark's log")
    return parser, chosen


def _module(command: str) -> Any:
    """The module that a command is in: imported only when it is called."""
    if command in LAB_COMMANDS:
        return load_lab_command(command)
    return import_module(f"headwater.apps.cli.{command.replace('-', '_')}")


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples at the end as they are written."""


def _report_error(error: Exception, *, debug: bool) -> int:
    """Print what went wrong: anything but a mistake of ours without a traceback."""
    from headwater.apps.cli.arguments import UsageError
    from headwater.model import HeadwaterError

    if not isinstance(error, HeadwaterError):
        raise error
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    print(error, file=sys.stderr)
    return MISUSED if isinstance(error, UsageError) else REFUSED
