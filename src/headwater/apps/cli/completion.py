"""`headwater completion bash|zsh|fish`: a script that completes commands, flags, their values and files.

Rule 1  The script is made from the same parsers that read command lines, so it knows every flag there is. It asks nobody when it completes.
Rule 2  Values with choices are completed from them; what a metavar calls a file or folder is completed as one, and so is PATH behind
        `NAME=`. Anything else is left to the user.
Rule 3  Of commands in packages of their own, only the names are known.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from headwater.apps.cli.commands import COMMANDS, DONE, command_parser
from headwater.apps.cli.lab_commands import LAB_COMMANDS

_FILES: Final = ("FILE", "PATH", "DIR", "FOLDER")

_EPILOG: Final = """\
to complete in every new shell:
  bash   echo 'eval "$(headwater completion bash)"' >> ~/.bashrc
  zsh    headwater completion zsh > "${fpath[1]}/_headwater"
  fish   headwater completion fish > ~/.config/fish/completions/headwater.fish
"""


@dataclass(frozen=True, slots=True)
class Value:
    """What stands behind a flag or by itself: one of some words, a file, a file behind `NAME=`, or anything."""

    name: str
    choices: tuple[str, ...] = ()
    is_file: bool = False
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag under all its names; `value` None: it has none."""

    names: tuple[str, ...]
    help: str
    value: Value | None


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or an action of one: `path` are its words."""

    path: tuple[str, ...]
    help: str
    flags: tuple[Flag, ...] = ()
    values: tuple[Value, ...] = ()
    actions: tuple[Command, ...] = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.epilog = _EPILOG
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help="bash, zsh or fish")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    print(SHELLS[arguments.shell](tuple(known_commands())))
    return DONE


def known_commands() -> Iterator[Command]:
    """Every command with its flags, as far as they are known."""
    for name, words in COMMANDS.items():
        yield _command((name,), words, command_parser(name)[1])
    for name, words in LAB_COMMANDS.items():
        yield Command((name,), words)


def _command(path: tuple[str, ...], words: str, parser: argparse.ArgumentParser) -> Command:
    flags: list[Flag] = []
    values: list[Value] = []
    actions: list[Command] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            help_texts = {each.dest: each.help or "" for each in action._choices_actions}
            actions += [
                _command((*path, name), help_texts.get(name, ""), sub) for name, sub in action.choices.items()
            ]
        elif action.option_strings:
            value = None if action.nargs == 0 else _value(action)
            flags.append(Flag(tuple(action.option_strings), _one_line(action.help), value))
        else:
            values.append(_value(action))
    return Command(path, words, tuple(flags), tuple(values), tuple(actions))


def _value(action: argparse.Action) -> Value:
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    is_named = name.endswith("=PATH")
    choices = tuple(map(str, action.choices)) if action.choices else ()
    return Value(name, choices, not choices and name.split("=")[-1] in _FILES, is_named)


def _one_line(text: str | None) -> str:
    """The first sentence of a help text, without the percent signs that argparse doubles."""
    return (text or "").replace("%%", "%").partition("; ")[0].partition(" (default")[0]


def _each(commands: Iterable[Command]) -> Iterator[Command]:
    """Commands and their actions."""
    for command in commands:
        yield command
        yield from _each(command.actions)


# --- bash ----------------------------------------------------------------------------------------------------------

_BASH: Final = """\
# Completion for headwater. Made by 'headwater completion bash'.
_headwater() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="" flag="" word path="" words="" values="" i
  local IFS=$' \\t\\n'
  [ "$COMP_CWORD" -gt 0 ] && prev="${COMP_WORDS[COMP_CWORD-1]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    case "$path/$word" in
@steps@
    esac
  done
  # Bash treats '=' as a separate word: --format=csv, --input weather=readings.csv
  if [ "$cur" = "=" ]; then cur=""; flag="$prev"; fi
  if [ "$prev" = "=" ]; then flag="${COMP_WORDS[COMP_CWORD-2]}"; fi
  case "$flag" in
    "") flag="$prev" ;;
    -*) ;;
    *) local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null; return ;;
  esac
  case "$path $flag" in
@values@
    *)
      case "$path" in
@commands@
      esac
      case "$cur" in
        -*) values="$words" ;;
      esac ;;
  esac
  case "$values" in
    @files) local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur")); compopt -o filenames 2>/dev/null ;;
    @none) COMPREPLY=() ;;
    *) COMPREPLY=($(compgen -W "$values" -- "$cur")) ;;
  esac
}
complete -F _headwater headwater"""


def _bash(commands: Sequence[Command]) -> str:
    steps, values, listed = [], [], []
    for command in _each(commands):
        path = " ".join(command.path)
        steps.append(f'      "{" ".join(command.path[:-1])}/{command.path[-1]}") path="{path}" ;;')
        for flag in command.flags:
            if flag.value is not None:
                patterns = "|".join(f'"{path} {name}"' for name in flag.names)
                values.append(f'    {patterns}) values="{_bash_value(flag.value)}" ;;')
        names = " ".join(name for flag in command.flags for name in flag.names)
        own = " ".join(action.path[-1] for action in command.actions)
        value = own or (_bash_value(command.values[0]) if command.values else "@none")
        listed.append(f'        "{path}") words="{names}"; values="{value}" ;;')
    known = " ".join(command.path[0] for command in commands)
    listed.append(f'        "") words="--help --version"; values="{known}" ;;')
    script = _BASH.replace("@steps@", "\n".join(steps)).replace("@values@", "\n".join(values))
    return script.replace("@commands@", "\n".join(listed))


def _bash_value(value: Value) -> str:
    if value.choices:
        return " ".join(value.choices)
    return "@files" if value.is_file and not value.is_named else "@none"


# --- zsh -----------------------------------------------------------------------------------------------------------


_ZSH_SIGNS: Final = str.maketrans("[]:'", "(),’")
"""Signs with a meaning in the description of a flag."""


def _zsh(commands: Sequence[Command]) -> str:
    described = "\n".join(f"    {_zsh_described(command)}" for command in commands)
    functions = "\n".join(_zsh_function(command) for command in _each(commands))
    return f"""\
