"""Network files: what a good one says, and every error of a bad one with its place and advice."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from headwater.apps.plan import network_file
from headwater.apps.plan.network_file import parse_network, read_network
from headwater.apps.plan.refusals import MOST_SHOWN, PlanRefused
from headwater.model import DataError, LimitReached, Link, Network, Source
from headwater.model.network import BYTES_PER_S, LATENCY_US


def network(**changed: Any) -> str:
    """Three nodes in a row, a station and a user; one item a line, so that places can be told."""
    parts: dict[str, Any] = {
        "nodes": ["pass", "hut", "village"],
        "links": [
            ["pass", "hut"],
            {"between": ["hut", "village"], "latency_ms": 20, "bandwidth_kbit_s": 250},
        ],
        "sensors": [{"key": "s1", "attributes": ["temperature", "wind"], "node": "pass", "place": [7, 45.5]}],
        "users": [{"name": "rescue", "node": "village", "queries": ["storm"]}],
    }
    parts |= changed
    return json.dumps({name: part for name, part in parts.items() if part is not ...}, indent=1)


def test_a_good_file_is_the_network_it_says():
    file = parse_network(network())
    assert not file.refusals.errors
    assert file.network() == Network(
        ("pass", "hut", "village"),
        (Link("pass", "hut", LATENCY_US, BYTES_PER_S), Link("hut", "village", 20_000, 31_250.0)),
        {"pass": (Source("s1", "temperature", 7.0, 45.5), Source("s1", "wind", 7.0, 45.5))},
        {"rescue": "village"},
    )
    assert [(user.name, list(user.queries)) for user in file.users] == [("rescue", ["storm"])]


def test_one_node_alone_is_a_network_and_a_key_may_be_a_number():
    sensor = {"key": 7, "attributes": ["wind"], "node": "hut"}
    file = parse_network(network(nodes=["hut"], links=[], sensors=[sensor], users=[]))
    assert not file.refusals.errors
    assert file.network().sources == {"hut": (Source("7", "wind"),)}


STATION = {"key": "s1", "attributes": ["wind"], "node": "pass"}
LINK = {"between": ["hut", "village"]}

BAD = {
    "no object": ("[]", "wrong-field", "a network is a list", "", "write an object"),
    "no nodes": (network(nodes=...), "missing-field", "a network needs a field 'nodes'", "", 'add "nodes"'),
    "an unknown part": (network(user=[]), "unknown-field", "a network has no field 'user'", "user", "'users'?"),
    "nodes of another type": (network(nodes="hut"), "wrong-field", "'nodes' is the text 'hut'", "nodes", "a list"),
    "not one node": (network(nodes=[], links=[], sensors=[], users=[]), "wrong-field", "no nodes", "nodes", "one"),
    "a node that is no name": (network(nodes=["pass", "hut", "village", 5]), "wrong-field", "is the number 5", "nodes[3]", "a text"),
    "an empty name": (network(nodes=["pass", "hut", "village", " "]), "wrong-field", "is empty", "nodes[3]", "name"),
    "a name that is a story": (network(nodes=["pass", "hut", "village", "x" * 201]), "wrong-field", "longer than 200 bytes", "nodes[3]", "shorter"),
    "a name of long letters": (network(nodes=["pass", "hut", "village", "é" * 101]), "wrong-field", "longer than 200 bytes: it has 202", "nodes[3]", "shorter"),
    "a key that is a story": (network(sensors=[STATION | {"key": 10**200}]), "wrong-field", "the key of a sensor is longer", "sensors[0].key", "shorter"),
    "a place in the stars": (network(sensors=[STATION | {"place": [1e16, 0]}]), "wrong-field", "a coordinate is 1e+16", "sensors[0].place[0]", "from -1e+15 to 1e+15"),
    "a latency of hours": (network(links=[["pass", "hut"], LINK | {"latency_ms": 7_200_000}]), "wrong-field", "the latency is 7200000", "links[1].latency_ms", "from 0 to 60,000"),
    "a latency that is too long to be of use": (network(links=[["pass", "hut"], LINK | {"latency_ms": 60_001}]), "wrong-field", "the latency is 60001", "links[1].latency_ms", "within seconds"),
    "a bandwidth of little": (network(links=[["pass", "hut"], LINK | {"bandwidth_kbit_s": 0.5}]), "wrong-field", "the bandwidth is 0.5", "links[1].bandwidth_kbit_s", "within seconds"),
    "two nodes of one name": (network(nodes=["pass", "hut", "village", "hut"]), "duplicate-node", "there already is a node 'hut'", "nodes[3]", "line 4"),
    "a link to nowhere": (network(links=[["pass", "hut"], ["hut", "vilage"]]), "unknown-node", "a link goes to 'vilage'", "links[1][1]", "did you mean 'village'?"),
    "a link of three": (network(links=[["pass", "hut", "village"]]), "wrong-field", "this one has 3", "links[0]", '["hut", "village"]'),
    "a link without ends": (network(links=[["pass", "hut"], {"latency_ms": 1}]), "missing-field", "a link needs a field 'between'", "links[1]", "between"),
    "a link twice": (network(links=[["pass", "hut"], LINK, ["village", "hut"]]), "duplicate-link", "'village' and 'hut' are already joined", "links[2]", "line 12"),
    "a circle": (network(links=[["pass", "hut"], LINK, ["village", "pass"]]), "network-cycle", "'village' - 'hut' - 'pass' - 'village'", "links[2]", "a tree"),
    "a link to itself": (network(links=[["pass", "hut"], LINK, ["hut", "hut"]]), "network-cycle", "'hut' - 'hut'", "links[2]", "a tree"),
    "two pieces": (network(links=[["pass", "hut"]]), "network-in-pieces", "no link leads from 'village' to the other nodes ('pass', 'hut')", "nodes[2]", '["village", "pass"]'),
    "a latency below zero": (network(links=[["pass", "hut"], LINK | {"latency_ms": -1}]), "wrong-field", "the latency is -1", "links[1].latency_ms", "from 0"),
    "a bandwidth of nothing": (network(links=[["pass", "hut"], LINK | {"bandwidth_kbit_s": 0}]), "wrong-field", "the bandwidth is 0", "links[1].bandwidth_kbit_s", "from 1 "),
    "a latency in words": (network(links=[["pass", "hut"], LINK | {"latency_ms": True}]), "wrong-field", "the latency is true", "links[1].latency_ms", "a number"),
    "a misspelt field": (network(links=[["pass", "hut"], LINK | {"latency": 5}]), "unknown-field", "a link has no field 'latency'", "links[1].latency", "'latency_ms'?"),
    "a sensor nowhere": (network(sensors=[STATION | {"node": "Pas"}]), "unknown-node", "a sensor is attached to 'Pas'", "sensors[0].node", "did you mean 'pass'?"),
    "a sensor without a key": (network(sensors=[{"attributes": ["wind"], "node": "pass"}]), "missing-field", "a sensor needs a field 'key'", "sensors[0]", "key"),
    "a sensor of nothing": (network(sensors=[STATION | {"attributes": []}]), "wrong-field", "measures nothing", "sensors[0].attributes", "list what it measures"),
    "two sensors of one name": (network(sensors=[STATION, STATION | {"node": "hut"}]), "duplicate-sensor", "there already is a sensor 's1' of 'wind'", "sensors[1].attributes[0]", "another key"),
    "a place of three": (network(sensors=[STATION | {"place": [1, 2, 3]}]), "wrong-field", "this one has 3", "sensors[0].place", "[x, y]"),
    "a place in words": (network(sensors=[STATION | {"place": [1, "x"]}]), "wrong-field", "a coordinate is the text 'x'", "sensors[0].place[1]", "a number"),
    "a place out of all numbers": (network(sensors=[STATION | {"place": [1, 10**400]}]), "wrong-field", "a coordinate is 1000", "sensors[0].place[1]", "from -1e+15 to 1e+15"),
    "a user nowhere": (network(users=[{"name": "rescue", "queries": []}]), "user-nowhere", "a user needs a node", "users[0]", "known nodes: hut, pass, village"),
    "a user elsewhere": (network(users=[{"name": "rescue", "node": "vilage", "queries": []}]), "user-nowhere", "the user 'rescue' is at 'vilage'", "users[0].node", "did you mean 'village'?"),
    "a user twice": (network(users=[{"name": "r", "node": "hut", "queries": []}] * 2), "duplicate-user", "there already is a user 'r'", "users[1].name", "rename"),
    "a user with a slash": (network(users=[{"name": "a/b", "node": "hut", "queries": []}]), "wrong-field", "must not contain '/'", "users[0].name", "-"),
    "a query twice": (network(users=[{"name": "r", "node": "hut", "queries": ["q", "q"]}]), "wrong-field", "the query 'q' twice", "users[0].queries[1]", "remove one"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_an_error_has_a_code_a_place_and_advice(case):
    text, code, words, path, advice = BAD[case]
    (error,) = parse_network(text, "net.json").refusals.errors
    assert error.code == code
    assert words in error.message
    assert error.place is not None and error.place.startswith("net.json:")
    assert error.place.partition(", ")[2] == path
    assert advice in "\n".join(error.advice)


def test_a_field_that_is_there_twice_is_refused():
    (error,) = parse_network(
        '{"nodes": ["a"], "links": [], "sensors": [], "users": [],\n "nodes": ["b"]}'
    ).refusals.errors
    assert (error.code, error.place) == ("repeated-field", "network:2:2, nodes")


def test_all_errors_are_reported_at_once_in_the_order_of_the_file():
    text = network(
        links=[["pass", "hut"], ["hut", "huts"]],
        sensors=[STATION | {"node": "x"}, STATION],
        users=[{"name": "rescue", "queries": "storm"}],
    )
    errors = parse_network(text).refusals.errors
    assert [error.code for error in errors] == [
        "unknown-node", "unknown-node", "duplicate-sensor", "user-nowhere",
    ]  # fmt: skip
    shown = str(PlanRefused(errors))
    assert shown.count("error[") == 4
    assert shown.startswith(
        "error[unknown-node]: a link goes to 'huts', but there is no such node\n  network:14:4, links[1][1]\n"
    )


def test_more_errors_than_anybody_reads_are_counted():
    errors = parse_network(
        network(nodes=["a"] * (MOST_SHOWN + 4), links=[], sensors=[], users=[])
    ).refusals.errors
    assert str(PlanRefused(errors)).endswith("and 3 more")


def test_what_is_not_json_is_refused_with_its_place():
    with pytest.raises(PlanRefused) as refused:
        parse_network('{"nodes": ["a"]\n "links": []}', "net.json")
    assert str(refused.value).startswith(
        "error[network-not-json]: this is not JSON: expecting ',' delimiter\n  net.json:2:2\n"
    )


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path):
    with pytest.raises(DataError, match="cannot read") as refused:
        read_network(str(tmp_path / "net.json"))
    assert refused.value.code == "missing-network"
    (tmp_path / "net.json").write_bytes(b'{\n"\xff"}')
    with pytest.raises(DataError, match="byte 0xff in line 2") as refused:
        read_network(str(tmp_path / "net.json"))
    assert refused.value.code == "network-not-json"


@pytest.mark.parametrize(
    ("bound", "value"), [("MOST_BYTES", 100), ("MOST_NODES", 2), ("MOST_SOURCES", 1), ("MOST_USERS", 0)]
)
def test_sizes_have_bounds(tmp_path, monkeypatch, bound, value):
    monkeypatch.setattr(network_file, bound, value)
    (tmp_path / "net.json").write_text(network())
    with pytest.raises(LimitReached) as refused:
        read_network(str(tmp_path / "net.json"))
    assert refused.value.bound == bound


def test_a_long_chain_and_its_circle_are_seen():
    nodes = [f"n{number}" for number in range(3000)]
    links = [[one, other] for one, other in pairwise(nodes)]
    assert not parse_network(network(nodes=nodes, links=links, sensors=[], users=[])).refusals.errors
    (error,) = parse_network(
        network(nodes=nodes, links=[*links, ["n0", "n2999"]], sensors=[], users=[])
    ).refusals.errors
    assert error.message == (
        "this link closes a cycle: 'n0' - 'n1' - 'n2' - 'n3' - 'n4' - 'n5' - 'n6' - 'n7' - … - 'n0'"
    )
