"""What the PLACE of a stream allows, and what to do where it is missing."""

from __future__ import annotations

from typing import Final

from headwater.model import StreamSchema

NO_PLACE: Final = (
    "add PLACE (x, y) or PLACE (lon, lat) GEOGRAPHIC to the stream",
    "a query keeps the place of its source if it selects both columns under their names",
)
"""What to do about a missing place."""

PLAIN_NUMBER: Final = "write a plain number, in the unit of the columns"
"""What to do where a bound cannot be in metres."""


def kind_of_place(schema: StreamSchema) -> str:
    """In words."""
    return "in degrees" if schema.place and schema.place.geographic else "in a plane"


def why_no_meters(schema: StreamSchema, dimensions: list[str]) -> str | None:
    """Why a bound on these columns cannot be in metres; None: it can, they are the PLACE of a plane."""
    place = schema.place
    if place is None:
        return f"'{schema.name}' has no PLACE"
    others = [name for name in dimensions if name not in (place.x, place.y)]
    if others:
        return f"'{others[0]}' is not a column of the PLACE"
    if place.geographic:
        return f"the PLACE of '{schema.name}' is in degrees"
    return None
