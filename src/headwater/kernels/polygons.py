"""Polygons that rows carry as WKT: FENCE and FOLLOW read them in the same way.

Memory  The 65,536 texts that were read last, with their prepared polygons.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import shapely


def is_polygon(text: str) -> bool:
    """Whether a text is a polygon that does not cross itself."""
    return polygon(text) is not None


@lru_cache(maxsize=65_536)
def polygon(text: str) -> Any:
    """The prepared polygon of a text; None where the text is no polygon, or an invalid one."""
    with np.errstate(all="ignore"):
        found = shapely.from_wkt(text, on_invalid="ignore")
    if found is None or found.geom_type not in ("Polygon", "MultiPolygon") or found.is_empty:
        return None
    if not found.is_valid or not np.isfinite(found.bounds).all():
        return None
    shapely.prepare(found)
    return found
