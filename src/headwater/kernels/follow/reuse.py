"""Which events need not be streamed? Consecutive interests of an object mostly overlap, and few operators need all events.

Some operators' answers depend only on events within the operators' windows before them, and only on those of their own group (a partition
of a pattern, a single event of a SELECT, otherwise all events). Such a group gives no new answer as long as it is the same for both
interests: its answers were delivered for the previous interest.

Rule 1  A group *differs* from the first of its events on, counted from the begin of the new interest's history, that lies in exactly one
        of the two regions; at the latest when the new interest begins, and the life of the previous one ends. Events that a sub-graph
        does not take are ignored.
Rule 2  Its events are streamed from the operators' windows before that time on. A match that a pattern began earlier is an old answer,
        since its window ends before the group differs; a match that began later has all its events. The same holds for a SELECT.
Rule 3  Other operators may give wrong answers while their windows are being filled, and so may those that read others. A sub-graph's
        answers are the same as before only if none of its patterns could have continued with events that differ. They are `settled`,
        that is delivered already, up to all windows of the sub-graph before the group differs (`later_us`). Events are streamed from the
        windows before that on, so that later answers are right.
Rule 4  No event is left out for operators whose answers depend on where their events begin, nor where events are cut (BEST EFFORT) or
        counted (EMIT INTERESTS), nor where answers are delivered again (DELIVER EACH), nor after an object was forgotten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.coordinates import coordinates
from headwater.kernels.follow.choices import Saving
from headwater.kernels.follow.finding import Found
from headwater.kernels.follow.places import Look, is_in
from headwater.kernels.follow.question import BY_ITSELF, FollowQuery, Need, Real, Whole
from headwater.kernels.follow.store import View
from headwater.model import BEGINNING, Instant, Rows, join_columns
from headwater.model.partitions import numbered

Mask = NDArray[np.bool_]

_LOOP: Final[dict[str, Any]] = {"nogil": True}


class Choice(NamedTuple):
    """For each need which found events are streamed; `settled` int64[interests, parts]; and how many events each saving left out."""

    streamed: list[Mask]
    settled: Whole
    saved: Counter[Saving]


def choose(query: FollowQuery, found: Found, view: View, since: Instant) -> Choice:
    """Which events must be streamed for which need."""
    past = _Past(query, found, view, since)
    needs = query.needs if Saving.SUBGRAPHS in query.savings else _as_one(query.needs)
    parts = {need.part: [other for other in needs if other.part == need.part] for need in needs}
    most = max((need.part for need in query.needs), default=0) + 1
    settled = np.full((len(found.interests.serial), most), BEGINNING)
    differ = {part: _differ(past, members) for part, members in parts.items()}
    for part, first in differ.items():
        if first is not None and parts[part][0].settles:
            settled[past.follows, part] = first.of_interest[past.follows]
    if len(parts) == 1:  # as one, or only one
        settled[:] = settled[:, :1]
    saved: Counter[Saving] = Counter()
    streamed = [_streamed(past, need, differ[need.part], saved) for need in needs]
    return Choice(streamed, settled, saved)


def _as_one(needs: Sequence[Need]) -> list[Need]:
    """Needs as if all operators were connected and took every event."""
    columns = [set(need.separates_by) for need in needs if need.separates_by is not BY_ITSELF]
    one = Need(
        part=0,
        windows_us=0,
        takes=None,
        separates_by=tuple(sorted(set.intersection(*columns))) if columns else BY_ITSELF,
        is_free=all(need.is_free for need in needs),
        settles=any(need.settles for need in needs),
        later_us=max(need.later_us for need in needs),
    )
    return [replace(one, windows_us=need.windows_us) for need in needs]


def _streamed(past: _Past, need: Need, first: _First | None, saved: Counter[Saving]) -> Mask:
    """Which events are streamed for a need; `first` says when its sub-graph differs."""
    query, found = past.query, past.found
    windows_us = need.windows_us if need.is_free and Saving.POINTS in query.savings else query.before_us
    begins = found.interests.start[found.of]
    is_streamed = past.time >= begins - (query.last_us + windows_us)
    saved[Saving.POINTS] += _missing(is_streamed)
    if need.takes is not None and need.is_free and Saving.SUBGRAPHS in query.savings:
        taken = need.takes(found.rows)[found.row]
        saved[Saving.SUBGRAPHS] += int(np.count_nonzero(is_streamed & ~taken))
        is_streamed &= taken
    if first is None:
        return is_streamed
    old = past.earlier[is_streamed[past.earlier]]
    is_same = past.time[old] + windows_us < first.of_event[old]
    is_streamed[old[is_same]] = False
    whole = int(np.count_nonzero(~first.is_there[found.of[old[is_same]]]))
    one_by_one = Saving.SPACE if need.separates_by is BY_ITSELF else Saving.TIME
    saved[Saving.SUBGRAPHS if Saving.SUBGRAPHS in query.savings else one_by_one] += whole
    saved[one_by_one] += int(np.count_nonzero(is_same)) - whole
    return is_streamed


class _First(NamedTuple):
    """Until when a sub-graph's answers are unchanged: for each interest, and for the group of each event; and whether `is_there` an
    event that differs."""

    of_interest: Whole
    of_event: Whole
    is_there: Mask


def _differ(past: _Past, needs: Sequence[Need]) -> _First | None:
    """Until when a sub-graph's answers are the same for consecutive interests; None: it must have all events."""
    query, found = past.query, past.found
    one_by_one = Saving.SPACE if needs[0].separates_by is BY_ITSELF else Saving.TIME
    by_groups, by_graphs = one_by_one in query.savings, Saving.SUBGRAPHS in query.savings
    if (
        query.compares_nothing
        or not needs[0].is_free
        or not (by_groups or by_graphs)
        or not len(past.follows)
    ):
        return None
    later_us = needs[0].later_us if needs[0].settles else 0
    starts = found.interests.start - later_us
    differs = np.zeros(len(starts), np.bool_)
    if by_groups and needs[0].separates_by is BY_ITSELF:  # a new event differs; any other is its whole group
        of_event = np.where(past.is_new, BEGINNING, starts[found.of])
        differs[found.of[past.is_new]] = True
        return _First(starts, of_event, differs)
    new = np.flatnonzero(past.is_new & _taken(needs, found.rows)[found.row])
    gone = _taken(needs, past.gone)
    gone_of, gone_time = past.gone_of[gone], past.gone[query.events.schema.time].values[gone]
    differing = np.concatenate([found.of[new], gone_of])
    times = np.concatenate([past.time[new], gone_time]) - later_us
    differs[differing] = True
    if not by_groups:
        of_interest = np.where(differs, BEGINNING, starts)
        return _First(of_interest, of_interest[found.of], differs)
    columns = needs[0].separates_by or ()
    of_interest = _least(differing, times, np.arange(len(starts)), starts)
    if not columns:
        return _First(of_interest, of_interest[found.of], differs)
    group_of_row, group_of_gone, many = past.groups(columns)
    names = np.concatenate(
        [found.of[new] * many + group_of_row[found.row[new]], gone_of * many + group_of_gone[gone]]
    )
    group_of_event = found.of * many + group_of_row[found.row]
    return _First(of_interest, _least(names, times, group_of_event, starts[found.of]), differs)


