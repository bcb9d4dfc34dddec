"""Creation: which states does a pattern have, and what follows what?

Rule 1  A state waits for one row of one variable, reached in one way. What the way there requires of the rows that are passed
        over or taken (its vetoes) is part of the state, and so is how it may wait (its link).
Rule 2  The states that follow a taken row are listed in the order of preference; ACCEPT among them is the end of a match.
Rule 3  A veto kills a partial match: PASSED when a row that is passed over satisfies it (`~> NOT B ~>`), NEXT when the one
        row after the last taken row does (`A NOT B`), ANY_ROW when any row up to and including the next taken one does
        (the loop of a `!`, an UNTIL between repetitions, a group's UNTIL), TAKEN when the taken one does (the UNTIL of a loop
        over one variable, at the first repetition).
Rule 4  An ABSENT state takes no row: it is a match once its time has run out, and every negation since the last taken row
        holds until then. An AT_END state is a match if no row follows.
Rule 5  The claim of a `!` on the rows after its loop ends with a row that meets an UNTIL of the loop or of a group around it:
        the partial match continues in the state without that veto (`ends`), which processes that row.
Rule 6  A round of a loop that takes no row counts towards the minimum. From the minimum on it ends the loop, as in Perl.

Rows are not used here: an automaton is made once for a query and never changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.kernels.pattern.choices import Contiguity
from headwater.kernels.pattern.shape import (
    Chain,
    Choice,
    Edge,
    Hidden,
    Loop,
    Never,
    Nothing,
    One,
    Shape,
)

ACCEPT: Final = -1

TAKE: Final = 0
ABSENT: Final = 1
AT_END: Final = 2

STRICT: Final = 0
RELAXED: Final = 1
ANY: Final = 2

PASSED: Final = 0
NEXT: Final = 1
ANY_ROW: Final = 2
TAKEN: Final = 3

_LINKS: Final = {Contiguity.STRICT: STRICT, Contiguity.RELAXED: RELAXED, Contiguity.ANY: ANY}


class Automaton(NamedTuple):
    """States in columns; lists of several are cut by pointers (`follow[follow_from[s] : follow_from[s + 1]]`)."""

    kind: NDArray[np.int64]
    variable: NDArray[np.int64]
    condition: NDArray[np.int64]
    link: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    place: NDArray[np.int64]  # of the element in the pattern, for the order of answers
    complete: NDArray[np.bool_]  # a match may end with the row taken here
    veto_from: NDArray[np.int64]
    veto: NDArray[np.int64]  # [v, 3]: kind, condition, variable (-1: none)
    ends_from: NDArray[np.int64]
    ends: NDArray[np.int64]  # [e, 2]: a condition, and the state to go on in when a row meets it
    follow_from: NDArray[np.int64]
    follow: NDArray[np.int64]
    first: NDArray[np.int64]
    first_at_edge: NDArray[np.bool_]  # whether an entry of `first` holds only at the partition's first row

    @property
    def states(self) -> int:
        """How many there are."""
        return len(self.kind)


class Veto(NamedTuple):
    """What must not occur; a match must wait for a negation while nothing has followed it in the pattern."""

    kind: int
    condition: int
    variable: int
    negation: bool = False
    followed: bool = False
    untils: tuple[int, ...] = ()  # conditions that end it


@dataclass(frozen=True, slots=True)
class _Way:
    """What was met on the way from one taken row to the next."""

    link: int = STRICT
    vetoes: tuple[Veto, ...] = ()
    edge: bool = False
    at_end: bool = False
    rounds: tuple[
        tuple[int, _Way], ...
    ] = ()  # entered and not left, without a row so far; the way before each
    loops: frozenset[int] = frozenset()  # that the taken row is in and that were not left since

    def having(self, veto: Veto) -> _Way:
        return self if veto in self.vetoes else replace(self, vetoes=(*self.vetoes, veto))

    def followed(self) -> _Way:
        """The way with something after the negations met so far, even if it is left out."""
        return replace(self, vetoes=tuple(v._replace(followed=True) for v in self.vetoes))


@dataclass(slots=True, eq=False)
class _Place:
    """A point between two elements, or an element that takes a row."""

    element: tuple[int, int, bool, int] | None = None  # variable, condition, hidden, place in the pattern
    loops: frozenset[int] = frozenset()
    ways: list[tuple[_Place, _Action]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Action:
    """How a step between two points changes the way."""

    link: int | None = None
    vetoes: tuple[Veto, ...] = ()
    negation: Never | None = None  # a veto whose kind is known by the link that leads to it
    edge: bool | None = None  # False: `^`, True: `$`
    follows: bool = False
    between: int | None = (
        None  # link, vetoes and `follows` are only for a way from one round of this loop to another
    )
    out_of: int | None = None  # the loop that ends here
    enter: int | None = None  # a round
    leave: int | None = None  # a round: if it took no row (`empty`), if it did (False), or both (None)
    empty: bool | None = None
    undo: bool = False  # go on as though the round had not begun


_PLAIN = _Action()


def create(shape: Shape) -> Automaton:
    """The automaton of a pattern."""
    builder = _Builder()
    start, end = _Place(), _Place()
    builder.add(shape, start, end, frozenset(), hidden=False, after=())
    return _Explorer(builder.untils, builder.groups, end).run(start)


class _Builder:
    """Turns a shape into points and steps between them; loops with a count become copies of their part."""

    def __init__(self) -> None:
        self.untils: dict[int, int] = {}
        self.groups: set[int] = set()  # loops over more than one variable
        self._loops = 0
        self._rounds = 0
        self._elements: dict[int, int] = {}

    def add(
        self,
        shape: Shape,
        begin: _Place,
        end: _Place,
        loops: frozenset[int],
        *,
        hidden: bool,
        after: tuple[Veto, ...],
    ) -> None:
        """Ways from `begin` to `end` through the shape; `after` are the negations right after it."""
        match shape:
            case One():
                number = self._elements.setdefault(id(shape), len(self._elements))
                taking = _Place((shape.variable, shape.condition, hidden, number), loops)
                begin.ways.append((taking, _PLAIN))
                taking.ways.append((end, _PLAIN))
            case Nothing():
                begin.ways.append((end, _PLAIN))
            case Edge():
                begin.ways.append((end, _Action(edge=shape.end)))
            case Hidden():
                self.add(shape.part, begin, end, loops, hidden=True, after=after)
            case Choice():
                for part in shape.parts:
                    self.add(part, begin, end, loops, hidden=hidden, after=after)
            case Chain():
                self._chain(shape, begin, end, loops, hidden, after)
            case Loop():
                self._loop(shape, begin, end, loops, hidden, after)
            case Never():
                raise AssertionError("a negation comes after an element of a chain")

    def _chain(
        self,
        chain: Chain,
        begin: _Place,
        end: _Place,
        loops: frozenset[int],
        hidden: bool,
        after: tuple[Veto, ...],
    ) -> None:
        here = begin
        for number, part in enumerate(chain.parts):
            link = _LINKS[chain.links[number - 1]] if number else None
            next_place = _Place()
            if isinstance(part, Never):
                here.ways.append((next_place, _Action(link=link, negation=part)))
            else:
                entry = _Place()
                here.ways.append((entry, _Action(link=link, follows=_stands_for_something(part))))
                negations = tuple(_negations_after(chain, number))
                if number == len(chain.parts) - 1:
                    negations = after
                elif number + len(negations) == len(chain.parts) - 1:
                    negations += after
                self.add(part, entry, next_place, loops, hidden=hidden, after=negations)
            here = next_place
        here.ways.append((end, _PLAIN))

    def _loop(
        self,
        loop: Loop,
        begin: _Place,
        end: _Place,
        loops: frozenset[int],
        hidden: bool,
        after: tuple[Veto, ...],
    ) -> None:
        number = self._loops
        self._loops += 1
        if loop.until is not None:
            self.untils[number] = loop.until
        if not _is_over_one_variable(loop):
            self.groups.add(number)
        inside = loops | {number}
        # A negation after a group is not tested inside its rounds; an optional loop is watched like the loop.
        watched = after if loop.most == 1 and _is_loop(loop.part) else ()
        out = _Place()
        out.ways.append((end, _Action(vetoes=self._claims(loop, inside), out_of=number)))
        here = begin
        copies = loop.least if loop.most is None else loop.most
        for repetition in range(copies):
            again = _again(loop, number, repetition, after)
            here = self._round(loop, here, out, inside, hidden, repetition, again, watched)
        if loop.most is None:
            self._star(loop, here, out, inside, hidden, number, after)
        else:
            here.ways.append((out, _PLAIN))

    def _round(
        self,
        loop: Loop,
        here: _Place,
        out: _Place,
        inside: frozenset[int],
        hidden: bool,
        repetition: int,
        again: _Action,
        watched: tuple[Veto, ...],
    ) -> _Place:
        """One more copy of the part; from the minimum on the loop may also be left before it."""
        optional = repetition >= loop.least
        entry, leaving, next_place = _Place(), _Place(), _Place()
        self._rounds += 1
        number = self._rounds
        entering = replace(again, enter=number)
        ways = [(entry, entering), (out, _PLAIN)] if optional else [(entry, entering)]
        here.ways.extend(reversed(ways) if loop.reluctant else ways)
        self.add(loop.part, entry, leaving, inside, hidden=hidden, after=watched)
        if repetition + 1 < loop.least:
            leaving.ways.append((next_place, _Action(leave=number)))
        else:
            leaving.ways.append((next_place, _Action(leave=number, empty=False)))
            leaving.ways.append((out, _Action(leave=number, empty=True, undo=optional)))
        return next_place

    def _star(
        self,
        loop: Loop,
        here: _Place,
        out: _Place,
        inside: frozenset[int],
        hidden: bool,
        number: int,
        after: tuple[Veto, ...],
    ) -> None:
        """Any number of further rounds: the way out of the round leads back to its beginning."""
        entry, leaving, next_place = _Place(), _Place(), _Place()
        self._rounds += 1
        round_ = self._rounds

        def leave_or_go_on(point: _Place, again: _Action) -> None:
            ways = [(entry, replace(again, enter=round_)), (out, _PLAIN)]
            point.ways.extend(reversed(ways) if loop.reluctant else ways)

        leave_or_go_on(here, _again(loop, number, loop.least, after))
        self.add(loop.part, entry, leaving, inside, hidden=hidden, after=())
        leaving.ways.append((next_place, _Action(leave=round_, empty=False)))
        leaving.ways.append((out, _Action(leave=round_, empty=True, undo=True)))
        leave_or_go_on(next_place, _again(loop, number, loop.least + 1, after))

    def _claims(self, loop: Loop, inside: frozenset[int]) -> tuple[Veto, ...]:
        if not loop.blocking or loop.least == loop.most:
            return ()
        untils = tuple(self.untils[number] for number in sorted(inside & self.untils.keys()))
        return tuple(Veto(ANY_ROW, one.condition, one.variable, untils=untils) for one in _ones(loop.part))


def _again(loop: Loop, number: int, repetition: int, after: tuple[Veto, ...]) -> _Action:
    """The step before a round: the first row uses the link that leads to the loop, rows of later rounds the loop's own."""
    watched = after if repetition >= loop.least else [veto for veto in after if veto.kind == PASSED]
    # Between two rounds something follows: these negations are no absence.
    return _Action(
        link=_LINKS[loop.contiguity],
        vetoes=tuple(veto._replace(followed=True) for veto in watched),
        follows=True,
        between=number,
    )


