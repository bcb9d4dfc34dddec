"""NEAREST over recorded data: the worst air of Beijing's winter, and weather like a given one in the Andes.

What must come out is computed here a second time, from scratch: at every instant the whole window is sorted. The recordings are
not part of the project: without them these tests are skipped.

Weather has days and nights and is not in random order: over a window of a day PROBABLE loses a quarter of the profiles there,
whatever σ says. That is what comes out, and what an audit must tell.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from headwater.hosts.declared_sets import sets_from_files
from headwater.hosts.files import json_lines
from headwater.hosts.files.arrow import rows_to_arrow
from headwater.hosts.local import run_local
from headwater.kernels.nearest.candidate_limits import expected_loss, r_star
from headwater.model import SECOND, Rows, parse_instant
from headwater.query.planning.plan import Plan, compile_text
from headwater_lab.workloads.beijing import AIR_QUALITY_TEXT, read_air_quality
from headwater_lab.workloads.polkura import HYDROMET_TEXT, read_hydromet
from tests.spark.test_runs import bounded

RECORDED = Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[3] / "shared" / "data"))
BEIJING = RECORDED / "beijing-air-quality"
ANDES = RECORDED / "polkura-hydromet" / "PolkuraAbrilMayo.csv.gz"

DAY = 86_400 * SECOND
WINTER = (b",2013,12,", b",2014,1,", b",2014,2,")

WORST = """
CREATE QUERY worst AS SELECT * FROM air NEAREST (10 TO HIGHEST pm25 OVER 1 DAY);
CREATE QUERY each_day AS SELECT * FROM air NEAREST (10 TO HIGHEST pm25 OVER 1 DAY EMIT EVERY 1 DAY);
CREATE QUERY stations AS SELECT * FROM air NEAREST (3 TO HIGHEST pm25 OVER 1 DAY PER station EMIT EVERY 1 DAY);
"""

K, HUMIDITY_WEIGHT = 5, 0.0625  # four percent of humidity are as much as a degree
PROFILES = {
    "mild": (15, 50),
    "frost": (-1, 80),
    "fog": (8, 100),
    "hot and dry": (27, 15),
    "night": (9, 70),
}
ALIKE = "CREATE POINTS profiles (name STRING KEY, temperature DOUBLE, humidity DOUBLE);\n" + "".join(
    f"CREATE QUERY {name} AS SELECT point, key, object_time, distance FROM weather NEAREST ("
    f"{K} TO EACH OF profiles BY (temperature, humidity) WEIGHTED (1, {HUMIDITY_WEIGHT}) OVER 1 DAY USING {how});\n"
    for name, how in (
        ("ra", "EXACT ALGORITHM RA"),
        ("rapf", "EXACT ALGORITHM RAPF"),
        ("chosen", "EXACT"),
        ("hundredth", "PROBABLE 0.01"),
        ("thousandth", "PROBABLE 0.001"),
    )
)

Numbers = NDArray[np.float64]
Times = NDArray[np.int64]
Answer = dict[str, object]


# --- from scratch -----------------------------------------------------------------------------------------------------


def first_k(score: Numbers, window: slice, k: int) -> list[int]:
    """The places of the k least scores of a window; of equal ones the later place first."""
    mine = score[window]
    near = np.flatnonzero(mine <= np.partition(mine, k - 1)[k - 1]) if len(mine) > k else np.arange(len(mine))
    return (window.start + near[np.lexsort((-near, mine[near]))][:k]).tolist()


def entered(at: Times, score: Numbers, k: int) -> dict[int, int]:
    """By place, for objects in the stream's order: when it was first among the k of the last day."""
    entered_at: dict[int, int] = {}
    for time in np.unique(np.concatenate([at, at + DAY])).tolist():
        window = slice(*np.searchsorted(at, [time - DAY, time], "right").tolist())
        for place in first_k(score, window, k):
            entered_at.setdefault(place, time)
    return entered_at


