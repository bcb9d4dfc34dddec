"""Following drivers: texts find what they are to find, figures are worked out right, claims are told as they were measured."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headwater.hosts.local import run_local
from headwater.model import SECOND, Column, ColumnType, DataError, HostError, Rows, join_rows
from headwater.query.planning.plan import Plan, compile_text
from headwater_lab.reproduce.follow import experiment
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
from headwater_lab.reproduce.follow.claims import claims
from headwater_lab.reproduce.follow.figures import panels
from headwater_lab.reproduce.follow.player import player
from headwater_lab.reproduce.follow.runs import (
    Setting,
    WrongError,
    all_questions,
    covered,
    estimate,
    quality,
    run_case,
)
from headwater_lab.reproduce.follow.scene import make_scene
from headwater_lab.reproduce.follow.spark_run import RunResult, by_query
from headwater_lab.reproduce.follow.sumo import Sumo, find_sumo, read_roads
from headwater_lab.reproduce.follow.traffic import (
    NETWORK_FILE,
    Source,
    Traffic,
    choose_source,
    make_traffic,
    posts,
)
from headwater_lab.workloads.traces import trace_of

DRIVERS = 4


def run_here(plan: Plan, files: Mapping[str, Path]) -> RunResult:
    """In the plain loop."""
    counts: Counter[str] = Counter()
    parts: dict[str, list[Rows]] = {}
    for output in run_local(plan, {name: [str(path)] for name, path in files.items()}):
        counts.update(output.counts)
        for name, own in (pair for rows in output.answers for pair in by_query(rows)):
            parts.setdefault(name, []).append(own)
    return RunResult(counts, {name: join_rows(blocks) for name, blocks in parts.items()}, 0.0)


@pytest.fixture(scope="module")
def setting(tmp_path_factory) -> Setting:
    folder = tmp_path_factory.mktemp("traffic")
    own = Source(None, None)
    traffic = make_traffic(own, 1_500, 60, DRIVERS, seed=1, folder=folder, say=lambda line: None)
    return Setting(run_here, 1, traffic, DRIVERS)


def rows_of(measured: list[Measured], point: int) -> dict[str, Measured]:
    return {m.way: m for m in measured if point in (m.edge_m, m.latest)}


def test_the_three_applications_are_one_text() -> None:
    plan = compile_text(all_questions(20, 500, 5))
    assert [query.name for query in plan.queries if query.kind == "follow"] == [
        "accidents_near",
        "friends_near",
        "speeds_near",
    ]
    assert {query.name: query.before_us // SECOND for query in plan.queries if query.kind == "follow"} == {
        "accidents_near": 22,
        "friends_near": 0,
        "speeds_near": 25,
    }


# --- figure 3.8 ---------------------------------------------------------------------------------------------------


def test_predeployed_regions_get_what_lies_in_them() -> None:
    random = np.random.default_rng(1)
    x, y = random.uniform(0, 700, 200), random.uniform(0, 400, 200)
    x[:3] = 25.0, 75.0, 700.0  # on a border
    centres = np.stack(np.meshgrid(np.arange(50.0, 700, 100), np.arange(50.0, 400, 100)), -1).reshape(-1, 2)
    for edge in (50, 100, 330):
        near = (np.abs(x[:, None] - centres[:, 0]) <= edge / 2) & (
            np.abs(y[:, None] - centres[:, 1]) <= edge / 2
        )
        assert covered(x, y, centres, edge) == near.sum()


@pytest.mark.parametrize("application", [ACCIDENTS, FRIENDS])
def test_figure_3_8_counts_what_is_passed_on(setting, application) -> None:
    measured = run_case(Case(PREDEPLOYED, application, (100, 500), 1), setting)
    for edge in (100, 500):
        found = rows_of(measured, edge)
        assert found[POSTS].streamed == found[POSTS].live > 0 and found[POSTS].relative == 1
        assert found[POSTS].drivers == len(posts(setting.traffic.trace))
        assert found[EACH].interests == DRIVERS * 60
        assert found[EACH].streamed == found[EACH].live + found[EACH].historical
        assert found[EACH].streamed == found[ONCE].streamed + found[ONCE].saved
        assert found[EACH].relative == found[EACH].streamed / DRIVERS / found[POSTS].streamed
        assert found[EACH].answers >= found[ONCE].answers
    assert (rows_of(measured, 500)[ONCE].saved > 0) == (application == FRIENDS)
    assert application == ACCIDENTS or rows_of(measured, 500)[ONCE].answers > 0


def test_a_wrong_count_is_not_a_row(setting) -> None:
    def miscount(plan: Plan, files: Mapping[str, Path]) -> RunResult:
        result = run_here(plan, files)
        return replace(result, counts={**result.counts, "events_live:posts200": 1})

    with pytest.raises(WrongError, match="1 events were passed on to predeployed regions of 200 m, and"):
        run_case(Case(PREDEPLOYED, FRIENDS, (200,), 1), replace(setting, run=miscount))


# --- figure 3.9 ---------------------------------------------------------------------------------------------------


def test_figure_3_9_passes_on_less_and_fits_worse_with_fewer_interests(setting) -> None:
    found = rows_of(run_case(Case(UPDATES, ACCIDENTS, (200,), 1), setting), 200)
    assert list(found) == list(CONDITIONS)
    assert found[ALWAYS].relative == found[ALWAYS].precision == found[ALWAYS].recall == 1
    for often, rare in (("EVERY 5 SECONDS", "EVERY 20 SECONDS"), ("MOVED 25 METERS", "MOVED 100 METERS")):
        assert 1 > found[often].relative > found[rare].relative > 0
        assert found[often].precision > found[rare].precision
    assert found["QUALITY 0.9, 0.9"].interests >= found["QUALITY 0.9, 0"].interests > DRIVERS


def test_quality_counts_an_interest_as_long_as_it_lasts() -> None:
    def column(kind: ColumnType, *values: float) -> Column:
        return Column.of(kind, values)

    rows = Rows.of(
        {
            "begins": column(ColumnType.TIMESTAMP, 0, 3 * SECOND),
            "ends": column(ColumnType.TIMESTAMP, 3 * SECOND, 4 * SECOND),
            "precision": column(ColumnType.DOUBLE, 1.0, 0.0),
            "recall": column(ColumnType.DOUBLE, 0.5, 0.9),
        }
    )
    assert quality(rows) == (0.75, pytest.approx(0.6))


# --- figure 3.10 --------------------------------------------------------------------------------------------------


def test_figure_3_10_finds_less_with_less_of_the_past(setting) -> None:
    measured = run_case(Case(BEGINNINGS, SPEEDS, (2, 8), 1), setting)
    for latest in (2, 8):
        found = {m.way: m for m in measured if m.latest == latest}
        assert found[BASIC].completeness == found[BASIC].relative == 1 and found[BASIC].answers > 0
        assert found[NONE].historical == 0 == found[NONE].relative
        assert 0 < found[AVERAGE].relative < 0.5
        assert found[NONE].completeness < found[AVERAGE].completeness <= 1
        assert found[BASIC].live == found[NONE].live


def test_so_many_events_hold_so_many_fast_ones() -> None:
    speed = np.array([10.0, 0.0, 0.0, 8.0, 1.0])
    number = np.arange(5)
    trace = trace_of(number, number, np.zeros((5, 2)), speed, number, number)
    assert estimate(Traffic(trace, None, {}), 4) == 10  # type: ignore[arg-type]


# --- claims and pictures ------------------------------------------------------------------------------------------


def row(figure: str, way: str, point: int, *, application: str = ACCIDENTS, **values: float) -> Measured:
    edge, latest = (200, point) if figure == BEGINNINGS else (point, 0)
    zeros = dict.fromkeys(("interests", "live", "historical", "streamed", "saved", "answers"), 0)
    numbers = {"a_driver": 1.0, "relative": 1.0, "precision": 1.0, "recall": 1.0, "completeness": 1.0}
    given = {**zeros, **numbers, "run_s": 1.0, **values}
    return Measured(figure, application, edge, latest, 1, way, DRIVERS, **given)  # type: ignore[arg-type]


def as_published(**changed: float) -> list[Measured]:
    """Rows for which every claim holds, but for what is changed."""
    at = {"followed": 0.005, "once": 0.9, "quality": 0.95, "traffic": 0.4, "overhead": 0.01}
    at |= {"average": 0.8, "none": 0.2, **changed}
    rows = []
    for application in (ACCIDENTS, FRIENDS):
        rows += [
            row(PREDEPLOYED, POSTS, 500, application=application, streamed=1_000_000),
            row(PREDEPLOYED, EACH, 500, application=application, relative=at["followed"], streamed=100),
            row(PREDEPLOYED, ONCE, 500, application=application, relative=0.001, streamed=100 * at["once"]),
        ]
    shares = dict.fromkeys(CONDITIONS, (0.5, 0.95)) | {ALWAYS: (1.0, 1.0)}
    shares |= {"EVERY 20 SECONDS": (0.1, 0.5), "MOVED 100 METERS": (0.1, 0.5)}
    shares["QUALITY 0.9, 0"] = (at["traffic"], at["quality"])
    rows += [row(UPDATES, way, 500, relative=of, precision=fits) for way, (of, fits) in shares.items()]
    return [
        *rows,
        row(BEGINNINGS, BASIC, 5, historical=100, interests=10),
        row(BEGINNINGS, AVERAGE, 5, relative=at["overhead"], completeness=at["average"]),
        row(BEGINNINGS, NONE, 5, relative=0.0, completeness=at["none"]),
    ]


def failing(rows: list[Measured]) -> list[str]:
    return [claim.words.split(":")[0][:40] for claim in claims(rows) if not claim.holds]


def test_claims_hold_for_what_was_published() -> None:
    assert failing(as_published()) == [] and len(claims(as_published())) == 12


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"followed": 0.011}, [f"{ACCIDENTS}, {EACH}", f"{FRIENDS}, {EACH}"]),
        ({"once": 1.0}, ["leaving out what was passed on before save"]),
        ({"traffic": 0.6}, ["QUALITY by a precision of 0.9 halves the"]),
        ({"quality": 0.9}, ["QUALITY by a precision of 0.9 halves the"]),
        ({"overhead": 0.11}, ["with the average past the overhead is le", "it saves up to 98 % of the past"]),
        ({"overhead": 0.05}, ["it saves up to 98 % of the past"]),
        ({"average": 0.95}, ["with the average past about 80% of the a"]),
        ({"none": 0.05}, ["with no past about 20% of the answers ar"]),
    ],
)
def test_a_claim_that_does_not_hold_is_reported(changed, words) -> None:
    assert failing(as_published(**changed)) == [line[:40] for line in words]


def test_pictures_have_a_point_for_the_mean_of_all_seeds() -> None:
    rows = [row(PREDEPLOYED, EACH, 50, relative=share) for share in (0.2, 0.4)]
    (panel,) = panels(rows)
    assert panel.lines == {f"{ACCIDENTS}, {EACH}": [(50.0, pytest.approx(0.3))]}
    assert [panel.file for panel in panels(as_published())] == [
        "figure-3-8",
        "figure-3-9a",
        "figure-3-9b",
        "figure-3-9b-recall",
        "figure-3-10",
    ]


def test_what_failed_leaves_claims_out() -> None:
    outcome = experiment.conclude(as_published(), ["figure 3.8: wrong"], about=["so"])
    assert outcome.claims == [] and outcome.failures == ["figure 3.8: wrong"] and len(outcome.rows) == 16


# --- the scene ----------------------------------------------------------------------------------------------------


def test_a_page_has_all_of_the_scene_and_needs_nothing_else(setting) -> None:
    scene = make_scene(setting)
    page = player(scene, whose="a <town>")
    packed = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert packed is not None
    data = json.loads(packed[1])
    assert len(data["way"]) == len(data["cars"]) == 60
    assert data["driver"] in range(DRIVERS) and data["radius"] == 250
    for before, after in zip(data["interests"], data["interests"][1:], strict=False):
        assert before["ends"] == after["begins"]
        assert np.hypot(*np.subtract(before["place"], after["place"])) > 99
    for interest in data["interests"]:
        off = np.hypot(*np.subtract(interest["past"] or [interest["place"]], interest["place"]).T)
        assert off.max() <= 252  # whole metres
    assert sum(len(interest["past"]) for interest in data["interests"][1:]) > 0
    for one in data["situations"]:
        assert one["told"] >= one["happened"] and one["kind"] in (ACCIDENTS, FRIENDS)
        assert one["historical"] == (one["told"] > one["happened"])
    assert not re.search(r"(src|href)=|https?://|@import|\{\{", page)
    assert "a &lt;town&gt;" in page and "CREATE QUERY accidents" in page


# --- whose traffic ------------------------------------------------------------------------------------------------


def test_without_sumo_a_network_is_refused_if_it_is_given_and_left_aside_if_it_is_found(tmp_path) -> None:
    found = tmp_path / NETWORK_FILE
    found.parent.mkdir()
    found.write_text("<net/>")
    assert choose_source(None, None, tmp_path) == Source(None, None)
    assert str(choose_source(None, None, tmp_path)) == "the project's own town"
    with pytest.raises(DataError, match="SUMO, which is not installed"):
        choose_source(None, found, tmp_path)


def test_with_sumo_a_given_network_comes_before_one_that_is_found(tmp_path) -> None:
    sumo = Sumo(tmp_path)
    assert choose_source(sumo, None, tmp_path).network is None
    found = tmp_path / NETWORK_FILE
    found.parent.mkdir()
    found.write_text("<net/>")
    assert choose_source(sumo, None, tmp_path).network == found
    assert choose_source(sumo, Path("other.net.xml"), tmp_path).network == Path("other.net.xml").absolute()


def test_sumo_is_found_as_a_package_with_its_programs(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "sumo", raising=False)
    assert find_sumo() is None
    (tmp_path / "sumo" / "bin").mkdir(parents=True)
    (tmp_path / "sumo" / "__init__.py").write_text("raise SystemExit\n")  # nothing of it is imported
    assert find_sumo() is None
    (tmp_path / "sumo" / "bin" / "sumo").write_text("#!/bin/sh\necho no such road >&2\nexit 3\n")
    (tmp_path / "sumo" / "bin" / "sumo").chmod(0o755)
    sumo = find_sumo()
    assert sumo == Sumo(tmp_path / "sumo")
    with pytest.raises(HostError, match="'sumo' ended with 3") as refused:
        sumo.call("sumo", folder=tmp_path)
    assert "no such road" in str(refused.value)


NETWORK = """<net>
<edge id=":A_0" function="internal"><lane id=":A_0_0" length="5"/></edge>
<edge id="AB"><lane id="AB_0" length="90" allow="pedestrian"/><lane id="AB_1" length="90"/></edge>
<edge id="BA"><lane id="BA_0" length="91" disallow="tram rail"/></edge>
<edge id="rail"><lane id="rail_0" length="500" disallow="passenger"/></edge>
</net>"""


def test_roads_are_those_that_cars_may_take(tmp_path) -> None:
    (tmp_path / "a.net.xml").write_text(NETWORK)
    roads = read_roads(tmp_path / "a.net.xml")
    assert [(road.name, road.lanes, road.length_m) for road in roads] == [("AB", 2, 90), ("BA", 1, 91)]


@pytest.mark.parametrize("text", ["id,x,y\n1,2,3\n", "<net></net>", NETWORK.replace("length", "long")])
def test_what_is_not_a_network_is_refused(tmp_path, text) -> None:
    (tmp_path / "a.net.xml").write_text(text)
    with pytest.raises(DataError, match="is not a SUMO network"):
        read_roads(tmp_path / "a.net.xml")


@pytest.mark.skipif(find_sumo() is None, reason="SUMO is not installed: pip install 'headwater-lab[sumo]'")
def test_sumo_drives_in_a_grid_town(tmp_path) -> None:
    sumo = find_sumo()
    traffic = make_traffic(
        Source(sumo, None), 200, 30, DRIVERS, seed=1, folder=tmp_path, say=lambda line: None
    )
    assert traffic.trace.seconds == 30 and 190 <= traffic.trace.cars <= 200
    assert 7_600 < traffic.trace.sides_m[0] < 7_800 and len(traffic.sightings) > 0
