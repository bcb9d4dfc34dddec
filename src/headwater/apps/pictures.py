"""Is there something to draw with? Pictures are an extra of the package: `pip install 'headwater[pictures]'`."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def can_draw() -> bool:
    """Whether matplotlib is installed; where it is not, one line says how to get pictures."""
    if find_spec("matplotlib") is not None:
        return True
    print(
        "no picture: matplotlib is not installed (pip install 'headwater[pictures]')",
        file=sys.stderr,
    )
    return False
