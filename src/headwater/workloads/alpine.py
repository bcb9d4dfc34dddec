"""Weather stations in an alpine valley, made up but plausible, and the same for everyone who has the seed.

Rule 1  A reading is a function of (seed, station, time) alone: any span, requested in any pieces, gives the same readings.
Rule 2  Air cools by 6.5 degrees a kilometre upwards and follows the sun; on clear nights cold air runs down and pools on the
        valley floor; fronts pass from west to east, bring wind and rain and leave colder air.
Rule 3  One value in a hundred is missing, as in life.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headwater.model import (
    SECOND,
    Column,
    ColumnType,
    Instant,
    PlaceColumns,
    Rows,
    StreamSchema,
    coded,
)
from headwater.model.splitmix import GOLDEN, SECOND_FACTOR, splitmix64

Array = NDArray[np.float64]

STREAM_TEXT = """\
CREATE STREAM weather (
  station STRING KEY, at TIMESTAMP TIME, lon DOUBLE, lat DOUBLE,
  temperature DOUBLE, humidity DOUBLE, wind DOUBLE, wind_direction DOUBLE, surface_temperature DOUBLE,
  PLACE (lon, lat) GEOGRAPHIC
) LATE 30 SECONDS;
"""

ATTRIBUTES = ("temperature", "humidity", "wind", "wind_direction", "surface_temperature")

_WEST, _EAST, _FLOOR = 7.05, 7.45, 45.85  # the valley runs west to east at this latitude
_DAY_S = 86_400.0
_FRONT_S = 5 * 3600.0
_MISSING = 0.01


@dataclass(frozen=True)
class Valley:
    """`stations` stations, each reporting every `every_s` seconds, a little apart from one another."""

    stations: int = 120
    every_s: int = 10
    seed: int = 7

    @property
    def schema(self) -> StreamSchema:
        """What its readings look like; `STREAM_TEXT` says the same."""
        columns = [("station", ColumnType.STRING), ("at", ColumnType.TIMESTAMP)]
        columns += [(name, ColumnType.DOUBLE) for name in ("lon", "lat", *ATTRIBUTES)]
        place = PlaceColumns("lon", "lat", geographic=True)
        return StreamSchema("weather", tuple(columns), "at", "station", place, late_us=30 * SECOND)

    @cached_property
    def names(self) -> NDArray[np.object_]:
        """The stations' names, in order."""
        return np.array([f"st-{number:03d}" for number in range(self.stations)], object)

    @cached_property
    def sites(self) -> tuple[Array, Array, Array]:
        """Longitude, latitude and height in metres of every station."""
        random = np.random.Generator(np.random.PCG64(self.seed))
        lon = random.uniform(_WEST, _EAST, self.stations)
        aside = random.normal(0.0, 0.035, self.stations)
        height = 600.0 + 900.0 * (lon - _WEST) / (_EAST - _WEST) + 14_000.0 * np.abs(aside)
        return np.round(lon, 5), np.round(_FLOOR + aside, 5), np.round(height)

    def readings(self, start: Instant, stop: Instant) -> Rows:
        """All readings with start <= event time < stop, in order of time and station."""
        every = self.every_s * SECOND
        offset = _noise(self.seed, 1, np.arange(self.stations), np.zeros(1, np.int64))[0] * every
        ticks = np.arange(start // every - 1, stop // every + 1)
        times = (ticks[:, None] * every + offset[None, :].astype(np.int64) // 1000 * 1000).ravel()
        tick = np.repeat(ticks, self.stations)
        station = np.tile(np.arange(self.stations), len(ticks))
        selected = np.flatnonzero((times >= start) & (times < stop))
        selected = selected[np.lexsort((station[selected], times[selected]))]
        return self._rows(times[selected], tick[selected], station[selected])

    def _rows(self, times: NDArray[np.int64], tick: NDArray[np.int64], station: NDArray[np.int64]) -> Rows:
        lon, lat, height = (site[station] for site in self.sites)
        columns = {
            "station": coded(station.astype(np.int32), self.names),
            "at": Column(ColumnType.TIMESTAMP, times),
            "lon": Column(ColumnType.DOUBLE, lon),
            "lat": Column(ColumnType.DOUBLE, lat),
        }
        for number, (name, values) in enumerate(
            self._weather(times / SECOND, tick, station, lon, height).items()
        ):
            missing = _noise_at(self.seed, 20 + number, station, tick) < _MISSING
            columns[name] = Column(
                ColumnType.DOUBLE,
                np.where(missing, 0.0, np.round(values, 1)) + 0.0,
                ~missing if missing.any() else None,
            )
        return Rows.of(columns)

    def _weather(
        self, seconds: Array, tick: NDArray[np.int64], station: NDArray[np.int64], lon: Array, height: Array
    ) -> dict[str, Array]:
        def jitter(number: int, spread: float) -> Array:
            return spread * (_noise_at(self.seed, number, station, tick) - 0.5) * 2.0

        sun = np.sin(2.0 * np.pi * (seconds / _DAY_S - 0.29))
        # A front needs about twenty minutes for the valley; `since` is the share of its period that has passed.
        since = ((seconds - 20 * 60.0 * (lon - _WEST) / (_EAST - _WEST)) / _FRONT_S) % 1.0
        gust = np.exp(-(((since - 0.06) / 0.05) ** 2))
        clear = np.clip((since - 0.3) * 3.0, 0.0, 1.0)
        pool = clear * np.clip(-sun, 0.0, 1.0) * np.clip((1300.0 - height) / 600.0, 0.0, 1.0)
        temperature = (
            9.0 - 6.5 * (height - 800.0) / 1000.0 + 5.0 * sun - 7.0 * pool - 3.0 * gust + jitter(2, 0.6)
        )
        humidity = np.clip(68.0 - 14.0 * sun + 22.0 * gust + 26.0 * pool + jitter(3, 5.0), 5.0, 100.0)
        wind = np.clip(2.2 + 13.0 * gust + height / 1500.0 - 2.6 * pool + jitter(4, 1.6), 0.0, None)
        direction = (265.0 + 40.0 * sun * (1.0 - gust) + jitter(5, 25.0)) % 360.0
        surface = temperature + 6.0 * np.clip(sun, 0.0, 1.0) * clear - 2.0 * pool + jitter(6, 0.5)
        return dict(zip(ATTRIBUTES, (temperature, humidity, wind, direction, surface), strict=True))


def _noise(seed: int, number: int, station: NDArray[np.int64], tick: NDArray[np.int64]) -> Array:
    """float64[ticks, stations] in [0, 1)."""
    return _noise_at(seed, number, station[None, :], tick[:, None])


def _noise_at(seed: int, number: int, station: NDArray[np.int64], tick: NDArray[np.int64]) -> Array:
    """Numbers in [0, 1) that depend on nothing but these four: splitmix64 as a counter."""
    with np.errstate(over="ignore"):
        z = (tick.astype(np.uint64) * GOLDEN) ^ (station.astype(np.uint64) * SECOND_FACTOR)
        z = z + np.uint64((seed * 1_000_003 + number * 7919) % 2**63)
        z = splitmix64(z)
    return (z >> np.uint64(11)).astype(np.float64) / float(1 << 53)
