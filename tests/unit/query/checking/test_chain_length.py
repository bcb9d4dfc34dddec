"""Chains of queries as long as they may be are planned and explained; longer ones are refused by all who look at them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from headwater.model import QueriesRefused
from headwater.query.checking.chain_length import LONGEST_CHAIN
from headwater.query.explaining.explain import explain
from headwater.query.planning.plan import Plan, compile_text


def chain_of(length: int, stream: str = "r", operator: str = "") -> str:
    declared = "CREATE STREAM r (id STRING KEY, at TIMESTAMP TIME, x DOUBLE, y DOUBLE, PLACE (x, y));"
    names = [stream, *(f"q{place}" for place in range(1, length + 1))]
    queries = (
        f"CREATE QUERY {name} AS SELECT * FROM {source} {operator};" for source, name in pairwise(names)
    )
    return "\n".join([declared, *queries])


def planned(text: str) -> Plan:
    return compile_text(text, zones=2)


def test_the_longest_chain_is_planned_built_and_explained():
    plan = planned(chain_of(LONGEST_CHAIN))
    assert plan.root_streams(f"q{LONGEST_CHAIN}") == ("r",)
    assert sum(len(plan.groups(zone)) for zone in range(2)) == LONGEST_CHAIN
    assert f"q{LONGEST_CHAIN}" in explain(plan)


def test_one_query_more_is_refused_by_name():
    with pytest.raises(QueriesRefused) as refused:
        planned(chain_of(LONGEST_CHAIN + 1))
    (error,) = refused.value.errors
    assert error.code == "chain-too-long"
    assert error.span is not None and error.span.line == LONGEST_CHAIN + 2


def test_a_chain_of_thousands_is_refused_once():
    with pytest.raises(QueriesRefused) as refused:
        planned(chain_of(1000))
    assert [error.code for error in refused.value.errors] == ["chain-too-long"]


def test_every_operator_of_a_query_counts():
    beside = "SUPPRESS (x TOLERANCE 1 HEARTBEAT 1 MINUTE) PREDICT (x > 1 MUST)"
    text = chain_of(LONGEST_CHAIN - 2)
    joined = f"CREATE QUERY last AS SELECT * FROM q{LONGEST_CHAIN - 2} {beside};"
    assert planned(f"{text}\n{joined}").query("last")
    with pytest.raises(QueriesRefused, match="chain-too-long"):
        planned(f"{text}\n{joined}\nCREATE QUERY more AS SELECT * FROM last;")
