"""Every error found so far."""

from __future__ import annotations

from headwater.model import QueryError, Span


class EnoughErrors(Exception):  # noqa: N818 - said as a person would
    """More errors than this would not be read."""


class Complaints:
    """Collects errors, so that a person sees all of them at once; at `most` so many, then EnoughErrors is raised."""

    def __init__(self, most: int | None = None) -> None:
        self.errors: list[QueryError] = [] if most is None else _AtMost(most)

    def refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        """Note an error and continue."""
        self.errors.append(QueryError(code, message, span=span, advice=advice))

    def in_order(self) -> list[QueryError]:
        """The errors in the order of the text, each once; those without a place come last."""
        # An operator after several sources is checked for each of them.
        once = {(error.code, error.message, error.span): error for error in reversed(self.errors)}
        different = reversed(once.values())
        return sorted(different, key=lambda error: _position(error.span))


class _AtMost(list[QueryError]):
    """A list that callers append to, until it is full."""

    def __init__(self, most: int) -> None:
        self._most = most

    def append(self, error: QueryError) -> None:
        super().append(error)
        if len(self) >= self._most:
            raise EnoughErrors


def _position(span: Span | None) -> tuple[int, int, int]:
    return (1, 0, 0) if span is None else (0, span.line, span.column)