#compdef headwater
# Completion for headwater. Made by 'headwater completion zsh'.
_headwater_named_path() {{
  if compset -P '*='; then _files; fi
}}
{functions}
_headwater() {{
  local curcontext="$curcontext" state line
  local -a commands=(
{described}
  )
  _arguments -C '(- *)--help[show the commands]' '(- *)--version[print the version]' '1:command:->command' '*::argument:->argument'
  case "$state" in
    command) _describe 'command' commands ;;
    argument) (( $+functions[_headwater_${{words[1]}}] )) && _headwater_${{words[1]}} ;;
  esac
}}
if [ "$funcstack[1]" = "_headwater" ]; then _headwater "$@"; else compdef _headwater headwater; fi"""


def _zsh_function(command: Command) -> str:
    name = "_headwater_" + "_".join(command.path)
    flags = [_zsh_flag(flag, each) for flag in command.flags for each in flag.names]
    if command.actions:
        described = " ".join(_zsh_described(action) for action in command.actions)
        call = f"_headwater_{'_'.join(command.path)}_${{words[1]}}"
        body = (
            f'  local curcontext="$curcontext" state line\n  local -a actions=({described})\n'
            f"  _arguments -C {' '.join([*flags, _quoted('1:action:->action'), _quoted('*::argument:->argument')])}\n"
            f"  case \"$state\" in\n    action) _describe 'action' actions ;;\n"
            f"    argument) (( $+functions[{call}] )) && {call} ;;\n  esac"
        )
    else:
        values = [
            _quoted(f"{number}:{value.name}:{_zsh_value(value)}")
            for number, value in enumerate(command.values, 1)
        ]
        body = f"  _arguments {' '.join([*flags, *values])}" if flags or values else "  :"
    return f"{name}() {{\n{body}\n}}"


def _zsh_flag(flag: Flag, name: str) -> str:
    words = flag.help.translate(_ZSH_SIGNS)
    value = f":{flag.value.name}:{_zsh_value(flag.value)}" if flag.value is not None else ""
    return _quoted(f"*{name}[{words}]{value}")


def _zsh_value(value: Value) -> str:
    if value.choices:
        return f"({' '.join(value.choices)})"
    if value.is_named:
        return "_headwater_named_path"
    return "_files" if value.is_file else " "


def _zsh_described(command: Command) -> str:
    return _quoted(f"{command.path[-1]}:{command.help}")


# --- fish ----------------------------------------------------------------------------------------------------------


def _fish(commands: Sequence[Command]) -> str:
    lines = [
        "# Completion for headwater. Made by 'headwater completion fish'.",
        "complete -c headwater -f",
        "complete -c headwater -n __fish_use_subcommand -l version -d 'print the version'",
        "complete -c headwater -n __fish_use_subcommand -l help -d 'show the commands'",
    ]
    for command in commands:
        lines.append(_fish_word(command, "__fish_use_subcommand"))
        lines += _fish_inside(command, f"__fish_seen_subcommand_from {command.path[0]}")
    return "\n".join(lines)


def _fish_inside(command: Command, condition: str) -> Iterator[str]:
    """What is completed behind a command."""
    begin = f"complete -c headwater -n {_quoted(condition)}"
    for flag in command.flags:
        for name in flag.names:
            form = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            yield f"{begin} {form}{_fish_value(flag.value)} -d {_quoted(flag.help)}"
    names = " ".join(action.path[-1] for action in command.actions)
    for action in command.actions:
        yield _fish_word(action, f"{condition}; and not __fish_seen_subcommand_from {names}")
        yield from _fish_inside(action, f"{condition}; and __fish_seen_subcommand_from {action.path[-1]}")
    for value in command.values:
        if value.choices:
            yield f"{begin} -a {_quoted(' '.join(value.choices))}"
        elif value.is_file:
            yield f"{begin} -F"


def _fish_word(command: Command, condition: str) -> str:
    return f"complete -c headwater -n {_quoted(condition)} -a {command.path[-1]} -d {_quoted(command.help)}"


def _fish_value(value: Value | None) -> str:
    if value is None:
        return ""
    if value.choices:
        return f" -x -a {_quoted(' '.join(value.choices))}"
    return " -r -F" if value.is_file or value.is_named else " -x"


def _quoted(text: str) -> str:
    return shlex.quote(text.replace("'", "’"))


SHELLS: Final[Mapping[str, Callable[[Sequence[Command]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
