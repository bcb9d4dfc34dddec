"""Need an operator be sent, or do those already sent ask for all of it?

`candidates` makes boxes of operators, `Pairwise`, `Probable` and `Exact` decide whether one box is covered by others. When
in doubt they say no: an operator sent for nothing costs traffic, one not sent loses readings.
"""

from headwater.protocols.cover.boxes import Boxes, Cover, Verdict
from headwater.protocols.cover.candidates import (
    Outline,
    Signature,
    box_of,
    candidates,
    candidates_of,
    comparable,
    outline,
)
from headwater.protocols.cover.exact import Exact
from headwater.protocols.cover.pairwise import Pairwise
from headwater.protocols.cover.probable import Probable

__all__ = [
    "Boxes", "Cover", "Exact", "Outline", "Pairwise", "Probable", "Signature", "Verdict", "box_of", "candidates",
    "candidates_of", "comparable", "outline",
]  # fmt: skip
