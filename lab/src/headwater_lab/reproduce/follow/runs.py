"""One run on Spark for a figure and an application: all points and all ways to do it, side by side in one text, over the same events.

Figure 3.8    Posts 100 m apart, each with a box that lasts, against boxes around drivers that move with every report: DELIVER EACH streams the
              whole past of each interest (the paper's MCEP without optimisations), DELIVER ONCE with all savings what is needed.
Figure 3.9    Conditions for a new interest, with the events they stream and how well interests fit.
Figure 3.10   Where the past begins: so far back as all windows together reach; at the latest few events, as many as the counting
              window needs on average; nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from headwater.kernels.follow.choices import Saving
from headwater.model import Rows
from headwater.query.planning.plan import Plan
from headwater_lab.reproduce.follow.cases import (
    ACCIDENTS,
    ALWAYS,
    AVERAGE,
    BASIC,
    BEGINNINGS,
    CONDITIONS,
    EACH,
    FRIENDS,
    NONE,
    ONCE,
    POSTS,
    PREDEPLOYED,
    SPEEDS,
    UPDATES,
    Case,
    Measured,
)
from headwater_lab.reproduce.follow.questions import (
    FAST_MPS,
    RECENT_S,
    STREAMS,
    Following,
    accidents,
    box,
    counted,
    drivers,
    friends,
    plan_of,
    speeds,
)
from headwater_lab.reproduce.follow.spark_run import RunResult
from headwater_lab.reproduce.follow.traffic import Traffic, posts
from headwater_lab.workloads.traces import Floats

SILENT: Final = "FORGET 2 SECONDS"
SPEED_EDGE_M: Final = 200


class WrongError(Exception):
    """What a run counted or answered is not what it must be."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What runs a plan over files and in how many zones, with whose traffic, and how many are followed."""

    run: Callable[[Plan, Mapping[str, Path]], RunResult]
    zones: int
    traffic: Traffic
    drivers: int

    def ask(self, queries: list[str], visible: list[str], saving: Sequence[str] = ()) -> RunResult:
        """Run queries side by side; FOLLOWs stream everything but those that are `saving`."""
        return self.run(plan_of(queries, visible, saving=saving, zones=self.zones), self.traffic.files)

    def following(self, edge_m: int, last_s: int = 0, words: str = "") -> Following:
        """Follow the drivers."""
        return Following(drivers(self.drivers), box(edge_m), last_s, f"{words} {SILENT}".strip())


def all_questions(followed: int, edge_m: int, latest: int) -> str:
    """The three applications as one text, as a user would write it."""
    following = Following(drivers(followed), box(edge_m))
    return "\n".join(
        (
            STREAMS,
            accidents(ACCIDENTS, following),
            friends(FRIENDS, replace(following, last_s=RECENT_S)),
            speeds(SPEEDS, following, latest),
        )
    )


def run_case(case: Case, setting: Setting) -> list[Measured]:
    """All rows of a case."""
    return _RUNS[case.figure](case, setting)


# --- figure 3.8 ---------------------------------------------------------------------------------------------------


def _run_predeployed(case: Case, setting: Setting) -> list[Measured]:
    question, events, last_s = _APPLICATIONS[case.application]
    queries, visible = [], []
    for edge in case.points:
        queries += [
            question(f"each{edge}", setting.following(edge, last_s, "DELIVER EACH")),
            question(f"once{edge}", setting.following(edge, last_s)),
            counted(f"posts{edge}", events, Following("posts", box(edge))),
        ]
        visible += [f"each{edge}", f"once{edge}", f"posts{edge}"]
    result = setting.ask(queries, visible, [f"once{edge}_near" for edge in case.points])
    return [row for edge in case.points for row in _beside_posts(case, setting, result, edge)]


def _beside_posts(case: Case, setting: Setting, result: RunResult, edge: int) -> Iterator[Measured]:
    stand = _FollowRun(result, f"posts{edge}", len(posts(setting.traffic.trace)), edge)
    predeployed = stand.counted("events_live")
    _check_posts(case, setting.traffic, edge, predeployed)
    yield _measured(case, POSTS, stand, _Scores(1.0))
    for way, name in ((EACH, f"each{edge}"), (ONCE, f"once{edge}")):
        run = _FollowRun(result, f"{name}_near", setting.drivers, edge)
        relative = run.passed_on / setting.drivers / max(predeployed, 1)
        yield _measured(case, way, run, _Scores(relative, _count(result, name)))


def _check_posts(case: Case, traffic: Traffic, edge: int, found: int) -> None:
    """What all posts together got is what is worked out from the places alone."""
    of = traffic.trace if case.application == ACCIDENTS else traffic.sightings
    expected = covered(of.x, of.y, posts(traffic.trace), edge)
    if found != expected:
        raise WrongError(
            f"{found:,} events were passed on to predeployed regions of {edge} m, and {expected:,} lie in them"
        )


def covered(x: Floats, y: Floats, centres: Floats, edge_m: float) -> int:
    """How many pairs there are of an event and a box around a centre that it lies in; centres are on a grid."""
    together = np.ones(len(x), np.int64)
    for places, centre in ((x, centres[:, 0]), (y, centres[:, 1])):
        lines = np.unique(centre)
        first = np.searchsorted(lines, places - edge_m / 2, "left")
        together *= np.searchsorted(lines, places + edge_m / 2, "right") - first
    return int(together.sum())


# --- figure 3.9 ---------------------------------------------------------------------------------------------------


