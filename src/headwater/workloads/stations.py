"""Weather stations of five sensors, made up from a seed: the readings of nodes in a network.

The shape is that of stations on an alpine pass: each measures ambient and surface temperature, humidity, speed and direction of
the wind, with daily cycles and noise that lasts for hours.

Rule 1  The five sensors of a station are at one place and share a key. Source `5 s + a` is attribute `a` of station `s`.
Rule 2  A station measures one thing after the other within `BURST_S`, every `every_s` seconds, a little early or late; a reading in
        fifty is missing.
Rule 3  The same arguments give the same readings. A longer record begins with the shorter one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.model import SECOND, Instant, Readings, Source, parse_instant

ATTRIBUTES: Final = ("ambient_temperature", "surface_temperature", "humidity", "wind_speed", "wind_direction")
SPACING_M: Final = 1_000.0
EVERY_S: Final = 600
BURST_S: Final = 90.0
START: Final[Instant] = parse_instant("2007-09-15")

_MISSING = 0.02
_DAY_S = 86_400.0
_SWAY_S = 20.0
_LASTING_S = 4 * 3600.0

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Readings by time; `source` is a position in `sources`."""

    sources: tuple[Source, ...]
    readings: Readings


def make_stations(count: int, *, rounds: int, every_s: int = EVERY_S, seed: int = 0) -> Recorded:
    """What `count` stations measure in `rounds` rounds."""
    sources = place_stations([f"st-{number:03d}" for number in range(count)], seed=seed)
    times = _times(count, rounds, every_s, seed)
    values = _weather(times / SECOND, every_s, seed)
    measured = _random(seed, 3, count).random(times.shape) >= _MISSING
    source = np.broadcast_to(np.arange(len(sources)).reshape(1, count, len(ATTRIBUTES)), times.shape)
    return record(sources, source[measured], times[measured], values[measured])


def place_stations(keys: list[str], *, seed: int) -> tuple[Source, ...]:
    """Five sources for each key, at places that are about `SPACING_M` from their neighbours."""
    side = int(np.ceil(np.sqrt(len(keys))))
    random = np.random.default_rng([seed, 1])
    cells = random.permutation(side * side)[: len(keys)]
    shift = random.uniform(-0.25, 0.25, (len(keys), 2))
    xs, ys = np.round(SPACING_M * (np.stack([cells % side, cells // side]) + shift.T))
    return tuple(
        Source(key, attribute, float(x), float(y))
        for key, x, y in zip(keys, xs, ys, strict=True)
        for attribute in ATTRIBUTES
    )


def record(
    sources: tuple[Source, ...], source: NDArray[np.int64], time: NDArray[np.int64], value: Floats
) -> Recorded:
    """Readings in any order as a record. Of two readings of a source at one time the last one counts."""
    order = np.lexsort((source, time))
    source, time, value = source[order], time[order], value[order]
    last = np.append((np.diff(source) != 0) | (np.diff(time) != 0), True)[: len(time)]
    source, time, value = source[last], time[last], value[last]
    by_source = np.argsort(source, kind="stable")
    amounts = np.bincount(source, minlength=len(sources))
    number = np.empty(len(time), np.int64)
    number[by_source] = np.arange(len(time)) - np.repeat(np.cumsum(amounts) - amounts, amounts)
    return Recorded(sources, Readings(source.astype(np.int32), time.astype(np.int64), value, number))


def _times(count: int, rounds: int, every_s: int, seed: int) -> NDArray[np.int64]:
    """int64[rounds, stations, attributes], each after the one of the round before."""
    fixed = np.random.default_rng([seed, 2])
    begins = fixed.uniform(0.0, every_s - BURST_S - 2 * _SWAY_S, count)
    within = np.sort(fixed.uniform(0.0, BURST_S, (count, len(ATTRIBUTES))), axis=1)
    sway = _random(seed, 2, count).uniform(0.0, _SWAY_S, (rounds, count, len(ATTRIBUTES)))
    seconds = every_s * np.arange(rounds)[:, None, None] + begins[None, :, None] + within[None] + sway
    return START + np.round(seconds * 1000).astype(np.int64) * (SECOND // 1000)


def _weather(seconds: Floats, every_s: int, seed: int) -> Floats:
    """float64[rounds, stations, attributes]: values by attribute, rounded as sensors do."""
    rounds, count, _ = seconds.shape
    random = np.random.default_rng([seed, 4])
    cold = random.normal(0.0, 1.5, (count, 1))
    windy = random.uniform(0.7, 1.4, (count, 1))
    shade = random.uniform(2.0, 7.0, (count, 1))
    valley = random.uniform(90.0, 270.0, (count, 1))
    drift = _lasting(seed, every_s, rounds, count)
    sun = np.sin(2.0 * np.pi * (seconds / _DAY_S - 0.29))
    own = _random(seed, 6, count).normal(0.0, 1.0, seconds.shape)
    ambient = 4.0 + cold + 4.0 * sun + 2.0 * drift[..., 0:1] + 0.4 * own
    surface = ambient + shade * np.clip(sun, 0.0, 1.0) + 1.5 * drift[..., 1:2] - 1.0 + 0.3 * own
    humidity = np.clip(
        70.0 - 9.0 * sun - 3.0 * drift[..., 0:1] + 11.0 * drift[..., 2:3] + 1.5 * own, 5.0, 100.0
    )
    wind = windy * np.exp(1.0 + 0.25 * sun + 0.5 * drift[..., 3:4] + 0.15 * own)
    direction = (valley + 25.0 * sun + 45.0 * drift[..., 4:5] + 8.0 * own) % 360.0
    of = (ambient, surface, humidity, wind, direction)
    return np.round(np.stack([values[..., at] for at, values in enumerate(of)], axis=-1), 2)


def _lasting(seed: int, every_s: int, rounds: int, count: int) -> Floats:
    """float64[rounds, stations, attributes]: noise of variance one that forgets itself within hours, in part shared by all."""
    keep = np.exp(-every_s / _LASTING_S)
    steps = _random(seed, 5, count).normal(0.0, 1.0, (rounds, count + 1, len(ATTRIBUTES)))
    walked = np.empty_like(steps)
    walked[0] = steps[0]
    for at in range(1, rounds):
        walked[at] = keep * walked[at - 1] + np.sqrt(1.0 - keep**2) * steps[at]
    return np.sqrt(0.3) * walked[:, :1] + np.sqrt(0.7) * walked[:, 1:]


def _random(seed: int, number: int, count: int) -> np.random.Generator:
    """For what is drawn round after round, so that more rounds change nothing about the first."""
    return np.random.default_rng([seed, 100 + number, count])
