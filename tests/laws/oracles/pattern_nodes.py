"""Node modes, the slow way: what a sensor node with a small window detects (the paper's section 6.3).

UNRESTRICTED keeps combinations of one row per element and a window of the rows in them; FIRST and RECENT hold one detection.
With CHOOSE ONE, all combinations completed by a row are given here: a node sends one of them.
"""

from __future__ import annotations

from headwater.kernels.pattern.choices import Mode
from headwater.query.operators.pattern import tree
from tests.laws.oracles.pattern_rows import Binding, Bindings, Found, Search, pairs

HOLD = 64
ROWS_GIVEN_UP = "rows_given_up"


def detections(search: Search) -> list[Found]:
    """All that is told of one partition."""
    mode = search.operator.mode
    assert mode is not None
    search.number = None
    if mode.mode is Mode.UNRESTRICTED:
        matches = _unrestricted(search, mode.hold or HOLD)
    else:
        matches = _one_detection(search, recent=mode.mode is Mode.RECENT)
    return [
        Found("match", bound[0].row, bound, search.times[bound[-1].row], number)
        for number, bound in enumerate(matches, start=1)
    ]


def elements(pattern: tree.Pattern) -> list[str]:
    """The variables of the sequence; `B+` is one B, whatever is between."""
    match pattern:
        case tree.Variable(name) | tree.Loop(tree.Variable(name)):
            return [name]
        case tree.Sequence(parts):
            return [name for part in parts for name in elements(part)]
    raise AssertionError(pattern)


def _unrestricted(search: Search, hold: int) -> list[Bindings]:
    names = elements(search.operator.pattern)
    matches: list[Bindings] = []
    begun: list[Bindings] = []  # combinations that wait for more, oldest rows first
    for row, time in enumerate(search.times):
        begun = [bound for bound in begun if not _late(search, bound, time)]
        more = [
            (*bound, _binding(names, len(bound), row))
            for bound in [*begun, ()]
            if _next_holds(search, names, bound, row)
        ]
        matches += sorted((b for b in more if len(b) == len(names)), key=_rows)
        # Reading: a row that only completes combinations takes no place in the window; complete ones are told before
        # anything is given up for the new row. A row for two elements takes two places, the earlier element's first.
        for element in range(len(names) - 1):
            there = {(), *begun}  # what is left of those that the row could follow
            longer = [bound for bound in more if len(bound) == element + 1 and bound[:-1] in there]
            if longer:
                begun = _registered(search, begun, longer, hold)
    return matches


def _registered(search: Search, begun: list[Bindings], longer: list[Bindings], hold: int) -> list[Bindings]:
    """The combinations with those that a new event makes, in a window that holds so many events."""
    given_up = _replaced(begun, hold)
    search.counts[ROWS_GIVEN_UP] += given_up is not None
    left = [bound for bound in begun if given_up not in _places(bound)]
    new = [bound for bound in longer if given_up not in _places(bound)]
    search.counts[ROWS_GIVEN_UP] += not new
    return [*left, *new]


def _replaced(begun: list[Bindings], hold: int) -> tuple[int, int] | None:
    """The event that makes room for one more: the newest of the first sequence (that with the oldest initial event), its
    initial event last, then those of the second.

    Reading: an event that is given up is gone from all sequences that use it.
    """
    if len({place for bound in begun for place in _places(bound)}) < hold:
        return None
    first = min(bound[0].row for bound in begun)
    return max(place for bound in begun if bound[0].row == first for place in _places(bound))


def _places(bound: Bindings) -> list[tuple[int, int]]:
    """Rows with the element they are bound to."""
    return [(binding.row, element) for element, binding in enumerate(bound)]


def _one_detection(search: Search, *, recent: bool) -> list[Bindings]:
    """Reading: the window is at least as long as the pattern, so that nothing is ever given up."""
    names = elements(search.operator.pattern)
    matches: list[Bindings] = []
    bound: Bindings = ()
    for row, time in enumerate(search.times):
        if _late(search, bound, time):
            bound = ()
        if _next_holds(search, names, bound, row):
            bound = (*bound, _binding(names, len(bound), row))
            if len(bound) == len(names):
                matches.append(bound)
                bound = ()
        # Reading: a row that could move a RECENT detection on does so, also if it is one of the present state's element:
        # otherwise conditions that overlap would never be left.
        elif recent and bound and _next_holds(search, names, bound[:-1], row):
            bound = (*bound[:-1], _binding(names, len(bound) - 1, row))
    return matches


def _late(search: Search, bound: Bindings, time: int) -> bool:
    assert search.operator.within is not None
    return bool(bound) and time > search.times[bound[0].row] + search.operator.within.micros


def _next_holds(search: Search, names: list[str], bound: Bindings, row: int) -> bool:
    return search.holds(names[len(bound)], row, pairs(bound))


def _binding(names: list[str], element: int, row: int) -> Binding:
    return Binding(names[element], row, (element,), shown=True)


def _rows(bound: Bindings) -> tuple[int, ...]:
    return tuple(binding.row for binding in bound)
