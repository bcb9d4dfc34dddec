"""Lives of lines as they are defined, with plain lists, one update at a time; contributions with fractions.

An event is (what, number of the update, start, end, when). Purges of one moment are told in the order of their numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Policy = Literal["LEAST", "NEWEST", "OLDEST", "RANDOM"]
Event = tuple[str, int, int, int, int]

_WORD = (1 << 64) - 1


@dataclass(frozen=True)
class Update:
    """`key` is the sensor's code; keys are ordered by their codes."""

    number: int
    key: int
    t0: int
    values: tuple[float, ...]
    slopes: tuple[float, ...]
    heartbeat_us: int

    def at(self, dimension: int, time: int) -> Fraction:
        seconds = Fraction(time - self.t0, 1_000_000)
        return Fraction(self.values[dimension]) + Fraction(self.slopes[dimension]) * seconds


@dataclass
class Line:
    update: Update
    start: int
    end: int

    @property
    def order(self) -> tuple[int, int, int]:
        return self.update.t0, self.update.key, self.update.number


def error(line: Line, other: Line) -> float:
    """∫|f − g| over the life of the first: split where they cross, and the areas of triangles and trapezoids added up."""
    total = 0.0
    for dimension in range(len(line.update.values)):
        first, second = (
            line.update.at(dimension, time) - other.update.at(dimension, time)
            for time in (line.start, line.end)
        )
        length = Fraction(line.end - line.start, 1_000_000)
        if first * second < 0:
            crossing = length * first / (first - second)
            area = (abs(first) * crossing + abs(second) * (length - crossing)) / 2
        else:
            area = length * (abs(first) + abs(second)) / 2
        total += float(area)
    return total


class Store:
    """All that is stored, by sensor and in the order of the stream."""

    def __init__(
        self, within_us: int, buffer: int | None = None, policy: Policy = "LEAST", seed: int = 0
    ) -> None:
        self.within_us = within_us
        self.buffer = buffer
        self.policy = policy
        self.seed = seed
        self.sensors: dict[int, list[Line]] = {}
        self.given_up = 0
        self.handed_on_us = 0

    @property
    def stored(self) -> list[Line]:
        return [line for lines in self.sensors.values() for line in lines]

    def contribution(self, line: Line) -> float:
        before, after = self._neighbours(line)
        if after is None:
            return float("inf")
        if before is None:
            return error(line, after)
        return min(error(line, before), error(line, after))

    def take(self, update: Update) -> list[Event]:
        """One update."""
        now = update.t0
        events = []
        lines = self.sensors.setdefault(update.key, [])
        if lines and lines[-1].end > now:
            lines[-1].end = now
            events.append(_event("LIFE", lines[-1], now))
        if self.buffer is not None:
            events += self.purge(now)
        new = Line(update, now, now + update.heartbeat_us)
        candidates = self.stored
        lines.append(new)
        if self.buffer is None or len(candidates) < self.buffer:
            return [*events, _event("ADD", new, now)]
        victim = self._victim(candidates, new)
        self.given_up += 1
        if victim is not new:
            events.append(_event("GIVE_UP", victim, now))
        coverer = self._coverer(victim)
        self.sensors[victim.update.key].remove(victim)
        if coverer is not None:
            self.handed_on_us += victim.end - victim.start
            if coverer.order < victim.order:
                coverer.end = victim.end
            else:
                coverer.start = victim.start
            if coverer is not new:
                events.append(_event("LIFE", coverer, now))
        if victim is not new:
            events.append(_event("ADD", new, now))
        return events

    def purge(self, now: int) -> list[Event]:
        """Time passes."""
        gone = sorted((line for line in self.stored if line.end + self.within_us < now), key=_number)
        for line in gone:
            self.sensors[line.update.key].remove(line)
        return [_event("PURGE", line, now) for line in gone]

    def _victim(self, stored: list[Line], new: Line) -> Line:
        match self.policy:
            case "LEAST":
                return min([*stored, new], key=lambda line: (self.contribution(line), line.order))
            case "NEWEST":
                return new
            case "OLDEST":
                return min(stored, key=lambda line: line.order)
            case "RANDOM":
                salt = _mix(_mix(_mix(self.seed & _WORD) ^ new.update.key) ^ (new.update.t0 & _WORD))
                return min(stored, key=lambda line: _mix(salt + line.update.number * 0x9E3779B97F4A7C15))

    def _coverer(self, victim: Line) -> Line | None:
        before, after = self._neighbours(victim)
        if self.policy == "NEWEST" or victim.start == victim.end:
            return None
        if before is None or after is None:
            return before or after
        return before if error(victim, before) <= error(victim, after) else after

    def _neighbours(self, line: Line) -> tuple[Line | None, Line | None]:
        lines = self.sensors[line.update.key]
        place = next(n for n, other in enumerate(lines) if other is line)
        return (
            lines[place - 1] if place else None,
            lines[place + 1] if place + 1 < len(lines) else None,
        )


def _event(what: str, line: Line, when: int) -> Event:
    return what, line.update.number, line.start, line.end, when


def _number(line: Line) -> int:
    return line.update.number


def _mix(bits: int) -> int:
    """splitmix64."""
    z = (bits + 0x9E3779B97F4A7C15) & _WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
    return z ^ (z >> 31)
