"""A FENCE in words, for people who read plans: which objects and fences, what is reported, in which zones, and what is stored."""

from __future__ import annotations

from typing import Final

from headwater.kernels.fence.choices import Detect
from headwater.query.language.expression_text import expression_text
from headwater.query.language.words import duration_in_words, size_in_words
from headwater.query.operators.contract import Entry, Explained, Words
from headwater.query.operators.fence.operator import FenceOperator

OBJECT_BYTES: Final = 64
"""The size of an object near fences that stand, beside its key: a record of when and where it was."""

MOVING_BYTES: Final = 104
"""The size of an object or a fence where fences move, beside its key: the same, and its entry in the index by place."""

STAY_BYTES: Final = 8
"""The size of each fence that an object is in."""

_REPORTS: Final = {
    Detect.ENTER: "objects that enter a fence",
    Detect.EXIT: "objects that leave one",
    Detect.INSIDE: "each position in one",
    Detect.OUTSIDE: "each position in none",
    Detect.CROSS: "objects that cross one between two positions",
}


def words(operator: FenceOperator, explained: Explained) -> Words:
    """One query."""
    plan, query = explained.plan, explained.query
    zones = None
    if plan.zones > 1 and (query.spread or query.shared):
        zones = _zones(operator, plan.zones, query.spread[0] if query.spread else "")
    return Words(_conditions(operator), _state(operator), zones=zones)


def _conditions(operator: FenceOperator) -> list[Entry]:
    reports = ", ".join(f"{_REPORTS[detect]} ({detect.name})" for detect in operator.detect)
    silent = "objects and moving fences" if operator.moving else "objects"
    return [
        ("fences", _fences(operator)),
        *([("of these", expression_text(operator.where))] if operator.where else []),
        ("reports", reports),
        ("forgotten", f"{silent} silent for longer than {duration_in_words(operator.forget_us)}"),
    ]


def _state(operator: FenceOperator) -> list[str]:
    forget = duration_in_words(operator.forget_us)
    each = size_in_words(MOVING_BYTES if operator.moving else OBJECT_BYTES)
    objects = f"the position of each object that reported in the last {forget}: {each} and its key"
    if operator.moving:
        return [objects, f"the same for each fence: {each}, its key and its shape"]
    return [
        objects,
        f"{size_in_words(STAY_BYTES)} for each fence that an object is in; the fences and an index of them",
    ]


def _zones(operator: FenceOperator, zones: int, key: str) -> str:
    if operator.moving:
        return f"all {zones} (from 0): each has every fence, and the objects that live in it"
    return f"all {zones} (from 0), by {key}: each object lives in one of them, and each has every fence"


def fences_in_words(name: str) -> str:
    """When fences are read."""
    return f"once, before the first row, from --input {name}=PATH.geojson; one index for all of them"


def _fences(operator: FenceOperator) -> str:
    if not operator.moving:
        return f"the polygons '{operator.fences}', which are fixed"
    if operator.radius_m is not None:
        shape = f"circles of {operator.radius_m:g} metres around '{operator.fences}'"
    elif operator.box_m is not None:
        shape = f"boxes of {operator.box_m[0]:g} by {operator.box_m[1]:g} metres around '{operator.fences}'"
    else:
        shape = f"the polygons in column {operator.shape} of '{operator.fences}'"
    return f"{shape}, which move" + ("; two of them form one pair" if operator.roaming else "")
