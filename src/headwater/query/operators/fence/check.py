"""Can a FENCE be answered: its positions, its fences, how large they are, and which changes it reports?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from headwater.kernels.fence.choices import UNLESS_SAID, Detect
from headwater.model import FencesSchema, Span, StreamSchema
from headwater.query.checking.complaints import Complaints
from headwater.query.checking.places import NO_PLACE, kind_of_place
from headwater.query.checking.query_sources import QuerySources
from headwater.query.checking.region_options import check_shape, radius_and_box
from headwater.query.checking.selects import check_where
from headwater.query.checking.streams import forget_us
from headwater.query.language.limits import FORGET_US
from headwater.query.language.tree import Expression
from headwater.query.operators.fence.operator import FenceOperator
from headwater.query.operators.fence.tree import Fence

CHANGE, OBJECT, FENCE = "change", "object", "fence"


class Sides(NamedTuple):
    """The two sides: positions, and fences that are a declared set or a stream; None if it is broken.

    `…_known` False: a PLACE was refused already. `roaming`: both sides are one stream with one WHERE.
    """

    positions: StreamSchema | None
    source_span: Span | None
    fences: StreamSchema | FencesSchema | None
    positions_known: bool
    fences_known: bool
    roaming: bool


def is_roaming(tree: Fence, source: str, where: Expression | None) -> bool:
    """Whether the fences are around the positions themselves: one stream, and one condition on it."""
    # By its written form: as values, 1, 1.0 and TRUE would be equal.
    return tree.fences == source and repr(tree.where) == repr(where)


def check_fence(tree: Fence, sources: QuerySources) -> FenceOperator | None:
    """The operator with every choice made, or None and complaints; what is not known is not held against it."""
    select, complaints = sources.tree.select, sources.complaints
    sides = Sides(
        sources.schema,
        sources.span(select.source),
        sources.schema_of_fences(tree.fences),
        sources.place_known,
        sources.is_place_known(tree.fences),
        is_roaming(tree, select.source, select.where),
    )
    before = len(complaints.errors)
    checker = _Checker(tree, sides, complaints)
    checker.check_positions()
    checker.check_fences()
    radius_m, box_m = checker.region()
    forget_us = checker.forget_us()
    checker.check_names()
    if sides.positions is None or sides.fences is None or len(complaints.errors) > before:
        return None
    # A place that was refused where it is declared is no second error, but no FENCE can go by it either.
    if sides.positions.place is None or (isinstance(sides.fences, StreamSchema) and not sides.fences.place):
        return None
    chosen = tree.detect or UNLESS_SAID
    return FenceOperator(
        fences=tree.fences,
        moving=isinstance(sides.fences, StreamSchema),
        where=tree.where,
        radius_m=radius_m,
        box_m=box_m,
        shape=tree.shape,
        detect=tuple(detect for detect in Detect if detect in chosen),
        forget_us=FORGET_US if forget_us is None else forget_us,
        roaming=sides.roaming,
    )


@dataclass(slots=True)
class _Checker:
    """One operator; every method complains of its part."""

    tree: Fence
    sides: Sides
    complaints: Complaints

    def check_positions(self) -> None:
        """Objects have names and places."""
        self._check_placed(
            self.sides.positions,
            "objects",
            "an object",
            self.sides.source_span,
            self.sides.positions_known,
        )

    def check_fences(self) -> None:
        """Fences that move have names and places, of the same kind; those of a set have a condition on their columns."""
        fences, span = self.sides.fences, self.tree.place_of("fences")
        if fences is None:
            return
        check_where(self.tree.where, dict(fences.columns), self.complaints)
        if isinstance(fences, FencesSchema):
            return
        self._check_placed(fences, "fences", "a fence", span, self.sides.fences_known)
        positions = self.sides.positions
        if not positions or not positions.place or not fences.place:
            return
        if positions.place.geographic != fences.place.geographic:
            self._refuse(
                "wrong-sources",
                f"the PLACE of '{positions.name}' is {kind_of_place(positions)}, and that of '{fences.name}' is "
                f"{kind_of_place(fences)}",
                span,
                "the places of positions and fences must be of one kind",
            )

    def _check_placed(
        self, schema: StreamSchema | None, who: str, what: str, span: Span | None, place_known: bool
    ) -> None:
        if schema is None:
            return
        if schema.key is None:
            self._refuse(
                "needs-key",
                f"FENCE identifies {who} by key, but '{schema.name}' has no KEY",
                span or self.tree.span,
                f"mark the column that names {what} with KEY, or select it under its name",
            )
        if schema.place is None and place_known:
            self._refuse(
                "needs-place",
                f"FENCE needs the places of {who}, but '{schema.name}' has no PLACE",
                span or self.tree.span,
                *NO_PLACE,
            )

    # --- how large fences are -----------------------------------------------------------------------------------------

    def region(self) -> tuple[float | None, tuple[float, float] | None]:
        """The radius, or the width and height, in metres. Polygons of a set have their own; fences of a stream need one."""
        tree, fences = self.tree, self.sides.fences
        said = next((word for word in ("RADIUS", "BOX", "SHAPE") if word in self._said()), None)
        if isinstance(fences, FencesSchema) and said:
            self._refuse(
                "wrong-fences",
                f"'{fences.name}' are polygons, but {said} gives the size of moving fences",
                tree.place_of(said),
                "leave it out",
            )
            return None, None
        if isinstance(fences, StreamSchema) and not said:
            self._refuse(
                "wrong-fences",
                f"'{fences.name}' are places, but the size of the fence around each place is missing",
                tree.place_of("fences"),
                "give it: RADIUS 500 METERS, BOX 400, 300, or SHAPE and a column with polygons",
            )
        if tree.shape is not None and isinstance(fences, StreamSchema):
            check_shape(tree.shape, fences, tree.place_of("SHAPE"), self.complaints)
        return radius_and_box(tree, "fence", self.complaints)

    def _said(self) -> list[str]:
        written = {"RADIUS": self.tree.radius, "BOX": self.tree.box, "SHAPE": self.tree.shape}
        return [word for word, value in written.items() if value is not None]

    # --- all else -----------------------------------------------------------------------------------------------------

    def forget_us(self) -> int | None:
        """After how long a silent object is forgotten."""
        return forget_us(self.tree.forget, self.tree.place_of("FORGET"), self.complaints)

    def check_names(self) -> None:
        """The columns of an answer have different names."""
        positions = self.sides.positions
        if positions is None or positions.place is None:
            return
        for axis in (positions.place.x, positions.place.y):
            if axis in (CHANGE, OBJECT, FENCE):
                self._refuse(
                    "duplicate-name",
                    f"two columns of the answer would be named '{axis}'",
                    self.tree.span,
                    f"give the place columns of '{positions.name}' other names",
                )

    def _refuse(self, code: str, message: str, span: Span | None, *advice: str) -> None:
        self.complaints.refuse(code, message, span, *advice)
