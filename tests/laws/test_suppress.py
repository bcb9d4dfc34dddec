"""SUPPRESS against its oracle and the laws of every kernel, and what it promises to whoever receives its updates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from headwater.kernels.suppress.question import SuppressQuery
from headwater.model import BEGINNING, END, SECOND
from tests.laws import kernel_laws
from tests.laws.draws import bounded
from tests.laws.kernel_laws import LAWS, Row, run, without_ids
from tests.laws.suppress_worlds import ROW_CONDITIONS, SuppressWorld, long_worlds, worlds


def equals_the_oracle(world: SuppressWorld) -> None:
    """Law 1, slopes up to rounding."""
    done = run(world, [END])
    assert_alike(without_ids(done.emitted), world.oracle(BEGINNING))
    assert done.counts == world.oracle_counts()


def new_queries_see_what_comes(world: SuppressWorld) -> None:
    """Law 4 with other queries, slopes up to rounding."""
    for change in world.watermarks:
        _, after = kernel_laws._changed_at(world, change)
        fresh = world.oracle(change, after_change=True)
        new = {name for name in world.changed if name not in world.queries or name in world.replaced}
        emitted = {name: rows for name, rows in without_ids(after).items() if name in new}
        assert_alike(emitted, {name: fresh[name] for name in new})


EXACT_LAWS = {law.__name__: law for law in LAWS}
ALL_LAWS = list(
    {
        **EXACT_LAWS,
        "equals_the_oracle": equals_the_oracle,
        "new_queries_see_what_comes": new_queries_see_what_comes,
    }.values()
)


def assert_alike(emitted: dict[str, list[Row]], expected: dict[str, list[Row]]) -> None:
    """Equal, numbers up to 1e-9 of their size."""
    assert emitted.keys() == expected.keys()
    for name, rows in emitted.items():
        assert len(rows) == len(expected[name])
        for row, other in zip(rows, expected[name], strict=True):
            assert list(row) == list(other)
            for column, value in row.items():
                assert _alike(value, other[column]), (column, row, other)


def _alike(value: Any, other: Any) -> bool:
    if isinstance(value, float):
        return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(value == other)


@pytest.mark.parametrize("law", ALL_LAWS, ids=lambda law: law.__name__)
@bounded(150)
@given(world=worlds())
def test_suppress_keeps_the_law(law, world: SuppressWorld):
    law(world)


@pytest.mark.parametrize("law", ALL_LAWS, ids=lambda law: law.__name__)
@bounded(12)
@given(world=long_worlds())
def test_suppress_keeps_the_law_over_many_rows(law, world: SuppressWorld):
    law(world)


@bounded(150)
@given(world=worlds())
def test_whoever_knows_the_updates_knows_every_sample_up_to_the_tolerance(world: SuppressWorld):
    emitted = run(world, [*world.watermarks, END]).emitted
    for query in world.before:
        by_key: dict[Any, list[Row]] = {}
        for update in emitted[query.name]:
            by_key.setdefault(_key(world, update), []).append(update)
        for key, samples in _samples(world, query).items():
            _assert_known(query, samples, by_key[key])


def _assert_known(query: SuppressQuery, samples: Sequence[Row], updates: Sequence[Row]) -> None:
    """Walk along a sensor's samples with what a receiver has got by then."""
    waiting, line = list(updates), None
    for sample in samples:
        values = [float(sample[name]) for name in query.dimensions]
        sent = bool(waiting) and waiting[0]["event_time"] == sample["at"]
        if sent and [waiting[0][name] for name in query.dimensions] == values:
            line = waiting.pop(0)
            continue
        assert line is not None
        after = (sample["at"] - line["event_time"]) / SECOND
        assert after < line["heartbeat"]
        predicted = [line[name] + line[f"{name}_slope"] * after for name in query.dimensions]
        assert math.dist(values, predicted) <= line["tolerance"] * (1 + 1e-12)
    assert not waiting


def _key(world: SuppressWorld, row: Row) -> Any:
    return row[world.schema.key] if world.schema.key else None


def _samples(world: SuppressWorld, query: SuppressQuery) -> dict[Any, list[Row]]:
    """The samples of a query by key."""
    found: dict[Any, list[Row]] = {}
    needed = (world.schema.key, *query.dimensions) if world.schema.key else query.dimensions
    for row in world.listed:
        expected = query.where is None or ROW_CONDITIONS[query.where](row)
        if expected and all(row[name] is not None for name in needed):
            found.setdefault(_key(world, row), []).append(row)
    return found


@bounded(60)
@given(world=worlds())
def test_every_query_answers_as_it_does_alone(world: SuppressWorld):
    together = run(world, [END]).emitted
    for query in world.before:
        kernel = type(world.kernel())(world.schema, [query], world.kernel().conditions)
        assert run(world, [END], kernel=kernel).emitted[query.name] == together[query.name]
