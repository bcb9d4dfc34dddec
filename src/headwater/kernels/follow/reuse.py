"""Which events of the past need not be streamed again? Two interests of an object that follow one another mostly overlap.

Where an answer depends only on events within the operators' windows before it, and only on those of its own group (a partition of a
pattern, a single event for a SELECT), a group says nothing new as long as it looks the same from both interests: what it answers was
delivered for the interest before.

Rule 1  A group *differs* with the first of its events, from where the new interest's history begins on, that lies in one of the two
        regions and not in the other; at the latest when the new interest begins.
Rule 2  Its events are streamed from the operators' windows before that on. An answer that ends before it differs is an old one; any other
        began no earlier than that.
Rule 3  Nothing is left out where it could be told again (DELIVER EACH), cut (BEST EFFORT) or counted (EMIT INTERESTS), for operators that
        depend on where they start, and after an object was forgotten.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from headwater.kernels.follow.interests import Interests
from headwater.kernels.follow.places import Look, is_in
from headwater.kernels.follow.question import FollowQuery, Real, Whole
from headwater.kernels.follow.store import Store, coordinates
from headwater.model import Instant, Rows, join_columns
from headwater.model.partitions import numbered

Mask = NDArray[np.bool_]

_LOOP: Final[dict[str, Any]] = {"cache": True, "nogil": True}


def needed(
    query: FollowQuery,
    interests: Interests,
    look: Look,
    owner: Whole,
    rows: Rows,
    row: Whole,
    of: Whole,
    store: Store,
    since: Instant,
) -> Mask:
    """Which of some events of interests must be streamed; `look` has boxes around all interests, and `owner` says whose each is."""
    assert query.reuse is not None
    streamed = np.ones(len(row), np.bool_)
    time = rows[query.events.schema.time].values
    goes_on = interests.previous[of] >= 0
    past = np.flatnonzero(goes_on & (time[row] < interests.start[of] - query.before_us))
    if not len(past):
        return streamed
    boxes = np.searchsorted(owner, np.arange(len(interests.serial) + 1))
    was_in = _is_in_any(*_places(query, rows, row[past]), interests.previous[of[past]], look, boxes)
    if query.reuse.columns is None:
        streamed[past[was_in]] = False
        return streamed
    # Events may also have been in the last interest and not be in this one, and those of the windows count as well.
    earlier = np.flatnonzero(goes_on & (time[row] < interests.start[of]))
    both = _is_in_any(*_places(query, rows, row[earlier]), interests.previous[of[earlier]], look, boxes)
    gone, gone_of = _gone(query, interests, look, owner, boxes, store, since)
    keys, group = numbered(
        Rows.empty({name: rows[name].type for name in query.reuse.columns}),
        _joined(query, rows, gone),
        query.reuse.columns,
    )
    group_of_row, group_of_gone = group[: rows.count], group[rows.count :]
    many = max(keys.count, 1)
    new = earlier[~both]
    names = np.concatenate([of[new] * many + group_of_row[row[new]], gone_of * many + group_of_gone])
    times = np.concatenate([time[row[new]], gone[query.events.schema.time].values])
    first = _first_difference(
        names, times, of[past] * many + group_of_row[row[past]], interests.start[of[past]]
    )
    streamed[past[time[row[past]] < first - query.before_us]] = False
    return streamed


def _first_difference(names: Whole, times: Whole, asked: Whole, otherwise: Whole) -> Whole:
    """The least time under each name that is asked for; something else where there is none."""
    if not len(names):
        return otherwise
    order = np.lexsort([times, names])
    different, first = np.unique(names[order], return_index=True)
    place = np.minimum(np.searchsorted(different, asked), len(different) - 1)
    return np.where(different[place] == asked, times[order][first][place], otherwise)


def _gone(
    query: FollowQuery,
    interests: Interests,
    look: Look,
    owner: Whole,
    boxes: Whole,
    store: Store,
    since: Instant,
) -> tuple[Rows, Whole]:
    """Events of the past of interests that lie in the one before and not in them; and whose past it is."""
    follows = np.flatnonzero(interests.is_new & (interests.previous >= 0))
    chosen = np.flatnonzero(np.isin(owner, interests.previous[follows]))
    successor = np.full(len(interests.serial), -1)
    successor[interests.previous[follows]] = follows
    after = successor[owner[chosen]]
    back = Look(
        look.boxes[chosen],
        np.maximum(interests.start[after] - query.reach_us, since),
        interests.start[after],
        look.x[chosen],
        look.y[chosen],
        look.radius_m,
        look.geographic,
    )
    rows, row, box = store.gather(back, Rows.empty(query.events.schema.types))
    of = after[box]
    is_left = ~_is_in_any(*_places(query, rows, row), of, look, boxes)
    return rows.take(row[is_left]), of[is_left]


def _joined(query: FollowQuery, rows: Rows, gone: Rows) -> Rows:
    assert query.reuse is not None and query.reuse.columns is not None
    columns = {name: join_columns([rows[name], gone[name]]) for name in query.reuse.columns}
    return Rows(columns, rows.count + gone.count)


def _places(query: FollowQuery, rows: Rows, row: Whole) -> tuple[Real, Real]:
    place = query.events.schema.place
    assert place is not None
    return coordinates(rows, place.x)[row], coordinates(rows, place.y)[row]


@njit(**_LOOP)
def _is_in_any(x: Real, y: Real, of: Whole, look: Look, boxes: Whole) -> Mask:
    """Whether each place lies in the region of an interest."""
    found = np.zeros(len(x), np.bool_)
    for n in range(len(x)):
        for box in range(boxes[of[n]], boxes[of[n] + 1]):
            if is_in(look, box, x[n], y[n]):
                found[n] = True
    return found
