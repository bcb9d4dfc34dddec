"""Reliable delivery between two nodes, frame by frame: what is sent when, and what a peer's mistakes do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model import Effect, Instant, Message, NodeId, Report, Send
from headwater.protocols.delivery import (
    FRAME,
    USUAL,
    DeliverySettings,
    Frame,
    Reliable,
    heading,
    pack,
    read_frame,
    unpack,
    write_frame,
)
from headwater.protocols.delivery.sending import GIVEN_UP, QUIET, REPAIRING, TRANSITIONS, WAITING

OF_ONE_BYTE = len(pack(Message("word", b"x"))) * 10  # microseconds on a slow link
SMALL = DeliverySettings(window_frames=4, frame_bytes=40)


class Relay:
    """A core that sends what is said locally to the neighbour it is said to (`to:body`), and keeps what it got."""

    def __init__(self, wake_at: Instant | None = None) -> None:
        self.got: list[tuple[NodeId, str, bytes]] = []
        self.wake_at = wake_at

    def receive(self, message: Message, sender: NodeId, now: Instant) -> list[Effect]:
        if message.kind == "say":
            to, _, words = message.body.partition(b":")
            return [Send(to.decode(), Message("word", word)) for word in words.split(b",")]
        self.got.append((sender, message.kind, message.body))
        return []

    def wake(self, now: Instant) -> list[Effect]:
        self.wake_at = None
        return [Send("b", Message("word", b"awake"))]

    def next_wake(self) -> Instant | None:
        return self.wake_at

    def save(self) -> dict[str, Any]:
        return {
            "got": [[sender, kind, body.hex()] for sender, kind, body in self.got],
            "wake_at": self.wake_at,
        }

    @classmethod
    def load(cls, tree: dict[str, Any]) -> Relay:
        core = cls(tree["wake_at"])
        core.got = [(sender, kind, bytes.fromhex(body)) for sender, kind, body in tree["got"]]
        return core


def pair(settings: DeliverySettings = USUAL) -> tuple[Reliable, Reliable]:
    return Reliable("a", ["b"], Relay(), settings), Reliable("b", ["a"], Relay(), settings)


def say(node: Reliable, to: str, words: str, now: Instant) -> list[Message]:
    return sent(node.receive(Message("say", f"{to}:{words}".encode()), node.name, now))


def sent(effects: Sequence[Effect]) -> list[Message]:
    assert all(isinstance(effect, Send) for effect in effects)
    return [effect.message for effect in effects if isinstance(effect, Send)]


def words(node: Reliable) -> list[str]:
    return [body.decode() for _, _, body in node.core.got]  # type: ignore[attr-defined]


def seen(message: Message, sender: str = "a", to: str = "b") -> Frame:
    return read_frame(message.body, heading(sender, to))


def code(effects: Sequence[Effect]) -> str:
    (report,) = effects
    assert isinstance(report, Report)
    return report.error.code


# --- what goes out ----------------------------------------------------------------------------------------------------


def test_all_packets_of_a_step_travel_in_one_frame_and_are_acknowledged_once() -> None:
    a, b = pair()
    (frame,) = say(a, "b", "x,y,z", 0)
    assert b.receive(frame, "a", 10) == []
    assert words(b) == ["x", "y", "z"]
    assert b.next_wake() == 10 + USUAL.ack_delay_us
    (ack,) = sent(b.wake(10 + USUAL.ack_delay_us))
    assert seen(ack, "b", "a") == Frame(0, 1, b"", [])
    assert a.receive(ack, "b", 60_020) == []
    assert a.next_wake() is None and b.next_wake() is None
    assert (a.traffic["b"].frames, a.traffic["b"].bytes) == (1, len(frame.body))
    assert (b.traffic["a"].frames, b.traffic["a"].acks) == (1, 1)


def test_an_acknowledgement_travels_with_a_frame_that_goes_the_other_way() -> None:
    a, b = pair()
    (frame,) = say(a, "b", "x", 0)
    b.receive(frame, "a", 10)
    (answer,) = say(b, "a", "y", 20)
    assert seen(answer, "b", "a").ack == 1
    a.receive(answer, "b", 30)
    assert a.next_wake() == 30 + USUAL.ack_delay_us  # what it owes for the answer, and no resend
    assert b.traffic["a"].acks == 0


def test_so_many_frames_are_acknowledged_without_delay() -> None:
    a, b = pair()
    frames = [say(a, "b", f"{number}", number)[0] for number in range(USUAL.ack_frames)]
    replies = [sent(b.receive(frame, "a", 100)) for frame in frames]
    assert [len(reply) for reply in replies] == [0] * (USUAL.ack_frames - 1) + [1]
    assert seen(replies[-1][0], "b", "a").ack == USUAL.ack_frames


def test_a_lost_frame_is_sent_again_after_pauses_that_double_up_to_a_bound() -> None:
    a, _ = pair()
    (frame,) = say(a, "b", "x", 0)
    pauses, now = [], 0
    for _ in range(8):
        at = a.next_wake()
        assert at is not None
        pauses.append(at - now - OF_ONE_BYTE)
        now = at
        assert sent(a.wake(now)) == [frame]
    assert pauses == [400_000, 800_000, 1_600_000, 3_200_000, 6_400_000] + [10_000_000] * 3
    assert a.traffic["b"].resends == 8


def test_the_pause_follows_the_measured_round_trip() -> None:
    a, b = pair()
    for number in range(30):
        now = number * 10_000_000
        (frame,) = say(a, "b", "x", now)
        b.receive(frame, "a", now + 1_000_000)
        (ack,) = sent(b.wake(now + 1_050_000))
        a.receive(ack, "b", now + 2_050_000)
    say(a, "b", "x", 300_000_000)
    pause = a.next_wake() - 300_000_000  # type: ignore[operator]
    assert 2_050_000 <= pause <= 2_300_000


def test_frames_that_come_early_wait_and_ones_that_come_twice_are_dropped() -> None:
    a, b = pair()
    first, second, third = (say(a, "b", word, 0)[0] for word in "xyz")
    for frame in (third, third, second):
        assert b.receive(frame, "a", 10) == []
    assert words(b) == []
    (ack,) = sent(b.receive(first, "a", 20))  # the gap is filled: no delay
    assert words(b) == ["x", "y", "z"]
    assert seen(ack, "b", "a").ack == 3
    (again,) = sent(b.receive(second, "a", 30))
    assert words(b) == ["x", "y", "z"]
    assert seen(again, "b", "a").ack == 3


def test_no_more_than_a_window_is_on_its_way_and_the_rest_follows() -> None:
    a, b = pair(SMALL)
    frames = say(a, "b", ",".join(f"{number:030}" for number in range(9)), 0)  # one packet fills a frame
    assert len(frames) == 4
    assert say(a, "b", "last", 0) == []
    while frames:
        acks = [ack for frame in frames for ack in sent(b.receive(frame, "a", 10))]
        acks += sent(b.wake(10 + SMALL.ack_delay_us))
        frames = [frame for ack in acks for frame in sent(a.receive(ack, "b", 70_000))]
    assert words(b) == [f"{number:030}" for number in range(9)] + ["last"]
    assert a.next_wake() is None


def test_frames_far_ahead_are_not_stored() -> None:
    _, b = pair(SMALL)
    for number in range(2, 50):
        frame = write_frame(heading("a", "b"), number, 0, pack(Message("word", b"%d" % number)))
        assert b.receive(Message(FRAME, frame), "a", 0) == []
    b.receive(Message(FRAME, write_frame(heading("a", "b"), 1, 0, pack(Message("word", b"1")))), "a", 0)
    assert words(b) == ["1", "2", "3", "4"]


def test_an_early_frame_that_comes_again_and_again_takes_room_once() -> None:
    a, b = pair(DeliverySettings(window_bytes=100))
    first, second, third = (say(a, "b", word * 20, 0)[0] for word in "xyz")
    for frame in [second] * 9 + [third, first]:
        b.receive(frame, "a", 0)
    assert words(b) == ["x" * 20, "y" * 20, "z" * 20]


def test_a_frame_that_was_sent_twice_measures_nothing() -> None:
    a, b = pair()
    (frame,) = say(a, "b", "x", 0)
    a.wake(9_000_000)
    b.receive(frame, "a", 9_000_000)
    (ack,) = sent(b.wake(9_050_000))
    a.receive(ack, "b", 9_060_000)
    say(a, "b", "y", 10_000_000)
    assert a.next_wake() == 10_000_000 + 800_000 + OF_ONE_BYTE  # as it has grown


def test_a_link_much_slower_than_expected_has_few_frames_sent_twice() -> None:
    a, b = pair()
    for number in range(20):
        now = number * 10_000_000
        (frame,) = say(a, "b", "x", now)
        while (at := a.next_wake()) is not None and at < now + 2_000_000:
            a.wake(at)
        b.receive(frame, "a", now + 1_000_000)
        (ack,) = sent(b.wake(now + 1_050_000))
        a.receive(ack, "b", now + 2_050_000)
    assert a.traffic["b"].resends == 3
    assert a.traffic["b"].frames == 23


def test_a_great_packet_is_given_time() -> None:
    a, _ = pair()
    say(a, "b", "y" * 1_000_000, 0)
    assert a.next_wake() == 400_000 + 10 * (1_000_000 + len(pack(Message("word", b""))))


def test_a_packet_greater_than_a_frame_travels_alone() -> None:
    a, b = pair(SMALL)
    frames = say(a, "b", f"x,{'y' * 500},z", 0)
    assert [len(seen(frame).packets) for frame in frames] == [1, 1, 1]
    for frame in frames:
        b.receive(frame, "a", 0)
    assert words(b) == ["x", "y" * 500, "z"]


def test_after_a_long_silence_the_window_is_resent_in_growing_bursts() -> None:
    a, b = pair(DeliverySettings(ack_frames=1))
    lost = [say(a, "b", f"{number}", 0)[0] for number in range(20)]
    frames, now, bursts = sent(a.wake(401_000)), 401_000, []
    while frames:
        bursts.append(len(frames))
        now += 20_000
        acks = [ack for frame in frames for ack in sent(b.receive(frame, "a", now))]
        frames = [frame for ack in acks for frame in sent(a.receive(ack, "b", now))]
    assert len(lost) == 20 and words(b) == [f"{number}" for number in range(20)]
    assert bursts[:2] == [1, 2] and len(bursts) <= 5
    assert a.traffic["b"].resends == 20 and a.next_wake() is None


def test_a_neighbour_that_is_silent_for_too_long_is_given_up_and_reported_once() -> None:
    a, b = pair(DeliverySettings(waiting_bytes=100, window_frames=1))
    assert len(say(a, "b", "x", 0)) == 1  # and is lost
    effects: list[Effect] = []
    for _ in range(30):
        effects += a.receive(Message("say", b"b:wordword"), "a", 0)
    assert code(effects) == "peer-given-up"
    assert a.next_wake() is None
    (frame,) = say(b, "a", "still", 0)  # what it says is still heard and acknowledged
    a.receive(frame, "b", 0)
    assert words(a) == ["still"] and len(sent(a.wake(USUAL.ack_delay_us))) == 1
    assert a.next_wake() is None


def test_a_core_is_woken_when_it_requested_and_not_with_the_timers_of_delivery() -> None:
    core = Relay(wake_at=500_000)
    a = Reliable("a", ["b"], core)
    assert a.next_wake() == 500_000
    say(a, "b", "x", 0)
    assert a.next_wake() == 400_000 + OF_ONE_BYTE
    assert [seen(frame).number for frame in sent(a.wake(450_000))] == [1]
    assert core.wake_at == 500_000
    (frame,) = sent(a.wake(500_000))
    assert seen(frame).packets == [Message("word", b"awake")]


# --- states, saved state ----------------------------------------------------------------------------------------------


def test_every_state_is_reached_and_only_the_last_is_final() -> None:
    assert {state for state, _ in TRANSITIONS} == {QUIET, WAITING, REPAIRING}
    assert set(TRANSITIONS.values()) == {QUIET, WAITING, REPAIRING, GIVEN_UP}


def test_a_revived_node_goes_on_with_its_numbers_frames_and_timers() -> None:
    a, b = pair(SMALL)
    frames = say(a, "b", ",".join(f"{number:030}" for number in range(9)), 0)
    b.receive(frames[0], "a", 5)
    b.receive(frames[2], "a", 6)  # early
    assert len(sent(a.wake(401_000))) == 1
    for node in (a, b):
        twin = Reliable.load(node.save(), Relay.load)
        assert twin.save() == node.save()
        assert twin.next_wake() == node.next_wake()
        assert twin.neighbours == node.neighbours and twin.traffic == node.traffic
        assert words(twin) == words(node)
        at = node.next_wake()
        assert at is not None and twin.wake(at) == node.wake(at)
    assert say(Reliable.load(a.save(), Relay.load), "b", "new", 0) == say(a, "b", "new", 0)


# --- what a peer gets wrong -------------------------------------------------------------------------------------------

GOOD = write_frame(heading("a", "b"), 1, 0, pack(Message("word", b"x")))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", "bad-frame"),
        (b"HF", "bad-frame"),
        (b"no frame at all", "bad-frame"),
        (GOOD[:-1], "bad-frame"),
        (GOOD[:12], "bad-frame"),
        (GOOD + b"!", "bad-frame"),
        (GOOD.replace(b"word", b"ward"), "bad-frame"),
        (b"HF\x07" + GOOD[3:], "bad-frame"),
        (write_frame(heading("a", "b"), 1, 0, b"\x04\xff\xff\xff\xffword"), "bad-frame"),
        (write_frame(heading("a", "b"), 1, 0, b"\x01\x00\x00\x00\x00\xff"), "bad-frame"),
        (write_frame(heading("a", "b"), 1, 0, b""), "bad-frame"),
        (write_frame(heading("a", "b"), 0, 0, pack(Message("word", b"x"))), "bad-frame"),
        (write_frame(heading("c", "b"), 1, 0, pack(Message("word", b"x"))), "wrong-peer"),
        (write_frame(heading("a", "c"), 1, 0, pack(Message("word", b"x"))), "wrong-peer"),
        (write_frame(heading("b", "a"), 1, 0, pack(Message("word", b"x"))), "wrong-peer"),
        (write_frame(heading("a", "b"), 1, 1, pack(Message("word", b"x"))), "wrong-ack"),
    ],
)
def test_what_is_not_a_frame_for_this_link_is_reported_and_changes_nothing(
    body: bytes, expected: str
) -> None:
    _, b = pair()
    before = b.save()
    assert code(b.receive(Message(FRAME, body), "a", 0)) == expected
    assert b.save() == before and b.next_wake() is None
    assert b.receive(Message(FRAME, GOOD), "a", 0) == [] and words(b) == ["x"]


def test_a_stranger_and_another_kind_of_message_are_reported() -> None:
    _, b = pair()
    assert code(b.receive(Message(FRAME, GOOD), "stranger", 0)) == "not-a-neighbour"
    assert code(b.receive(Message("say", b"a:x"), "a", 0)) == "bad-frame"
    assert words(b) == []


def test_a_report_says_who_sent_it_in_whose_name() -> None:
    _, b = pair()
    frame = write_frame(heading("c", "b"), 1, 0, pack(Message("word", b"x")))
    (effect,) = b.receive(Message(FRAME, frame), "a", 0)
    assert isinstance(effect, Report) and effect.peer == "a"
    assert effect.error.message == "a frame from 'c' to 'b' came over the link from 'a' to 'b'"


packets = st.lists(st.builds(Message, st.text(max_size=8), st.binary(max_size=30)), min_size=1, max_size=4)
numbers = st.integers(0, 12) | st.integers(0, 2**64 - 1)
payloads = st.binary(max_size=60) | packets.map(lambda some: b"".join(map(pack, some)))
frames = st.builds(
    write_frame, st.sampled_from([("a", "b"), ("b", "a"), ("é", "b")]).map(lambda ends: heading(*ends)), numbers, numbers, payloads
)  # fmt: skip
damaged = st.tuples(frames, st.integers(0, 1000), st.integers(0, 255)).map(
    lambda one: bytes(byte ^ one[2] if at == one[1] % len(one[0]) else byte for at, byte in enumerate(one[0]))
)


@given(
    st.lists(st.binary(max_size=80) | frames | damaged | frames.map(lambda frame: frame[:-3]), max_size=12)
)
def test_any_bytes_from_a_peer_give_reports_and_never_a_crash(bodies: list[bytes]) -> None:
    _, b = pair(SMALL)
    now = 0
    say(b, "a", "waiting", now)
    for body in bodies:
        now += 1_000
        for effect in b.receive(Message(FRAME, body), "a", now):
            assert isinstance(effect, Send | Report)
        Reliable.load(b.save(), Relay.load)
    for _ in range(3):
        at = b.next_wake()
        now = now if at is None else max(now, at)
        b.wake(now)
    assert len(b._by_index[0].receiving._early) < SMALL.window_frames


@given(packets)
def test_packets_come_back_as_they_were(some: list[Message]) -> None:
    payload = b"".join(map(pack, some))
    assert unpack(payload) == some
    frame = write_frame(heading("é", "b"), 3, 2, payload)
    assert read_frame(frame, heading("é", "b")) == Frame(3, 2, payload, some)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=80), st.integers(0, 9))
def test_packets_come_once_and_in_order_however_frames_are_lost_doubled_and_reordered(
    choices: list[tuple[int, int]], seed: int
) -> None:
    """A wire that does with each frame what a choice says; when the choices are over it carries everything."""
    a, b = pair(SMALL)
    wire: list[tuple[Reliable, str, Message]] = []
    now = said = 0

    def put(node: Reliable, out: list[Message]) -> None:
        wire.extend((b if node is a else a, node.name, message) for message in out)

    for what, which in choices:
        now += 30_000
        put(a, say(a, "b", f"{said}", now))
        said += 1
        for node in (a, b):
            if (at := node.next_wake()) is not None and at <= now:
                put(node, sent(node.wake(now)))
        if wire:
            to, sender, message = wire.pop(which % len(wire))
            copies = (0, 1, 1, 2)[what]  # lost, carried, carried, doubled
            for _ in range(copies):
                put(to, sent(to.receive(message, sender, now)))
    while wire or a.next_wake() is not None or b.next_wake() is not None:
        now += 30_000
        while wire:
            to, sender, message = wire.pop(0)
            put(to, sent(to.receive(message, sender, now)))
        for node in (a, b):
            if (at := node.next_wake()) is not None and at <= now:
                put(node, sent(node.wake(now)))
    assert words(b) == [f"{number}" for number in range(said)]
