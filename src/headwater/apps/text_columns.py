"""Numbers in columns, for people."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(cells: Sequence[Sequence[str]], *, words: int = 1) -> list[str]:
    """Lines of equal columns: the first `words` columns begin, and the others end, under one another."""
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(
            f"{cell:<{width}}" if column < words else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
