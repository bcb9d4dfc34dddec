"""The command: the example of the repository, recorded readings, and what it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from headwater.apps.cli import main, plan
from headwater.apps.overlay import reading_lifetime
from headwater.apps.plan.report import Carried, Planned
from headwater.apps.plan.sensor_day import generated_day
from headwater.apps.plan.subscriptions import read_question
from headwater.model import PeerError

EXAMPLE = Path(plan.__file__).parents[1] / "examples" / "network"

QUERIES = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, wind DOUBLE, snow DOUBLE);
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (temperature < 0, wind > 3 WITHIN 1 MINUTE EMIT READINGS);
CREATE QUERY deep AS SELECT * FROM weather CORRELATE (snow > 50 WITHIN 1 MINUTE EMIT READINGS);
"""
NETWORK = {
    "nodes": ["pass", "hut", "village"],
    "links": [["pass", "hut"], ["hut", "village"]],
    "sensors": [
        {"key": "p", "attributes": ["temperature", "wind"], "node": "pass"},
        {"key": "h", "attributes": ["temperature"], "node": "hut"},
    ],
    "users": [{"name": "ranger", "node": "village", "queries": ["frost", "deep"]}],
}
ROWS = """station,at,temperature,wind
p,2026-01-01T00:00:00Z,-1,
p,2026-01-01T00:00:30Z,,5
h,2026-01-01T00:00:40Z,-2,
h,2026-01-01T00:01:10Z,4,
h,2026-01-01T00:05:00Z,-3,
p,2026-01-01T00:06:10Z,,9
elsewhere,2026-01-01T00:07:00Z,1,1
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("alerts.hw").write_text(QUERIES)
    Path("net.json").write_text(json.dumps(NETWORK))
    Path("day.csv").write_text(ROWS)
    return tmp_path


def squeezed(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_recorded_readings_are_carried_as_far_as_they_are_requested(here, capsys):
    """By hand: -1 at 0, 5 at 30 s and -2 at 40 s belong together; -3 at 300 s and 9 at 370 s are 70 s apart."""
    assert main(["plan", "alerts.hw", "--network", "net.json", "--input", "weather=day.csv"]) == 0
    out = squeezed(capsys.readouterr().out)
    assert "left out 1 row of sensors that the network does not have (the first: 'elsewhere')" in out
    assert "dropped 'deep' of ranger, who is informed: no sensor measures 'snow'" in out
    asks = "less than 1 minute apart"
    assert f"village ranger (user) ranger/frost temperature below 0, wind above 3, {asks}" in out
    assert f"hut village ranger/frost temperature below 0, wind above 3, {asks}" in out
    # Both winds and one temperature of the pass are asked for there: the wind is needed, a temperature may come from the hut.
    assert f"pass hut ranger/frost wind above 3, perhaps temperature below 0, {asks}" in out
    # What nobody can answer goes nowhere, so the centre (the hut) hears of one subscription.
    assert [line for line in out if line.startswith(("pass - hut", "hut - village"))] == [
        "pass - hut 1 3 0 3 0 %",
        "hut - village 1 3 1 3 0 %",
    ]
    assert "answers 3 of 3 readings reached their users" in out
    with Path("plan-links.csv").open() as file:
        assert [row[0] for row in csv.reader(file)] == ["link", "pass - hut", "hut - village"]
    assert Path("plan.png").read_bytes().startswith(b"\x89PNG")


def test_the_example_runs_and_every_reading_reaches_its_user(tmp_path, capsys):
    files = [str(EXAMPLE / "network.hw"), "--network", str(EXAMPLE / "network.json")]
    assert main(["plan", *files, "--output", str(tmp_path / "new" / "plan")]) == 0
    out = squeezed(capsys.readouterr().out)
    assert out[0] == "network 15 nodes, 39 sensors, 2 users; the centre is 'forest'"
    assert not any(line.startswith("dropped") for line in out)
    (answers,) = [line.split() for line in out if line.startswith("answers")]
    assert answers[1] == answers[3] != "0"
    (saved,) = [line for line in out if line.startswith("readings") and line.endswith("saved")]
    assert int(saved.split()[-3]) > 50
    assert sorted(path.name for path in (tmp_path / "new" / "plan").iterdir()) == [
        "plan-links.csv", "plan-operators.csv", "plan.png",
    ]  # fmt: skip


@pytest.mark.parametrize("approach", ["naive", "operator-placement", "multi-join", "filter-split-forward"])
def test_other_approaches_bring_the_same_answers(here, capsys, approach):
    given = ["--input", "weather=day.csv", "--approach", approach]
    assert main(["plan", "alerts.hw", "--network", "net.json", *given]) == 0
    out = squeezed(capsys.readouterr().out)
    assert f"queries 2 subscriptions, approach '{approach}'" in out
    assert "answers 3 of 3 readings reached their users" in out


SLOW = {
    "links": [
        {"between": ["pass", "hut"], "latency_ms": 60_000, "bandwidth_kbit_s": 1},
        {"between": ["hut", "village"], "latency_ms": 60_000, "bandwidth_kbit_s": 1},
    ]
}


def test_the_slowest_links_bring_the_same_answers(here, capsys):
    Path("net.json").write_text(json.dumps(NETWORK | SLOW))
    assert main(["plan", "alerts.hw", "--network", "net.json", "--input", "weather=day.csv"]) == 0
    out = squeezed(capsys.readouterr().out)
    assert "answers 3 of 3 readings reached their users" in out
    assert not any(line.startswith(("reported", "refused", "counted", "centre")) for line in out)


@pytest.mark.parametrize("approach", ["exact", "filter-split-forward"])
def test_answers_that_slow_links_lose_are_a_failure(here, capsys, monkeypatch, approach):
    """Nodes that are not patient enough for a minute on each link."""
    monkeypatch.setattr(reading_lifetime, "LEAST_US", 0)
    monkeypatch.setattr(reading_lifetime, "SEVERAL", 0)
    Path("net.json").write_text(json.dumps(NETWORK | SLOW))
    given = ["--input", "weather=day.csv", "--approach", approach]
    assert main(["plan", "alerts.hw", "--network", "net.json", *given]) == 1
    out, err = capsys.readouterr()
    assert "check failed: 3 of 3 readings did not reach their users\n  links are too slow for the day" in err
    assert "answers   0 of 3 readings reached their users: 3 are missing" in out
    assert "readings that came when they were no longer valid" in out


@pytest.mark.parametrize(
    ("missed", "may_lose", "refused", "code", "words"),
    [
        (0, False, (), 0, ""),
        (2, True, (), 0, "'exact' may treat a subscription as covered when it is not: 2 readings are lost"),
        (
            2,
            False,
            (),
            1,
            "check failed: 2 of 9 readings did not reach their users\n  were subscriptions dropped",
        ),
        (0, False, (PeerError("bad-message", "no"),), 1, "check failed: nodes refused 1 message (see above)"),
    ],
)
def test_what_a_plan_is_judged_by(here, capsys, missed, may_lose, refused, code, words):
    question = read_question(QUERIES, "alerts.hw", "net.json")
    carried = Carried("exact", {}, {}, 0, 0)
    planned = Planned(
        question, generated_day((), []), carried, carried, "hut", [], 9, missed, 0, may_lose, refused=refused
    )
    assert plan._judged(planned) == code
    assert capsys.readouterr().err.startswith(words)


def test_long_names_are_refused_by_their_bytes(here, capsys):
    text = json.dumps(NETWORK).replace("village", "é" * 150)
    Path("net.json").write_text(text)
    assert main(["plan", "alerts.hw", "--network", "net.json", "--input", "weather=day.csv"]) == 1
    err = capsys.readouterr().err
    assert "error[wrong-field]: the name of a node is longer than 200 bytes: it has 300 in UTF-8" in err
    Path("net.json").write_text(json.dumps(NETWORK).replace("village", "é" * 100))
    assert main(["plan", "alerts.hw", "--network", "net.json", "--input", "weather=day.csv"]) == 0


def test_errors_of_the_network_are_reported_with_their_places(here, capsys):
    broken = NETWORK | {
        "links": [["pass", "hut"], ["hut", "vilage"]],
        "users": [{"name": "ranger", "queries": ["frost", "deep"]}],
    }
    Path("net.json").write_text(json.dumps(broken, indent=1))
    assert main(["plan", "alerts.hw", "--network", "net.json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        "error[unknown-node]: a link goes to 'vilage', but there is no such node\n  net.json:14:4, links[1][1]\n"
        in err
    )
    assert "did you mean 'village'?" in err
    assert "error[user-nowhere]" in err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--input", "day.csv"], 2, "--input takes NAME=PATH, not 'day.csv'"),
        (["--input", "wether=day.csv"], 2, "the queries read 'weather': --input weather=day.csv"),
        (["--input", "weather=gone.csv"], 1, "error[missing-input]"),
        (["--network", "gone.json"], 1, "error[missing-network]"),
        (["--output", "day.csv/x"], 1, "error[cannot-write]"),
    ],
)
def test_what_makes_no_sense_is_refused(here, capsys, arguments, code, words):
    network = [] if "--network" in arguments else ["--network", "net.json"]
    assert main(["plan", "alerts.hw", *network, *arguments]) == code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("seed", ["-1", "x", "²", "1" * 12])
def test_seeds_are_numbers_with_a_bound(capsys, seed):
    assert main(["plan", "a.hw", "--network", "n.json", f"--seed={seed}"]) == 2
    assert "expected a number from 0 to 999999999" in capsys.readouterr().err
