"""The page of errors tells of every error there is, and its examples are refused as it says."""

from __future__ import annotations

import re

import pytest

from headwater.model import QueriesRefused
from headwater.query.planning.plan import compile_text, refuse_unbounded
from tests.unit.query.errors_page import ERRORS_PAGE, ROOT, examples

PRELUDE = re.search(r"```sql\n(.*?)```", ERRORS_PAGE, re.DOTALL)


@pytest.mark.parametrize(("code", "example"), examples(), ids=[code for code, _ in examples()])
def test_every_example_of_the_errors_page_is_refused_as_it_says(code: str, example: str) -> None:
    assert PRELUDE is not None
    text = example if "CREATE STREAM" in example else PRELUDE[1] + example
    with pytest.raises(QueriesRefused) as caught:
        compile_text(text)
    assert {error.code for error in caught.value.errors} == {code}


FOLLOWING = examples("sql refused while following")
TOO_LONG_TO_SHOW = {"chain-too-long"}  # its example is a golden test: errors/chain-too-long.golden


@pytest.mark.parametrize(("code", "example"), FOLLOWING, ids=[code for code, _ in FOLLOWING])
def test_what_is_refused_only_while_following_is_refused_there(code: str, example: str) -> None:
    assert PRELUDE is not None
    plan = compile_text(PRELUDE[1] + example)
    with pytest.raises(QueriesRefused) as caught:
        refuse_unbounded(plan)
    assert [error.code for error in caught.value.errors] == [code]
    assert all(error.span is not None for error in caught.value.errors)


def test_every_code_of_a_query_error_has_a_heading_with_an_example() -> None:
    sources = (ROOT / "src/headwater/query").rglob("*.py")
    raised = {
        code
        for source in sources
        for code in re.findall(r'(?:QueryError|refuse)\(\s*"([a-z-]+)"', source.read_text(encoding="utf-8"))
    }
    assert raised == {code for code, _ in (*examples(), *FOLLOWING)} | TOO_LONG_TO_SHOW


def test_every_code_of_every_other_error_has_a_heading() -> None:
    raised = {
        code
        for sources in ("src", "lab/src")
        for source in (ROOT / sources).rglob("*.py")
        for code in re.findall(
            r'(?:DataError|HostError|PeerError)\(\s*"([a-z-]+)"', source.read_text(encoding="utf-8")
        )
    }
    headings = set(re.findall(r"^### ([a-z-]+)$", ERRORS_PAGE, re.MULTILINE))
    assert raised <= headings