def _taken(needs: Sequence[Need], rows: Rows) -> Mask:
    """Which events at least one of some operators takes."""
    taken = np.zeros(rows.count, np.bool_)
    for need in needs:
        taken |= np.ones(rows.count, np.bool_) if need.takes is None else need.takes(rows)
    return taken


def _least(names: Whole, times: Whole, searched: Whole, otherwise: Whole) -> Whole:
    """The least time for each name, and no later than a limit."""
    if not len(names):
        return otherwise
    order = np.lexsort([times, names])
    different, first = np.unique(names[order], return_index=True)
    place = np.minimum(np.searchsorted(different, searched), len(different) - 1)
    return np.where(
        different[place] == searched, np.minimum(times[order][first][place], otherwise), otherwise
    )


@dataclass
class _Past:
    """The past of interests that follow another one of their object, compared with it."""

    query: FollowQuery
    found: Found
    view: View
    since: Instant

    @cached_property
    def time(self) -> Whole:
        """The time of each event."""
        return self.found.rows[self.query.events.schema.time].values[self.found.row]

    @cached_property
    def follows(self) -> Whole:
        """The interests that follow another one."""
        interests = self.found.interests
        return np.flatnonzero(interests.is_new & (interests.previous >= 0))

    @cached_property
    def earlier(self) -> Whole:
        """Events from before the start of an interest that follows another one."""
        interests, of = self.found.interests, self.found.of
        return np.flatnonzero((interests.previous[of] >= 0) & (self.time < interests.start[of]))

    @cached_property
    def is_new(self) -> Mask:
        """Of all events, those of `earlier` that do not lie in the previous region."""
        found, is_new = self.found, np.zeros(len(self.found.row), np.bool_)
        before = found.interests.previous[found.of[self.earlier]]
        x, y = _places(self.query, found.rows, found.row[self.earlier])
        is_new[self.earlier] = ~_is_in_any(x, y, before, found.look, self._boxes)
        return is_new

    @cached_property
    def _boxes(self) -> Whole:
        return np.searchsorted(self.found.owner, np.arange(len(self.found.interests.serial) + 1))

    @property
    def gone(self) -> Rows:
        """Past events that lie in the previous region but not in the new one."""
        return self._gone[0]

    @property
    def gone_of(self) -> Whole:
        """The interest in whose past each of these lies."""
        return self._gone[1]

    @cached_property
    def _gone(self) -> tuple[Rows, Whole]:
        interests, look, owner = self.found.interests, self.found.look, self.found.owner
        chosen = np.flatnonzero(np.isin(owner, interests.previous[self.follows]))
        successor = np.full(len(interests.serial), -1)
        successor[interests.previous[self.follows]] = self.follows
        after = successor[owner[chosen]]
        back = Look(
            look.boxes[chosen],
            np.maximum(interests.start[after] - self.query.reach_us, self.since),
            interests.start[after],
            look.x[chosen],
            look.y[chosen],
            look.radius_m,
            look.geographic,
        )
        rows, row, box = self.view.gather(back)
        of = after[box]
        is_left = ~_is_in_any(*_places(self.query, rows, row), of, look, self._boxes)
        return rows.take(row[is_left]), of[is_left]

    def groups(self, columns: tuple[str, ...]) -> tuple[Whole, Whole, int]:
        """A number for the group of each event: of the events found, of those that are gone, and how many groups there are."""
        rows, gone = self.found.rows, self.gone
        joined = {name: join_columns([rows[name], gone[name]]) for name in columns}
        nothing = Rows.empty({name: rows[name].type for name in columns})
        keys, group = numbered(nothing, Rows(joined, rows.count + gone.count), columns)
        return group[: rows.count], group[rows.count :], max(keys.count, 1)


def _missing(chosen: Mask) -> int:
    return int(len(chosen) - np.count_nonzero(chosen))


def _places(query: FollowQuery, rows: Rows, row: Whole) -> tuple[Real, Real]:
    place = query.events.schema.place
    assert place is not None
    return coordinates(rows, place.x)[row], coordinates(rows, place.y)[row]


@loop(**_LOOP)
def _is_in_any(x: Real, y: Real, of: Whole, look: Look, boxes: Whole) -> Mask:
    """Whether each place lies in the region of an interest."""
    found = np.zeros(len(x), np.bool_)
    for n in range(len(x)):
        for box in range(boxes[of[n]], boxes[of[n] + 1]):
            if is_in(look, box, x[n], y[n]):
                found[n] = True
    return found
