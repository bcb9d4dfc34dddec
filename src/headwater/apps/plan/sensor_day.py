"""What did the sensors measure? Recorded rows as readings of the network's sensors, or a day that is made up.

Rule 1  A row is one reading for each attribute that its sensor measures in the network and that is not NULL. Rows of sensors
        that the network does not have, and values of attributes that a sensor there does not have, are counted and left out.
Rule 2  A sensor has one reading at one time: of rows that say two things, the last in the order of the files counts.
Rule 3  A made-up day depends on the seed, the sensors and nothing else. Weather is weather; any other attribute goes up and down
        with the sun around the ranges of the queries, so that some readings are in them and some are not.

Memory  All readings; more than `MOST_READINGS` are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from headwater.hosts.files import find_files, read_file_rows
from headwater.model import (
    SECOND,
    Column,
    ColumnType,
    DataError,
    LimitReached,
    Operator,
    Rows,
    Source,
    StreamSchema,
)
from headwater.query.language.words import counted
from headwater.workloads.stations import ATTRIBUTES, Recorded, make_stations, record

MOST_READINGS: Final = 5_000_000
ROUNDS: Final = 144
"""Of a made-up day: every ten minutes."""

_ALSO: Final = {"temperature": "ambient_temperature", "wind": "wind_speed"}
_DAY_S = 86_400.0

Say = Callable[[str], None]
Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Day:
    """Readings, where they are from in words, and what was left out, in words."""

    recorded: Recorded
    origin: str
    left_out: Sequence[str] = ()


def recorded_day(
    paths: Sequence[str], stream: StreamSchema, sources: tuple[Source, ...], say: Say = lambda words: None
) -> Day:
    """The readings of files, folders and patterns."""
    assert stream.key is not None, "sensors of a network need a key"
    taken = _Taken(stream, sources)
    files = [file for path in paths for file in find_files(path)]
    if not files:
        raise DataError("no-files", f"there are no files in '{paths[0]}'")
    for file in files:
        for piece in read_file_rows(file, stream, (stream.time, stream.key, *taken.by_attribute)):
            taken.bad += piece.bad.count
            if piece.bad.count and not taken.first_bad:
                taken.first_bad = str(piece.bad["reason"].tolist()[0])
            taken.take(piece.rows)
            say(f"{taken.rows:,} rows of '{stream.name}'")
    return taken.day(len(files))


def generated_day(sources: tuple[Source, ...], operators: Sequence[Operator], *, seed: int = 0) -> Day:
    """A day of weather at the places of the sensors."""
    _bounded(len(sources) * ROUNDS)
    keys = {key: number for number, key in enumerate(dict.fromkeys(source.key for source in sources))}
    made = make_stations(max(len(keys), 1), rounds=ROUNDS, seed=seed)
    by_source = np.argsort(made.readings.source, kind="stable")
    ends = np.cumsum(np.bincount(made.readings.source, minlength=len(made.sources)))
    parts = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    for position, sensor in enumerate(sources):
        name = _ALSO.get(sensor.attribute, sensor.attribute)
        known = name in ATTRIBUTES
        column = ATTRIBUTES.index(name) if known else _number_of(sensor.attribute) % len(ATTRIBUTES)
        station = keys[sensor.key] * len(ATTRIBUTES) + column
        mine = by_source[ends[station - 1] if station else 0 : ends[station]]
        time, value = made.readings.time[mine], made.readings.value[mine]
        if not known:
            value = _swing(sensor.attribute, time, operators, [seed, position])
        parts.append((np.full(len(mine), position), time, value))
    source, time, value = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    day = record(sources, source, time, value)
    return Day(day, f"a generated day (seed {seed})")


@dataclass(slots=True)
class _Taken:
    """What has been read so far."""

    stream: StreamSchema
    sources: tuple[Source, ...]
    by_attribute: Mapping[str, Mapping[str, int]] = field(init=False)
    parts: list[tuple[Numbers, Numbers, Floats]] = field(default_factory=list)
    keys: frozenset[str] = field(init=False)
    rows: int = 0
    readings: int = 0
    bad: int = 0
    first_bad: str = ""
    strangers: int = 0
    stranger: str = ""
    unmeasured: int = 0

    def __post_init__(self) -> None:
        found: dict[str, dict[str, int]] = {}
        for position, source in enumerate(self.sources):
            found.setdefault(source.attribute, {})[source.key] = position
        self.by_attribute = found
        self.keys = frozenset(source.key for source in self.sources)

    def take(self, rows: Rows) -> None:
        """Some more rows."""
        self.rows += rows.count
        if not rows.count:
            return
        assert self.stream.key is not None
        codes, names = _keys_of(rows[self.stream.key])
        known = np.array([name in self.keys for name in names], np.bool_)
        strange = np.flatnonzero(~known[codes])
        if len(strange):
            self.stranger = self.stranger or names[codes[strange[0]]]
            self.strangers += len(strange)
        for attribute, positions in self.by_attribute.items():
            at = np.array([positions.get(name, -1) for name in names], np.int64)[codes]
            measured = rows[attribute].is_valid
            self.unmeasured += int(np.count_nonzero(measured & (at < 0) & known[codes]))
            chosen = np.flatnonzero(measured & (at >= 0))
            self.readings += len(chosen)
            values = rows[attribute].values[chosen].astype(np.float64)
            self.parts.append((at[chosen], rows[self.stream.time].values[chosen], values))
        _bounded(self.readings)

    def day(self, files: int) -> Day:
        """All of it."""
        if not self.readings:
            name = self.stream.name
            seen = (
                f"of {self.rows + self.bad:,} rows of '{name}'"
                if self.rows + self.bad
                else "there are no rows"
            )
            bad = [f"the first bad row: {self.first_bad}"] if self.first_bad else []
            strange = [f"keys such as '{self.stranger}' are in the rows, but not in the network"]
            raise DataError(
                "no-readings",
                f"no reading of a sensor of the network in the input: {seen}",
                stream=name,
                advice=[*bad, *(strange if self.strangers else ())],
            )
        source, time, value = (np.concatenate(arrays) for arrays in zip(*self.parts, strict=True))
        made = record(self.sources, source, time, value)
        return Day(
            made,
            f"{self.rows:,} recorded rows in {files:,} file{'s' * (files != 1)}",
            self._left_out(len(time) - len(made.readings.time)),
        )

    def _left_out(self, repeated: int) -> list[str]:
        silent = len(self.sources) - len({int(n) for part in self.parts for n in np.unique(part[0])})
        counts = [
            (self.bad, "bad row", "", f"the first: {self.first_bad}"),
            (
                self.strangers,
                "row",
                " of sensors that the network does not have",
                f"the first: '{self.stranger}'",
            ),
            (self.unmeasured, "value", " that the sensor does not measure in the network", ""),
            (repeated, "reading", " of a sensor for a time that it had already reported", ""),
            (silent, "sensor", " of the network without a single reading", ""),
        ]
        return [
            f"{counted(count, noun)}{what}" + (f" ({first})" if first else "")
            for count, noun, what, first in counts
            if count
        ]


def _bounded(readings: int) -> None:
    if readings > MOST_READINGS:
        raise LimitReached(
            "MOST_READINGS",
            MOST_READINGS,
            f"more than {MOST_READINGS:,} readings are too many for one plan",
            advice=["give --input fewer files: one day shows what the links carry"],
        )


def _keys_of(column: Column) -> tuple[NDArray[np.int64], list[str]]:
    """The number of each row's key in a list of names."""
    if column.type is ColumnType.STRING:
        names = [*(str(name) for name in (column.names if column.names is not None else ())), ""]
        codes = column.values.astype(np.int64)
    else:
        found, codes = np.unique(column.values, return_inverse=True)
        names = [*(str(value) for value in found.tolist()), ""]
    return np.where(column.is_valid, codes, len(names) - 1), names


def _swing(attribute: str, time: Numbers, operators: Sequence[Operator], seed: list[int]) -> Floats:
    """Up and down with the sun around the range of the query, with some noise."""
    ends = [
        end
        for operator in operators
        for clause in operator.filters
        if clause.attribute == attribute
        for end in (clause.low, clause.high)
        if math.isfinite(end)
    ]
    low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
    middle, reach = (low + high) / 2.0, max((high - low) / 2.0, 0.25 * abs(low + high) / 2.0, 1e-6)
    random = np.random.default_rng([*seed, _number_of(attribute)])
    sun = np.sin(2.0 * np.pi * (time / SECOND / _DAY_S - 0.29 + random.uniform(-0.05, 0.05)))
    noise: Floats = random.normal(0.0, 0.5, len(time))
    return np.round(middle + reach * (1.2 * sun + noise), 3)


def _number_of(text: str) -> int:
    return sum(text.encode())
