from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.kernels.pattern import PatternKernel
from headwater.kernels.pattern.kernel import PatternState
from headwater.model import SECOND, Instant, QueriesRefused, Rows, StreamSchema
from headwater.query.build import script, stream
from headwater.query.plan import compile_script
from headwater.query.tree import CreateQuery, MatchRecognize, Select
from tests.laws.kernel_laws import LAWS
from tests.laws.oracles import pattern as oracle
from tests.laws.pattern_worlds import (
    SCHEMA,
    as_rows,
    event_patterns,
    node_patterns,
    preferred_patterns,
    row_lists,
)

Asked = tuple[str, MatchRecognize]

STREAM = stream(
    SCHEMA.name,
    {name: kind.value for name, kind in SCHEMA.columns},
    time=SCHEMA.time,
    key=SCHEMA.key,
)


@dataclass(frozen=True)
class PatternWorld:
    """Patterns over rows, and others that take their place."""

    listed: Sequence[dict[str, Any]]
    watermarks: Sequence[Instant]
    before: tuple[Asked, ...]
    after: tuple[Asked, ...]
    seed: int
    schema: StreamSchema = SCHEMA
    holds_back: bool = True
    shares_ids: bool = True

    @property
    def rows(self) -> Rows:
        return as_rows(self.listed)

    @property
    def queries(self) -> list[str]:
        return [name for name, _ in self.before]

    @property
    def changed(self) -> list[str]:
        return [name for name, _ in self.after]

    @property
    def replaced(self) -> list[str]:
        old = dict(self.before)
        return [name for name, operator in self.after if name in old and operator != old[name]]

    def kernel(self, *, after_change: bool = False, fast: bool = True) -> PatternKernel:
        asked = self.after if after_change else self.before
        queries = [CreateQuery(name, Select(None, SCHEMA.name, None, operator)) for name, operator in asked]
        plan = compile_script(script(STREAM, *queries))
        (group,) = plan.groups(0)
        assert isinstance(group.kernel, PatternKernel)
        return group.kernel if fast else group.kernel.without_shortcuts()

    def oracle(self, since: Instant, *, after_change: bool = False) -> dict[str, list[dict[str, Any]]]:
        told: dict[str, list[dict[str, Any]]] = {name: [] for name in {*self.queries, *self.changed}}
        rows = [row for row in self.listed if row["at"] >= since]
        for name, operator in self.after if after_change else self.before:
            told[name] = [{"query": name, **answer} for answer in oracle.answers(operator, SCHEMA, rows)]
        return told

    def oracle_counts(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter()
        for _, operator in self.before:
            counted.update(oracle.counts(operator, SCHEMA, self.listed))
        return {name: count for name, count in counted.items() if count}

    def kept(self, state: PatternState) -> int:
        return sum(lane.state.rows.count for lane in state.lanes if lane.state.rows is not None)

    def bound(self, watermark: Instant) -> int:
        times = np.sort(self.rows[SCHEMA.time].values)
        seen = int(np.searchsorted(times, watermark))
        asked = [operator for _, operator in self.before]
        return seen * len(asked)


def _is_accepted(operator: MatchRecognize) -> bool:
    """Not every pattern has a variable other than its first to skip to."""
    try:
        compile_script(script(STREAM, CreateQuery("q", Select(None, SCHEMA.name, None, operator))))
    except QueriesRefused as refusal:
        assert {error.code for error in refusal.errors} == {"skip-to-start"}
        return False
    return True


@st.composite
def worlds(draw: st.DrawFn, patterns: st.SearchStrategy[MatchRecognize], most: int) -> PatternWorld:
    patterns = patterns.filter(_is_accepted)
    before = tuple((f"q{n}", draw(patterns)) for n in range(draw(st.integers(1, 2))))
    after = (
        *(old if draw(st.booleans()) else (old[0], draw(patterns)) for old in before),
        ("new", draw(patterns)),
    )
    rows = draw(row_lists(1, most))
    watermarks = sorted(set(draw(st.lists(st.integers(1, 14), max_size=3))))
    return PatternWorld(rows, [w * SECOND for w in watermarks], before, after, draw(st.integers(0, 99)))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(world=worlds(preferred_patterns(), 9))
def test_row_patterns_keep_the_law(law, world: PatternWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(world=worlds(event_patterns(), 7))
def test_event_patterns_keep_the_law(law, world: PatternWorld):
    law(world)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(world=worlds(node_patterns(), 9))
def test_node_modes_keep_the_law(law, world: PatternWorld):
    law(world)