def _negation(part: Never, link: int) -> Veto:
    return Veto(NEXT if link == STRICT else PASSED, part.condition, part.variable, negation=True)


def _negations_after(chain: Chain, number: int) -> Iterator[Veto]:
    for place in range(number + 1, len(chain.parts)):
        part = chain.parts[place]
        if not isinstance(part, Never):
            return
        yield _negation(part, _LINKS[chain.links[place - 1]])


def _is_loop(shape: Shape) -> bool:
    return isinstance(shape, Loop) or (isinstance(shape, Hidden) and _is_loop(shape.part))


def _is_over_one_variable(loop: Loop) -> bool:
    """And not over a group; an optional loop is what the loop is."""
    part = loop.part
    while isinstance(part, Hidden):
        part = part.part
    if isinstance(part, Loop) and loop.most == 1:
        return _is_over_one_variable(part)
    return isinstance(part, One)


def _stands_for_something(shape: Shape) -> bool:
    """Whether a negation before it is not at the end of the pattern."""
    match shape:
        case One() | Edge():
            return True
        case Chain() | Choice():
            return any(map(_stands_for_something, shape.parts))
        case Hidden() | Loop():
            return _stands_for_something(shape.part)
        case _:
            return False


def _ones(shape: Shape) -> Iterator[One]:
    match shape:
        case One():
            yield shape
        case Chain() | Choice():
            for part in shape.parts:
                yield from _ones(part)
        case Hidden() | Loop():
            yield from _ones(shape.part)


