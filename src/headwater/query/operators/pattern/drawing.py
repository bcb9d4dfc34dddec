"""What does the automaton of a pattern look like? As text for a terminal, and as Graphviz dot.

A state waits for one row. What may follow the row it takes is listed in the order of preference; ACCEPT is a match. States
are numbered from 1, as the kernel makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headwater.kernels.pattern.automaton import (
    ABSENT,
    ACCEPT,
    ANY,
    ANY_ROW,
    AT_END,
    NEXT,
    PASSED,
    RELAXED,
    Automaton,
    create,
)
from headwater.kernels.pattern.choices import Mode
from headwater.kernels.pattern.question import PatternQuery
from headwater.model import StreamSchema
from headwater.query.operators.pattern.lowering import make_query
from headwater.query.operators.pattern.operator import PatternOperator
from headwater.query.operators.pattern.tree import MatchRecognize, Variable
from headwater.query.operators.pattern.walk import every_pattern
from headwater.query.operators.pattern.written import EVERY_ROW, condition_texts

MOST_DRAWN: Final = 60
"""States drawn as text; the others are counted. Dot has them all."""

_ABSENCE: Final = "(absence)"
_END: Final = "(end)"


@dataclass(frozen=True, slots=True)
class State:
    """A state in words: the variable waited for, its condition, how it is waited for, what must not come, what may follow."""

    name: str
    condition: str
    how: str
    forbidden: tuple[str, ...]
    follow: tuple[int, ...]  # ACCEPT, or the place of a state


@dataclass(frozen=True, slots=True)
class Drawing:
    """An automaton in words; `begin` are the states a match begins with, and whether only at the partition's first row."""

    begin: tuple[tuple[int, bool], ...]
    states: tuple[State, ...]


def draw(operator: PatternOperator, written: MatchRecognize, source: StreamSchema) -> Drawing:
    """The automaton of a checked pattern; `written` has its conditions as text."""
    texts = condition_texts(operator, written)
    if operator.mode is not None:
        return _draw_mode(operator, dict(zip((name for name, _ in operator.define), texts, strict=False)))
    query = make_query("", "", 0, None, operator, source)
    auto = create(query.shape)
    followed = _followed(auto)
    states = tuple(_state(auto, query, texts, state, state in followed) for state in range(auto.states))
    begin = zip(auto.first.tolist(), auto.first_at_edge.tolist(), strict=True)
    return Drawing(tuple(begin), states)


def as_text(drawing: Drawing) -> list[str]:
    """One line a state: number, variable, its link, what follows; its vetoes are below."""
    shown = drawing.states[:MOST_DRAWN]
    number = len(str(len(drawing.states)))
    name = max((len(state.name) for state in shown), default=0)
    how = max((len(state.how) for state in shown), default=0)
    lines = [f"{'':>{number}}  {'begin':<{name + 2 + how}}  -> {_begin(drawing)}"]
    for place, state in enumerate(shown, start=1):
        follow = ", ".join(_label(drawing, target) for target in state.follow)
        lines.append(f"{place:>{number}}  {state.name:<{name}}  {state.how:<{how}}  -> {follow}")
        lines += [f"{'':>{number}}  {'':<{name}}    {words}" for words in state.forbidden]
    if len(drawing.states) > MOST_DRAWN:
        lines.append(f"and {len(drawing.states) - MOST_DRAWN:,} more states (--dot draws them all)")
    return lines


def as_dot(name: str, title: str, drawing: Drawing) -> str:
    """A digraph for Graphviz; arrows out of one state are numbered in the order of preference."""
    lines = [
        f"digraph {_quoted(name)} {{",
        "  rankdir=LR;",
        f"  label={_quoted(name, title)};",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
        '  edge [fontname="sans-serif"];',
        "  begin [shape=point];",
        '  accept [shape=doublecircle, label="ACCEPT"];',
    ]
    for place, state in enumerate(drawing.states):
        lines.append(f"  s{place + 1} [label={_quoted(f'{place + 1} {state.name}', state.condition)}];")
    lines += _arrows(drawing, "begin", [target for target, _ in drawing.begin], _edges_of(drawing))
    for place, state in enumerate(drawing.states):
        lines += _arrows(drawing, f"s{place + 1}", state.follow, {})
    return "\n".join([*lines, "}"]) + "\n"


# --- states -----------------------------------------------------------------------------------------------------------


