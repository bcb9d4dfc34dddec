"""What a plan tells: tables, totals, the picture, and where nodes stand in it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import pairwise

import pytest
from rich.console import Console

from headwater.apps.plan import network_picture, report
from headwater.apps.plan.layout import lay_out
from headwater.apps.plan.network_picture import draw
from headwater.apps.plan.report import Carried, Placed, Planned, link_rows, print_report, write_tables
from headwater.apps.plan.sensor_day import Day, generated_day
from headwater.apps.plan.subscriptions import read_question
from headwater.model import HeadwaterError, LimitReached, Link, Network, PeerError

QUERIES = """CREATE STREAM weather (station STRING KEY, at TIMESTAMP TIME, temperature DOUBLE, wind DOUBLE, snow DOUBLE);
CREATE QUERY frost AS SELECT * FROM weather CORRELATE (temperature < 0, wind > 3 WITHIN 1 MINUTE);
CREATE QUERY deep AS SELECT * FROM weather CORRELATE (snow > 50 WITHIN 1 MINUTE EMIT READINGS);
"""


@pytest.fixture
def planned(tmp_path) -> Planned:
    parts = {
        "nodes": ["a", "b", "[c]"],
        "links": [["a", "b"], ["b", "[c]"]],
        "sensors": [{"key": "s1", "attributes": ["temperature", "wind"], "node": "a"}],
        "users": [{"name": "ranger$", "node": "[c]", "queries": ["frost", "deep"]}],
    }
    (tmp_path / "net.json").write_text(json.dumps(parts))
    question = read_question(QUERIES, "q.hw", str(tmp_path / "net.json"))
    day: Day = generated_day(question.sources, [])
    operator = question.subscriptions[0].operator
    ours = Carried("exact", {("b", "a"): 1, ("[c]", "b"): 1}, {("a", "b"): 40, ("b", "[c]"): 20}, 100, 900)
    centre = Carried("centralized", {("[c]", "b"): 2}, {("a", "b"): 200, ("b", "[c]"): 20}, 100, 9_900)
    placed = [Placed("[c]", "ranger$", operator), Placed("a", "b", operator)]
    return Planned(question, day, ours, centre, "b", placed, expected=20, missed=0, wrong=0)


def printed(planned: Planned) -> str:
    console = Console(file=io.StringIO(), width=150)
    print_report(planned, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_report_says_what_stands_where_and_what_links_carry(planned):
    lines = [" ".join(line.split()) for line in printed(planned).splitlines()]
    assert lines[0] == "network 3 nodes, 2 sensors, 1 user; the centre is 'b'"
    assert lines[1] == "queries 2 subscriptions, approach 'exact'"
    assert lines[2].startswith("readings 2")
    assert "note planned as EMIT READINGS, from which their answers are made: 'frost'" in lines
    assert "dropped 'deep' of ranger$, who is informed: no sensor measures 'snow'" in lines
    asks = "temperature below 0, wind above 3, less than 1 minute apart"
    assert f"[c] ranger$ ranger$/frost {asks}" in lines
    assert f"a b ranger$/frost {asks}" in lines
    assert "a - b 1 40 0 200 80 %" in lines
    assert "b - [c] 1 20 2 20 0 %" in lines
    assert lines[-4:] == [
        "operators 2 over links, 2 when everything goes to the centre",
        "readings 60 over links, 220 when everything goes to the centre: 73 % saved",
        "bytes 1 KB over links, 10 KB to the centre",
        "answers 20 of 20 readings reached their users",
    ]


def test_what_is_missing_is_reported(planned):
    missing = replace(planned, missed=3)
    assert printed(missing).splitlines()[-1].endswith("17 of 20 readings reached their users: 3 are missing")


def test_what_the_network_says_and_counts_is_reported_once(planned, monkeypatch):
    no_sources = HeadwaterError("no-sources", "no sensor measures 'snow', which 'ranger$/deep' requests")
    full = LimitReached("operators of a node", 9, "'[c]' accepts no more")
    messages = [("ranger$/deep", no_sources), ("ranger$/frost", full)]
    late = {"readings that came too late": 1234}
    said = replace(
        planned, tells=messages, refused=[PeerError("bad-message", "[bold] nonsense")], counts=late
    )
    lines = printed(replace(said, missed=1, centre_missed=5, settled=False)).splitlines()
    assert [line for line in lines if "snow" in line] == [
        "dropped   'deep' of ranger$, who is informed: no sensor measures 'snow'"
    ]
    assert "reported  ranger$, of 'frost': '[c]' accepts no more" in lines
    assert "refused   [bold] nonsense" in lines
    assert lines[-4:] == [
        "answers   19 of 20 readings reached their users: 1 is missing",
        "centre    when everything goes there, 15 of 20 readings reached their users: 5 are missing",
        "links     were still busy when the last reading was no longer valid",
        "counted   1,234 readings that came too late",
    ]
    monkeypatch.setattr(report, "MOST_ROWS", 1)
    many = printed(replace(said, tells=[("ranger$/frost", full)] * 5))
    assert many.count("accepts no more") == 1 and "and 4 more" in many


def test_long_tables_are_cut_on_paper_and_whole_in_the_files(planned, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "MOST_ROWS", 1)
    busy = replace(planned, ours=replace(planned.ours, events={("b", "[c]"): 900}))
    messages = printed(busy)
    assert messages.count("and 1 more") == 2
    assert "b - [c]" in messages and "a - b" not in messages
    operators, links = write_tables(planned, tmp_path)
    assert len(list(csv.reader(operators.open()))) == 3
    assert list(csv.reader(links.open())) == [
        ["link", "operators", "readings", "operators to the centre", "readings to the centre", "saved"],
        ["a - b", "1", "40", "0", "200", "0.8"],
        ["b - [c]", "1", "20", "2", "20", "0.0"],
    ]


def test_a_link_that_only_ours_uses_saves_nothing(planned):
    centre = Carried("centralized", {}, {("b", "[c]"): 20}, 0, 0)
    changed = replace(planned, centre=centre)
    assert [row[-1] for row in link_rows(changed)] == [-1.0, 0.0]
    assert " more" in printed(changed)


@pytest.mark.parametrize("named", [60, 1])
def test_the_picture_is_a_png_with_and_without_names(planned, tmp_path, monkeypatch, named):
    monkeypatch.setattr(network_picture, "MOST_NAMED", named)
    draw(planned, tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_nodes_stand_above_what_is_below_them():
    links = [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("a", "e")]
    network = Network(("r", "a", "b", "c", "d", "e"), tuple(Link(*pair) for pair in links))
    assert lay_out(network, "r") == {
        "r": (2.0, 0.0), "a": (1.0, -1.0), "b": (3.0, -1.0), "c": (0.0, -2.0), "d": (1.0, -2.0), "e": (2.0, -2.0),
    }  # fmt: skip


def test_a_long_chain_and_a_node_alone_can_be_drawn():
    nodes = tuple(f"n{number}" for number in range(3000))
    chain = Network(nodes, tuple(Link(*pair) for pair in pairwise(nodes)))
    assert lay_out(chain, "n0")["n2999"] == (0.0, -2999.0)
    assert lay_out(Network(("a",), ()), "a") == {"a": (0.0, 0.0)}
