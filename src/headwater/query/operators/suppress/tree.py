"""SUPPRESS, as written: it turns readings into updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headwater.kernels.suppress.words import Predictor
from headwater.model import Span
from headwater.query.language.tree.expressions import Quantity, no_places, nowhere

Number = float | int


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column whose values are predicted."""

    name: str
    span: Span | None = nowhere()


@dataclass(frozen=True, slots=True)
class Suppress:
    """`SUPPRESS (dimensions TOLERANCE tolerance HEARTBEAT t [USING predictor] [FORGET t])`.

    A `tolerance` without unit is in that of the dimensions. `predictor` None: nothing is said. `parameters` are the numbers
    behind it: n, α and β, or q and r. `places` says where the options stand, by their word.
    """

    dimensions: tuple[Dimension, ...]
    tolerance: Number | Quantity
    heartbeat: Quantity
    predictor: Predictor | None = None
    parameters: tuple[Number, ...] = ()
    forget: Quantity | None = None
    span: Span | None = nowhere()
    places: Mapping[str, Span] = no_places()

    def place_of(self, word: str) -> Span | None:
        """Where an option stands; the whole operator where that is not known."""
        return self.places.get(word, self.span)
