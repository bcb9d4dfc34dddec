"""Reliable delivery between neighbours: in order, exactly once, over links that lose, double, damage, delay and reorder.

`Reliable` is a node around another node, its core, that assumes perfect links. `sending.py` has the table of states,
`frames.py` the bytes on the wire.
"""

from headwater.protocols.delivery.frames import (
    FRAME_VERSION,
    MOST_FRAME_BYTES,
    MOST_PACKET_BYTES,
    Frame,
    heading,
    pack,
    read_frame,
    unpack,
    write_frame,
)
from headwater.protocols.delivery.reliable import FRAME, Core, Reliable, Traffic
from headwater.protocols.delivery.settings import USUAL, DeliverySettings

__all__ = [
    "FRAME", "FRAME_VERSION", "MOST_FRAME_BYTES", "MOST_PACKET_BYTES", "USUAL", "Core", "DeliverySettings", "Frame", "Reliable",
    "Traffic", "heading", "pack", "read_frame", "unpack", "write_frame",
]  # fmt: skip