def _state(
    auto: Automaton, query: PatternQuery, texts: tuple[str, ...], state: int, is_followed: bool
) -> State:
    vetoes = auto.veto[auto.veto_from[state] : auto.veto_from[state + 1]].tolist()
    forbidden = tuple(
        _veto(kind, _condition(query, texts, number, variable)) for kind, number, variable in vetoes
    )
    forbidden += tuple(
        f"from a {_condition(query, texts, number, -1)} on it is {target + 1}"
        for number, target in auto.ends[auto.ends_from[state] : auto.ends_from[state + 1]].tolist()
    )
    kind = int(auto.kind[state])
    if kind == ABSENT:
        return State(_ABSENCE, "", "its time runs out", forbidden, (ACCEPT,))
    if kind == AT_END:
        return State(_END, "", "no row follows", forbidden, (ACCEPT,))
    variable, condition = int(auto.variable[state]), int(auto.condition[state])
    hidden = " (not emitted)" * bool(auto.hidden[state])
    return State(
        query.variables[variable] + hidden,
        texts[condition] if condition >= 0 else EVERY_ROW,
        _how(int(auto.link[state])) if is_followed else "first row",
        forbidden,
        tuple(auto.follow[auto.follow_from[state] : auto.follow_from[state + 1]].tolist()),
    )


def _followed(auto: Automaton) -> set[int]:
    """The states that wait after a row, including those that they become when a claim ends."""
    found = set(auto.follow.tolist()) - {ACCEPT}
    waiting = list(found)
    while waiting:
        state = waiting.pop()
        targets = set(auto.ends[auto.ends_from[state] : auto.ends_from[state + 1], 1].tolist()) - found
        found |= targets
        waiting += targets
    return found


def _how(link: int) -> str:
    return "any later such row" if link == ANY else "next such row" if link == RELAXED else "next row"


def _condition(query: PatternQuery, texts: tuple[str, ...], number: int, variable: int) -> str:
    if variable < 0:
        return f"row with {texts[number]} (UNTIL)"
    return query.variables[variable]


def _veto(kind: int, what: str) -> str:
    if kind == PASSED:
        return f"no {what} among the skipped rows"
    if kind == NEXT:
        return f"no {what} as the very next row"
    return f"no {what} up to and including it" if kind == ANY_ROW else f"it is not a {what}"


def _draw_mode(operator: PatternOperator, texts: dict[str, str]) -> Drawing:
    """The states of a sensor node: one for each element."""
    assert operator.mode is not None
    names = [part.name for part in every_pattern(operator.pattern) if isinstance(part, Variable)]
    last = len(names) - 1
    states = [
        State(
            name,
            texts.get(name, EVERY_ROW),
            _how_in_mode(operator.mode, place, last),
            (),
            (place + 1 if place < last else ACCEPT,),
        )
        for place, name in enumerate(names)
    ]
    return Drawing(((0, False),), tuple(states))


def _how_in_mode(mode: Mode, place: int, last: int) -> str:
    if mode is Mode.UNRESTRICTED:
        return "any later such row" if place else "any such row"
    first = "next such row" if place else "first such row"
    return f"{first}, then the latest" if mode is Mode.RECENT and place < last else first


# --- text -------------------------------------------------------------------------------------------------------------


def _begin(drawing: Drawing) -> str:
    return ", ".join(
        _label(drawing, target) + " (at the partition's first row)" * edge for target, edge in drawing.begin
    )


def _label(drawing: Drawing, target: int) -> str:
    if target == ACCEPT:
        return "ACCEPT"
    return f"{target + 1} {drawing.states[target].name.removesuffix(' (not emitted)')}"


# --- dot --------------------------------------------------------------------------------------------------------------


def _edges_of(drawing: Drawing) -> dict[int, str]:
    return {place: "at the partition's first row" for place, (_, edge) in enumerate(drawing.begin) if edge}


def _arrows(
    drawing: Drawing, source: str, targets: list[int] | tuple[int, ...], notes: dict[int, str]
) -> list[str]:
    lines = []
    for place, target in enumerate(targets):
        words = [notes[place]] if place in notes else []
        if target != ACCEPT and source != "begin":
            words += [drawing.states[target].how, *drawing.states[target].forbidden]
        elif target != ACCEPT:
            words += drawing.states[target].forbidden
        if len(targets) > 1:
            words = [f"{place + 1}. {words[0]}" if words else f"{place + 1}.", *words[1:]]
        name = "accept" if target == ACCEPT else f"s{target + 1}"
        label = f" [label={_quoted(*words)}]" if words else ""
        lines.append(f"  {source} -> {name}{label};")
    return lines


def _quoted(*lines: str) -> str:
    """A string of dot; `\\n` between its lines."""
    safe = [
        line.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", " ")
        for line in lines
        if line
    ]
    return '"' + "\\n".join(safe) + '"'
