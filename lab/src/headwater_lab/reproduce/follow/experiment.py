"""How much does following moving objects pass on, how well does it fit, and what does a shorter past lose?

The paper (section 3.5 of a thesis on mobile complex event processing) has up to 5,000 vehicles of SUMO drive in a town of
7.7 km × 3.5 km for 500 to 1,000 seconds, with about one event per vehicle and second, and boxes around consumers.

Parts of the table: figure 3.8 is what is passed on for a driver, relative to predeployed regions; 3.9 what conditions for a new interest
cost in events and in accuracy; 3.10 how complete answers are with less of the past.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from headwater.hosts.spark.session import embedded_spark
from headwater_lab.reproduce.follow.cases import (
    ACCIDENTS,
    BEGINNINGS,
    COLUMNS,
    FRIENDS,
    PREDEPLOYED,
    SPEEDS,
    UPDATES,
    Case,
    Measured,
)
from headwater_lab.reproduce.follow.claims import claims
from headwater_lab.reproduce.follow.figures import panels
from headwater_lab.reproduce.follow.player import player
from headwater_lab.reproduce.follow.questions import ACCIDENT_S, FAST_MPS, MOVE_S, RECENT_S, RESTRICTION_S
from headwater_lab.reproduce.follow.runs import (
    SPEED_EDGE_M,
    Setting,
    WrongError,
    all_questions,
    run_case,
)
from headwater_lab.reproduce.follow.scene import make_scene
from headwater_lab.reproduce.follow.spark_run import ask
from headwater_lab.reproduce.follow.sumo import find_sumo, read_roads
from headwater_lab.reproduce.follow.traffic import Source, Traffic, choose_source, make_traffic
from headwater_lab.reproduce.outcome import Outcome, Say
from headwater_lab.reproduce.tasks import SAY_EVERY_S, StoredRows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is run: vehicles, seconds, drivers that are followed, edges of boxes, counting windows, and seeds of traffic."""

    vehicles: int
    seconds: int
    drivers: int
    edges_m: tuple[int, ...]
    latest: tuple[int, ...]
    seeds: tuple[int, ...]


SCALES: Final[Mapping[str, Scale]] = {
    "small": Scale(2_000, 200, 20, (50, 200, 500), (2, 5, 10, 20), (1,)),
    "paper": Scale(5_000, 500, 20, (50, 100, 200, 300, 400, 500), (2, 5, 10, 20, 40), (1, 2)),
}


def reproduce(scale: str, say: Say, data: Path | None = None, progress: Path | None = None) -> Outcome:
    """The experiment at one of its scales; `data`: a network of SUMO; `progress`: a folder for rows that are measured.

    Without a network, that of Ingolstadt is taken where SUMO is installed and the folder that HEADWATER_DATA names has it.
    """
    source = choose_source(find_sumo(), data, Path(os.environ.get("HEADWATER_DATA", "")))
    if source.network is not None:
        read_roads(source.network)  # an invalid one is refused before Spark starts
    return measure(SCALES[scale], source, say, progress)


def measure(scale: Scale, source: Source, say: Say, progress: Path | None = None) -> Outcome:
    """Every row, and what follows."""
    stored = StoredRows(progress, Measured, f"{scale} {source}") if progress else None
    cases = list(_cases(scale))
    say(f"starting Spark for {len(cases)} cases")
    measured: list[Measured] = []
    failures: list[str] = []
    texts = {"questions.hw": all_questions(scale.drivers, scale.edges_m[-1], scale.latest[-1])}
    worlds: list[str] = []
    with tempfile.TemporaryDirectory(prefix="headwater-follow-") as folder, embedded_spark() as spark:
        for seed in scale.seeds:
            setting = _set_up(scale, source, seed, Path(folder), spark, say)
            worlds.append(_traffic_words(setting.traffic))
            say(worlds[-1])
            for number, case in enumerate(cases, 1):
                if case.seed == seed:
                    with _waiting(str(case), say):
                        found, words = _run(case, setting, stored)
                    measured += found
                    failures += words
                    say(f"{number} of {len(cases)}: {case}: {_ended(found, words)}")
            if seed == scale.seeds[0]:
                with _waiting("one driver, from second to second", say):
                    texts["driver.html"] = player(make_scene(setting), whose=str(source))
    return replace(conclude(measured, failures, about=_about(scale, source, worlds)), texts=texts)


