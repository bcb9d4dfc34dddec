"""Shapes in a week of recorded trades: Spark streaming, Spark in a batch and the plain loop find the same ones.

All five days, nothing thinned. The recordings are not part of the project: without them these tests are skipped.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from headwater.apps.examples.programs.draw_a_w import TRADES
from headwater.hosts.files import json_lines
from headwater.hosts.files.arrow import rows_to_arrow
from headwater.hosts.local import run_local
from headwater.model import SECOND, Rows, format_instant, join_rows, parse_instant
from headwater.query.planning.plan import compile_text
from headwater_lab.workloads.trades import TRADES_TEXT, read_trades
from tests.spark.test_runs import bounded, followed

RECORDED = Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[3] / "shared" / "data")) / "ibm-ticks"

Numbers = NDArray[np.int64]
Prices = NDArray[np.float64]

pytestmark = pytest.mark.skipif(
    not list(RECORDED.glob("*_trade.zip")), reason=f"the recorded trades are not there: {RECORDED}"
)

# What a person would ask of single trades, which jump to and fro by a few cents: legs of so many cents, noise passed over.
# Only regular trades (the flag '1'), without sweeps, odd lots, and what was reported late or outside the hours.
V_SHAPE = """
CREATE QUERY v_shape AS
  SELECT symbol, top, low, back FROM trades WHERE condition = '1' MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY at, number
    MEASURES top.number AS top, low.number AS low, back.number AS back
    PATTERN (top ~> low ~> back) WITHIN 5 MINUTES
    DEFINE top AS price > PREV(price) AND price > NEXT(price), low AS price <= top.price - 0.30, back AS price >= top.price
  );
"""
W_SHAPE = """
CREATE QUERY w_shape AS
  SELECT symbol, left, low, middle, again, right FROM trades WHERE condition = '1' MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY at, number
    MEASURES left.number AS left, low.number AS low, middle.number AS middle, again.number AS again, right.number AS right
    PATTERN (left ~> low ~> middle ~> again ~> NOT deeper ~> right) WITHIN 10 MINUTES
    DEFINE
      left AS price > PREV(price) AND price > NEXT(price),
      low AS price <= left.price - 0.25,
      middle AS price >= low.price + 0.15,
      again AS price <= low.price + 0.03,
      deeper AS price < low.price - 0.05,
      right AS price >= left.price
  );
"""
# Trade by trade, without a word about cents: the shapes of the textbooks, and runs at each exchange by itself.
W_OF_TRADES = """
CREATE QUERY w_of_trades AS
  SELECT symbol, trades, before, behind FROM trades WHERE condition = '1' MATCH_RECOGNIZE (
    PARTITION BY symbol ORDER BY at, number
    MEASURES COUNT(*) AS trades, start.price AS before, LAST(rise.price) AS behind
    AFTER MATCH SKIP TO LAST rise
    PATTERN (start fall{2,} rise{2,} fall{2,} rise{2,}) WITHIN 1 MINUTE
    DEFINE fall AS price < PREV(price), rise AS price > PREV(price)
  );
"""
RISING = """
CREATE QUERY rising AS
  SELECT symbol, exchange, trades, rose FROM trades WHERE condition = '1' MATCH_RECOGNIZE (
    PARTITION BY symbol, exchange ORDER BY at, number
    MEASURES COUNT(*) AS trades, LAST(up.price) - low.price AS rose
    PATTERN (low up{5,}) WITHIN 10 MINUTES
    DEFINE up AS price > PREV(price)
  );
"""
SHAPES = TRADES_TEXT + V_SHAPE + W_SHAPE + W_OF_TRADES + RISING

LEGS = ("left", "low", "middle", "again", "right")
FILE_ROWS = 13_000  # ten files or so: some end in the middle of a shape


@pytest.fixture(scope="module")
def week() -> Rows:
    return join_rows([read_trades(path) for path in sorted(RECORDED.glob("*_trade.zip"))])


@pytest.fixture(scope="module")
def folder(week: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trades")
    for number, first in enumerate(range(0, week.count, FILE_ROWS)):
        part = week.take(slice(first, first + FILE_ROWS))
        pq.write_table(rows_to_arrow(part), folder / f"{number:03d}.parquet")
    return folder


@pytest.fixture(scope="module")
def local(folder: Path) -> list[dict[str, object]]:
    """What the plain loop answers."""
    outputs = list(run_local(compile_text(SHAPES), {"trades": [str(folder)]}))
    return [
        json.loads(line) for part in outputs for rows in part.answers for line in json_lines(rows).to_pylist()
    ]


def test_streaming_a_batch_and_the_plain_loop_find_the_same_shapes(spark, folder, local, tmp_path) -> None:
    inputs = {"trades": [str(folder)]}
    batch = bounded(spark, SHAPES, inputs)
    stream = followed(spark, SHAPES, inputs, tmp_path / "checkpoint", ends=True)
    assert {kind for kind, *_ in batch} == {"answer"}
    assert stream == batch
    found = {(answer["query"], answer["match_id"]) for answer in local}
    assert {(name, match_id) for _, name, match_id, _ in batch} == found
    assert len(found) == len(batch) == len(local)
    counts = Counter(name for name, _ in found)
    assert min(counts[name] for name in ("v_shape", "w_shape", "w_of_trades", "rising")) > 0, counts


def test_every_w_is_one_by_its_definition_and_none_is_missed(week, local) -> None:
    regular = week.take(np.array(week["condition"].tolist()) == "1")
    at, number, price = (regular[name].values for name in ("at", "number", "price"))
    expected, start = [], 1
    while start < len(price) - 1:
        legs = legs_of_w(at, price, start)
        if legs:
            expected.append((int(at[legs[-1]]), [int(number[leg]) for leg in legs]))
        start = legs[-1] + 1 if legs else start + 1
    found = [
        (parse_instant(str(answer["event_time"])), [answer[name] for name in LEGS])
        for answer in local
        if answer["query"] == "w_shape"
    ]
    assert found == expected
    assert len(found) == 31, "the page on shapes in prices says how many there are"


def legs_of_w(at: Numbers, price: Prices, left: int) -> list[int]:
    """The places of the five trades of the W that begins at a trade, none if there is no W; in words in W_SHAPE."""
    if not price[left - 1] < price[left] > price[left + 1]:
        return []
    stop = int(np.searchsorted(at, at[left] + 600 * SECOND, "right"))

    def first(behind: int, fits: Callable[[Prices], NDArray[np.bool_]]) -> int:
        places = np.flatnonzero(fits(price[behind + 1 : stop]))
        return behind + 1 + int(places[0]) if len(places) else stop

    low = first(left, lambda p: p <= price[left] - 0.25)
    if low == stop:
        return []
    middle = first(low, lambda p: p >= price[low] + 0.15)
    again = first(middle, lambda p: p <= price[low] + 0.03)
    right = first(again, lambda p: p >= price[left])
    deeper = first(again, lambda p: p < price[low] - 0.05)
    return [left, low, middle, again, right] if right < stop and right < deeper else []


def test_the_picture_in_the_docs_quotes_a_w_of_this_week(week, local) -> None:
    recorded = {
        (format_instant(at), price)
        for at, price, kind in zip(
            *(week[name].tolist() for name in ("at", "price", "condition")), strict=True
        )
        if kind == "1"
    }
    assert set(TRADES) <= recorded
    assert TRADES[-1][0] in {answer["event_time"] for answer in local if answer["query"] == "w_shape"}
