"""Answers as a person would say them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Answer = Mapping[str, Any]


def in_words(answer: Answer) -> str:
    """One answer of the demo's queries in a sentence."""
    at = str(answer["event_time"])[11:19]
    return f"{at}  {_SENTENCES[answer['query']](answer)}"


def _frost(a: Answer) -> str:
    return f"frost forms at {a['temperature_key']}: {a['temperature']:.1f} °C, {a['humidity']:.0f} % humid, {a['wind']:.1f} m/s"


def _front(a: Answer) -> str:
    keys = ", ".join(str(a[f"gust_{n}_key"]) for n in (1, 2, 3))
    return f"a front passes {keys}: gusts of {max(a[f'gust_{n}'] for n in (1, 2, 3)):.0f} m/s"


def _edge(a: Answer) -> str:
    return (
        f"an edge of cold air: {a['cold']:.1f} °C at {a['cold_key']}, {a['mild']:.1f} °C at {a['mild_key']}"
    )


def _ice(a: Answer) -> str:
    return f"ice in the village: {a['road_1']:.1f} °C at {a['road_1_key']}, {a['road_2']:.1f} °C at {a['road_2_key']}"


def _deep_frost(a: Answer) -> str:
    return f"deep frost at {a['station']}: {a['temperature']:.1f} °C"


def _gust(a: Answer) -> str:
    return f"a gust at {a['station']}: the wind rose {a['reports']} times, from {a['calm']:.1f} to {a['peak']:.1f} m/s, and dropped"


def _record(a: Answer) -> str:
    return f"one of the three highest winds of half an hour: {a['wind']:.1f} m/s at {a['station']}"


def _storm(a: Answer) -> str:
    if a["withdrawn"]:
        return f"no storm at {a['station']} after all"
    now, begins, ends = (str(a[name])[:19] for name in ("event_time", "begins", "ends"))
    if now < begins:
        return f"a storm is coming to {a['station']}: above 12 m/s from {begins[11:]} on"
    if now < ends:
        return f"a storm at {a['station']}: above 12 m/s until {ends[11:]}, as far as can be predicted"
    return f"a storm at {a['station']}: above 12 m/s from {begins[11:]} to {ends[11:]}"


_SENTENCES: Mapping[str, Callable[[Answer], str]] = {
    "frost": _frost,
    "front": _front,
    "edge": _edge,
    "ice": _ice,
    "deep_frost": _deep_frost,
    "gust": _gust,
    "record": _record,
    "storm": _storm,
}
