"""Small worlds for MATCH_RECOGNIZE: random patterns, conditions, measures and clauses over a stream of few values.

Simple things are common, rare ones are all there. What the definition leaves open is left out:
  - `!` on groups;
  - `$` or NEXT in DEFINE together with TIMEOUTS or LIMIT;
  - a window shorter than the pattern in FIRST and RECENT mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from hypothesis import strategies as st

from headwater.kernels.pattern.choices import Contiguity, Mode, RowsPerMatch, SkipTo
from headwater.model import SECOND, Column, ColumnType, Rows, StreamSchema, order_of
from headwater.query.language.parse import parse_expression
from headwater.query.language.tree import Expression, Quantity, Unit
from headwater.query.operators.pattern import tree
from headwater.query.operators.pattern.check_shape import ends_with_not
from headwater.query.operators.pattern.tree import MatchRecognize
from headwater.query.operators.pattern.walk import every_pattern

SCHEMA = StreamSchema(
    "readings",
    (
        ("k", ColumnType.STRING),
        ("at", ColumnType.TIMESTAMP),
        ("x", ColumnType.DOUBLE),
        ("n", ColumnType.BIGINT),
        ("s", ColumnType.STRING),
    ),
    time="at",
    key="k",
)
STRICT, RELAXED, ANY = Contiguity.STRICT, Contiguity.RELAXED, Contiguity.ANY
VARIABLES = "ABCD"
NEVER = "N"  # a variable that only a NOT names
SUBSET = "U"

# --- rows ------------------------------------------------------------------------------------------------------------------

_KEYS = ("p", "p", "p", "p", "p", "q", "q", None)
_XS = (-1.0, 0.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.5, None)
_NS = (0, 1, 1, 2, 2, 3, 4, None)
_TEXTS = ("a", "a", "a", "b", "b", "b", "c", "c", "d", "d", None)
_SECONDS = 12  # rows lie in so many seconds: some have equal times


def random_rows(random: Random, count: int) -> list[dict[str, Any]]:
    """Rows in no order, with NULLs and equal times; one in eight is a duplicate."""
    rows: list[dict[str, Any]] = []
    for _ in range(count):
        if rows and random.random() < 1 / 8:
            rows.append(dict(random.choice(rows)))
            continue
        rows.append(
            {
                "k": random.choice(_KEYS),
                "at": random.randrange(_SECONDS) * SECOND,
                "x": random.choice(_XS),
                "n": random.choice(_NS),
                "s": random.choice(_TEXTS),
            }
        )
    return rows


def row_lists(least: int = 0, most: int = 9) -> st.SearchStrategy[list[dict[str, Any]]]:
    """The same, for Hypothesis to shrink."""
    row = st.fixed_dictionaries(
        {
            "k": st.sampled_from(_KEYS),
            "at": st.integers(0, _SECONDS - 1).map(lambda second: second * SECOND),
            "x": st.sampled_from(_XS),
            "n": st.sampled_from(_NS),
            "s": st.sampled_from(_TEXTS),
        }
    )
    middle = (least + most) // 2
    sizes = st.sampled_from([*range(least, most + 1), *(3 * [*range(middle, most + 1)])])  # mostly long
    rows = sizes.flatmap(lambda size: st.lists(row, min_size=size, max_size=size))
    again = st.lists(st.integers(0, max(most - 1, 0)), max_size=2)

    def with_duplicates(rows: list[dict[str, Any]], places: list[int]) -> list[dict[str, Any]]:
        more = [dict(rows[place]) for place in places if place < len(rows)]
        return (rows + more)[:most]

    return st.builds(with_duplicates, rows, again)


def as_rows(rows: Iterable[dict[str, Any]]) -> Rows:
    """As columns, in the order of the stream."""
    listed = list(rows)
    columns = {name: Column.of(kind, [row[name] for row in listed]) for name, kind in SCHEMA.columns}
    unordered = Rows.of(columns)
    return unordered.take(order_of(unordered, SCHEMA.order))


# --- patterns --------------------------------------------------------------------------------------------------------------


@dataclass
class _Shape:
    """While a pattern is drawn: how it may look, and how many variables may still come."""

    draw: st.DrawFn | None
    every: bool
    room: int
    links: Sequence[Contiguity]
    repeats: Sequence[Contiguity]
    random: Random | None = None

    def number(self, least: int, most: int) -> int:
        """One of the numbers, drawn by Hypothesis, which can shrink it, or else at random."""
        if self.draw is not None:
            return self.draw(st.integers(least, most))
        assert self.random is not None
        return self.random.randint(least, most)

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def choose(self, *options: Any) -> Any:
        return options[self.number(0, len(options) - 1)]

    def variable(self) -> tree.Variable:
        self.room -= 1
        return tree.Variable(self.choose(*VARIABLES))


def _pattern(shape: _Shape) -> tree.Pattern:
    parts = [_part(shape)]
    while shape.room > 0 and shape.chance(75):
        parts.append(_part(shape))
    links = [shape.choose(*shape.links) for _ in parts[1:]]
    if shape.chance(30):
        parts, links = _with_nots(shape, parts, links)
    if shape.chance(5):
        parts, links = [tree.Edge(end=False), *parts], [STRICT, *links]
    if shape.chance(5):
        parts, links = [*parts, tree.Edge(end=True)], [*links, STRICT]
    return parts[0] if len(parts) == 1 else tree.Sequence(tuple(parts), tuple(links))


def _part(shape: _Shape) -> tree.Pattern:
    rare = shape.number(0, 19)
    if rare < 8 or shape.room < 2:
        return shape.variable() if rare % 2 else _loop(shape, shape.variable())
    if rare < 12:
        return shape.variable()
    if rare < 14:
        return _loop(shape, _group(shape, least=1 if shape.chance(30) else 2))
    if rare < 16:
        return tree.Choice((_group(shape, least=1), _group(shape, least=1)))
    if rare < 17:
        return tree.Permutation((shape.variable(), shape.variable()))
    if rare < 18:
        return tree.Exclusion(_loop(shape, shape.variable()) if shape.chance(50) else shape.variable())
    if rare < 19:
        return tree.Choice((shape.variable(), tree.Empty()))
    return _group(shape, least=2)


def _group(shape: _Shape, least: int) -> tree.Pattern:
    """Variables one after the other, some of them repeated or left out: all of them may be."""
    parts: list[tree.Pattern] = []
    empty = shape.chance(25)
    while not parts or (shape.room > 0 and (len(parts) < least or shape.chance(20))):
        parts.append(_loop(shape, shape.variable()) if shape.chance(30) else shape.variable())
        if empty and not _may_be_empty(parts[-1]):
            parts[-1] = tree.Loop(parts[-1], 0, 1, reluctant=shape.chance(40))
    links = [shape.choose(*shape.links) for _ in parts[1:]]
    if shape.chance(10):
        parts, links = _with_nots(shape, parts, links)
    return parts[0] if len(parts) == 1 else tree.Sequence(tuple(parts), tuple(links))


def _loop(shape: _Shape, pattern: tree.Pattern) -> tree.Loop:
    """A loop, sometimes an optional one."""
    loop = _simple_loop(shape, pattern)
    return tree.Loop(loop, 0, 1, reluctant=shape.chance(20)) if shape.chance(10) else loop


def _simple_loop(shape: _Shape, pattern: tree.Pattern) -> tree.Loop:
    least, most = shape.choose(
        (0, None), (1, None), (1, None), (0, 1), (0, 2), (1, 2), (2, 2), (2, None), (1, 3)
    )
    alone = isinstance(pattern, tree.Variable)
    until = None
    kind = shape.number(0, 9)
    blocking = shape.every and alone and kind < 3
    if shape.chance(40 if blocking else 15):
        name = shape.choose(*_names(pattern))
        until = _expression(shape, _UNTIL, name, [name])
    return tree.Loop(
        pattern,
        least,
        most,
        reluctant=not blocking and kind > 7,
        blocking=blocking,
        contiguity=shape.choose(*shape.repeats),
        until=until,
    )


def _with_nots(
    shape: _Shape, parts: list[tree.Pattern], links: list[Contiguity]
) -> tuple[list[tree.Pattern], list[Contiguity]]:
    """One NOT or more, behind something that always binds a row."""
    for _ in range(shape.choose(1, 1, 2, 2, 3)):
        places = [p for p in range(len(parts)) if not all(map(_may_be_empty, parts[: p + 1]))]
        if not places:
            return parts, links
        place = shape.choose(*places)
        name = shape.choose(NEVER, NEVER, *VARIABLES[:2])
        parts = [*parts[: place + 1], tree.Never(name), *parts[place + 1 :]]
        links = [*links[:place], shape.choose(STRICT, RELAXED, RELAXED), *links[place:]]
    return parts, links


def _may_be_empty(node: tree.Pattern) -> bool:
    match node:
        case tree.Variable():
            return False
        case tree.Loop(pattern, least):
            return least == 0 or _may_be_empty(pattern)
        case tree.Sequence(parts) | tree.Permutation(parts):
            return all(_may_be_empty(part) for part in parts)
        case tree.Choice(choices):
            return any(_may_be_empty(choice) for choice in choices)
        case tree.Exclusion(pattern):
            return _may_be_empty(pattern)
    return True


def _names(node: tree.Pattern) -> list[str]:
    """The variables that get rows, as they are written."""
    match node:
        case tree.Variable(name):
            return [name]
        case tree.Sequence(parts) | tree.Choice(parts) | tree.Permutation(parts):
            return list(dict.fromkeys(name for part in parts for name in _names(part)))
        case tree.Exclusion(pattern) | tree.Loop(pattern):
            return _names(pattern)
    return []


def _nots(node: tree.Pattern) -> list[str]:
    return [part.name for part in every_pattern(node) if isinstance(part, tree.Never)]


def _some(node: tree.Pattern, kind: type, **having: Any) -> bool:
    """Whether some part is of a kind and like this."""
    if isinstance(node, kind) and all(getattr(node, name) == item for name, item in having.items()):
        return True
    match node:
        case tree.Sequence(parts) | tree.Choice(parts) | tree.Permutation(parts):
            return any(_some(part, kind, **having) for part in parts)
        case tree.Exclusion(pattern) | tree.Loop(pattern):
            return _some(pattern, kind, **having)
    return False


# --- conditions and measures: V is the variable under test, O any variable or subset ---------------------------------------------

_LOCAL = (
    "x > 2", "x <= 2", "x > 0", "x > -1", "x IS NOT NULL", "s = 'a'", "s = 'b'", "s = 'c'", "s <> 'a'", "s IN ('a', 'b')", "n < 3",
    "n % 2 = 0", "V.x > 1", "x > n",
)  # fmt: skip
_BOUND = (  # what looks at bound rows only
    "V.x > O.x", "V.x >= AVG(V.x)", "SUM(V.x) < 10", "SUM(V.n) <= 3", "COUNT(V.*) <= 2", "COUNT(*) < 4",
    "LAST(V.x, 1) IS NULL OR x > LAST(V.x, 1)", "x > LAST(V.x, 1)", "FIRST(O.n) <= n", "MAX(O.x) > x",
    "s = FIRST(O.s)", "O.s IS NULL OR s > O.s", "SUM(O.n) > n", "MIN(x) >= 0", "COUNT(O.x) > 0", "x < LAST(x, 1)",
    "at - FIRST(O.at) <= 3 SECONDS", "CLASSIFIER() = 'A' OR x > 1", "n >= FIRST(n)", "AVG(x + n) > 1",
)  # fmt: skip
_BESIDE = (
    "x > PREV(x)", "x < PREV(x)", "n >= PREV(n, 2)", "PREV(O.x) < x", "PREV(FIRST(O.x), 1) < x", "PREV(LAST(O.n, 1), 1) < 3",
    "PREV(x) IS NULL OR x >= PREV(x)",
)  # fmt: skip
_AHEAD = ("NEXT(x) > x", "NEXT(s) = 'b'", "NEXT(O.x, 2) IS NULL")
_NUMBERED = ("MATCH_NUMBER() < 3",)
_UNTIL = ("x > 3", "s = 'c'", "n = 2", "COUNT(V.*) >= 2", "x < V.x", "SUM(V.x) > 4", "x < PREV(x)")

_MEASURES = (
    "x", "O.x", "O.s", "FIRST(at)", "FIRST(O.s)", "LAST(O.x, 1)", "SUM(O.x)", "SUM(n)", "AVG(O.n)", "COUNT(*)",
    "COUNT(O.*)", "COUNT(O.x)", "MIN(O.s)", "MAX(x)", "CLASSIFIER()", "CLASSIFIER(O)", "FIRST(CLASSIFIER(), 1)",
    "LAST(CLASSIFIER(O), 1)", "MATCH_NUMBER()", "LAST(at) - FIRST(at)", "SUM(O.x + 1)", "x - FIRST(x)", "O.x + O.n",
    "FINAL LAST(O.x)", "FINAL SUM(x)", "FINAL COUNT(O.*)", "FINAL FIRST(O.n, 1)", "RUNNING COUNT(*)", "RUNNING MAX(O.n)",
)  # fmt: skip
_MEASURES_BESIDE = (
    "PREV(x)", "PREV(O.x, 2)", "NEXT(x)", "NEXT(O.n)", "PREV(FIRST(O.x), 1)", "NEXT(LAST(O.n, 1), 1)", "PREV(CLASSIFIER())",
    "FINAL PREV(LAST(O.x), 1)",
)  # fmt: skip


def _expression(shape: _Shape, texts: Sequence[str], name: str, others: Sequence[str]) -> Expression:
    return _written(shape.choose(*texts), name, shape.choose(*others))


@cache
def _written(text: str, name: str, other: str) -> Expression:
    """A template with its variables put in."""
    for mark, variable in (("V", name), ("O", other)):
        text = text.replace(f"{mark}.", f"{variable}.").replace(f"({mark}", f"({variable}")
    return parse_expression(text)


def _conditions(
    shape: _Shape, names: Sequence[str], others: Sequence[str], looking: Sequence[str]
) -> tuple[tree.Definition, ...]:
    """Some variables have none; the others one that looks at the row alone, or at others too."""
    define = []
    for name in names:
        kind = shape.number(0, 19)
        if kind < 3 and name != NEVER:
            continue
        texts = _LOCAL if kind < 12 else looking
        define.append(tree.Definition(name, _expression(shape, texts, name, others)))
    return tuple(define)


def _measures(shape: _Shape, others: Sequence[str], texts: Sequence[str]) -> tuple[tree.Measure, ...]:
    count = shape.number(0, 4)
    return tuple(tree.Measure(_expression(shape, texts, "", others), f"m{n}") for n in range(count))


# --- operators -----------------------------------------------------------------------------------------------------------------


_ROW_LINKS = ((STRICT,), (STRICT,), (STRICT, STRICT, RELAXED, ANY))
_EVENT_LINKS = ((STRICT, RELAXED), (RELAXED,), (STRICT, RELAXED, RELAXED, ANY))


@st.composite
def preferred_patterns(draw: st.DrawFn) -> MatchRecognize:
    """Without MATCH EVERY."""
    links = draw(st.sampled_from(_ROW_LINKS))
    return _drawn(_Shape(draw, every=False, room=draw(st.integers(1, 5)), links=links, repeats=links))


@st.composite
def event_patterns(draw: st.DrawFn) -> MatchRecognize:
    """With MATCH EVERY."""
    links = draw(st.sampled_from(_EVENT_LINKS))
    return _drawn(_Shape(draw, every=True, room=draw(st.integers(1, 4)), links=links, repeats=links))


def random_pattern(random: Random, *, every: bool) -> MatchRecognize:
    """The same without Hypothesis, which draws alike patterns again and again."""
    links = random.choice(_EVENT_LINKS if every else _ROW_LINKS)
    room = random.randint(1, 4 if every else 5)
    return _drawn(_Shape(None, every=every, room=room, links=links, repeats=links, random=random))


def _drawn(shape: _Shape) -> MatchRecognize:
    pattern = _pattern(shape)
    rows: list[RowsPerMatch | None] = [
        None,
        RowsPerMatch.ONE,
        RowsPerMatch.ALL_SHOW_EMPTY,
        RowsPerMatch.ALL_OMIT_EMPTY,
    ]
    if not shape.every and not _some(pattern, tree.Exclusion):
        rows.append(RowsPerMatch.ALL_WITH_UNMATCHED)
    return _operator(shape, pattern, shape.choose(*rows), () if shape.every else _NUMBERED)


@st.composite
def node_patterns(draw: st.DrawFn, *, seeded: bool = False) -> MatchRecognize:
    """MODE UNRESTRICTED, FIRST or RECENT; `seeded`: with CHOOSE ONE, whose oracle gives all that may be chosen."""
    shape = _Shape(draw, every=False, room=0, links=(STRICT, RELAXED), repeats=(STRICT,))
    names = VARIABLES[: draw(st.integers(2, 4))]
    parts = [
        tree.Loop(tree.Variable(name), 1, None) if shape.chance(40) else tree.Variable(name) for name in names
    ]
    links = tuple(shape.choose(STRICT, RELAXED) for _ in parts[1:])
    within = _seconds(shape, 2, 11)
    mode = Mode.UNRESTRICTED if seeded else shape.choose(*Mode)
    hold = shape.choose(None, *(range(len(names) - 1, 7) if mode is Mode.UNRESTRICTED else (len(names), 8)))
    others = list(names)
    looking = [*_LOCAL, "x > PREV(x)"]
    typed = tuple(tree.Definition(name, _written(f"s = '{name.lower()}'", name, name)) for name in names)
    return MatchRecognize(
        tree.Sequence(tuple(parts), links),
        typed if shape.chance(40) else _conditions(shape, names, others, looking),
        partition=_partition(shape),
        measures=_measures(shape, others, _MEASURES),
        rows=shape.choose(None, RowsPerMatch.ONE, RowsPerMatch.ALL_SHOW_EMPTY),
        mode=tree.NodeMode(mode, hold, draw(st.integers(0, 99)) if seeded else None),
        within=within,
        forget=_forget(shape, within),
    )


def _operator(
    shape: _Shape, pattern: tree.Pattern, rows: RowsPerMatch | None, numbered: Sequence[str]
) -> MatchRecognize:
    names, nots = _names(pattern), _nots(pattern)
    subsets: tuple[tree.Subset, ...] = ()
    others = list(names)
    if len(names) > 1 and shape.chance(15):
        subsets = (tree.Subset(SUBSET, (names[0], names[-1])),)
        others.append(SUBSET)
    ends = _some(pattern, tree.Edge, end=True)
    absence = ends_with_not(pattern) is not None
    within = _seconds(shape, 1, 8) if shape.chance(70 if absence else 30) else None
    between = _seconds(shape, 1, 5) if shape.chance(15) or (absence and within is None) else None
    timeouts = not ends and shape.chance(25)
    limit = shape.number(1, 6) if not ends and shape.chance(12) else None
    forget = _forget(shape, within, between)
    ahead = () if timeouts or limit is not None else _AHEAD
    looking = [*_BOUND, *_BESIDE, *_BESIDE, *ahead, *numbered]
    return MatchRecognize(
        pattern,
        _conditions(shape, list(dict.fromkeys([*names, *nots])), others, looking),
        partition=_partition(shape),
        order=_order(shape),
        measures=_measures(shape, others, [*_MEASURES, *_MEASURES_BESIDE]),
        rows=rows,
        every=shape.every,
        skip=_skip(shape, others),
        within=within,
        between_rows=between,
        timeouts=timeouts,
        limit=limit,
        forget=forget,
        subsets=subsets,
    )


def _forget(shape: _Shape, *waits: Quantity | None) -> Quantity | None:
    """FORGET, if at all, no sooner than time has run out for whatever waits."""
    if not shape.chance(25):
        return None
    longest = max((wait.amount for wait in waits if wait is not None), default=1)
    return Quantity(longest + shape.number(0, 3), Unit.SECONDS)


def _partition(shape: _Shape) -> tuple[tree.Column, ...]:
    names = shape.choose((), (), (), ("k",), ("k",), ("n", "k"))
    return tuple(tree.Column(name) for name in names)


def _order(shape: _Shape) -> tuple[tree.Column, ...]:
    names = shape.choose((), ("at",), ("at",), ("at", "x"), ("at", "s", "n"))
    return tuple(tree.Column(name) for name in names)


def _skip(shape: _Shape, others: Sequence[str]) -> tree.Skip | None:
    to = shape.choose(None, None, *SkipTo)
    if to in (SkipTo.FIRST, SkipTo.LAST):
        return tree.Skip(to, shape.choose(*others))
    return None if to is None else tree.Skip(to)


def _seconds(shape: _Shape, least: int, most: int) -> Quantity:
    return Quantity(shape.number(least, most), Unit.SECONDS)
