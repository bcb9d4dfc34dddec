"""The WHERE conditions of the queries of one kernel, each once; and the zone in which the partition of a row lives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwater.model import RowCondition, Rows
from headwater.model.identity import content_hash
from headwater.query.expressions import condition
from headwater.query.language.tree import Expression


def zone_of_rows(rows: Rows, columns: Sequence[str], zones: int) -> NDArray[np.int64]:
    """The zone in which each row's partition lives: the same in every process."""
    hashes = content_hash([rows[column] for column in columns])[0]
    return (hashes % np.uint64(zones)).astype(np.int64)


class RowConditions:
    """The different WHERE conditions of some queries, each once."""

    def __init__(self) -> None:
        self.listed: list[RowCondition] = []
        self._places: dict[str, int] = {}

    def place(
        self, where: Expression | None, spread: tuple[str, ...] = (), home: tuple[int, int] | None = None
    ) -> int | None:
        """The place of a condition in the list; None if there is none."""
        if not spread:
            home = None
        if where is None and home is None:
            return None
        # By its written form: as values, 1, 1.0 and TRUE would be equal.
        place = self._places.setdefault(repr((where, home and spread)), len(self.listed))
        if place == len(self.listed):
            self.listed.append(condition(where) if home is None and where else _at_home(where, spread, home))
        return place


def _at_home(where: Expression | None, spread: tuple[str, ...], home: tuple[int, int] | None) -> RowCondition:
    """The rows for which a condition holds and whose partition lives in a zone."""
    assert home is not None
    zone, zones = home
    holds = condition(where) if where else None

    def selected(rows: Rows) -> NDArray[np.bool_]:
        here = zone_of_rows(rows, spread, zones) == zone
        return here & holds(rows) if holds else here

    return selected
