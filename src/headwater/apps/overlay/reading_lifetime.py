"""How long may a reading be on its way through a network? Nodes have to hold it so long.

```
link      gathering, then the batch at the link's speed, then latency there and back for each window of it
way       the links of the longest way, twice: to the centre and from there to a user
slack     SEVERAL such ways, and an hour for links that are cut and nodes that stop
```

Rule 1  A batch is all readings of the network between two publications, each once for every subscription that gets it: more can
        only be under way where links carry less than is measured.
Rule 2  A frame that a link needs longer for than `most_resend_us` is sent again meanwhile, and takes the link's time again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from headwater.model import SECOND, Link, Network, NodeId
from headwater.protocols.delivery import USUAL

SEVERAL: Final = 4
LEAST_US: Final = 3_600 * SECOND
MOST_US: Final = 30 * 86_400 * SECOND
"""Nobody waits longer for an answer, and no node holds readings longer: links so slow lose readings, which is counted."""

BYTES_PER_READING: Final = 64
"""Of a message, with its share of the names in it; a batch of a few readings has more, which the hour allows for."""


def slack_us(network: Network, *, batch: int, gather_us: int) -> int:
    """How much longer than by their times readings are to be held, when `batch` of them are sent together."""
    size = batch * BYTES_PER_READING
    cost = {frozenset((link.one, link.other)): _link_us(link, size) + gather_us for link in network.links}
    beside = network.neighbours()
    one_end, _ = _farthest(beside, cost, network.nodes[0])
    _, way_us = _farthest(beside, cost, one_end)
    return min(LEAST_US + SEVERAL * 2 * way_us, MOST_US)


def _link_us(link: Link, size: int) -> int:
    """The time from the first byte of a batch sent to the last one acknowledged."""
    windows = 1 + size // USUAL.window_bytes
    sending_us = int(size * SECOND / link.bytes_per_s)
    frame_us = int(min(size, USUAL.frame_bytes) * SECOND / link.bytes_per_s)
    again = (frame_us + 2 * link.latency_us) // USUAL.most_resend_us
    return 2 * link.latency_us * windows + sending_us + again * frame_us


def _farthest(
    beside: Mapping[NodeId, tuple[NodeId, ...]], cost: Mapping[frozenset[NodeId], int], start: NodeId
) -> tuple[NodeId, int]:
    """The node that is farthest from one of a tree, and how far it is."""
    far, ring = {start: 0}, [start]
    while ring:
        step = [(node, other) for node in ring for other in beside[node] if other not in far]
        far |= {other: far[node] + cost[frozenset((node, other))] for node, other in step}
        ring = [other for _, other in step]
    end = max(far, key=far.__getitem__)
    return end, far[end]
