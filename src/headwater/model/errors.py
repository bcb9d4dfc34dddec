"""What can go wrong, in words that a person can act on.

A message says what is wrong, where, and what to do. The code is stable: it has a heading in
`docs/reference/errors.md` and a golden test. Our own mistakes are assertions, never these.

What is shown has bounds, so that a text of a megabyte on one line is refused in a few words: `MOST_QUOTED` characters of a line around
the place, `LONGEST_LINE` characters of a message, `MOST_SHOWN` errors of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

MOST_QUOTED: Final = 200
"""Characters of a line of query text that are quoted around the place of an error."""

LONGEST_LINE: Final = 1000
"""Characters of one line of a message or of advice; a longer one is shown without its middle."""

MOST_SHOWN: Final = 50
"""Errors of one text that are shown in full; the others are counted."""

_LEFT_OUT: Final = "…"
_NO_CONTROL: Final = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "�")


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a query text: line and column count from 1."""

    line: int
    column: int
    length: int = 1


class HeadwaterError(Exception):
    """Something a user can correct, in a text, in data or on a machine.

    `code` is stable: it has a heading in docs/reference/errors.md. `message` says what is wrong, `advice` what to do, a line each. What is wrong
    with queries is a `QueriesRefused`, whose `errors` have their places in the text.

    ```python
    try:
        hw.run("CREATE STREAM s (at TIMESTAMP TIME); CREATE QUERY q AS SELECT * FROM s;", {"t": readings})
    except hw.HeadwaterError as error:
        print(error.code, "-", error.message)
    ```

    ```output
    unknown-stream - there is no stream named 't'
    ```
    """

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
        return self._said([f"  {place}"] if place else [])

    def _said(self, place: Sequence[str]) -> str:
        """The message, the lines that say where, and the advice."""
        lines = (f"error[{self.code}]: {self.message}", *place, *(f"  {line}" for line in self.advice))
        return "\n".join(_shortened(line) for line in "\n".join(lines).split("\n"))


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
        lines = text.split("\n", self.span.line)
        line = lines[self.span.line - 1] if self.span.line <= len(lines) else ""
        quoted, mark = _quoted(line, self.span)
        gutter = " " * len(str(self.span.line))
        return self._said(
            [
                f"  {file}:{self.span.line}:{self.span.column}",
                f"    {self.span.line} | {quoted}",
                f"    {gutter} | {mark}",
            ]
        )


class QueriesRefused(HeadwaterError):  # noqa: N818 - said as a person would
    """Every error found in one text, in the order of the text; `unfinished`: there were so many that reading stopped."""

    def __init__(
        self, errors: Sequence[QueryError], text: str, file: str = "query", *, unfinished: bool = False
    ) -> None:
        super().__init__("queries-refused", f"{len(errors)} error{'s' * (len(errors) != 1)} in {file}")
        self.errors = tuple(errors)
        self.text = text
        self.file = file
        self.unfinished = unfinished

    def __str__(self) -> str:
        shown = [error.show(self.text, self.file) for error in self.errors[:MOST_SHOWN]]
        if more := len(self.errors) - len(shown):
            at_least = "at least " if self.unfinished else ""
            shown.append(f"and {at_least}{more} more error{'s' * (more != 1)} in {self.file}")
        return "\n\n".join(shown)


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
    """An invalid message from another node: log it, drop it, continue."""


class HostError(HeadwaterError):
    """Spark, a broker or the file system has failed; the cause is chained."""


class LimitReached(HeadwaterError):  # noqa: N818
    """A bound with a name was reached."""

    def __init__(self, bound: str, value: int, message: str, *, advice: Sequence[str] = ()) -> None:
        super().__init__("limit-reached", message, advice=advice)
        self.bound = bound
        self.value = value


def _quoted(line: str, span: Span) -> tuple[str, str]:
    """What is shown of a line around a place in it, and the mark that stands under the words."""
    start = max(0, min(span.column - 1 - MOST_QUOTED // 2, len(line) - MOST_QUOTED))
    piece = line[start : start + MOST_QUOTED]
    column = span.column - 1 - start
    mark = " " * column + "^" * max(1, min(span.length, len(piece) - column))
    before = _LEFT_OUT if start else ""
    after = _LEFT_OUT if start + MOST_QUOTED < len(line) else ""
    return f"{before}{piece.translate(_NO_CONTROL)}{after}", " " * len(before) + mark


def _shortened(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    half = (LONGEST_LINE - len(_LEFT_OUT)) // 2
    return f"{line[:half]}{_LEFT_OUT}{line[-half:]}"
