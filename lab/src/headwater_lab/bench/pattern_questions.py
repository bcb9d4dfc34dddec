"""The patterns of the benchmark, in our language and in Flink's, so that both mean the same to the last match.

What makes them mean the same:
- B and C exclude one another. Flink's greedy loop takes a row that satisfies B and never comes back to try it as C.
- All starts that are open end at one row, the first that is no B, so that skipping past the last row of a match drops the
  same attempts whenever it is done.
- Our WITHIN 6 SECONDS is `<=`, Flink's `<`: times are whole milliseconds, and it gets 6.001.
- Flink has no PREV. In a pattern without gaps, the row before a B is the B before it, or A; that before C is the last B.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from headwater_lab.bench.pattern_events import STREAM

WITHIN_S: Final = 6
PATTERNS_AT_ONCE: Final = 100

_OURS = """CREATE QUERY {name} AS SELECT * FROM events MATCH_RECOGNIZE (
  PARTITION BY sensor ORDER BY at
  MEASURES FIRST(A.at) AS began, LAST(C.at) AS ended, COUNT(B.*) AS steps
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C) WITHIN {within_s} SECONDS
  DEFINE {define}
);"""

# COUNT(B.value): no value is NULL, and Flink has no COUNT(B.*).
_FLINKS = """SELECT sensor, began, ended, steps FROM {table} MATCH_RECOGNIZE (
  PARTITION BY sensor ORDER BY ts
  MEASURES FIRST(A.at_ms) AS began, LAST(C.at_ms) AS ended, COUNT(B.`value`) AS steps
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+ C) WITHIN INTERVAL '{within_s}.001' SECOND
  DEFINE {define}
)"""


@dataclass(frozen=True, slots=True)
class Bands:
    """A low value, values in between, a high one: A below `low`, B from `floor` to below `ceiling`, C from `high` on."""

    name: str
    low: float
    floor: float
    ceiling: float
    high: float

    def __post_init__(self) -> None:
        assert self.low <= self.floor < self.ceiling <= self.high, "A, B and C exclude one another"

    def text(self) -> str:
        """The query in our language."""
        return _OURS.format(name=self.name, within_s=WITHIN_S, define=self._define("value"))

    def flink(self, table: str) -> str:
        """The query in Flink's."""
        return _FLINKS.format(table=table, within_s=WITHIN_S, define=self._define("`value`"))

    def _define(self, value: str) -> str:
        return (
            f"A AS A.{value} < {self.low!r}, "
            f"B AS B.{value} >= {self.floor!r} AND B.{value} < {self.ceiling!r}, "
            f"C AS C.{value} >= {self.high!r}"
        )


@dataclass(frozen=True, slots=True)
class Rise:
    """A value below `low`, a rise that stays within `leap` of its own average, a fall of more than `drop` below that."""

    name: str
    low: float
    leap: float
    drop: float

    def text(self) -> str:
        """The query in our language."""
        define = (
            f"A AS A.value < {self.low!r}, "
            f"B AS B.value > PREV(B.value) AND B.value < AVG(B.value) + {self.leap!r}, "
            f"C AS C.value < PREV(C.value) AND C.value < AVG(B.value) - {self.drop!r}"
        )
        return _OURS.format(name=self.name, within_s=WITHIN_S, define=define)

    def flink(self, table: str) -> str:
        """The query in Flink's."""
        define = (
            f"A AS A.`value` < {self.low!r}, "
            f"B AS ((LAST(B.`value`, 1) IS NULL AND B.`value` > A.`value`) OR B.`value` > LAST(B.`value`, 1)) "
            f"AND B.`value` < AVG(B.`value`) + {self.leap!r}, "
            f"C AS C.`value` < LAST(B.`value`) AND C.`value` < AVG(B.`value`) - {self.drop!r}"
        )
        return _FLINKS.format(table=table, within_s=WITHIN_S, define=define)


PatternQuestion = Bands | Rise

BANDS: Final = Bands("bands", low=10.0, floor=20.0, ceiling=80.0, high=90.0)
RISE: Final = Rise("rise", low=12.0, leap=20.0, drop=50.0)


def script(questions: Sequence[PatternQuestion]) -> str:
    """The stream and all queries as one text."""
    return STREAM + "\n".join(question.text() for question in questions)


def many_bands(count: int = PATTERNS_AT_ONCE, *, seed: int) -> list[Bands]:
    """So many patterns of the first kind, no two with a threshold in common.

    Their A and C are rarer than those of BANDS: all of them together give a few times its answers, so that what is measured
    is the search and not the telling.
    """
    random = np.random.default_rng(seed)
    low, high, floor, ceiling = (random.permutation(count) / count for _ in range(4))
    return [
        Bands(
            f"bands{number:03d}",
            low=round(1.0 + 2.0 * float(low[number]), 6),
            floor=round(15.0 + 10.0 * float(floor[number]), 6),
            ceiling=round(75.0 + 10.0 * float(ceiling[number]), 6),
            high=round(97.0 + 2.0 * float(high[number]), 6),
        )
        for number in range(count)
    ]
