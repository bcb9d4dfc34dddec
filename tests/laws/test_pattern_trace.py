"""What `headwater why` walks through is what the kernel does: the same matches at every row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st

from headwater.kernels.pattern.choices import SkipTo
from headwater.kernels.pattern.trace import End, Recording
from headwater.model import QueriesRefused
from headwater.query.build import script, stream
from headwater.query.language.tree import CreateQuery, Select
from headwater.query.operators.pattern.lowering import make_query
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.tree import MatchRecognize, Skip
from headwater.query.operators.pattern.why import Why
from headwater.query.operators.pattern.written import written_patterns
from headwater.query.planning.plan import compile_script
from tests.laws.draws import bounded
from tests.laws.pattern_worlds import SCHEMA, as_rows, event_patterns, preferred_patterns, row_lists

STREAM = stream(
    SCHEMA.name, {name: kind.value for name, kind in SCHEMA.columns}, time=SCHEMA.time, key=SCHEMA.key
)
Listed = list[dict[str, Any]]


def planned(operator: MatchRecognize) -> tuple[str, PatternOperator]:
    """The text and the checked pattern of a query; what the checker refuses is left out."""
    try:
        plan = compile_script(script(STREAM, CreateQuery("q", Select(None, SCHEMA.name, None, operator))))
    except QueriesRefused:
        reject()
    checked = plan.queries[0].operator
    assert checked is not None
    return plan.text, checked


def recording(operator: MatchRecognize, rows: Listed) -> Recording:
    _, checked = planned(operator)
    return Recording(SCHEMA, make_query("q", "", 0, None, checked, SCHEMA), as_rows(rows))


def walked_and_emitted(data: Recording) -> tuple[list[Any], list[Any]]:
    """First row, rows bound and event time of every match, as walked and as the kernel tells them."""
    emitted_matches = data.emitted()
    walked = [
        (attempt.first, match.bound, match.event_time)
        for partition in range(data.keys.count)
        for attempt in data.attempts(
            partition,
            range(int(data.low[partition]), int(data.high[partition])),
            emitted_matches.get(partition, ()),
        )
        for match in attempt.matches
    ]
    kernel = [
        (match.first, match.bound, match.event_time)
        for matches in emitted_matches.values()
        for match in matches
    ]
    return sorted(walked), sorted(kernel)


@bounded(300)
@given(operator=preferred_patterns(), rows=row_lists(1, 9))
def test_the_preferred_match_of_every_row_is_the_one_that_is_walked_to(
    operator: MatchRecognize, rows: Listed
) -> None:
    walked, emitted_matches = walked_and_emitted(
        recording(replace(operator, skip=Skip(SkipTo.NEXT_ROW), limit=None), rows)
    )
    assert walked == emitted_matches


@bounded(300)
@given(operator=event_patterns(), rows=row_lists(1, 7))
def test_every_match_is_walked_to(operator: MatchRecognize, rows: Listed) -> None:
    walked, emitted_matches = walked_and_emitted(
        recording(replace(operator, skip=Skip(SkipTo.NOWHERE), limit=None), rows)
    )
    assert walked == emitted_matches


@bounded(200)
@given(operator=preferred_patterns(), rows=row_lists(1, 9))
def test_attempts_that_were_made_lead_to_what_was_emitted(operator: MatchRecognize, rows: Listed) -> None:
    data = recording(operator, rows)
    for partition, emitted_matches in data.emitted().items():
        passed_over = {row for match in emitted_matches for row in range(match.first + 1, match.border)}
        starts = [
            row
            for row in range(int(data.low[partition]), int(data.high[partition]))
            if row not in passed_over
        ]
        walked = [
            (attempt.first, match.bound, match.event_time)
            for attempt in data.attempts(partition, starts, emitted_matches)
            for match in attempt.matches
        ]
        assert walked == [(match.first, match.bound, match.event_time) for match in emitted_matches]


@bounded(300)
@given(operator=st.one_of(preferred_patterns(), event_patterns()), rows=row_lists(1, 8))
def test_the_values_that_are_shown_say_what_the_scan_found(operator: MatchRecognize, rows: Listed) -> None:
    """A condition that failed has a part that is not true; one that a veto met has none."""
    text, checked = planned(operator)
    why = Why("q", checked, written_patterns(text)["q"], SCHEMA, as_rows(rows))
    auto = why.data.auto
    for partition in range(why.data.keys.count):
        assert why.report(partition)
        emitted_matches = why.emitted_matches.get(partition, [])
        for attempt in why.data.attempts(partition, why.data.starts(partition).tolist(), emitted_matches):
            number = 1 + sum(match.first < attempt.first for match in emitted_matches)
            partial = attempt.furthest
            for ending in partial.endings if partial else ():
                assert partial is not None
                bound = tuple((row, int(auto.variable[state])) for row, state in partial.bound)
                if ending.how is End.FAILED and auto.condition[ending.state] >= 0:
                    condition, variable = int(auto.condition[ending.state]), int(auto.variable[ending.state])
                elif ending.how is End.FORBIDDEN:
                    _, condition, variable = auto.veto[ending.veto].tolist()
                else:
                    continue
                if condition < 0:  # a NOT without a condition of its own
                    continue
                assert ending.row is not None
                truths = [
                    why.condition_values.truth(part, variable, bound, ending.row, number) is True
                    for part in why.condition_values.parts(condition)
                ]
                assert all(truths) == (ending.how is End.FORBIDDEN)
