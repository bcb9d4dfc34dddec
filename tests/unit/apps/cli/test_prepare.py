"""What is compiled beforehand: every part stands alone, and every operator of the language is in one of them."""

from __future__ import annotations

import pytest

from headwater.apps.cli.prepare import PARTS
from headwater.query.planning.plan import compile_text
from headwater.workloads import STREAM_TEXT


@pytest.mark.parametrize("part", PARTS)
def test_a_part_needs_no_other(part: str) -> None:
    plan = compile_text(STREAM_TEXT + part)
    assert len(plan.queries) >= part.count("CREATE QUERY")


def test_every_operator_is_used() -> None:
    text = "".join(PARTS)
    operators = ("CORRELATE", "MATCH_RECOGNIZE", "NEAREST", "SUPPRESS", "PREDICT", "FOLLOW", "FENCE")
    assert [word for word in operators if f" {word} (" not in text] == []
