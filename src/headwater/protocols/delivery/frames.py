"""How do packets look on a link? One frame: who to whom, which number, up to where the other side's frames have come, packets.

Rule 1  A frame is read whole or not at all: whatever the bytes, the outcome is a `Frame` or a PeerError, nothing else.
Rule 2  The sum over all bytes finds what a link has damaged. It is no protection against a peer that lies.
Rule 3  A frame without packets has the number 0: it only acknowledges. Every other frame has a number and packets.

Layout  `HF`, version, lengths of the two names, the names (the same for every frame of a link in one direction: the *heading*);
        number, ack, length of the packets; the packets (length of kind, length of body, kind, body); CRC-32 of all before it.
        Little-endian. Written with `struct` and not with the codec of the model: most frames are small, and this is much
        faster for them.
"""

from __future__ import annotations

import struct
from typing import NamedTuple
from zlib import crc32

from headwater.model import Message, NodeId, PeerError

FRAME_VERSION = 1
MOST_NAME_BYTES = 255
MOST_KIND_BYTES = 255
MOST_PACKET_BYTES = 16 * 2**20  # a core that sends more at once must split it
MOST_FRAME_BYTES = 2 * MOST_PACKET_BYTES  # a frame that claims more is refused unread

_START = struct.Struct("<2sBBB")
_NUMBERS = struct.Struct("<QQI")
_PACKET = struct.Struct("<BI")
_SUM = struct.Struct("<I")


class Frame(NamedTuple):
    """What a neighbour sent: `payload` are the bytes of the packets, `ack` the last number it has without a gap."""

    number: int
    ack: int
    payload: bytes
    packets: list[Message]


def heading(sender: NodeId, recipient: NodeId) -> bytes:
    """How every frame from one node to another begins."""
    one, other = sender.encode(), recipient.encode()
    assert len(one) <= MOST_NAME_BYTES and len(other) <= MOST_NAME_BYTES, "the name of a node is too long"
    return _START.pack(b"HF", FRAME_VERSION, len(one), len(other)) + one + other


def pack(message: Message) -> bytes:
    """A packet."""
    kind, body = message.kind.encode(), message.body
    assert len(kind) <= MOST_KIND_BYTES and len(body) <= MOST_PACKET_BYTES, "a packet is too long"
    return _PACKET.pack(len(kind), len(body)) + kind + body


def unpack(payload: bytes) -> list[Message]:
    """The packets of a payload, or a PeerError."""
    packets = []
    offset, end = 0, len(payload)
    try:
        while offset < end:
            kind_length, body_length = _PACKET.unpack_from(payload, offset)
            start = offset + _PACKET.size + kind_length
            kind = payload[offset + _PACKET.size : start].decode()
            offset = start + body_length
            packets.append(Message(kind, payload[start:offset]))
    except (struct.error, UnicodeDecodeError) as error:
        raise _bad("its packets cannot be told apart") from error
    if offset != end:
        raise _bad("its last packet is cut off")
    return packets


def write_frame(begin: bytes, number: int, ack: int, payload: bytes) -> bytes:
    """A frame; `begin` is the heading."""
    begin += _NUMBERS.pack(number, ack, len(payload))
    return b"".join((begin, payload, _SUM.pack(crc32(payload, crc32(begin)))))


def read_frame(data: bytes, begin: bytes) -> Frame:
    """The frame of some bytes that must begin with a heading, or a PeerError."""
    if not data.startswith(begin):
        raise _wrong_beginning(data, begin)
    start = len(begin) + _NUMBERS.size
    end = len(data) - _SUM.size
    if not start <= end <= MOST_FRAME_BYTES:
        raise _bad("it is cut off" if end < start else f"it is longer than {MOST_FRAME_BYTES} bytes")
    if crc32(memoryview(data)[:end]) != _SUM.unpack_from(data, end)[0]:
        raise _bad("its checksum is wrong")
    number, ack, length = _NUMBERS.unpack_from(data, len(begin))
    if length != end - start or (number == 0) != (length == 0):
        raise _bad("its lengths do not match")
    payload = data[start:end]
    return Frame(number, ack, payload, unpack(payload) if length else [])


def _wrong_beginning(data: bytes, begin: bytes) -> PeerError:
    """What is wrong with bytes that do not begin as frames on this link do."""
    if len(data) < _START.size:
        return _bad("it is cut off")
    magic, version, one, other = _START.unpack_from(data)
    if magic != b"HF":
        return _bad("it does not begin like a frame")
    if version != FRAME_VERSION:
        return _bad(f"it has version {version}, this node reads {FRAME_VERSION}")
    names = data[_START.size : _START.size + one + other]
    if len(names) < one + other:
        return _bad("it is cut off")
    says = [names[:one].decode(errors="replace"), names[one:].decode(errors="replace")]
    _, _, length, _ = _START.unpack_from(begin)
    known = begin[_START.size :]
    known_as = [known[:length].decode(), known[length:].decode()]
    return PeerError(
        "wrong-peer",
        f"a frame from '{says[0]}' to '{says[1]}' came over the link from '{known_as[0]}' to '{known_as[1]}'",
    )


def _bad(why: str) -> PeerError:
    return PeerError("bad-frame", f"the bytes of a frame are invalid: {why}")
