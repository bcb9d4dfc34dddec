"""Words into arguments, and what makes no sense refused as any other error: a code, what is wrong, what was perhaps meant.

argparse says what is wrong in the words of a programmer and prints all flags; here its message is put into ours.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from headwater.apps.cli.arguments import UsageError


_REQUIRED: Final = re.compile(r"the following arguments are required: (.+)")
_CHOICE: Final = re.compile(r"argument (\S+): invalid choice: '(.*)' \(choose from (.+)\)", re.DOTALL)
_NO_VALUE: Final = re.compile(
    r"argument (\S+): expected (?:one argument|at least one argument|(\d+) arguments)"
)
_NEEDLESS: Final = re.compile(r"argument (\S+): ignored explicit argument (.+)")
_AMBIGUOUS: Final = re.compile(r"ambiguous option: (\S+) could match (.+)")
_OF_ONE: Final = re.compile(r"argument (\S+): (.+)", re.DOTALL)


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are UsageErrors."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        said, advice = self._in_words(message)
        raise _usage_error("usage", said, advice=[*advice, f"'{self.prog} --help' lists the flags"])

    def refuse_further(self, words: Sequence[str]) -> NoReturn:
        """Refuse words that nothing in this command line expects."""
        word = words[0]
        if word.startswith("-") and len(word) > 1:
            flag = word.partition("=")[0]
            near = did_you_mean(flag, self.flags())
            raise _usage_error(
                "unknown-flag",
                f"'{self.prog}' has no flag '{flag}'",
                advice=[*near, f"'{self.prog} --help' lists the flags"],
            )
        raise _usage_error(
            "usage",
            f"'{self.prog}' does not take '{word}'",
            advice=[f"'{self.prog} --help' lists what it takes"],
        )

    def flags(self) -> list[str]:
        """Everything that begins with a dash."""
        return [flag for action in self._actions for flag in action.option_strings]

    def _in_words(self, message: str) -> tuple[str, list[str]]:
        if found := _REQUIRED.fullmatch(message):
            return f"'{self.prog}' needs {_listed(found[1].split(', '), 'and')}", []
        if found := _CHOICE.fullmatch(message):
            choices = [choice.strip("'") for choice in found[3].split(", ")]
            return f"{found[1]} takes {_listed(choices, 'or')}, not '{found[2]}'", did_you_mean(
                found[2], choices
            )
        if found := _NO_VALUE.fullmatch(message):
            return f"{found[1]} needs {f'{found[2]} values' if found[2] else 'a value'}", []
        if found := _NEEDLESS.fullmatch(message):
            return f"{found[1]} takes no value, but {found[2]} is given", []
        if found := _AMBIGUOUS.fullmatch(message):
            return f"'{found[1]}' may be {found[2].replace(', ', ' or ')}", ["write it in full"]
        if found := _OF_ONE.fullmatch(message):
            return f"{found[1]}: {found[2]}", []
        return message, []


def unknown_command(word: str, commands: Iterable[str]) -> UsageError:
    """The refusal of a command that there is not."""
    known = sorted(commands)
    return _usage_error(
        "unknown-command",
        f"there is no command '{word}'",
        advice=[f"known commands: {', '.join(known)}", *did_you_mean(word, known)],
    )


def did_you_mean(word: str, known: Sequence[str]) -> list[str]:
    """Advice for a word that is not known; nothing where no known word is like it."""
    return [f"did you mean '{near}'?" for near in get_close_matches(word, known, n=1, cutoff=0.6)]


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _usage_error(code: str, message: str, advice: Sequence[str]) -> UsageError:
    from headwater.apps.cli.arguments import (
        UsageError,  # it knows rows and arrays: not for those who only ask for help
    )

    return UsageError(code, message, advice=advice)
