"""What happens in a stretch of time if fences move: versions of known objects and fences and of their updates, stays, and the state afterwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headwater.kernels.fence.answers import change_rows
from headwater.kernels.fence.geometry import Real, Shapes, Whole
from headwater.kernels.fence.grid import FenceGrid, lay_out
from headwater.kernels.fence.moving_fences import (
    Mask,
    Tracks,
    Versions,
    emit_crossed,
    emit_outside,
    emit_stays,
    find_stays,
    in_pairs,
    versions_of,
)
from headwater.kernels.fence.objects import NEVER, Known, no_shapes
from headwater.kernels.fence.question import FenceQuery
from headwater.kernels.fence.shapes import boxes_around, circles, of_texts
from headwater.kernels.fence.standing_fences import CROSS, OUTSIDE, FenceIndex, first_room, room_for
from headwater.kernels.fence.updates import Updates
from headwater.model import END, Column, Instant, Rows, compacted
from headwater.model.rows import join_columns


class Sides(NamedTuple):
    """Known objects and fences. If both are one stream they have the same keys, some of which may be known on one side only."""

    objects: Known
    fences: Known

    @property
    def known(self) -> int:
        """How many are known, on both sides."""
        return len(self.objects.time) + len(self.fences.time)


class Drawn(NamedTuple):
    """The versions of one side and the place of each; for fences also the texts of their shapes."""

    versions: Versions
    x: Real
    y: Real
    shape: Column


def move(
    query: FenceQuery,
    reported: Mask,
    known: Sides,
    positions: Updates,
    fences: Updates,
    before: Instant,
    until: Instant,
) -> tuple[Sides, Rows]:
    """The changes in a stretch, and the known objects and fences after it."""
    one_side, other = with_updates(query, known, positions, fences)
    objects = draw(query, one_side, positions, until)
    moving = draw(query, other, fences, until)
    shapes, which = shapes_at(query, moving.x, moving.y, moving.shape)
    index = FenceIndex(shapes, _grid_of_versions(shapes, which), which)
    tracks, versions = Tracks(*objects[:3]), moving.versions
    found = find_stays(index, tracks, versions, query.same, query.roaming, first_room(2 * len(tracks.x)))
    stays, room = in_pairs(found, objects.versions, versions), first_room(len(found.one))
    changes, many = emit_stays(stays, tracks, versions, reported, before, room_for(room), 0)
    if reported[OUTSIDE]:
        changes, many = emit_outside(stays, tracks, versions, query.roaming, changes, many)
    if reported[CROSS]:
        changes, many = emit_crossed(index, tracks, versions, query.same, query.roaming, changes, many)
    answers = change_rows(query, changes, many, one_side.keys, other.keys.column)
    latest = Sides(
        _latest(query, one_side, objects),
        _latest(query, other, moving),
    )
    return _without_forgotten(query, latest), answers


def with_updates(query: FenceQuery, known: Sides, positions: Updates, fences: Updates) -> Sides:
    """Both sides with the keys of their updates."""
    objects, owners = known
    if query.same:  # one order of keys for both sides, which compare them
        keys, places = objects.keys.having(join_columns([positions.key, fences.key]))
        return Sides(objects.having(keys, places), owners.having(keys, places))
    return Sides(
        objects.having(*objects.keys.having(positions.key)), owners.having(*owners.keys.having(fences.key))
    )


def aligned(query: FenceQuery, objects: Known, fences: Known) -> Sides:
    """Two sides that were built separately, with a common order of keys where they are one stream."""
    if not query.same:
        return Sides(objects, fences)
    keys, places = objects.keys.having(fences.keys.column)
    return Sides(objects.having(keys, places), fences.having(keys, keys.find(fences.keys.column)))


def draw(query: FenceQuery, known: Known, updates: Updates, until: Instant) -> Drawn:
    """The versions of one side."""
    moves, order = updates.by_slot(known.keys)
    versions = versions_of(known.time, moves.first, moves.time, query.forget_us, until)
    x, y = _of_versions(versions, known.x, moves.x), _of_versions(versions, known.y, moves.y)
    if not query.has_shapes:
        return Drawn(versions, x, y, no_shapes(len(x)))
    both = join_columns([known.shape, updates.shape.take(order)])
    place = np.where(versions.is_new, len(known.shape) + versions.update, versions.slot)
    return Drawn(versions, x, y, both.take(place))


def shapes_at(query: FenceQuery, x: Real, y: Real, texts: Column) -> tuple[Shapes, Whole]:
    """The shapes of fences, and which shape each version has."""
    if query.radius_m is not None:
        return circles(x, y, query.radius_m, geographic=query.geographic), np.arange(len(x))
    if query.box_m is not None:
        return boxes_around(x, y, query.box_m, geographic=query.geographic), np.arange(len(x))
    used = compacted(texts)
    assert used.names is not None
    drawn = of_texts(used.names.tolist() if len(x) else [], geographic=query.geographic)
    return drawn, used.values.astype(np.int64)


def boxes_at(query: FenceQuery, x: Real, y: Real, texts: Column) -> tuple[Real, Whole]:
    """Boxes around fences, and the fence of each."""
    shapes, which = shapes_at(query, x, y, texts)
    if query.radius_m is not None or query.box_m is not None:
        return shapes.boxes, shapes.owner
    return shapes.boxes[which], np.arange(len(which))  # shapes with texts have one box each


def _of_versions(versions: Versions, known: Real, updates: Real) -> Real:
    """Values of versions: of those known before, and of the updates."""
    if not len(updates):
        return known[versions.slot]
    return np.where(versions.is_new, updates[versions.update], known[versions.slot])


def _grid_of_versions(shapes: Shapes, which: Whole) -> FenceGrid:
    if len(which) == len(shapes.radius_m) and (which[1:] > which[:-1]).all():
        return lay_out(shapes.boxes, shapes.owner)
    return lay_out(shapes.boxes[which], np.arange(len(which)))  # shapes with texts have one box each


def _latest(query: FenceQuery, known: Known, drawn: Drawn) -> Known:
    """The known keys after a stretch, without the state of those that are forgotten."""
    versions, x, y, shape = drawn
    time, at_x, at_y = known.time.copy(), known.x.copy(), known.y.copy()
    slots = np.flatnonzero(versions.first[1:] > versions.first[:-1])
    last = versions.first[1:][slots] - 1
    time[slots], at_x[slots], at_y[slots] = versions.since[last], x[last], y[last]
    time[slots[versions.until[last] < END]] = NEVER
    if not query.has_shapes:
        return Known(known.keys, time, at_x, at_y, no_shapes(len(time)))
    texts = join_columns([known.shape, shape])
    place = np.arange(len(known.time))
    place[slots] = len(known.time) + last
    return Known(known.keys, time, at_x, at_y, compacted(texts.take(place)))


def _without_forgotten(query: FenceQuery, known: Sides) -> Sides:
    """Both sides without keys that have no state."""
    objects, fences = known
    if query.same:
        there = np.flatnonzero((objects.time != NEVER) | (fences.time != NEVER))
        keys = objects.keys.only(there)
        return Sides(objects.only(there, keys), fences.only(there, keys))
    return Sides(
        objects.only(np.flatnonzero(objects.time != NEVER)), fences.only(np.flatnonzero(fences.time != NEVER))
    )