_Forbidden = tuple[int, int, int, tuple[int, ...]]  # kind, condition, variable, conditions that end it
_Key = tuple[_Place | None, int, int, tuple[_Forbidden, ...]]


class _Explorer:
    """Finds the states that can be reached, each with the vetoes of the way there."""

    def __init__(self, untils: dict[int, int], groups: set[int], end: _Place) -> None:
        self.untils = untils
        self.groups = groups
        self.end = end
        self.numbers: dict[_Key, int] = {}
        self.keys: list[_Key] = []

    def run(self, start: _Place) -> Automaton:
        first = self._targets(start, None)
        follow: list[list[int]] = []
        ends: list[list[tuple[int, int]]] = []
        while len(follow) < len(self.keys):
            place, kind, _, _ = self.keys[len(follow)]
            ends.append(self._ends_of_claims(self.keys[len(follow)]))
            if kind != TAKE or place is None:
                follow.append([])
                continue
            follow.append([target for target, _ in self._targets(place, place)])
        return self._columns(first, follow, ends)

    def _ends_of_claims(self, key: _Key) -> list[tuple[int, int]]:
        """The conditions that end a claim, each with the state that is without it."""
        place, kind, link, vetoes = key
        found = []
        for veto in vetoes:
            rest = tuple(other for other in vetoes if other != veto)
            found += [(until, self._number((place, kind, link, rest))) for until in veto[3]]
        return found

    def _targets(self, origin: _Place, taken: _Place | None) -> list[tuple[int, bool]]:
        """What can come next, in order of preference; each once."""
        found: dict[tuple[int, bool], None] = {}
        seen: set[tuple[int, _Way]] = set()
        begin = _Way(loops=taken.loops if taken else frozenset())
        waiting = [(place, action, begin) for place, action in reversed(origin.ways)]
        while waiting:
            place, action, before = waiting.pop()
            way = _walk(before, action, started=taken is not None)
            if way is None or (id(place), way) in seen:
                continue
            seen.add((id(place), way))
            if place is self.end:
                found.setdefault((self._ending(way), way.edge))
            elif place.element is not None:
                if not way.at_end:
                    found.setdefault((self._taking(place, way, started=taken is not None), way.edge))
            else:
                waiting += [(step, does, way) for step, does in reversed(place.ways)]
        return list(found)

    def _ending(self, way: _Way) -> int:
        if way.at_end:
            return self._number((None, AT_END, STRICT, ()))
        negations = [veto for veto in way.vetoes if veto.negation]
        if all(veto.followed for veto in negations):
            return ACCEPT
        vetoes = dict.fromkeys((veto.kind, veto.condition, veto.variable, ()) for veto in negations)
        return self._number((None, ABSENT, ANY, tuple(vetoes)))

    def _taking(self, place: _Place, way: _Way, *, started: bool) -> int:
        vetoes = [(veto.kind, veto.condition, veto.variable, veto.untils) for veto in way.vetoes]
        for loop in sorted(place.loops & self.untils.keys()):
            governs = loop in way.loops or loop in self.groups
            vetoes.append((ANY_ROW if governs else TAKEN, self.untils[loop], -1, ()))
        if not started:
            # An attempt begins with this row: nothing was passed over, and nothing is waited for.
            begun = tuple(dict.fromkeys(veto for veto in vetoes if veto[0] in (ANY_ROW, TAKEN)))
            return self._number((place, TAKE, STRICT, begun))
        return self._number((place, TAKE, way.link, tuple(dict.fromkeys(vetoes))))

    def _number(self, key: _Key) -> int:
        number = self.numbers.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return number

    def _columns(
        self, first: list[tuple[int, bool]], follow: list[list[int]], ends: list[list[tuple[int, int]]]
    ) -> Automaton:
        elements = [place.element if place else None for place, _, _, _ in self.keys]
        columns = [element or (-1, -1, False, 1 << 30) for element in elements]
        veto_counts = [len(vetoes) for _, _, _, vetoes in self.keys]
        return Automaton(
            kind=_ints([kind for _, kind, _, _ in self.keys]),
            variable=_ints([variable for variable, _, _, _ in columns]),
            condition=_ints([condition for _, condition, _, _ in columns]),
            link=_ints([link for _, _, link, _ in self.keys]),
            hidden=np.array([hidden for _, _, hidden, _ in columns], np.bool_),
            place=_ints([number for _, _, _, number in columns]),
            complete=np.array([ACCEPT in targets for targets in follow], np.bool_),
            veto_from=_pointers(veto_counts),
            veto=_ints([list(veto[:3]) for _, _, _, vetoes in self.keys for veto in vetoes]).reshape(-1, 3),
            ends_from=_pointers([len(listed) for listed in ends]),
            ends=_ints([list(end) for listed in ends for end in listed]).reshape(-1, 2),
            follow_from=_pointers([len(targets) for targets in follow]),
            follow=_ints([target for targets in follow for target in targets]),
            first=_ints([target for target, _ in first]),
            first_at_edge=np.array([edge for _, edge in first], np.bool_),
        )


