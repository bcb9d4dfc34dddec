"""The answers of the example `hour-of-work`, computed with pandas and loops, apart from Headwater and from the example's own code.

Rule 1  Worst hours: by day the highest values first, of equal ones the later hour, then the station whose name comes later.
Rule 2  Spikes: from each reading, in the order of time, the first one later that is five degrees warmer within four hours; nothing if
        it rains after that and within a day of the beginning. The search continues behind a spike.
Rule 3  Agreement: of the readings before the one that completes it, the latest ones, of three motes near one another.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

DATA = Path(os.environ.get("HEADWATER_DATA", Path(__file__).parents[3] / "shared" / "data"))
SETS = ("beijing-air-quality", "polkura-hydromet", "intel-lab")
DAY, REACH, AGE = pd.Timedelta("1D"), pd.Timedelta("4h"), pd.Timedelta("10min")
WARM = 30.0

Agreement = tuple[pd.Timestamp, int, int, int]


def skip_without_data() -> None:
    """The recorded data sets are beside the project where it is developed, and not part of it."""
    missing = [name for name in SETS if not (DATA / name).is_dir()]
    if missing:
        pytest.skip(f"no recorded data: {', '.join(missing)} not in the folder that HEADWATER_DATA names")


def assert_answers(folder: Path, data: Path = DATA) -> None:
    """The files that the example wrote into `folder` are right for the data it read."""
    assert_worst(pd.read_csv(folder / "worst.csv", parse_dates=["hour"]), worst_hours(data))
    told = pd.read_csv(folder / "spikes.csv", parse_dates=["began", "reached"])
    assert_spikes(told, spikes(data))
    for name, distance_m in (("agree", 1000.0), ("agree_in_a_room", 10.0)):
        table = pd.read_csv(folder / f"{name}.csv", parse_dates=["event_time"])
        expected = agreements(data, distance_m)
        assert len(expected) > 0
        assert sorted(
            zip(table.event_time.dt.tz_localize(None), table["first"], table.second, table.third, strict=True)
        ) == sorted(expected)
    assert (folder / "hour.png").read_bytes().startswith(b"\x89PNG")


def assert_worst(told: pd.DataFrame, expected: pd.DataFrame) -> None:
    """The same hours with the same ranks."""
    told = told.assign(hour=told.hour.dt.tz_localize(None))
    told = told.assign(day=told.hour.dt.normalize()).sort_values(["day", "rank"], ignore_index=True)
    assert len(expected) > 0
    assert_frame_equal(told[["day", "rank", "station", "hour", "pm25"]], expected)


def assert_spikes(told: pd.DataFrame, expected: list[tuple[object, ...]]) -> None:
    """The same spikes with the same readings."""
    rows = zip(
        told.site,
        told.began.dt.tz_localize(None),
        told.reached.dt.tz_localize(None),
        told.low,
        told.high,
        strict=True,
    )
    assert expected
    assert sorted(rows) == sorted(expected)


def worst_hours(data: Path) -> pd.DataFrame:
    """Day, rank, station, hour and value (rule 1)."""
    files = sorted((data / "beijing-air-quality").glob("PRSA_Data_*.csv*"))
    air = pd.concat([pd.read_csv(file) for file in files])
    air = air.assign(hour=pd.to_datetime(air[["year", "month", "day", "hour"]]), pm25=air["PM2.5"]).dropna(
        subset="pm25"
    )
    air = air.assign(day=air.hour.dt.normalize()).sort_values(
        ["day", "pm25", "hour", "station"], ascending=[True, False, False, False]
    )
    air = air.assign(rank=air.groupby("day").cumcount() + 1)
    return air.loc[air["rank"] <= 10, ["day", "rank", "station", "hour", "pm25"]].reset_index(drop=True)


def spikes(data: Path) -> list[tuple[object, ...]]:
    """Site, both times and both temperatures (rule 2)."""
    all_readings = pd.read_csv(data / "polkura-hydromet" / "PolkuraAbrilMayo.csv.gz", sep=";")
    all_readings["at"] = pd.to_datetime(all_readings.Fecha)
    found: list[tuple[object, ...]] = []
    for site, readings in all_readings.groupby("Sitio"):
        rain = readings[readings.Variable == "Rainfall"]
        if not len(rain):
            continue
        wet = rain.loc[rain.Valor > 0, "at"]
        air = readings[readings.Variable == "AirTemperature"].sort_values(["at", "Valor"])
        found += [(site, *spike) for spike in _spikes_of(list(zip(air["at"], air.Valor, strict=True)), wet)]
    return found


def _spikes_of(
    air: list[tuple[pd.Timestamp, float]], wet: pd.Series
) -> list[tuple[pd.Timestamp, pd.Timestamp, float, float]]:
    found, first = [], 0
    while first < len(air):
        began, low = air[first]
        reached = next(
            (
                place
                for place in range(first + 1, len(air))
                if air[place][1] >= low + 5 and air[place][0] - began <= REACH
            ),
            None,
        )
        if reached is None or ((wet > air[reached][0]) & (wet <= began + DAY)).any():
            first += 1
            continue
        found.append((began, air[reached][0], low, air[reached][1]))
        first = reached + 1
    return found


def agreements(data: Path, distance_m: float) -> list[Agreement]:
    """When, and the three motes, the latest reading first (rule 3)."""
    places = {
        int(mote): (float(x), float(y))
        for mote, x, y in (line.split() for line in (data / "intel-lab" / "mote_locs.txt").open())
    }
    table = pd.read_csv(data / "intel-lab" / "subsfin.txt.gz", sep=r"\s+", header=None)
    motes = [mote for mote in range(1, 55) if mote not in (5, 15)]
    recent: list[tuple[pd.Timestamp, int]] = []
    found: list[Agreement] = []
    for epoch in range(0, len(table), 10):
        at = pd.Timestamp("2004-03-01") + pd.Timedelta(seconds=30 * epoch)
        recent = [(time, mote) for time, mote in recent if time > at - AGE]
        for mote, value in zip(motes, table.iloc[epoch], strict=True):
            if value >= WARM:
                others = _latest_two(mote, recent, places, distance_m)
                found += [(at, mote, *others)] if others else []
                recent.append((at, mote))
    return found


def _latest_two(
    mote: int,
    recent: list[tuple[pd.Timestamp, int]],
    places: dict[int, tuple[float, float]],
    distance_m: float,
) -> tuple[int, int] | None:
    newest_first = [other for _, other in reversed(recent)]
    for place, second in enumerate(newest_first):
        for third in newest_first[place + 1 :]:
            near = all(
                math.dist(places[a], places[b]) < distance_m for a, b in pairwise([mote, second, third, mote])
            )
            if near and len({mote, second, third}) == 3:
                return second, third
    return None