def conclude(measured: Sequence[Measured], failures: Sequence[str], *, about: Sequence[str]) -> Outcome:
    """Rows, figures and claims; where cases failed the claims are left out."""
    return Outcome(
        COLUMNS,
        [m.cells() for m in measured],
        list(panels(measured)),
        [] if failures else claims(measured),
        failures,
        about,
    )


def _set_up(scale: Scale, source: Source, seed: int, folder: Path, spark: SparkSession, say: Say) -> Setting:
    """The traffic of a seed, and what runs plans over it."""
    traffic = make_traffic(
        source, scale.vehicles, scale.seconds, scale.drivers, seed=seed, folder=folder / str(seed), say=say
    )
    # Every zone gets all events, so there are no more zones than cores.
    zones = spark.sparkContext.defaultParallelism
    return Setting(partial(ask, spark), zones, traffic, scale.drivers)


def _run(
    case: Case, setting: Setting, stored: StoredRows[Measured] | None
) -> tuple[list[Measured], list[str]]:
    """The rows of a case, from before if they are stored; and what is wrong with them."""
    if stored and (known := stored.load(case)) is not None:
        return known, []
    try:
        rows = run_case(case, setting)
    except WrongError as fault:
        return [], [f"{case}: {fault}"]
    if stored:
        stored.save(case, rows)
    return rows, []


@contextmanager
def _waiting(what: str, say: Say) -> Iterator[None]:
    """Say every now and then that something is still under way."""
    over, start = Event(), time.monotonic()

    def report() -> None:
        while not over.wait(SAY_EVERY_S):
            say(f"{what}: {time.monotonic() - start:.0f} s so far")

    reporter = Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        over.set()
        reporter.join()


def _ended(found: Sequence[Measured], words: Sequence[str]) -> str:
    return words[0] if words else f"{found[0].run_s:.1f} s"


def _cases(scale: Scale) -> Iterator[Case]:
    for seed in scale.seeds:
        yield Case(BEGINNINGS, SPEEDS, scale.latest, seed)
        yield Case(PREDEPLOYED, FRIENDS, scale.edges_m, seed)
        yield Case(PREDEPLOYED, ACCIDENTS, scale.edges_m, seed)
        yield Case(UPDATES, ACCIDENTS, scale.edges_m, seed)


def _traffic_words(traffic: Traffic) -> str:
    trace = traffic.trace
    width, height = (side / 1_000 for side in trace.sides_m)
    return (
        f"{len(trace):,} reports of {trace.cars:,} vehicles in {width:.1f} km × {height:.1f} km, "
        f"{len(traffic.sightings):,} sightings by cameras"
    )


def _about(scale: Scale, source: Source, worlds: Sequence[str]) -> list[str]:
    """How it was measured, for the page."""
    return [
        f"Traffic: {source}; {scale.seconds:,} seconds, a report per vehicle and second; by set of trajectories: {'; '.join(worlds)}. "
        f"{scale.drivers} drivers are followed, each by itself with a box around it; figures are means of one driver. Every number comes from a run of "
        "Headwater texts on Spark.",
        f"Accidents: a car slows by more than 10 m/s, or changes its lane, within {MOVE_S} s; a drop, then changes by two other cars, within "
        f"{ACCIDENT_S} s, is an accident. So {MOVE_S + ACCIDENT_S} s of the past are passed on for each interest; δ = 0, the only one that the paper "
        f"states. Friends: cameras 200 m apart see cars in squares of 100 m; sightings of a club's cars near the driver, with δ = {RECENT_S} s. "
        f"Speeds: the average of the latest n reports of at least {FAST_MPS} m/s, all within {RESTRICTION_S} s, δ = 0, boxes of {SPEED_EDGE_M} m.",
        "Figure 3.8: predeployed regions stand 100 m apart, have the size of the drivers' boxes and get every event in them as it happens; followed "
        "boxes move with every report. `basic` is DELIVER EACH (nothing is left out), `saving` is DELIVER ONCE with all savings. What all regions get was compared "
        "with what lies in them by the places alone.",
        "Figure 3.9: quality is precision and recall of EMIT INTERESTS, weighted by how long each interest lasted. QUALITY p, r switches when the "
        "latest minute has precision p or recall r, or less; the paper's condition goes by precision alone.",
        "Figure 3.10: `all windows` begins where the windows together reach to, the paper's basic approach; `average` takes as many of the latest "
        "events as hold n fast ones on average (BEST EFFORT), the paper's count-based estimate; `none` takes none (BEST EFFORT 0). Overhead is the past "
        "that is passed on, relative to all windows; the paper counts correlation steps on it. Answers of less past were checked to be some of those of all windows.",
    ]
