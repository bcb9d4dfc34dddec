"""PREDICT over streams: updates that come late but not too late, and hundreds of sensors whose numbers are not round.

Here answers wait for the watermark while updates arrive in any order that LATE allows, through the plain loop and its files; and the
grid has cells enough to be wrong about, which small worlds do not.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from headwater.kernels.predict.choices import Certainty, Comparator, GiveUp
from headwater.kernels.predict.kernel import PredictKernel
from headwater.kernels.predict.question import Alias, Difference, Distance, PredictQuery
from headwater.model import BEGINNING, END, SECOND, Column, Rows, format_instant, order_of
from tests.golden import hosts
from tests.golden.case import read_case
from tests.laws.kernel_laws import Row, restored
from tests.laws.predict_worlds import ONE

LATE_S = 6
QUERIES = {
    "low": "v < 1",
    "surely": "v < 1 MUST VALIDATED EVERY 2 SECONDS",
    "near": "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 2 SECONDS",
    "apart": "PAIRS a, b WHERE ABS(a.v - b.v) > 1 WITHIN 1 SECONDS MAY VALIDATED EVERY 3 SECONDS",
    "chain": "PAIRS a, b, c WHERE ABS(a.v - b.v) <= 1 AND ABS(b.v - c.v) <= 1 WITHIN 0 SECONDS",
    "likely": "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 2 SECONDS PROBABILITY >= 0.6",
    "maybe": "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 2 SECONDS TENTATIVE",
    "soon": "v < 1 TENTATIVE AHEAD 2 SECONDS",
    "stored": "PAIRS a, b WHERE ABS(a.v - b.v) <= 1 WITHIN 2 SECONDS BUFFER 4",
}


@pytest.mark.parametrize("seed", range(6))
def test_what_is_validated_is_never_taken_back_whatever_comes_late(seed: int, tmp_path: Path):
    """Arrivals shuffled within LATE and cut into files anywhere: what was told, all told, is what it is in order."""
    random = Random(seed)
    updates = _updates(random)
    in_order = hosts.run_on_local(_case([updates], tmp_path), _folder(tmp_path, "bounded"))
    for turn in range(3):
        late = sorted(updates, key=lambda update: update[0] + random.random() * LATE_S)
        files = _cut(late, random)
        emitted = hosts.follow_on_local(_case(files, tmp_path), _folder(tmp_path, f"followed-{turn}"))
        assert not any(emitted.late.values())
        for name in QUERIES:
            assert _plain(emitted.answers.get(name, ())) == _plain(in_order.answers.get(name, ())), name
    assert in_order.answers["near"] and in_order.answers["low"] and in_order.answers["maybe"]


def _updates(random: Random) -> list[tuple[float, str]]:
    """Time and line of a file, by time."""
    drawn = []
    for _ in range(30):
        at = random.randrange(0, 60) / 2
        sensor, value, slope = (
            random.choice("pqrst"),
            random.randrange(-3, 6) / 2,
            random.randrange(-2, 3) / 2,
        )
        tolerance, heartbeat = random.choice([0, 0.5]), random.choice([2, 5, 12])
        when = format_instant(round(at * SECOND) + 1_767_225_600 * SECOND)
        drawn.append((at, f"{sensor},{when},{value},{slope},{tolerance},{heartbeat}"))
    return sorted(drawn)


def _cut(updates: Sequence[tuple[float, str]], random: Random) -> list[list[tuple[float, str]]]:
    cuts = [0, *sorted(random.sample(range(1, len(updates)), 6)), len(updates)]
    return [list(updates[start:stop]) for start, stop in itertools.pairwise(cuts)]


def _case(files: Sequence[Sequence[tuple[float, str]]], folder: Path):
    header = "s,at,v,v_slope,tolerance,heartbeat"
    columns = "s STRING KEY, at TIMESTAMP TIME, v DOUBLE, v_slope DOUBLE, tolerance DOUBLE, heartbeat DOUBLE"
    parts = ["Updates that come late.", "", "== queries"]
    parts.append(f"CREATE STREAM u ({columns}) LATE {LATE_S} SECONDS;")
    parts += [f"CREATE QUERY {name} AS SELECT * FROM u PREDICT ({text});" for name, text in QUERIES.items()]
    for file in files:
        parts += ["", "== rows u", header, *(line for _, line in file)]
    return read_case(folder / "late.golden", "\n".join(parts) + "\n")


def _folder(parent: Path, name: str) -> Path:
    made = parent / name
    made.mkdir()
    return made


def _plain(rows: Sequence[Row]) -> list[str]:
    return sorted(map(repr, rows))


# --- many sensors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tentative", [False, True])
@pytest.mark.parametrize("certainty", [Certainty.LINE, Certainty.MAY, Certainty.PROBABILITY])
def test_many_sensors_by_grid_and_by_trying_all(certainty: Certainty, tentative: bool):
    """An index, zones, splits and a trip through bytes: all the same answers, over numbers that are not round."""
    rows = _crowd(400, Random(5))
    query = _query(certainty, tentative)
    whole = _emitted(rows, [query], steps=1)
    assert len(whole) > 50
    assert _emitted(rows, [query], steps=1, index=False) == whole
    assert _emitted(rows, [query], steps=7, save=True) == whole
    shared = [_emitted(rows, [replace(query, share=(zone, 3))], steps=2) for zone in range(3)]
    assert sorted(itertools.chain.from_iterable(shared)) == whole


def test_many_sensors_by_distance():
    rows = _crowd(400, Random(6))
    query = replace(_query(Certainty.LINE, False), conditions=(Distance(0, 1, False, 25.0),))
    whole = _emitted(rows, [query], steps=1)
    assert len(whole) > 50
    assert _emitted(rows, [query], steps=1, index=False) == whole
    assert _emitted(rows, [query], steps=5, save=True) == whole


def _query(certainty: Certainty, tentative: bool) -> PredictQuery:
    aliases = tuple(
        Alias(name, None, ("x", "y"), ("x_slope", "y_slope"), "tolerance", "heartbeat") for name in "ab"
    )
    near = tuple(Difference(0, d, 1, d, Comparator.LESS_EQUAL, 20.0) for d in (0, 1))
    return PredictQuery(
        name="near",
        fingerprint="near",
        shape=0,
        where=None,
        aliases=aliases,
        conditions=near,
        within_us=3 * SECOND,
        certainty=certainty,
        p=0.5 if certainty is Certainty.PROBABILITY else 0.0,
        tentative=tentative,
        ahead_us=None,
        every_us=None,
        buffer=None,
        give_up=GiveUp.LEAST,
        seed=0,
        polygon=False,
        share=None,
    )


def _crowd(count: int, random: Random) -> Rows:
    """Objects in a square of a kilometre or so that turn now and then, for a minute."""
    listed = [
        {
            "sensor": f"s{random.randrange(80)}",
            "at": random.randrange(60 * SECOND),
            "x": random.uniform(-400, 400),
            "x_slope": random.uniform(-20, 20),
            "y": random.uniform(-400, 400),
            "y_slope": random.uniform(-20, 20),
            "tolerance": random.choice([0.0, 1.0, 5.0]),
            "heartbeat": random.uniform(1, 30),
            "kind": 1,
        }
        for _ in range(count)
    ]
    rows = Rows.of({name: Column.of(kind, [row[name] for row in listed]) for name, kind in ONE.columns})
    return rows.take(order_of(rows, ONE.order))


def _emitted(
    rows: Rows, queries: Sequence[PredictQuery], *, steps: int, index: bool = True, save: bool = False
) -> list[str]:
    """All rows told, as text, in some order."""
    kernel = PredictKernel(ONE, queries, index=index)
    state, emitted = kernel.start(BEGINNING), []
    at = rows["at"].values
    ends = [*(60 * SECOND * step // steps for step in range(1, steps)), END]
    start = BEGINNING
    for end in ends:
        step = kernel.step(state, rows.take((at >= start) & (at < end)), end)
        emitted += [repr(row) for block in step.answers for row in block.rows.tolist()]
        state, start = restored(kernel, step.state) if save else step.state, end
    return sorted(emitted)