def _run_updates(case: Case, setting: Setting) -> list[Measured]:
    queries, visible = [], []
    for edge in case.points:
        for number, condition in enumerate(CONDITIONS):
            following = setting.following(edge, words=f"UPDATE {condition}")
            way, fits = f"way{edge}_{number}", f"fits{edge}_{number}"
            queries += [accidents(way, following), counted(fits, "reports", following)]
            visible += [way, fits]
    result = setting.ask(queries, visible)
    return [row for edge in case.points for row in _beside_always(case, setting, result, edge)]


def _beside_always(case: Case, setting: Setting, result: RunResult, edge: int) -> Iterator[Measured]:
    ways = [f"way{edge}_{number}" for number in range(len(CONDITIONS))]
    runs = [_FollowRun(result, f"{way}_near", setting.drivers, edge) for way in ways]
    yardstick = runs[CONDITIONS.index(ALWAYS)].passed_on
    for number, (condition, way, run) in enumerate(zip(CONDITIONS, ways, runs, strict=True)):
        precision, recall = quality(result.answers[f"fits{edge}_{number}"])
        relative = run.passed_on / max(yardstick, 1)
        yield _measured(case, condition, run, _Scores(relative, _count(result, way), precision, recall))


def quality(interests: Rows) -> tuple[float, float]:
    """The mean precision and recall of interests, each as long as it lasted."""
    lasted = (interests["ends"].values - interests["begins"].values).astype(np.float64)
    found = [float(np.average(interests[name].values, weights=lasted)) for name in ("precision", "recall")]
    return found[0], found[1]


# --- figure 3.10 --------------------------------------------------------------------------------------------------


def _run_beginnings(case: Case, setting: Setting) -> list[Measured]:
    queries, visible = [], []
    for latest in case.points:
        past = {BASIC: "", AVERAGE: f"BEST EFFORT {estimate(setting.traffic, latest)}", NONE: "BEST EFFORT 0"}
        for way, words in past.items():
            following = setting.following(SPEED_EDGE_M, words=f"DELIVER EACH {words}".strip())
            queries.append(speeds(_named(way, latest), following, latest))
            visible.append(_named(way, latest))
    result = setting.ask(queries, visible)
    return [row for latest in case.points for row in _beside_all_windows(case, setting, result, latest)]


def _named(way: str, latest: int) -> str:
    return f"{way.replace(' ', '_')}_{latest}"


def _beside_all_windows(case: Case, setting: Setting, result: RunResult, latest: int) -> Iterator[Measured]:
    names = {way: _named(way, latest) for way in (BASIC, AVERAGE, NONE)}
    found = {way: _situations(result, name) for way, name in names.items()}
    for way in (AVERAGE, NONE):
        if more := len(found[way] - found[BASIC]):
            raise WrongError(
                f"with the past of '{way}' there are {more:,} answers that all windows do not give"
            )
    yardstick = result.counted("events_historical", f"{names[BASIC]}_near")
    for way, name in names.items():
        run = _FollowRun(result, f"{name}_near", setting.drivers, SPEED_EDGE_M, latest)
        scores = _Scores(
            run.counted("events_historical") / max(yardstick, 1),
            len(found[way]),
            completeness=len(found[way]) / len(found[BASIC]) if found[BASIC] else 1.0,
        )
        yield _measured(case, way, run, scores)


def estimate(traffic: Traffic, latest: int) -> int:
    """How many events it takes on average to have so many fast ones."""
    fast = float(np.mean(traffic.trace.speed >= FAST_MPS))
    return int(np.ceil(latest / max(fast, 1e-3)))


def _situations(result: RunResult, name: str) -> set[tuple[object, ...]]:
    if name not in result.answers:
        return set()
    rows = result.answers[name]
    columns = (rows[column].tolist() for column in ("focal", "event_time", "car", "average"))
    return set(zip(*columns, strict=True))


# --- rows ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _FollowRun:
    """A FOLLOW in the result of a run: its name there, how many it follows, the edge of their boxes and the counting window."""

    result: RunResult
    name: str
    followed: int
    edge_m: int
    latest: int = 0

    def counted(self, what: str) -> int:
        return self.result.counted(what, self.name)

    @property
    def passed_on(self) -> int:
        """Events of the present and of the past."""
        return self.counted("events_live") + self.counted("events_historical")


@dataclass(frozen=True, slots=True)
class _Scores:
    """What a way passes on, relative to the yardstick of its figure, and how good its interests and answers are."""

    relative: float
    answers: int = 0
    precision: float = 1.0
    recall: float = 1.0
    completeness: float = 1.0


def _measured(case: Case, way: str, run: _FollowRun, scores: _Scores) -> Measured:
    return Measured(
        figure=case.figure,
        application=case.application,
        edge_m=run.edge_m,
        latest=run.latest,
        seed=case.seed,
        way=way,
        drivers=run.followed,
        interests=run.counted("interests"),
        live=run.counted("events_live"),
        historical=run.counted("events_historical"),
        streamed=run.passed_on,
        saved=sum(run.counted(f"saved_{saving.value}") for saving in Saving),
        a_driver=run.passed_on / run.followed,
        relative=scores.relative,
        precision=scores.precision,
        recall=scores.recall,
        answers=scores.answers,
        completeness=scores.completeness,
        run_s=run.result.seconds,
    )


def _count(result: RunResult, name: str) -> int:
    return result.answers[name].count if name in result.answers else 0


_APPLICATIONS: Final[Mapping[str, tuple[Callable[[str, Following], str], str, int]]] = {
    ACCIDENTS: (accidents, "reports", 0),
    FRIENDS: (friends, "sightings", RECENT_S),
}
_RUNS: Final[Mapping[str, Callable[[Case, Setting], list[Measured]]]] = {
    PREDEPLOYED: _run_predeployed,
    UPDATES: _run_updates,
    BEGINNINGS: _run_beginnings,
}