def _walk(way: _Way, action: _Action, *, started: bool) -> _Way | None:
    """The way after a step; None where it leads nowhere."""
    if action.edge is False:
        if started:
            return None
        way = replace(way, edge=True)
    elif action.edge:
        way = replace(way, at_end=True)
    if action.leave is not None:
        begun = dict(way.rounds).get(action.leave)
        if action.empty is not None and action.empty is not (begun is not None):
            return None
        if begun is not None and action.undo:
            way = replace(begun, edge=way.edge, at_end=way.at_end)
        elif begun is not None:
            way = replace(way, link=begun.link)  # the next round is reached as this one was
        way = replace(way, rounds=tuple(entry for entry in way.rounds if entry[0] != action.leave))
    if action.enter is not None:
        way = replace(way, rounds=(*way.rounds, (action.enter, way)))
    if action.out_of is not None:
        way = replace(way, loops=way.loops - {action.out_of})
    if action.between is not None and action.between not in way.loops:
        return way
    if action.follows:
        way = way.followed()
    if action.link is not None:
        way = replace(way, link=action.link)
    for veto in action.vetoes:
        way = way.having(veto)
    return way if action.negation is None else way.having(_negation(action.negation, way.link))


def _ints(items: list[int] | list[list[int]]) -> NDArray[np.int64]:
    return np.array(items, np.int64)


def _pointers(counts: list[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.array(counts, np.int64))]).astype(np.int64)
