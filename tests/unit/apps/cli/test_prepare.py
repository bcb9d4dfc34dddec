"""What is compiled beforehand: every operator of the language, with all that its queries enter."""

from __future__ import annotations

import pytest

from headwater.apps.cli.rehearsals import REHEARSALS
from headwater.hosts.kernel_entries import all_entries
from headwater.query.planning.plan import compile_text
from headwater.workloads import STREAM_TEXT


@pytest.mark.parametrize("keyword", REHEARSALS)
def test_a_rehearsal_needs_no_other_and_uses_its_operator(keyword: str) -> None:
    for text in REHEARSALS[keyword]:
        plan = compile_text(STREAM_TEXT + text)
        assert keyword in {query.operator.keyword for query in plan.queries}


def test_every_operator_is_rehearsed_and_listed() -> None:
    operators = {
        "SELECT",
        "CORRELATE",
        "MATCH_RECOGNIZE",
        "NEAREST",
        "SUPPRESS",
        "PREDICT",
        "FOLLOW",
        "FENCE",
    }
    assert set(REHEARSALS) == operators
    assert {keyword for entry in all_entries() for keyword in entry.keywords} >= operators
