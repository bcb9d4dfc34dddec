"""A FENCE in words, for people who read plans: who is looked at, what is told, where that happens, and what is kept."""

from __future__ import annotations

from typing import Final

from headwater.kernels.fence.words import Detect
from headwater.query.language.expression_text import expression_text
from headwater.query.language.words import duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.fence.operator import FenceOperator

OBJECT_BYTES: Final = 64
"""What is kept of an object near fences that stand, beside its key: a record of when and where it was."""

MOVING_BYTES: Final = 104
"""What is kept of an object or a fence where fences move, beside its key: the same, and by what it is found near a place."""

STAY_BYTES: Final = 8
"""What is kept of an object's being in a fence."""

_TOLD: Final = {
    Detect.ENTER: "objects that come into a fence",
    Detect.EXIT: "objects that leave one",
    Detect.INSIDE: "each position in one",
    Detect.OUTSIDE: "each position in none",
    Detect.CROSS: "objects that jump over one",
}


def words(asked: FenceOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if plan.zones > 1 and (query.spread or query.shared):
        zones = _zones(asked, plan.zones, query.spread[0] if query.spread else "")
    return Words(_asks(asked), _state(asked), zones=zones)


def _asks(asked: FenceOperator) -> list[Entry]:
    told = ", ".join(f"{_TOLD[detect]} ({detect.name})" for detect in asked.detect)
    return [
        ("fences", _fences(asked)),
        *([("of these", expression_text(asked.where))] if asked.where else []),
        ("told", told),
        ("forgotten", f"what is silent for longer than {duration_in_words(asked.forget_us)}"),
    ]


def _state(asked: FenceOperator) -> list[str]:
    forget = duration_in_words(asked.forget_us)
    each = size_in_words(MOVING_BYTES if asked.moving else OBJECT_BYTES)
    objects = f"the position of each object that reported in the last {forget}: {each} and its key"
    if asked.moving:
        return [objects, f"the same for each fence: {each}, its key and its shape"]
    return [
        objects,
        f"{size_in_words(STAY_BYTES)} for each fence that an object is in; the fences and an index of them",
    ]


def _zones(asked: FenceOperator, zones: int, key: str) -> str:
    if asked.moving:
        return f"all {zones} (from 0): each has every fence, and the objects that live in it"
    return f"all {zones} (from 0), by {key}: each object lives in one of them, and each has every fence"


def fences_in_words(name: str) -> str:
    """When fences are read."""
    return f"once, before the first row, from --input {name}=PATH.geojson; one index for all of them"


def _fences(asked: FenceOperator) -> str:
    if not asked.moving:
        return f"the polygons '{asked.fences}', which are fixed"
    if asked.radius_m is not None:
        shape = f"circles of {asked.radius_m:g} metres around '{asked.fences}'"
    elif asked.box_m is not None:
        shape = f"boxes of {asked.box_m[0]:g} by {asked.box_m[1]:g} metres around '{asked.fences}'"
    else:
        shape = f"the polygons in column {asked.shape} of '{asked.fences}'"
    return f"{shape}, which move" + ("; two of them form one pair" if asked.roaming else "")
