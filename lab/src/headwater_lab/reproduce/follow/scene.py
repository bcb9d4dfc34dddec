"""One driver, from second to second: where it is, what its interests are, what of the past they bring, and what is found.

Rule 1  The driver is the one with the most accidents near it; of several, the first.
Rule 2  Everything comes from two runs on Spark: one to choose the driver, and one that follows it alone and emits its events, its interests,
        accidents and friends.
Rule 3  What is found is shown when it is answered: a situation of the past when its interest begins.
Rule 4  Places are whole metres, and only those that can come into view. A scene lasts no longer than `MOST_S` seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headwater.model import SECOND, Rows
from headwater_lab.reproduce.follow.questions import CLUB, Following, accidents, counted, drivers
from headwater_lab.reproduce.follow.runs import SILENT, Setting
from headwater_lab.reproduce.follow.spark_run import RunResult
from headwater_lab.workloads.moving_objects import START
from headwater_lab.workloads.traces import Trace, Whole

RADIUS_M: Final = 250
LAST_S: Final = 30
MOVED_M: Final = 100
MOST_S: Final = 180
VIEW_M: Final = (560, 380)
"""How far one sees from the driver, across and along."""
ROAD_M: Final = 8


@dataclass(frozen=True, slots=True)
class Scene:
    """What is shown; times are seconds since the beginning, places pairs of metres.

    `cars` has a list of places for each second, `past` of each interest the events that it brought from before it began.
    """

    driver: int
    text: str
    way: Sequence[Sequence[int]]
    roads: Sequence[Sequence[int]]
    cars: Sequence[Sequence[Sequence[int]]]
    interests: Sequence[Mapping[str, Any]]
    situations: Sequence[Mapping[str, Any]]


def make_scene(setting: Setting) -> Scene:
    """Choose a driver and follow it."""
    driver = _choose(setting)
    text = "".join(_queries(driver))
    result = setting.ask([text], ["events", "interests", "accidents", "friends"])
    return scene_of(setting.traffic.trace, driver, text, result)


def scene_of(trace: Trace, driver: int, text: str, result: RunResult) -> Scene:
    """What a run about one driver found, with the traffic around it."""
    own = np.flatnonzero((trace.car == driver) & (trace.second < MOST_S))
    way = np.column_stack([trace.x[own], trace.y[own]])
    seconds = trace.second[own]
    places = np.full((int(seconds.max(initial=-1)) + 1, 2), np.nan)
    places[seconds] = way
    last = len(places)
    return Scene(
        driver,
        text,
        [_whole(place) for place in _filled(places)],
        _roads(trace, way),
        _cars(trace, _filled(places), driver),
        _interests(result.answers, last),
        _situations(result.answers, last),
    )


# --- questions ----------------------------------------------------------------------------------------------------


def _choose(setting: Setting) -> int:
    result = setting.ask([accidents("found", _circle(drivers(setting.drivers)))], ["found"])
    if "found" not in result.answers:
        return 0
    rows = result.answers["found"]
    soon = rows["event_time"].values < START + MOST_S * SECOND
    return int(np.bincount(rows["focal"].values[soon], minlength=setting.drivers).argmax())


def _queries(driver: int) -> list[str]:
    following = _circle(f"reports WHERE car = {driver}")
    return [
        accidents("accidents", following).replace("accidents_near", "events"),
        counted("interests", "reports", following),
        f"CREATE QUERY seen AS SELECT * FROM sightings {following};\n",
        f"CREATE QUERY friends AS SELECT * FROM seen WHERE club = {CLUB} AND car <> {driver};\n",
    ]


def _circle(focals: str) -> Following:
    return Following(focals, f"RADIUS {RADIUS_M} METERS", LAST_S, f"UPDATE MOVED {MOVED_M} METERS {SILENT}")


# --- what is shown ------------------------------------------------------------------------------------------------


def _filled(places: Any) -> Any:
    """A driver that is silent for a while stays where it was."""
    known = np.maximum.accumulate(np.where(np.isnan(places[:, 0]), 0, np.arange(len(places))))
    return places[known]


def _roads(trace: Trace, way: Any) -> list[list[int]]:
    """Where any vehicle drove, within view of the way."""
    wide, high = VIEW_M
    (left, low), (right, up) = way.min(axis=0), way.max(axis=0)
    near = (trace.x >= left - wide) & (trace.x <= right + wide)
    near &= (trace.y >= low - high) & (trace.y <= up + high)
    cells = np.unique(np.rint(np.column_stack([trace.x[near], trace.y[near]]) / ROAD_M).astype(int), axis=0)
    return (cells * ROAD_M).tolist()


def _cars(trace: Trace, places: Any, driver: int) -> list[list[list[int]]]:
    """The others within view, second by second."""
    wide, high = VIEW_M
    bounds = np.searchsorted(trace.second, np.arange(len(places) + 1))
    shown = []
    for second, (x, y) in enumerate(places.tolist()):
        part = slice(int(bounds[second]), int(bounds[second + 1]))
        near = (np.abs(trace.x[part] - x) <= wide) & (np.abs(trace.y[part] - y) <= high)
        near &= trace.car[part] != driver
        cells = np.column_stack([trace.x[part][near], trace.y[part][near]])
        shown.append(np.rint(cells).astype(int).tolist())
    return shown


def _interests(answers: Mapping[str, Rows], last: int) -> list[dict[str, Any]]:
    """In their order, with the events of the past that were passed on for each."""
    if "interests" not in answers:
        return []
    rows = answers["interests"]
    begins, ends = _seconds(rows, "begins"), _seconds(rows, "ends")
    shown = []
    for at in np.argsort(begins, kind="stable").tolist():
        if begins[at] < last:
            number = int(rows["interest"].values[at])
            shown.append(
                {
                    "begins": int(begins[at]),
                    "ends": int(min(ends[at], last)),
                    "place": _whole((rows["x"].values[at], rows["y"].values[at])),
                    "events": int(rows["events"].values[at]),
                    "past": _past(answers, number),
                }
            )
    return shown


def _past(answers: Mapping[str, Rows], interest: int) -> list[list[int]]:
    """Where the events of before an interest were."""
    if "events" not in answers:
        return []
    rows = answers["events"]
    own = (rows["interest"].values == interest) & rows["historical"].values.astype(bool)
    return np.rint(np.column_stack([rows["x"].values[own], rows["y"].values[own]])).astype(int).tolist()


def _situations(answers: Mapping[str, Rows], last: int) -> list[dict[str, Any]]:
    """In the order in which they are shown; of a car at one place the first."""
    shown = [
        one
        for kind, who in (("accidents", "braked"), ("friends", "car"))
        if kind in answers
        for one in _found(kind, who, answers[kind], answers["interests"])
        if one["told"] < last
    ]
    shown.sort(key=lambda one: (one["told"], one["happened"], one["kind"], one["car"]))
    first = {(one["kind"], one["car"], *one["place"]): one for one in reversed(shown)}
    return [one for one in shown if first[one["kind"], one["car"], *one["place"]] is one]


def _found(kind: str, who: str, rows: Rows, interests: Rows) -> Iterator[dict[str, Any]]:
    """By Rule 3."""
    begins = np.zeros(int(interests["interest"].values.max()) + 1, np.int64)
    begins[interests["interest"].values] = _seconds(interests, "begins")
    happened = _seconds(rows, "event_time")
    shown_at = np.maximum(happened, begins[rows["interest"].values])
    columns = (rows[name].tolist() for name in (who, "x", "y", "historical"))
    for car, x, y, historical, at, when in zip(*columns, happened.tolist(), shown_at.tolist(), strict=True):
        yield {
            "kind": kind,
            "car": car,
            "happened": at,
            "told": when,
            "place": _whole((x, y)),
            "historical": historical,
        }


def _seconds(rows: Rows, column: str) -> Whole:
    return (rows[column].values - START) // SECOND


def _whole(place: Any) -> list[int]:
    return [round(float(part)) for part in place]
