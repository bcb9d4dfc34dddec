"""What can go wrong, said so that a person can act on it.

A message says what is wrong, where, and what to do. The code is stable: it has a heading in
`docs/reference/errors.md` and a golden test. Our own mistakes are assertions, never these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a query text: line and column count from 1."""

    line: int
    column: int
    length: int = 1


class HeadwaterError(Exception):
    """Something a user, their data or their machine can put right."""

    def __init__(self, code: str, message: str, *, advice: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.advice = tuple(advice)

    def where(self) -> str | None:
        """The place the message is about, in words."""
        return None

    def __str__(self) -> str:
        place = self.where()
        lines = [f"error[{self.code}]: {self.message}"]
        lines += [f"  {place}"] if place else []
        lines += [f"  {line}" for line in self.advice]
        return "\n".join(lines)


class QueryError(HeadwaterError):
    """A query text that cannot be answered, with its place in the text."""

    def __init__(self, code: str, message: str, *, span: Span | None, advice: Sequence[str] = ()) -> None:
        super().__init__(code, message, advice=advice)
        self.span = span

    def where(self) -> str | None:
        """Line and column."""
        return f"line {self.span.line}, column {self.span.column}" if self.span else None

    def show(self, text: str, file: str = "query") -> str:
        """The message with the line of `text` it is about and a mark under the words."""
        if self.span is None:
            return str(self)
        line = text.split("\n")[self.span.line - 1] if self.span.line <= text.count("\n") + 1 else ""
        gutter = " " * len(str(self.span.line))
        mark = " " * (self.span.column - 1) + "^" * max(
            1, min(self.span.length, len(line) - self.span.column + 1)
        )
        return "\n".join(
            [
                f"error[{self.code}]: {self.message}",
                f"  {file}:{self.span.line}:{self.span.column}",
                f"    {self.span.line} | {line}",
                f"    {gutter} | {mark}",
                *(f"  {advice}" for advice in self.advice),
            ]
        )


class QueriesRefused(HeadwaterError):  # noqa: N818 - said as a person would
    """Every error found in one text, in the order of the text."""

    def __init__(self, errors: Sequence[QueryError], text: str, file: str = "query") -> None:
        super().__init__("queries-refused", f"{len(errors)} error{'s' * (len(errors) != 1)} in {file}")
        self.errors = tuple(errors)
        self.text = text
        self.file = file

    def __str__(self) -> str:
        return "\n\n".join(error.show(self.text, self.file) for error in self.errors)


class DataError(HeadwaterError):
    """Input that cannot be read at all (single bad rows go to the bad output instead)."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        stream: str | None = None,
        place: str | None = None,
        advice: Sequence[str] = (),
    ) -> None:
        super().__init__(code, message, advice=advice)
        self.stream = stream
        self.place = place

    def where(self) -> str | None:
        """Stream and file, as far as known."""
        parts = [f"stream '{self.stream}'" if self.stream else "", self.place or ""]
        return ", ".join(part for part in parts if part) or None


class PeerError(HeadwaterError):
    """A message from another node that makes no sense: log it, drop it, carry on."""


class HostError(HeadwaterError):
    """Spark, a broker or the file system does not do what is needed; the cause is chained."""


class LimitReached(HeadwaterError):  # noqa: N818
    """A bound with a name was reached."""

    def __init__(self, bound: str, value: int, message: str, *, advice: Sequence[str] = ()) -> None:
        super().__init__("limit-reached", message, advice=advice)
        self.bound = bound
        self.value = value
