"""Patterns built in Python: the same trees that a MATCH_RECOGNIZE gives.

    fire = match("fire", "weather", "A B+ C", partition="station", within="6 SECONDS",
                 measures={"peak": "MAX(B.temperature)"}, define={"A": "temperature > 40", "B": "temperature > 60"})

    silence = (pattern("alarm").where("kind = 'alarm'")
               .followed_by("reading", at_least=2, gaps="relaxed").where("battery < 10")
               .not_followed_by("reset").where("kind = 'reset'"))
    match("silence", "devices", silence, partition="device", every=True, within="1 HOUR")

A step is text of the language (`"B+"`, `"B | C"`) or another pattern, which then is a group. `where` speaks of the step before
it. What is true of the builders in `headwater.query.build` is true here: pieces that cannot be read raise QueriesRefused.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch
from headwater.query.language.build_pieces import Duration, Source, duration, query_of, read, refused, whole
from headwater.query.language.parse import parse_expression
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Binary, CreateQuery, Expression
from headwater.query.operators.pattern.parse import parse_pattern, parse_skip
from headwater.query.operators.pattern.tree import (
    Column,
    Definition,
    Loop,
    MatchRecognize,
    Measure,
    Never,
    NodeMode,
    Pattern,
    Sequence,
    Skip,
    Subset,
    Variable,
)

_Word = TypeVar("_Word", Contiguity, Mode)


def match(  # noqa: PLR0913 one keyword for each clause
    name: str,
    source: Source,
    pattern: str | Pattern | BuiltPattern,
    *,
    define: Mapping[str, str | Expression] | None = None,
    measures: Mapping[str, str | Expression] | None = None,
    partition: str | Several[str] = (),
    order: str | Several[str] = (),
    rows: str | RowsPerMatch | None = None,
    every: bool = False,
    mode: str | Mode | None = None,
    hold: int | None = None,
    seed: int | None = None,
    skip: str | Skip | None = None,
    within: Duration | None = None,
    between_rows: Duration | None = None,
    timeouts: bool = False,
    limit: int | None = None,
    forget: Duration | None = None,
    subsets: Mapping[str, Several[str]] | None = None,
    columns: str = "*",
    where: str | None = None,
) -> CreateQuery:
    """`CREATE QUERY name AS SELECT columns FROM source [WHERE where] MATCH_RECOGNIZE (…)`.

    `rows` is "ONE ROW" or "ALL ROWS", or the words of the language; `skip` is "TO NEXT ROW", "TO LAST B", "NO SKIP", …

    ```python
    falls = hw.match("falls", weather, "A B+", partition="station", define={"B": "temperature < PREV(temperature)"},
                     measures={"before": "A.temperature", "after": "LAST(B.temperature)"}, within="1 MINUTE")
    print(hw.run([weather, falls], {"weather": readings})["falls"])
    ```

    ```output
    answers["falls"]: 1 row
    event_time            station  before  after
    ────────────────────  ───────  ──────  ─────
    2026-01-31T06:00:40Z  meadow      1.5   -2.0
    ```
    """
    built = _built(pattern)
    if mode is None and (hold is not None or seed is not None):
        raise refused("hold and seed belong to a mode", "add mode='UNRESTRICTED'")
    operator = MatchRecognize(
        built.tree,
        _definitions(built.conditions, define or {}),
        _columns(partition),
        _columns(order),
        tuple(Measure(_expression(said, f"measure {key}"), key) for key, said in (measures or {}).items()),
        _rows(rows) if isinstance(rows, str) else rows,
        every,
        None
        if mode is None
        else NodeMode(_word(mode, Mode, "modes"), whole(hold, "hold"), whole(seed, "seed")),
        _skip(skip) if isinstance(skip, str) else skip,
        None if within is None else duration(within),
        None if between_rows is None else duration(between_rows),
        timeouts,
        whole(limit, "limit"),
        None if forget is None else duration(forget),
        tuple(Subset(key, tuple(members)) for key, members in (subsets or {}).items()),
    )
    return query_of(name, source, columns, where, operator)


def pattern(
    first: str | Pattern | BuiltPattern,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    gaps: str | Contiguity = Contiguity.STRICT,
    reluctant: bool = False,
    blocking: bool = False,
    until: str | Expression | None = None,
) -> BuiltPattern:
    """The beginning of a pattern, to be gone on with; `at_least`, `at_most` and what follows them make a loop of it.

    ```python
    steps = (hw.pattern("mild").where("temperature > 0")
             .followed_by("cold").where("temperature < 0")
             .not_followed_by("mild_again").where("temperature > 0"))
    frost = hw.match("frost", weather, steps, partition="station", within="1 HOUR", measures={"after": "cold.temperature"})
    print(hw.run([weather, frost], {"weather": readings})["frost"])
    ```

    ```output
    answers["frost"]: 1 row
    event_time            station  after
    ────────────────────  ───────  ─────
    2026-01-31T07:00:00Z  meadow    -1.5
    ```
    """
    repeat = _Repeat(at_least, at_most, gaps, reluctant, blocking, until)
    built = _built(first)
    return replace(built, tree=repeat.around(built.tree))


@dataclass(frozen=True, slots=True)
class BuiltPattern:
    """A pattern and the conditions of its variables, so far."""

    tree: Pattern
    conditions: tuple[tuple[str, Expression], ...] = ()

    def then(
        self,
        step: str | Pattern | BuiltPattern,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        gaps: str | Contiguity = Contiguity.STRICT,
        reluctant: bool = False,
        blocking: bool = False,
        until: str | Expression | None = None,
    ) -> BuiltPattern:
        """`… step`: the very next row."""
        repeat = _Repeat(at_least, at_most, gaps, reluctant, blocking, until)
        return self._linked(Contiguity.STRICT, step, repeat)

    def followed_by(
        self,
        step: str | Pattern | BuiltPattern,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        gaps: str | Contiguity = Contiguity.STRICT,
        reluctant: bool = False,
        blocking: bool = False,
        until: str | Expression | None = None,
    ) -> BuiltPattern:
        """`… ~> step`: the next row that fits."""
        repeat = _Repeat(at_least, at_most, gaps, reluctant, blocking, until)
        return self._linked(Contiguity.RELAXED, step, repeat)

    def followed_by_any(
        self,
        step: str | Pattern | BuiltPattern,
        *,
        at_least: int | None = None,
        at_most: int | None = None,
        gaps: str | Contiguity = Contiguity.STRICT,
        reluctant: bool = False,
        blocking: bool = False,
        until: str | Expression | None = None,
    ) -> BuiltPattern:
        """`… ~~> step`: any later row that fits."""
        repeat = _Repeat(at_least, at_most, gaps, reluctant, blocking, until)
        return self._linked(Contiguity.ANY, step, repeat)

    def not_then(self, variable: str) -> BuiltPattern:
        """`… NOT variable`: the very next row is not one of it."""
        return self._linked(Contiguity.STRICT, Never(variable), _Repeat())

    def not_followed_by(self, variable: str) -> BuiltPattern:
        """`… ~> NOT variable`: none among the rows up to the next step, or within the time."""
        return self._linked(Contiguity.RELAXED, Never(variable), _Repeat())

    def where(self, condition: str | Expression) -> BuiltPattern:
        """The condition of the step before it; said again, both must hold."""
        name = _last_variable(self.tree)
        if name is None:
            raise refused(
                "where applies to one variable, but the step before it has several",
                "name the variable: match(…, define={'A': 'x > 1'})",
            )
        said = _expression(condition, f"condition of {name}")
        known = dict(self.conditions)
        known[name] = Binary("AND", known[name], said) if name in known else said
        return replace(self, conditions=tuple(known.items()))

    def _linked(self, link: Contiguity, step: str | Pattern | BuiltPattern, repeat: _Repeat) -> BuiltPattern:
        built = _built(step)
        added = repeat.around(built.tree)
        tree = (
            Sequence((*self.tree.parts, added), (*self.tree.links, link))
            if isinstance(self.tree, Sequence)
            else Sequence((self.tree, added), (link,))
        )
        return BuiltPattern(tree, _joined(self.conditions, built.conditions))


@dataclass(frozen=True, slots=True)
class _Repeat:
    """The loop around a step, where there is one."""

    at_least: int | None = None
    at_most: int | None = None
    gaps: str | Contiguity = Contiguity.STRICT
    reluctant: bool = False
    blocking: bool = False
    until: str | Expression | None = None

    def around(self, step: Pattern) -> Pattern:
        """The step as often as is said; without `at_least` once or more."""
        if self == _Repeat():
            return step
        if self.at_least is None and self.at_most is None:
            raise refused("a loop needs at_least or at_most", "at_least=1 is '+', at_least=0 is '*'")
        least = 1 if self.at_least is None else self.at_least
        if least < 0 or (self.at_most is not None and self.at_most < least):
            raise refused(f"a loop of at least {least} and at most {self.at_most}")
        return Loop(
            step,
            least,
            self.at_most,
            self.reluctant,
            self.blocking,
            _word(self.gaps, Contiguity, "gaps"),
            None if self.until is None else _expression(self.until, "until"),
        )


def _built(written: str | Pattern | BuiltPattern) -> BuiltPattern:
    if isinstance(written, BuiltPattern):
        return written
    if isinstance(written, str):
        return BuiltPattern(read(parse_pattern, written, "pattern"))
    if not isinstance(written, get_args(Pattern)):
        raise refused(f"{written!r} is not a pattern", "write it like 'A B+ C', or begin with pattern('A')")
    return BuiltPattern(written)


def _last_variable(tree: Pattern) -> str | None:
    last = tree.parts[-1] if isinstance(tree, Sequence) else tree
    while isinstance(last, Loop):
        last = last.pattern
    return last.name if isinstance(last, Variable | Never) else None


def _joined(
    first: Several[tuple[str, Expression]], second: Several[tuple[str, Expression]]
) -> tuple[tuple[str, Expression], ...]:
    for name, _ in second:
        if name in dict(first):
            raise refused(f"'{name}' already has a condition", "join the two with AND")
    return (*first, *second)


def _definitions(
    built: tuple[tuple[str, Expression], ...], written: Mapping[str, str | Expression]
) -> tuple[Definition, ...]:
    said = [(name, _expression(condition, f"condition of {name}")) for name, condition in written.items()]
    return tuple(Definition(name, condition) for name, condition in _joined(built, said))


def _expression(written: str | Expression, what: str) -> Expression:
    return read(parse_expression, written, what) if isinstance(written, str) else written


def _columns(written: str | Several[str]) -> tuple[Column, ...]:
    return tuple(Column(name) for name in ([written] if isinstance(written, str) else written))


def _rows(said: str) -> RowsPerMatch:
    words = {rows.value: rows for rows in RowsPerMatch}
    words["ALL ROWS PER MATCH"] = RowsPerMatch.ALL_SHOW_EMPTY
    words |= {"ONE ROW": RowsPerMatch.ONE, "ALL ROWS": RowsPerMatch.ALL_SHOW_EMPTY}
    if said.upper() not in words:
        raise refused(f"'{said}' is not a condition on rows", *suggest(said, words, "words"))
    return words[said.upper()]


def _skip(said: str) -> Skip:
    first = said.upper().split(" ")[0]
    before = {"AFTER": "", "SKIP": "AFTER MATCH ", "NO": "AFTER MATCH "}.get(first, "AFTER MATCH SKIP ")
    return read(parse_skip, before + said, "skip")


def _word(written: str | _Word, kind: type[_Word], what: str) -> _Word:
    if not isinstance(written, str):
        return written
    words = {word.name: word for word in kind}
    if written.upper() not in words:
        raise refused(f"'{written}' is not one of the {what}", *suggest(written, words, what))
    return words[written.upper()]
