"""Which objects enter, leave, are in or cross fences that move? All changes of a stretch of time, at once.

Rule 1  A *version* is the position of an object, or the shape of a fence, from one update to the next; the last one is valid until its
        owner is forgotten. Versions of both sides that overlap in time, with one inside the other, are a *stay*.
Rule 2  Stays of one pair that follow one another without a gap are one: it begins with an ENTER and ends with an EXIT. This does not
        apply if one of the two was forgotten at that very time and is new.
Rule 3  Objects and fences known before the stretch have their last version in it. What begins before the stretch was emitted before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwater.compiled import loop
from headwater.kernels.cells import cell_at
from headwater.kernels.fence.geometry import LOOP, Real, Whole, contains
from headwater.kernels.fence.objects import NEVER
from headwater.kernels.fence.standing_fences import (
    CROSS,
    ENTER,
    EXIT,
    INSIDE,
    OUTSIDE,
    Changes,
    FenceIndex,
    find_crossed,
    put,
)
from headwater.model import END

Mask = NDArray[np.bool_]


class Versions(NamedTuple):
    """Versions by slot, `first[s] : first[s + 1]`, and within each slot in order of time.

    One is valid in [since, until); until is END if its end is not known. `is_new`: it arrived in this stretch. `is_fresh`: its owner was
    not known before, or was forgotten. `update` is the number of its update, -1: it was known before.
    """

    first: Whole
    slot: Whole
    since: Whole
    until: Whole
    is_new: Mask
    is_fresh: Mask
    update: Whole


class Tracks(NamedTuple):
    """Versions of objects, and where each version was."""

    versions: Versions
    x: Real
    y: Real


class Stay(NamedTuple):
    """Versions of objects and of fences, one in the other, and when: one row each."""

    one: Whole
    fence: Whole
    since: Whole
    until: Whole


@loop(**LOOP)
def versions_of(known: Whole, first: Whole, time: Whole, forget_us: int, watermark: int) -> Versions:
    """The versions of one side: `known` is when each was last heard of (or NEVER), `first` and `time` are the updates by slot."""
    slots = len(known)
    room = len(time) + slots
    begins = np.zeros(slots + 1, np.int64)
    slot_of, since, until = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    is_new, is_fresh = np.zeros(room, np.bool_), np.zeros(room, np.bool_)
    update = np.full(room, -1, np.int64)
    many = 0
    for slot in range(slots):
        last = known[slot]
        if last != NEVER:
            slot_of[many], since[many] = slot, last
            many += 1
        for number in range(first[slot], first[slot + 1]):
            slot_of[many], since[many], is_new[many], update[many] = slot, time[number], True, number
            is_fresh[many] = last == NEVER or time[number] - last > forget_us
            if last != NEVER:
                until[many - 1] = min(time[number], last + forget_us + 1)
            last = time[number]
            many += 1
        if many > begins[slot]:
            gone = last + forget_us + 1
            until[many - 1] = gone if gone < watermark else END
        begins[slot + 1] = many
    return Versions(
        begins, slot_of[:many], since[:many], until[:many], is_new[:many], is_fresh[:many], update[:many]
    )


@loop(**LOOP)
def _is_pair(one: int, fence: int, same: bool, roaming: bool) -> bool:
    """Whether a pair is tested: an object is not in its own fence, and a roaming pair counts once."""
    if roaming:
        return one < fence
    return not same or one != fence


@loop(**LOOP)
def find_stays(
    index: FenceIndex, tracks: Tracks, fences: Versions, same: bool, roaming: bool, room: int
) -> Stay:
    """All stays. The boxes of the grid are those of versions of fences."""
    shapes, grid, which = index
    objects, x, y = tracks
    one, other = np.empty(room, np.int64), np.empty(room, np.int64)
    since, until = np.empty(room, np.int64), np.empty(room, np.int64)
    many = 0
    if not len(grid.cells.member):
        return Stay(one[:0], other[:0], since[:0], until[:0])
    for version in range(len(x)):
        cell = cell_at(grid.cells, x[version], y[version])
        for place in range(grid.cells.first[cell], grid.cells.first[cell + 1]):
            box = grid.cells.member[place]
            fence = grid.owner[box]
            begins = max(objects.since[version], fences.since[fence])
            ends = min(objects.until[version], fences.until[fence])
            if begins >= ends or not _is_pair(objects.slot[version], fences.slot[fence], same, roaming):
                continue
            if not (
                grid.boxes[box, 0] <= x[version] <= grid.boxes[box, 2]
                and grid.boxes[box, 1] <= y[version] <= grid.boxes[box, 3]
            ):
                continue
            if not contains(shapes, which[fence], x[version], y[version]):
                continue
            if many == len(one):
                more = np.empty(many, np.int64)
                one, other = np.concatenate((one, more)), np.concatenate((other, more))
                since, until = np.concatenate((since, more)), np.concatenate((until, more))
            one[many], other[many], since[many], until[many] = version, fence, begins, ends
            many += 1
    return Stay(one[:many], other[:many], since[:many], until[:many])


def in_pairs(stays: Stay, objects: Versions, fences: Versions) -> Stay:
    """Stays by pair, and within each pair in order of time."""
    order = np.lexsort([stays.since, fences.slot[stays.fence], objects.slot[stays.one]])
    return Stay(stays.one[order], stays.fence[order], stays.since[order], stays.until[order])


@loop(**LOOP)
def emit_stays(
    stays: Stay,
    tracks: Tracks,
    fences: Versions,
    reported: Mask,
    before: int,
    changes: Changes,
    many: int,
) -> tuple[Changes, int]:
    """ENTER, EXIT and INSIDE of stays by pair."""
    objects, x, y = tracks
    for place in range(len(stays.one)):
        one, fence, since = stays.one[place], stays.fence[place], stays.since[place]
        slot, of = objects.slot[one], fences.slot[fence]
        goes_on = (
            place > 0
            and objects.slot[stays.one[place - 1]] == slot
            and fences.slot[stays.fence[place - 1]] == of
            and stays.until[place - 1] == since
            and not _begins_anew(objects, one, since)
            and not _begins_anew(fences, fence, since)
        )
        if reported[ENTER] and not goes_on and since >= before:
            changes = put(changes, many, ENTER, since, slot, of, x[one], y[one])
            many += 1
        if reported[INSIDE] and objects.is_new[one] and since == objects.since[one]:
            changes = put(changes, many, INSIDE, since, slot, of, x[one], y[one])
            many += 1
        until = stays.until[place]
        if not reported[EXIT] or until == END:
            continue
        later = place + 1
        if (
            later < len(stays.one)
            and objects.slot[stays.one[later]] == slot
            and fences.slot[stays.fence[later]] == of
            and stays.since[later] == until
            and not _begins_anew(objects, stays.one[later], until)
            and not _begins_anew(fences, stays.fence[later], until)
        ):
            continue
        at = one  # where the object is at that time
        if (
            one + 1 < objects.first[slot + 1]
            and objects.since[one + 1] == until
            and not objects.is_fresh[one + 1]
        ):
            at = one + 1
        changes = put(changes, many, EXIT, until, slot, of, x[at], y[at])
        many += 1
    return changes, many


@loop(**LOOP)
def _begins_anew(versions: Versions, version: int, time: int) -> bool:
    return versions.is_fresh[version] and versions.since[version] == time


@loop(**LOOP)
def emit_outside(
    stays: Stay,
    tracks: Tracks,
    fences: Versions,
    roaming: bool,
    changes: Changes,
    many: int,
) -> tuple[Changes, int]:
    """OUTSIDE: updates of objects that are in no stay at that time; for roaming ones, on neither side."""
    objects, x, y = tracks
    is_in = np.zeros(len(x), np.bool_)
    for place in range(len(stays.one)):
        one = stays.one[place]
        if stays.since[place] == objects.since[one]:
            is_in[one] = True
        if roaming:
            owner = fences.slot[stays.fence[place]]
            for version in range(objects.first[owner], objects.first[owner + 1]):
                if stays.since[place] <= objects.since[version] < stays.until[place]:
                    is_in[version] = True
    for version in range(len(x)):
        if objects.is_new[version] and not is_in[version]:
            changes = put(
                changes,
                many,
                OUTSIDE,
                objects.since[version],
                objects.slot[version],
                -1,
                x[version],
                y[version],
            )
            many += 1
    return changes, many


@loop(**LOOP)
def emit_crossed(
    index: FenceIndex,
    tracks: Tracks,
    fences: Versions,
    same: bool,
    roaming: bool,
    changes: Changes,
    many: int,
) -> tuple[Changes, int]:
    """CROSS: updates of objects, and the fences as they are then between the last place and this one.

    The boxes of the grid are those of versions of fences.
    """
    objects, x, y = tracks
    many_fences = len(index.which)
    seen, found = np.full(many_fences, -1, np.int64), np.empty(2 * many_fences, np.int64)
    for version in range(len(x)):
        if not objects.is_new[version] or objects.is_fresh[version]:
            continue
        from_x, from_y, to_x, to_y = x[version - 1], y[version - 1], x[version], y[version]
        if from_x == to_x and from_y == to_y:
            continue
        slot, time = objects.slot[version], objects.since[version]
        met = find_crossed(index, from_x, from_y, to_x, to_y, seen, version, found)
        for place in range(met):
            fence = found[place]
            if fences.since[fence] <= time < fences.until[fence] and _is_pair(
                slot, fences.slot[fence], same, roaming
            ):
                changes = put(changes, many, CROSS, time, slot, fences.slot[fence], to_x, to_y)
                many += 1
    return changes, many
