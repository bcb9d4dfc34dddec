"""One row of a table of answers: `row.station`, `row["station"]`, `dict(row)`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa


class AnswerRow(Mapping[str, Any]):
    """The values of a row by their columns. A column named like a method (`keys`, `items`, …) is reached as `row["keys"]`."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self._names = names
        self._values = values

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __getattr__(self, name: str) -> Any:
        if name in AnswerRow.__slots__ or name not in self._names:
            raise AttributeError(
                f"the row has no column '{name}'; its columns: {', '.join(self._names)}"
                if not name.startswith("_")
                else name
            )
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        cells = (f"{name}={value!r}" for name, value in zip(self._names, self._values, strict=True))
        return f"AnswerRow({', '.join(cells)})"


def rows_of(table: pa.Table) -> Iterator[AnswerRow]:
    """The rows of a table, some thousands at a time as Python values."""
    names = tuple(table.schema.names)
    for batch in table.to_batches(max_chunksize=8192):
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield AnswerRow(names, values)