def entered_of_stored(at: Times, score: Numbers, k: int, stored: int) -> dict[int, int]:
    """The same if after each instant all but the first `stored` are forgotten."""
    entered_at: dict[int, int] = {}
    known: list[int] = []
    arrived = 0
    for time in np.unique(np.concatenate([at, at + DAY])).tolist():
        came = range(arrived, arrived := int(np.searchsorted(at, time, "right")))
        known = sorted(
            [place for place in (*known, *came) if at[place] + DAY > time],
            key=lambda place: (score[place], -place),
        )[:stored]
        for place in known[:k]:
            entered_at.setdefault(place, time)
    return entered_at


def ticks(at: Times, score: Numbers, k: int) -> Iterator[tuple[int, int, int]]:
    """(midnight, rank, place) of the k of the day before each midnight."""
    for midnight in range(int(at[0]) // DAY * DAY, int(at[-1]) + 2 * DAY, DAY):
        window = slice(*np.searchsorted(at, [midnight - DAY, midnight], "left").tolist())
        for rank, place in enumerate(first_k(score, window, k), 1):
            yield midnight, rank, place


def in_order(rows: Rows, key: str, *attributes: str) -> tuple[Times, list[str], list[Numbers]]:
    """The objects among rows, by time and key: times, keys and attributes."""
    there = np.logical_and.reduce([rows[name].is_valid for name in attributes])
    at, keys = rows["at"].values, np.array(rows[key].tolist())
    order = np.lexsort((keys, at))
    order = order[there[order]]
    return at[order], keys[order].tolist(), [rows[name].values[order] for name in attributes]


# --- the worst air ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def winter(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Three months of all stations; the lines of other months are not even read."""
    if not list(BEIJING.glob("PRSA_Data_*.csv.gz")):
        pytest.skip(f"the recorded air quality is not there: {BEIJING}")
    folder = tmp_path_factory.mktemp("beijing")
    for path in BEIJING.glob("PRSA_Data_*.csv.gz"):
        header, *lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
        winter = [line for line in lines if any(month in line[:20] for month in WINTER)]
        (folder / path.stem).write_bytes(b"".join([header, *winter]))
    return read_air_quality(folder)


@pytest.fixture(scope="module")
def air(winter: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("air")
    pq.write_table(rows_to_arrow(winter), folder / "winter.parquet")
    return folder


def test_the_ten_worst_readings_of_the_last_day_on_spark_and_in_the_plain_loop(spark, winter, air) -> None:
    text = AIR_QUALITY_TEXT + WORST
    batch = bounded(spark, text, {"air": [str(air)]})
    local = answers(compile_text(text), {"air": [str(air)]})
    assert {kind for kind, *_ in batch} == {"answer"}
    found = [json.loads(body) for *_, body in batch]
    assert sorted(map(as_line, found)) == sorted(map(as_line, local))

    at, stations, (pm25,) = in_order(winter, "station", "pm25")
    assert len(at) > 25_000
    assert columns_of(found, "worst", "event_time", "key", "object_time", "pm25") == sorted(
        (time, stations[place], int(at[place]), pm25[place]) for place, time in entered(at, -pm25, 10).items()
    )
    assert columns_of(found, "each_day", "event_time", "rank", "key", "object_time", "pm25") == sorted(
        (midnight, rank, stations[place], int(at[place]), pm25[place])
        for midnight, rank, place in ticks(at, -pm25, 10)
    )
    expected = []
    for station in sorted(set(stations)):
        mine = np.array(stations) == station
        expected += [
            (midnight, rank, station, int(at[mine][place]), pm25[mine][place])
            for midnight, rank, place in ticks(at[mine], -pm25[mine], 3)
        ]
    assert columns_of(found, "stations", "event_time", "rank", "key", "object_time", "pm25") == sorted(
        expected
    )


# --- weather like a given one -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def week() -> Rows:
    if not ANDES.exists():
        pytest.skip(f"the recorded weather is not there: {ANDES}")
    return read_hydromet(ANDES)


@pytest.fixture(scope="module")
def alike(week: Rows, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Answer], dict[str, int]]:
    """What the plain loop answers and counts; the loss of PROBABLE is measured for every point."""
    folder = tmp_path_factory.mktemp("andes")
    pq.write_table(rows_to_arrow(week), folder / "week.parquet")
    lines = [f"{name},{at[0]},{at[1]}" for name, at in PROFILES.items()]
    (folder / "profiles.csv").write_text("\n".join(["name,temperature,humidity", *lines]))
    plan = compile_text(HYDROMET_TEXT + ALIKE)
    given = sets_from_files(plan, {"profiles": [str(folder / "profiles.csv")]})
    counts: dict[str, int] = {}
    inputs = {"weather": [str(folder / "week.parquet")]}
    found = answers(plan.with_sets(given.rows, audit=1.0), inputs, counts)
    return found, counts


@pytest.fixture(scope="module")
def truth(week: Rows) -> list[tuple]:
    """Every profile of the week that was ever one of the nearest, from scratch."""
    return nearest_profiles(week)


def nearest_profiles(week: Rows, stored: int | None = None) -> list[tuple]:
    at, sites, (temperature, humidity) = in_order(week, "site", "temperature", "humidity")
    assert len(at) > 8_000
    expected = []
    for name, (t, h) in PROFILES.items():
        distance = np.sqrt((temperature - t) ** 2 + HUMIDITY_WEIGHT * (humidity - h) ** 2)
        entered_at = (
            entered(at, distance, K) if stored is None else entered_of_stored(at, distance, K, stored)
        )
        expected += [
            (time, name, sites[place], int(at[place]), distance[place]) for place, time in entered_at.items()
        ]
    return sorted(expected)


@pytest.mark.parametrize("query", ["ra", "rapf", "chosen"])
def test_the_nearest_weather_profiles_are_those_of_the_definition(alike, truth, query) -> None:
    assert columns_of(alike[0], query, "event_time", "point", "key", "object_time", "distance") == truth


@pytest.mark.parametrize(("query", "sigma", "most"), [("hundredth", 0.01, 0.3), ("thousandth", 0.001, 0.3)])
def test_what_probable_loses_of_a_week_with_its_days_and_nights(
    alike, week, truth, query, sigma, most
) -> None:
    found, counts = alike
    stored = r_star(K, sigma)
    probable = columns_of(found, query, "event_time", "point", "key", "object_time", "distance")
    assert probable == nearest_profiles(week, stored)
    lost = {row[1:] for row in truth} - {row[1:] for row in probable}
    print(
        f"\nPROBABLE {sigma}: {stored} kept, {len(lost)} of {len(truth)} profiles lost, {len(lost) / len(truth):.1%}; "
        f"in random order it would be {expected_loss(stored, K):.2%}"
    )
    assert counts[f"audited:{query}"] + counts[f"audited_at_end:{query}"] == len(truth)
    assert counts[f"missed:{query}"] + counts[f"missed_at_end:{query}"] == len(lost)
    assert expected_loss(stored, K) < len(lost) / len(truth) <= most


# --- answers ----------------------------------------------------------------------------------------------------------


def answers(plan: Plan, inputs: dict[str, list[str]], counts: dict[str, int] | None = None) -> list[Answer]:
    """What the plain loop answers; its counts are added to `counts`."""
    found = []
    for part in run_local(plan, inputs):
        found += [json.loads(line) for rows in part.answers for line in json_lines(rows).to_pylist()]
        for name, count in part.counts.items() if counts is not None else ():
            counts[name] = counts.get(name, 0) + count
    return found


def columns_of(found: list[Answer], query: str, *columns: str) -> list[tuple]:
    """Some columns of a query's answers, times as numbers, sorted."""
    return sorted(
        tuple(
            parse_instant(str(answer[name])) if name.endswith("_time") else answer[name] for name in columns
        )
        for answer in found
        if answer["query"] == query
    )


def as_line(answer: Answer) -> str:
    return json.dumps(answer, sort_keys=True)
