"""Sealed frames: which of them are accepted. The construction is that of the page and of RFC 8439."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import MAX_DECODED, Frame, FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import (
    BULK,
    INTERRUPT,
    LAST_COUNTER,
    LONGEST_BODY,
    MOST_FORGED,
    SMALLEST_SEALED,
    CounterUsedUpError,
    FrameOpener,
    FrameSealer,
    OpenedFrame,
    device_nonce,
    frame_keys,
)

from . import independent_cipher
from .vectors import BOOT, KEY, UPTIME

HOST_KEY = bytes(range(64, 96))
DEVICE_KEY = bytes(range(96, 128))
CARD = messages.CardDrawnReport(UPTIME, 0x0051F00D, 10, 42, 2, 40)


def read(content: bytes) -> Frame:
    """Return the one frame on the wire."""
    (frame,) = FrameReader().receive(enclose(content))
    return frame


def report(sealer: FrameSealer, number: int = 1, flags: int = BULK) -> bytes:
    return sealer.seal(FrameKind.REPORT, BOOT, number, encode_body(CARD), flags=flags)


# -- the construction -------------------------------------------------------------------------------------------------


def test_the_independent_cipher_is_that_of_the_rfc() -> None:
    """The vector is that of RFC 8439, 2.8.2."""
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would "
        b"be it."
    )
    nonce, associated = bytes.fromhex("070000004041424344454647"), bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    sealed = independent_cipher.seal(bytes(range(0x80, 0xA0)), nonce, text, associated)
    assert sealed[:16] == bytes.fromhex("d31a8d34648e60db7b86afbc53ef7ec2")
    assert sealed[-16:] == bytes.fromhex("1ae10b594f09e26a7e902ecbd0600691")


@given(st.binary(max_size=LONGEST_BODY), st.sampled_from([1, 2, 0xC0DBDCDD, LAST_COUNTER]), st.sampled_from(FrameKind))
def test_a_frame_is_sealed_as_by_hand(body: bytes, counter: int, kind: FrameKind) -> None:
    sealer = FrameSealer(HOST_KEY)
    sealer.counter = counter - 1
    content = sealer.seal(kind, BOOT, 7, body)
    clear = bytes([1, kind, 0]) + BOOT.to_bytes(4, "little") + (7).to_bytes(4, "little") + counter.to_bytes(4, "little")
    nonce = bytes(8) + counter.to_bytes(4, "little")
    assert content == clear + independent_cipher.seal(HOST_KEY, nonce, body, clear)


def test_a_devices_nonce_changes_with_each_of_its_parts() -> None:
    """The counters alone make it fresh where the random source is missing or stuck."""
    made = [
        device_nonce(key, random, start, draw, hello)
        for key in (KEY, DEVICE_KEY)
        for random in (b"", bytes(16), b"r" * 16)
        for start in (1, 2, 256)
        for draw in (1, 2, 256)
        for hello in (b"one", b"two")
    ]
    assert len(set(made)) == len(made)
    assert {len(nonce) for nonce in made} == {16}


@given(st.lists(st.tuples(st.sampled_from([BULK, INTERRUPT]), st.binary(max_size=9)), max_size=30))
def test_no_counter_is_used_twice(frames: list[tuple[int, bytes]]) -> None:
    """This covers both endpoints, and a body that is sent again."""
    sealer = FrameSealer(DEVICE_KEY)
    sealed = [sealer.seal(FrameKind.STATUS, BOOT, 1, body, flags=flags) for flags, body in frames]
    counters = [int.from_bytes(content[11:15], "little") for content in sealed]
    assert counters == list(range(1, len(frames) + 1))


def test_the_last_counter_is_used_once_and_then_none() -> None:
    sealer = FrameSealer(DEVICE_KEY)
    sealer.counter = LAST_COUNTER - 1
    assert FrameOpener(DEVICE_KEY).open(read(report(sealer))) is not None
    with pytest.raises(CounterUsedUpError):
        report(sealer)


def test_the_longest_body_fills_a_frame() -> None:
    sealer = FrameSealer(HOST_KEY)
    frame = read(sealer.seal(FrameKind.COMMAND, BOOT, 1, bytes(LONGEST_BODY)))
    assert len(frame.decoded) == MAX_DECODED
    assert len(read(sealer.seal(FrameKind.ACK, BOOT, 1)).decoded) == SMALLEST_SEALED
    with pytest.raises(ValueError, match="478 bytes exceeds 477"):
        sealer.seal(FrameKind.COMMAND, BOOT, 1, bytes(LONGEST_BODY + 1))


@pytest.mark.parametrize("number", range(1, 53))
def test_every_card_gives_an_equal_length(number: int) -> None:
    drawn = messages.CardDrawnReport(UPTIME, 0x0051F00D, 10, 42, 2, number)
    assert len(FrameSealer(KEY).seal(FrameKind.REPORT, BOOT, 1, encode_body(drawn))) == 31 + len(encode_body(CARD))


# -- accepted frames --------------------------------------------------------------------------------------------------


def test_a_sealed_frame_is_opened_once() -> None:
    opener, frame = FrameOpener(DEVICE_KEY), read(report(FrameSealer(DEVICE_KEY), 41))
    opened = opener.open(frame)
    body = encode_body(CARD)
    header = bytes.fromhex("0120004D3C2B1A29000000")
    assert opened == OpenedFrame(FrameKind.REPORT, 0, BOOT, 41, body, header + body)
    assert opener.open(frame) is None
    assert (opener.repeated, opener.forged, opener.heard) == (1, 0, 1)


def test_frames_that_are_lost_on_the_way_do_no_harm() -> None:
    sealer, opener = FrameSealer(DEVICE_KEY), FrameOpener(DEVICE_KEY)
    sent = [report(sealer, number) for number in range(1, 20)]
    taken = [opener.open(read(content)) for content in sent[::3]]
    assert [frame and frame.number for frame in taken] == list(range(1, 20, 3))
    assert opener.heard == 19


def test_each_endpoint_has_its_own_order() -> None:
    """A status on interrupt IN may come before a report that was sent first, and after one that was sent later."""
    sealer, opener = FrameSealer(DEVICE_KEY), FrameOpener(DEVICE_KEY)
    first, status, later = report(sealer), report(sealer, flags=INTERRUPT), report(sealer)
    assert all(opener.open(read(content)) for content in (later, status))
    assert opener.open(read(first)) is None, "its own endpoint has gone on"
    assert (opener.heard, opener.repeated) == (3, 1)


# -- refused frames ---------------------------------------------------------------------------------------------------


def flipped(content: bytes) -> list[bytes]:
    """Return the frame with each of its bits changed in turn and a right CRC."""
    return [
        content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
        for place in range(len(content))
        for bit in range(8)
    ]


def test_no_bit_of_a_frame_can_be_changed() -> None:
    opener, content = FrameOpener(DEVICE_KEY), report(FrameSealer(DEVICE_KEY))
    assert [opener.open(read(one)) for one in flipped(content)] == [None] * 8 * len(content)
    assert (opener.heard, opener.repeated) == (0, 0)
    uncounted = 8 + 8 - 1  # other version or flags: not a frame of a link; flags 1 is tried and counts as forged
    assert opener.forged == 8 * len(content) - uncounted
    assert opener.open(read(content)), "nothing that was forged has moved the window"


@pytest.mark.parametrize("order", [(0, 1, 0), (1, 0), (2, 1, 0), (0, 2, 1, 2, 0)])
def test_a_recorded_frame_is_accepted_neither_again_nor_out_of_order(order: tuple[int, ...]) -> None:
    sealer, opener = FrameSealer(DEVICE_KEY), FrameOpener(DEVICE_KEY)
    sent = [report(sealer, number) for number in (1, 2, 3)]
    highest = -1
    for place in order:
        assert bool(opener.open(read(sent[place]))) is (place > highest)
        highest = max(highest, place)


def test_a_sides_own_frame_is_not_accepted_back() -> None:
    """A reflected frame fails because each direction has its own key."""
    opener = FrameOpener(DEVICE_KEY)
    assert opener.open(read(report(FrameSealer(HOST_KEY)))) is None
    assert opener.forged == 1


def test_a_frame_of_another_link_is_forged_in_this_one() -> None:
    sealers = []
    for nonces in ((b"h1", b"d1"), (b"h1", b"d2"), (b"h2", b"d1")):
        _, of_device = frame_keys(KEY, *nonces, b"hello", b"identity")
        sealers.append((FrameSealer(of_device), FrameOpener(of_device)))
    for place, (sealer, _) in enumerate(sealers):
        content = report(sealer)
        assert [bool(opener.open(read(content))) for _, opener in sealers] == [place == one for one in range(3)]


@pytest.mark.parametrize("flags", [2, 3, 0x80, 0xFF])
def test_other_flags_are_dropped_although_the_tag_is_good(flags: int) -> None:
    opener = FrameOpener(DEVICE_KEY)
    assert opener.open(read(report(FrameSealer(DEVICE_KEY), flags=flags))) is None
    assert (opener.forged, opener.repeated, opener.heard) == (0, 0, 0)


def test_a_clear_frame_is_too_short_or_forged() -> None:
    opener = FrameOpener(HOST_KEY)
    (ack,) = FrameReader().receive(enclose(bytes.fromhex("01100000000000") + bytes(4)))
    assert opener.open(ack) is None
    assert opener.forged == 0
    clear = bytes.fromhex("01200000000000") + bytes(4) + encode_body(CARD) + bytes(8)
    assert opener.open(read(clear)) is None
    assert (opener.forged, opener.heard) == (1, 0)


def test_the_shortest_sealed_frame_less_one_byte_is_dropped() -> None:
    content = FrameSealer(DEVICE_KEY).seal(FrameKind.ACK, BOOT, 1)
    opener = FrameOpener(DEVICE_KEY)
    assert opener.open(read(content[:-1])) is None
    assert opener.forged == 0


def test_forgeries_wear_a_key_out() -> None:
    opener = FrameOpener(DEVICE_KEY)
    opener.forged = MOST_FORGED - 1
    assert not opener.is_worn_out
    opener.open(read(report(FrameSealer(HOST_KEY))))
    assert opener.is_worn_out


@given(st.binary(min_size=31, max_size=100))
def test_bytes_that_nobody_sealed_are_never_taken(content: bytes) -> None:
    opener = FrameOpener(DEVICE_KEY)
    for flags, version in ((0, 1), (1, 1)):
        assert opener.open(read(bytes([version, content[1], flags]) + content[3:])) is None
    assert opener.heard == 0


def test_a_counter_of_zero_is_never_taken() -> None:
    sealer, opener = FrameSealer(DEVICE_KEY), FrameOpener(DEVICE_KEY)
    sealer.counter = -1
    assert opener.open(read(report(sealer))) is None
    assert opener.repeated == 1
