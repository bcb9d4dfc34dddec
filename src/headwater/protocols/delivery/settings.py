"""How patient is delivery, and how much may be on its way? Every bound has a name and says what happens beyond it."""

from __future__ import annotations

from dataclasses import dataclass

from headwater.model import SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySettings:
    """The same for all neighbours of a node. Two nodes need not agree: what one cannot keep, the other sends again."""

    window_frames: int = 64
    """Frames on their way to a neighbour, and frames stored that came early; more wait, more that come early are dropped."""
    window_bytes: int = 131_072
    """Likewise in bytes; one frame may always be on its way."""
    frame_bytes: int = 16_384
    """A frame takes packets up to this size; a greater packet travels alone."""
    waiting_bytes: int = 256 * 2**20
    """Packets that wait for the window. Beyond it the neighbour is given up: reported once, everything for it is dropped."""
    ack_delay_us: int = 50_000
    """So long a frame may wait for its acknowledgement to travel with a frame that goes the other way."""
    ack_frames: int = 8
    """So many frames are acknowledged at once, without delay."""
    first_resend_us: int = 400_000
    """When an unacknowledged frame is sent again, before anything was measured."""
    least_resend_us: int = 200_000
    """Never sooner, whatever was measured."""
    least_bytes_per_s: int = 100_000
    """A frame is allowed the time it takes on a link of this speed, on top of the pause. Slower links are found by measuring."""
    most_resend_us: int = 10 * SECOND
    """The pause doubles each time, up to this, or up to twice the time that a frame last took."""


USUAL = DeliverySettings()
