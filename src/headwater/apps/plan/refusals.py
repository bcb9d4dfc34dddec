"""Every error of a network file, in the order of the file, and how its fields are taken apart.

A field that cannot be used gives None and an error, and reading goes on: a person sees all errors at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from headwater.apps.plan.json_places import Content, Value
from headwater.model import DataError, HeadwaterError
from headwater.query.language.suggestions import suggest

MOST_SHOWN: Final = 40
"""Errors of one file that are shown; the others are counted."""

LONGEST_NAME: Final = 200
"""Bytes of the name of a node, sensor, user or attribute, as UTF-8: frames between nodes have room for 255."""


class PlanRefused(HeadwaterError):  # noqa: N818 - said as a person would
    """Every error found in what a plan was to be made of."""

    def __init__(self, errors: Sequence[HeadwaterError]) -> None:
        super().__init__("plan-refused", f"{len(errors):,} error{'s' * (len(errors) != 1)}")
        self.errors = tuple(errors)

    def __str__(self) -> str:
        more = len(self.errors) - MOST_SHOWN
        shown = [str(error) for error in self.errors[:MOST_SHOWN]]
        return "\n\n".join([*shown, f"and {more:,} more"] if more > 0 else shown)


class Refusals:
    """Collects the errors of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[tuple[int, int, DataError]] = []

    def refuse(self, code: str, message: str, at: Value, *advice: str) -> None:
        """Note an error and go on."""
        place = f"{self.file}:{at.line}:{at.column}" + (f", {at.path}" if at.path else "")
        self._found.append((at.line, at.column, DataError(code, message, place=place, advice=advice)))

    @property
    def errors(self) -> list[DataError]:
        """All of them, in the order of the file."""
        return [error for _, _, error in sorted(self._found, key=lambda found: found[:2])]

    # --- fields -------------------------------------------------------------------------------------------------------

    def fields(
        self, value: Value, what: str, needed: Iterable[str], possible: Iterable[str] = ()
    ) -> dict[str, Value] | None:
        """The fields of an object; None where it is none or lacks one that is needed."""
        if not isinstance(value.content, dict):
            self._wrong_kind(value, what, "an object { … }")
            return None
        needed = tuple(needed)
        known = (*needed, *possible)
        for name, inside in value.content.items():
            if name not in known:
                advice = suggest(name, known, "fields")
                self.refuse("unknown-field", f"{what} has no field '{name}'", inside, *advice)
        missing = [name for name in needed if name not in value.content]
        for name in missing:
            self.refuse("missing-field", f"{what} needs a field '{name}'", value, f'add "{name}": …')
        return None if missing else value.content

    def items(self, value: Value, what: str) -> list[Value]:
        """The items of a list; none where it is no list."""
        if isinstance(value.content, list):
            return value.content
        self._wrong_kind(value, what, "a list [ … ]")
        return []

    def name(self, value: Value, what: str) -> str | None:
        """A name: some text, and not a whole story."""
        if not isinstance(value.content, str):
            self._wrong_kind(value, what, "a text")
        elif not value.content.strip() or not value.content.isprintable():
            self.refuse(
                "wrong-field",
                f"{what} is empty or cannot be printed",
                value,
                "give it a printable name",
            )
        elif self.short(value.content, value, what):
            return value.content
        return None

    def short(self, name: str, at: Value, what: str, most: int = LONGEST_NAME) -> bool:
        """Whether a name fits into the messages of nodes."""
        size = len(name.encode())
        if size > most:
            why = f"{what} is longer than {most} bytes: it has {size:,} in UTF-8"
            self.refuse("wrong-field", why, at, "give it a shorter name")
        return size <= most

    def number(
        self, value: Value, what: str, *, least: float = -math.inf, most: float = math.inf, why: str = ""
    ) -> float | None:
        """A finite number within bounds; `why` there are such bounds."""
        if isinstance(value.content, bool) or not isinstance(value.content, int | float):
            self._wrong_kind(value, what, "a number")
            return None
        try:
            number = float(value.content)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number) or not least <= number <= most:
            bounds = f"from {least:,g} to {most:,g}" if math.isfinite(most) else "that is finite"
            advice = [f"give a number {bounds}", *([why] if why else [])]
            self.refuse("wrong-field", f"{what} is {_shown(value.content)}", value, *advice)
            return None
        return number

    def _wrong_kind(self, value: Value, what: str, expected: str) -> None:
        self.refuse("wrong-field", f"{what} is {_kind(value.content)}", value, f"write {expected} here")


def _kind(content: Content) -> str:
    if content is None or isinstance(content, bool):
        return {None: "null", True: "true", False: "false"}[content]
    if isinstance(content, dict | list):
        return "an object" if isinstance(content, dict) else "a list"
    return f"the text {_shown(content)}" if isinstance(content, str) else f"the number {_shown(content)}"


def _shown(content: Content, most: int = 40) -> str:
    text = repr(content) if isinstance(content, str) else str(content)
    return text if len(text) <= most else text[:most] + "…"
