"""What is on `docs/reference/python.md`? The signature and the docstring of every public name, behind an introduction written by hand.

`make reference` writes the page, and a test compares it. The introduction is `python_reference_introduction.md`: it makes the tables that
the examples of the docstrings read. An example of a docstring is a fenced block, with what it prints behind it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import headwater as hw
from headwater.query.operators.correlate import build as clauses

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
INTRODUCTION = Path(__file__).with_name("python_reference_introduction.md")

SECTIONS = {
    "Running queries": ("run", "check", "explain", "session", "configure"),
    "Answers": ("Answers", "AnswerTable", "AnswerRow", "HeadwaterError"),
    "Streams, points and fences": ("stream", "points", "fences"),
    "Queries": (
        "select",
        "view",
        "correlate",
        "match",
        "pattern",
        "nearest",
        "each_of",
        "highest",
        "lowest",
        "fence",
        "follow",
        "suppress",
        "suppressing",
        "predict",
    ),
    "Tests of queries": ("testing",),
}

CLAUSES = ("between", "at_least", "at_most", "above", "below", "equal", "circle", "box", "polygon", "sensors")

_CALLED = {"Answers": "answers", "AnswerTable": "table", "HeadwaterError": "error"}
"""What examples call a value of a class."""

_LONGEST_SIGNATURE = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """Something with a heading: how it is written in a program, and what it is."""

    heading: str
    signature: str | None
    text: str
    level: int = 3

    def lines(self) -> Iterator[str]:
        """The entry as Markdown."""
        yield f"{'#' * self.level} {self.heading}\n"
        if self.signature is not None:
            yield f"```text\n{self.signature}\n```\n"
        yield f"{self.text}\n"


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION.read_text(encoding="utf-8").rstrip() + "\n"]
    for section, names in SECTIONS.items():
        parts.append(f"## {section}\n")
        for name in names:
            for entry in entries_of(name):
                parts += entry.lines()
    parts.append("## Clauses and areas\n")
    parts += _clauses()
    return "\n".join(parts)


def entries_of(name: str) -> Iterator[Entry]:
    """A public name, and what belongs to it: the methods of a class, the functions of a module."""
    value = getattr(hw, name)
    if inspect.ismodule(value):
        for inner in value.__all__:
            yield _function(f"hw.{name}.{inner}", getattr(value, inner))
    elif inspect.isclass(value):
        yield Entry(f"hw.{name}", None, _text(value))
        yield from _members(value, name)
    else:
        yield _function(f"hw.{name}", value)
        if name == "pattern":
            yield from _members(type(hw.pattern("a")), "pattern")


def _members(kind: type, owner: str) -> Iterator[Entry]:
    """Methods and properties of a class in the order of its file; special ones only if they say what they are for."""
    called = _CALLED.get(owner, owner)
    for name, value in vars(kind).items():
        member = value.fget if isinstance(value, property) else value
        if name.startswith("_") and name != "__getitem__":
            continue
        if not inspect.isfunction(member) or not inspect.getdoc(member):
            continue
        if isinstance(value, property):
            yield Entry(f"{called}.{name}", f"{called}.{name}: {_returns(member)}", _text(member), 4)
        elif name == "__getitem__":
            (given,) = (each for each in inspect.signature(member).parameters if each != "self")
            yield Entry(f"{called}[{given}]", f"{called}[{given}] -> {_returns(member)}", _text(member), 4)
        else:
            yield _function(f"{called}.{name}", member, level=4)


def _function(heading: str, function: Callable[..., Any], *, level: int = 3) -> Entry:
    return Entry(heading, signature_of(heading, function), _text(function), level)


def signature_of(name: str, function: Callable[..., Any]) -> str:
    """A call with its parameters, on one line if it is short."""
    parameters, keyword_only = [], False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword_only = True
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parameters.append("*")
        parameters.append(str(parameter).replace("'", ""))
    result = f" -> {_returns(function)}"
    short = f"{name}({', '.join(parameters)}){result}"
    if len(short) <= _LONGEST_SIGNATURE:
        return short
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), f"){result}"])


def _returns(function: Callable[..., Any]) -> str:
    return str(inspect.signature(function).return_annotation).removeprefix("table_views.")


def _text(thing: Any) -> str:
    text = inspect.getdoc(thing)
    assert text, f"{thing} has no docstring"
    return text


def _clauses() -> Iterator[str]:
    yield (
        "`hw.correlate` takes clauses and areas as text, or as these builders make them: "
        "`from headwater.query.operators.correlate.build import at_least, circle`.\n"
    )
    yield "| | |\n|---|---|"
    for name in CLAUSES:
        function = getattr(clauses, name)
        first = ", ".join(str(each).split(":")[0] for each in inspect.signature(function).parameters.values())
        yield f"| `{name}({first})` | {_text(function)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} is written")
