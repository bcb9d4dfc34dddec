"""The approaches: combinations of where operators are filtered, how they are split, and how readings travel.

| approach             | filtering            | splitting                       | readings                                    |
|----------------------|----------------------|---------------------------------|---------------------------------------------|
| centralized          | none                 | none: whole, to the centre      | all to the centre, result sets from there   |
| naive                | none                 | by neighbour                    | a result set for each operator              |
| operator-placement   | pairwise, on receipt | by neighbour                    | a result set for each, covered ones too     |
| multi-join           | pairwise, on receipt | binary joins at the first fork  | per neighbour, once per link                |
| filter-split-forward | probable set cover, on receipt | by neighbour          | per neighbour, once per link                |
| exact                | exact set cover, at the sender | by neighbour          | per neighbour, once per link                |

Two more, to compare covers and nothing else, are filter-split-forward with another set cover: `exact-on-receipt` with the exact one,
`filter-split-forward-sound` with the probable one that draws as many points as its error takes. (`filter-split-forward` draws as
many as the paper says, which is too few.) `multi-join-everywhere` tests its pairs again at every node on the way to the user, where
`multi-join` lets pass what passed its fork, as the paper has it: how much of its event load that is.
"""

from __future__ import annotations

from typing import Final

from headwater.model import NodeId
from headwater.protocols.broker import (
    Approach,
    BinaryJoins,
    ByNeighbour,
    Filtering,
    PerNeighbour,
    PerSubscription,
    ThroughCentre,
    Towards,
)
from headwater.protocols.cover import Cover, Exact, Pairwise, Probable

APPROACHES: Final = (
    "centralized",
    "naive",
    "operator-placement",
    "multi-join",
    "filter-split-forward",
    "exact",
)
DELTA: Final = 1e-3
"""The error that the probable set cover may have."""
PROBABLE: Final = ("filter-split-forward", "filter-split-forward-sound")
"""The approaches whose cover may err, so that readings may be lost."""


def cover_of(approach: str) -> Cover | None:
    """How an approach decides that an operator is covered."""
    match approach:
        case "operator-placement" | "multi-join" | "multi-join-everywhere":
            return Pairwise()
        case "filter-split-forward":
            return Probable(delta=DELTA, estimate="paper")
        case "filter-split-forward-sound":
            return Probable(delta=DELTA, estimate="sound")
        case "exact" | "exact-on-receipt":
            return Exact()
    return None


def policies(approach: str, cover: Cover | None, *, towards_centre: NodeId | None, seed: int) -> Approach:
    """The three policies of a node; `towards_centre`: its neighbour on the way there, None at the centre."""
    on_receipt = Filtering("receipt", cover, seed)
    match approach:
        case "centralized":
            return Approach(Filtering(), Towards(towards_centre), ThroughCentre(towards_centre))
        case "naive":
            return Approach(Filtering(), ByNeighbour(), PerSubscription())
        case "operator-placement":
            return Approach(on_receipt, ByNeighbour(), PerSubscription())
        case "multi-join":
            return Approach(on_receipt, BinaryJoins(), PerNeighbour())
        case "multi-join-everywhere":
            return Approach(on_receipt, BinaryJoins(everywhere=True), PerNeighbour())
        case "filter-split-forward" | "filter-split-forward-sound" | "exact-on-receipt":
            return Approach(on_receipt, ByNeighbour(), PerNeighbour())
        case "exact":
            return Approach(Filtering("sender", cover, seed), ByNeighbour(), PerNeighbour())
    raise AssertionError(f"no approach is named {approach!r}")
