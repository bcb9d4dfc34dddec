"""PREDICT over several lines, with every key in a record of its own: a step that opens few keys tells what one that looks at all does.

Small worlds keep nearly all keys opened, since most of them are needed. Here they are always closed, and worlds are wide: groups of keys
that are near one another and far from other groups, many steps, and few rows in each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from headwater.kernels.predict import by_place
from headwater.kernels.predict.kernel import PredictKernel, PredictState
from headwater.kernels.predict.neighbours import has_neighbours
from headwater.kernels.predict.pair_records import PairRecords
from headwater.kernels.predict.question import PredictQuery
from headwater.model import (
    BEGINNING,
    END,
    Column,
    ColumnType,
    Rows,
    StreamSchema,
    encode,
    order_of,
    strings,
)
from headwater.model.keyed_store import Run
from tests.laws.draws import bounded
from tests.laws.kernel_laws import LAWS, restored, run
from tests.laws.predict_worlds import (
    CONDITIONS,
    HALF,
    NUMBERED,
    ONE,
    TWO,
    PredictWorld,
    agree,
    make_query,
    make_rows,
    worlds,
)
from tests.laws.test_predict import BY_THE_ORACLE

PAIRS = ("pair", "planes", "distance", "three", "odds")
EMISSIONS = ("validated", "every", "tentative", "ahead")
GROUPS = 20
SEEDS = int(os.environ.get("HEADWATER_SOAK_PAIRS", "0")) or 1
BETWEEN = 100.0
"""How far apart groups are."""


@pytest.fixture
def always_in_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_place, "_MOST", 0)
    monkeypatch.setattr(by_place, "_FEW", 0)


@pytest.mark.parametrize(
    "law", [law for law in LAWS if law not in BY_THE_ORACLE], ids=lambda law: law.__name__
)
@bounded(8)
@given(data=st.data())
def test_keys_in_records_keep_the_law(always_in_records, law, data: st.DataObject):
    law(data.draw(worlds(data.draw(st.sampled_from(PAIRS)))))


@pytest.mark.parametrize("kind", PAIRS)
@bounded(8)
@given(data=st.data())
def test_keys_in_records_emit_what_the_oracle_emits(always_in_records, kind: str, data: st.DataObject):
    world: PredictWorld = data.draw(worlds(kind))
    done = run(world, [*world.watermarks, END])
    for query in world.before:
        agree(done.emitted[query.name], world.emitted(query), query)
    assert done.counts == world.oracle_counts()


@pytest.mark.soak
@pytest.mark.parametrize("is_always", [False, True], ids=["as needed", "always"])
@pytest.mark.parametrize("emission", EMISSIONS)
@pytest.mark.parametrize("kind", PAIRS)
def test_a_step_that_opens_few_keys_emits_what_one_with_all_does(
    request: pytest.FixtureRequest, kind: str, emission: str, is_always: bool
):
    """In one step without any index, and in twenty small ones; these are saved and restored, or shared by zones."""
    if is_always:
        request.getfixturevalue("always_in_records")
    worlds_left = SEEDS
    for seed in range(20 * SEEDS):
        random = Random(seed)
        schema = random.choice([ONE, NUMBERED, TWO])
        queries = [bounded_query(schema, f"q{n}", random, kind, emission) for n in range(2)]
        rows = groups_of_keys(schema, random)
        expected = rows_of(schema, queries, rows, steps=1, index=False)
        if len(expected) <= 10:
            continue
        assert rows_of(schema, queries, rows, steps=20, restoring=is_always) == expected
        if not is_always:
            zones = [[replace(query, share=(zone, 2)) for query in queries] for zone in range(2)]
            shared = [row for zone in zones for row in rows_of(schema, zone, rows, steps=20)]
            assert sorted(shared) == expected
        worlds_left -= 1
        if not worlds_left:
            break
    assert not worlds_left


def rows_of(
    schema: StreamSchema,
    queries: Sequence[PredictQuery],
    rows: Rows,
    *,
    steps: int,
    index: bool = True,
    restoring: bool = False,
) -> list[str]:
    """All rows told, as text, in some order."""
    kernel = PredictKernel(schema, queries, CONDITIONS, index=index)
    state, emitted = kernel.start(BEGINNING), []
    at = rows[schema.time].values
    first, last = int(at.min()), int(at.max()) + 1
    start = BEGINNING
    for end in [*(first + (last - first) * step // steps for step in range(1, steps)), last, END]:
        step = kernel.step(state, rows.take((at >= start) & (at < end)), end)
        emitted += [repr(row) for block in step.answers for row in block.rows.tolist()]
        state, start = restored(kernel, step.state) if restoring else step.state, end
    return sorted(emitted)


def bounded_query(schema: StreamSchema, name: str, random: Random, kind: str, emission: str) -> PredictQuery:
    while True:
        query = make_query(schema, name, random, kind, emission)
        if has_neighbours(query):
            return query


def groups_of_keys(schema: StreamSchema, random: Random) -> Rows:
    """Keys of a group have the numbers of the small worlds, far from those of other groups; a group speaks for some seconds, then others do."""
    parts = []
    for group in range(GROUPS):
        rows = make_rows(schema, 8, random)
        moved = {}
        for name, column in rows.columns.items():
            if name == schema.key:
                listed = [
                    None if key is None else f"{key} of {group}" if column.type is ColumnType.STRING else 100 * group + key
                    for key in column.tolist()
                ]  # fmt: skip
                column = Column.of(column.type, listed)
            elif name == schema.time:
                column = Column(column.type, column.values + random.randrange(60) * HALF)
            elif name[-1] in "xy":
                column = Column(column.type, column.values + group * BETWEEN, column.valid)
            elif name.endswith("heartbeat"):
                column = Column(column.type, column.values * random.choice([1.0, 4.0]), column.valid)
            moved[name] = column
        parts.append(Rows.of(moved))
    joined = Rows.of(
        {
            name: Column.of(kind, [value for part in parts for value in part[name].tolist()])
            for name, kind in schema.columns
        }
    )
    return joined.take(order_of(joined, schema.order))


def test_pairs_without_a_bound_look_at_everything():
    """`has_neighbours` says which: each join must bound some difference from above."""
    random, found = Random(1), {True: 0, False: 0}
    for _ in range(200):
        query = make_query(ONE, "q", random, "three", "validated")
        state = PredictKernel(ONE, [query], CONDITIONS).start(BEGINNING)
        found[has_neighbours(query)] += 1
        assert (len(state.whole.queries), len(state.by_place.frame.parts)) == (
            (0, 1) if has_neighbours(query) else (1, 0)
        )
        assert not has_neighbours(replace(query, buffer=5))
    assert min(found.values()) > 20


# --- what a step costs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("emission", EMISSIONS)
@pytest.mark.parametrize("kind", PAIRS)
def test_a_step_opens_and_writes_what_it_touches_however_many_keys_there_are(
    monkeypatch: pytest.MonkeyPatch, kind: str, emission: str
):
    query = replace(bounded_query(ONE, "q", Random(7), kind, emission), where=None)
    few, many = (cost_among(keys, query, monkeypatch) for keys in (300, 3_000))
    assert few[0] == many[0] == 5
    assert many[1] < 1.2 * few[1] + 1_000


def cost_among(keys: int, query: PredictQuery, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many records a step opens in which five keys of so many move, and how many bytes it writes."""
    kernel = PredictKernel(ONE, [query], CONDITIONS)
    state = kernel.step(kernel.start(BEGINNING), standing_rows(np.arange(keys), 0), HALF).state
    state = kernel.step(state, standing_rows(np.arange(0), 0), HALF).state
    known = {(name, run.number) for name, run in runs_of(kernel, state)}
    assert known
    opened = []
    of = PairRecords.opened
    monkeypatch.setattr(PairRecords, "opened", lambda *given: opened.append(len(given[2])) or of(*given))
    after = kernel.step(state, standing_rows(np.arange(0, keys, keys // 5), HALF), 2 * HALF).state
    monkeypatch.undo()
    new = [run.size for name, run in runs_of(kernel, after) if (name, run.number) not in known]
    return sum(opened), sum(new) + len(encode(kernel.save(after).values))


def runs_of(kernel: PredictKernel, state: PredictState) -> list[tuple[str, Run]]:
    return [(name, run) for name, store in kernel.save(state).stores.items() for run in store.runs]


def standing_rows(keys: NDArray[np.int64], at: int) -> Rows:
    """A level line of every key, far from all others, for an hour."""
    numbers = {
        "x": BETWEEN * keys,
        "x_slope": 0.0 * keys,
        "y": BETWEEN * keys,
        "y_slope": 0.0 * keys,
        "tolerance": 0.0 * keys + 0.5,
        "heartbeat": 0.0 * keys + 3600.0,
    }
    return Rows.of(
        {
            "sensor": strings([f"s{key}" for key in keys.tolist()]),
            "at": Column(ColumnType.TIMESTAMP, np.full(len(keys), at)),
            **{name: Column(ColumnType.DOUBLE, values) for name, values in numbers.items()},
            "kind": Column(ColumnType.BIGINT, np.full(len(keys), 2)),
        }
    )
