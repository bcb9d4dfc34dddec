from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.kernels.select import Selection, SelectKernel, SelectState
from headwater.model import SECOND, Instant, Rows, StreamSchema
from tests.laws.correlate_worlds import CONDITIONS, PLANE, make_rows
from tests.laws.draws import bounded
from tests.laws.kernel_laws import LAWS
from tests.laws.oracles import select as oracle


@dataclass(frozen=True)
class SelectWorld:
    schema: StreamSchema
    rows: Rows
    watermarks: Sequence[Instant]
    before: tuple[Selection, ...]
    after: tuple[Selection, ...]
    seed: int = 0
    holds_back: bool = False
    shares_ids: bool = False

    @property
    def queries(self) -> list[str]:
        return [query.name for query in self.before]

    @property
    def changed(self) -> list[str]:
        return [query.name for query in self.after]

    @property
    def replaced(self) -> list[str]:
        old = {query.name: query for query in self.before}
        return [query.name for query in self.after if query.name in old and query != old[query.name]]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> SelectKernel:
        return SelectKernel(self.schema, self.after if after_change else self.before, CONDITIONS)

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[dict[str, Any]]]:
        rows = [row for row in self.rows.tolist() if row["at"] >= since]
        expected: dict[str, list[dict[str, Any]]] = {name: [] for name in {*self.queries, *self.changed}}
        for query in self.after if after_change else self.before:
            condition = (lambda row: True) if query.where is None else CONDITIONS[query.where].of_row
            expected[query.name] = oracle.answers("at", rows, query.name, condition)
        return expected

    def oracle_counts(self) -> Mapping[str, int]:
        return {}

    def stored(self, state: SelectState) -> int:
        return 0

    def bound(self, watermark: Instant) -> int:
        return 0


@st.composite
def worlds(draw: st.DrawFn) -> SelectWorld:
    def query(name: str) -> Selection:
        drawn = Selection(name, "", draw(st.integers(0, 1)), draw(st.sampled_from([None, 0, 1])))
        return replace(drawn, fingerprint=repr(drawn))

    before = tuple(query(f"q{n}") for n in range(draw(st.integers(1, 3))))
    after = (*(old if draw(st.booleans()) else query(old.name) for old in before), query("new"))
    rows = make_rows(PLANE, draw(st.lists(st.integers(0, 1 << 32), min_size=1, max_size=8)))
    watermarks = sorted(set(draw(st.lists(st.integers(1, 8), max_size=3))))
    return SelectWorld(PLANE, rows, [w * SECOND for w in watermarks], before, after)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@bounded(60)
@given(world=worlds())
def test_select_keeps_the_law(law, world: SelectWorld):
    law(world)
