"""MATCH_RECOGNIZE in words, for people who read plans."""

from __future__ import annotations

from collections.abc import Sequence

from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.patterns.drawing import as_text, draw
from headwater.query.patterns.words import (
    all_conditions,
    answers_in_words,
    bounds_in_words,
    condition_key,
    conditions_in_words,
    decisions_in_words,
    family_in_words,
    state_in_words,
    times_in_words,
    written_patterns,
    zones_in_words,
)
from headwater.query.planned import QueryPlan
from headwater.query.printer import show
from headwater.query.tree import MatchRecognize


def words(asked: PatternOperator, explained: Explained) -> Words:
    """One query. Conditions are told as they were written: a plan has them taken apart."""
    plan, query = explained.plan, explained.query
    written = written_patterns(plan.text)[query.name]
    columns = plan.kept(query.reads) if explained.reads_stream else explained.source.types
    return Words(
        _asks(asked, written),
        state_in_words(asked, explained.source, columns),
        zones=zones_in_words(plan.zones, query.spread) if query.spread else None,
        why_there=_WHOLE if not asked.partition else _GATHERED,
        drawn=[("automaton", as_text(draw(asked, written, explained.source)))],
    )


def shared_words(queries: Sequence[QueryPlan]) -> Sequence[Entry]:
    """Conditions that are equal."""
    conditions = [
        (query.reads, condition_key(condition))
        for query in queries
        if isinstance(query.operator, PatternOperator)
        for condition in all_conditions(query.operator)
    ]
    if not conditions:
        return ()
    told = (
        f"{len(conditions):,} of patterns, {len(set(conditions)):,} of them different:"
        " equal ones in columns are worked out once"
    )
    return [("conditions", [told])]


def _asks(asked: PatternOperator, written: MatchRecognize) -> list[Entry]:
    entries: list[Entry] = [
        ("partition", [", ".join(asked.partition) or "none: all rows are one partition"]),
        ("order", [", ".join(show(column) for column in written.order) or "that of the stream"]),
        ("pattern", show(asked.pattern)),
        ("conditions", conditions_in_words(asked, written)),
        *([("decided", decisions_in_words(asked))] if asked.define or asked.untils else []),
        ("matches", family_in_words(asked)),
    ]
    if times := times_in_words(asked):
        entries.append(("time", [times]))
    return [*entries, ("bounded by", bounds_in_words(asked)), ("answers", [answers_in_words(asked)])]


_WHOLE = "by its name: without PARTITION BY all rows that it can use meet in this one zone"
_GATHERED = "by its name: other operators read its answers, so all its partitions meet in this one zone"
