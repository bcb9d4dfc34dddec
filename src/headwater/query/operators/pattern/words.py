"""A MATCH_RECOGNIZE in words, for people who read plans: what is matched, where it is decided, what bounds it, what is stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from headwater.kernels.pattern.choices import Mode, RowsPerMatch, SkipTo
from headwater.kernels.pattern.packed_runs import MATCH_NUMBER_BYTES
from headwater.kernels.pattern.partitioned_rows import EMPTY_RECORD_BYTES
from headwater.kernels.pattern.runs import MEMORY, NODE_COLUMNS
from headwater.model import StreamSchema
from headwater.query.language.expression_text import name_text
from headwater.query.language.words import aligned, counted, duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.pattern.check import unbounded
from headwater.query.operators.pattern.check_shape import has_no_end
from headwater.query.operators.pattern.drawing import as_dot, as_text, draw
from headwater.query.operators.pattern.lowering import make_query
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.programs import looks_at_one_row
from headwater.query.operators.pattern.terms import Lowered
from headwater.query.operators.pattern.text import pattern_text
from headwater.query.operators.pattern.tree import (
    Choice,
    Edge,
    Empty,
    Loop,
    MatchRecognize,
    Never,
    Pattern,
    Variable,
)
from headwater.query.operators.pattern.walk import every_pattern, patterns_in
from headwater.query.operators.pattern.written import (
    EVERY_ROW,
    condition_texts,
    until_texts,
    written_patterns,
)
from headwater.query.planning.query_plan import QueryPlan

IN_COLUMNS: Final = "in columns, once for all queries with the same condition"
IN_SCAN: Final = "in the scan, row by row, because other rows of the match are used"

_ANSWERS: Final = {
    RowsPerMatch.ONE: "one row for each match",
    RowsPerMatch.ALL_SHOW_EMPTY: "every row of each match; an empty match is shown as the row where it begins",
    RowsPerMatch.ALL_OMIT_EMPTY: "every row of each match, nothing for empty matches",
    RowsPerMatch.ALL_WITH_UNMATCHED: "every row of each match, and rows in no match",
}
_SKIPS: Final = {
    SkipTo.PAST_LAST_ROW: "after its last row",
    SkipTo.NEXT_ROW: "at the row after its first",
    SkipTo.FIRST: "at its first row of",
    SkipTo.LAST: "at its last row of",
}
_DROPS: Final = {
    SkipTo.PAST_LAST_ROW: "up to its last row",
    SkipTo.NEXT_ROW: "up to its first row",
    SkipTo.FIRST: "before its first row of",
    SkipTo.LAST: "before its last row of",
}
_MODES: Final = {
    Mode.UNRESTRICTED: "every combination of one row for each element, in order",
    Mode.FIRST: "one sequence at a time, with the earliest row for each element",
    Mode.RECENT: "one sequence at a time, with the latest row for each element",
}


_WHOLE: Final = "by its name: without PARTITION BY all rows that it can use go to this one zone"
_GATHERED: Final = "by its name: other operators read its answers, so all its partitions go to this one zone"


def words(operator: PatternOperator, explained: Explained) -> Words:
    """One query. Conditions are shown as they were written: those of a plan are split."""
    plan, query = explained.plan, explained.query
    written = written_patterns(plan.text)[query.name]
    columns = plan.columns_read(query.reads) if explained.reads_stream else explained.source.types
    return Words(
        _conditions(operator, written),
        state_in_words(operator, explained.source, columns),
        zones=zones_in_words(plan.zones, query.spread) if query.spread else None,
        why_there=_WHOLE if not operator.partition else _GATHERED,
        drawn=[("automaton", as_text(draw(operator, written, explained.source)))],
    )


def drawing(operator: PatternOperator, explained: Explained) -> str:
    """The automaton, a digraph of Graphviz."""
    name = explained.query.name
    written = written_patterns(explained.plan.text)[name]
    automaton = draw(operator, written, explained.source)
    return as_dot(name, f"PATTERN ({pattern_text(operator.pattern)})", automaton)


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
    lines = (
        f"{len(conditions):,} of patterns, {len(set(conditions)):,} of them different:"
        " equal conditions in columns are evaluated once"
    )
    return [("conditions", [lines])]


def _conditions(operator: PatternOperator, written: MatchRecognize) -> list[Entry]:
    entries: list[Entry] = [
        ("partition", [", ".join(operator.partition) or "none: all rows are one partition"]),
        ("order", [", ".join(name_text(column.name) for column in written.order) or "that of the stream"]),
        ("pattern", pattern_text(operator.pattern)),
        ("conditions", conditions_in_words(operator, written)),
        *([("decided", decisions_in_words(operator))] if operator.define or operator.untils else []),
        ("matches", family_in_words(operator)),
    ]
    if times := times_in_words(operator):
        entries.append(("time", [times]))
    return [*entries, ("bounded by", bounds_in_words(operator)), ("answers", [answers_in_words(operator)])]


def all_conditions(operator: PatternOperator) -> tuple[Lowered, ...]:
    """The same, taken apart."""
    return (*(lowered for _, lowered in operator.define), *operator.untils)


def condition_key(lowered: Lowered) -> str:
    """Equal for conditions that are worked out once: those of one key in columns."""
    return repr((lowered.expression, lowered.terms))


def conditions_in_words(operator: PatternOperator, written: MatchRecognize) -> list[str]:
    """Each variable with its condition, and those of UNTIL."""
    texts = dict(zip((name for name, _ in operator.define), condition_texts(operator, written), strict=False))
    lines = [(name, texts.get(name, EVERY_ROW)) for name in operator.variables]
    return aligned([*lines, *(("UNTIL", until) for until in until_texts(written))])


def decisions_in_words(operator: PatternOperator) -> list[str]:
    """Where conditions are decided."""
    names = [*(name for name, _ in operator.define), *("UNTIL" for _ in operator.untils)]
    found: dict[str, list[str]] = {}
    for name, condition in zip(names, all_conditions(operator), strict=True):
        found.setdefault(IN_COLUMNS if looks_at_one_row(condition) else IN_SCAN, []).append(name)
    return [f"{', '.join(dict.fromkeys(names))} {where}" for where, names in found.items()]


def family_in_words(operator: PatternOperator) -> list[str]:
    """Which matches there are, and where the search continues after one."""
    if operator.mode is not None:
        lines = f"MODE {operator.mode.value}: {_MODES[operator.mode]}, as a sensor node does it"
        chosen = f", one of those that a row completes is chosen (seed {operator.seed})"
        return [lines + chosen * (operator.seed is not None)]
    if operator.every:
        return ["MATCH EVERY: every way to bind rows to the elements", *_drops(operator)]
    return [
        "at most one at each row, the preferred one",
        f"after a match the search continues {_SKIPS[operator.skip]}{_skipped_to(operator)}",
    ]


def answers_in_words(operator: PatternOperator) -> str:
    """What is emitted of a match."""
    timeouts = "; also partial matches that ran out of time, marked by timed_out" * operator.timeouts
    return _ANSWERS[operator.rows] + timeouts


def times_in_words(operator: PatternOperator) -> str | None:
    """How long a match may take; None: as long as it likes."""
    parts = []
    if operator.within_us is not None:
        parts.append(f"from the first row to the last at most {duration_in_words(operator.within_us)}")
    if operator.between_us is not None:
        parts.append(f"from each row to the next at most {duration_in_words(operator.between_us)}")
    return ", ".join(parts) or None


def bounds_in_words(operator: PatternOperator) -> list[str]:
    """What keeps the state from growing."""
    if operator.mode is not None:
        return [
            f"HOLD: {counted(operator.hold, 'event')} a partition; events without room are given up and counted"
        ]
    if unbounded(operator):
        return ["no bound: allowed only over bounded input, see unbounded-pattern"]
    lines = []
    if operator.within_us is not None:
        lines.append(
            f"WITHIN: an attempt is open for at most {duration_in_words(operator.within_us)} after its first row"
        )
    if operator.between_us is not None:
        lines.append(
            f"WITHIN … BETWEEN ROWS: a partial match waits for at most {duration_in_words(operator.between_us)}"
        )
    if operator.limit is not None and operator.every:
        lines.append(
            f"LIMIT: for each partition {operator.limit:,} at a time; above that the oldest are given up and counted"
        )
    elif operator.limit is not None:
        lines.append(
            f"LIMIT: an attempt over more than {counted(operator.limit, 'row')} is given up and counted"
        )
    if operator.forget_us is not None:
        lines.append(
            f"FORGET: a partition ends when it is silent for longer than {duration_in_words(operator.forget_us)}"
        )
    if not has_no_end(operator.pattern):
        lines.append(f"its length: a match has at most {counted(_longest(operator.pattern), 'row')}")
    return lines


def state_in_words(operator: PatternOperator, source: StreamSchema, columns: Iterable[str]) -> list[str]:
    """What is remembered, and how much that is."""
    if operator.mode is not None:
        return [
            f"a window of {counted(operator.hold, 'event')} for each partition",
            *_never_forgotten(operator, source),
        ]
    query = make_query("", "", 0, None, operator, source)
    memory = query.recall.memory
    row = sum(source.types[name].dtype.itemsize for name in columns)
    thread = 8 * (MEMORY + len(memory.whole) + len(memory.double))
    stored = "the rows from the beginning of the oldest open attempt on"
    if operator.within_us is not None:
        stored = f"at most the rows of the last {duration_in_words(operator.within_us)}"
    elif not has_no_end(operator.pattern):
        stored = f"at most {counted(_longest(operator.pattern), 'row')}"
    before, behind = -query.shifts[0], query.shifts[1]
    lines = [
        f"for each partition {stored}: {size_in_words(row)} a row, once for all queries with the same partitions"
    ]
    if before:
        lines.append(f"and {counted(before, 'row')} before them, for PREV")
    if behind:
        lines.append(f"a row is decided when the next {counted(behind, 'row')} are known, for NEXT")
    lines.append(
        f"{size_in_words(thread)} for each partial match, {size_in_words(8 * NODE_COLUMNS)} for each row it binds"
    )
    return [*lines, *_never_forgotten(operator, source)]


def _never_forgotten(operator: PatternOperator, source: StreamSchema) -> list[str]:
    """What stays of a partition in which nothing is open."""
    query = make_query("", "", 0, None, operator, source)
    reasons = {
        "PREV": query.shifts[0] < 0,
        "MATCH_NUMBER": query.is_numbered,
        "^": any(isinstance(part, Edge) and not part.end for part in every_pattern(operator.pattern)),
        "CHOOSE ONE": operator.seed is not None,
    }
    said = [word for word, is_there in reasons.items() if is_there]
    if not said:
        return ["nothing for a partition without an open attempt"]
    until = (
        ""
        if operator.forget_us is None
        else f", until it is silent for {duration_in_words(operator.forget_us)}"
    )
    size = EMPTY_RECORD_BYTES + MATCH_NUMBER_BYTES * query.is_numbered
    return [f"for every partition {size_in_words(size)} and its key for {', '.join(said)}{until}"]


def zones_in_words(zones: int, partition: tuple[str, ...]) -> str:
    """For a query that is spread."""
    return f"all {zones} (from 0), by {', '.join(partition)}: each whole partition lives in one of them"


def _skipped_to(operator: PatternOperator) -> str:
    return f" {' or '.join(operator.skip_to)}" if operator.skip in (SkipTo.FIRST, SkipTo.LAST) else ""


def _drops(operator: PatternOperator) -> list[str]:
    if operator.skip is SkipTo.NOWHERE:
        return ["a match ends no other attempt"]
    return [f"a match ends the other attempts that began {_DROPS[operator.skip]}{_skipped_to(operator)}"]


def _longest(pattern: Pattern) -> int:
    """How many rows a match can have, for patterns that have an end."""
    match pattern:
        case Variable():
            return 1
        case Never() | Edge() | Empty():
            return 0
        case Choice():
            return max(map(_longest, pattern.choices))
        case Loop():
            return (pattern.most or 0) * _longest(pattern.pattern)
        case _:
            return sum(map(_longest, patterns_in(pattern)))
