"""How large is a region around a place: RADIUS, BOX, or a column of SHAPEs. FOLLOW and FENCE have the same options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from headwater.model import ColumnType, Span, StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.streams import length_m
from headwater.query.language.suggestions import suggest
from headwater.query.language.tree import Quantity


class HasRegion(Protocol):
    """The part of an operator with these options."""

    @property
    def radius(self) -> Quantity | None:
        """The radius of a circle."""
        ...

    @property
    def box(self) -> tuple[Quantity, Quantity] | None:
        """Width and height."""
        ...

    @property
    def place_of(self) -> Callable[[str], Span | None]:
        """The place of a word."""
        ...


def radius_and_box(
    tree: HasRegion, what: str, complaints: Complaints
) -> tuple[float | None, tuple[float, float] | None]:
    """The radius, or the width and height, in metres; `what` names the region in an error."""
    radius = _side(tree, tree.radius, "RADIUS", what, complaints)
    width, height = (_side(tree, side, "BOX", what, complaints) for side in tree.box or (None, None))
    return radius, None if width is None or height is None else (width, height)


def check_shape(shape: str, schema: StreamSchema, span: Span | None, complaints: Complaints) -> None:
    """The column of SHAPE is there, and holds text."""
    kind = schema.types.get(shape)
    texts = [name for name, other in schema.columns if other is ColumnType.STRING and name != schema.key]
    if kind is None:
        known = suggest(shape, texts, "columns of text")
        complaints.refuse("unknown-column", f"'{schema.name}' has no column named '{shape}'", span, *known)
    elif kind is not ColumnType.STRING:
        complaints.refuse(
            "type-mismatch",
            f"SHAPE takes a column of polygons as text, but '{shape}' is {kind.value}",
            span,
            "a polygon is a STRING such as 'POLYGON ((0 0, 400 0, 400 300, 0 0))'; without polygons write RADIUS or BOX",
        )


def _side(
    tree: HasRegion, length: Quantity | None, word: str, what: str, complaints: Complaints
) -> float | None:
    if length is None or (found := length_m(length, word, complaints)) is None:
        return None
    if found <= 0:
        is_radius = word == "RADIUS"
        complaints.refuse(
            "empty-region",
            f"{'RADIUS' if is_radius else 'a side of BOX'} is {found:g} metres, so the {what} has no area",
            tree.place_of(word),
            f"write it like {'RADIUS 500 METERS' if is_radius else 'BOX 400, 300'}",
        )
    return found
