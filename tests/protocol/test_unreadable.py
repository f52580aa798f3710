"""Unreadable input is named by frame, field and limit, and never by the value of a card."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from firmware_bridge.drivers.base import Heard, LinkOver, Reported
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.observations import NotUnderstood

from .parts import BenchDevice, frame, linked, make_host, only, sealed

BIG: Final = 2**32
encode: Final = msgspec.msgpack.encode

REPORTS: Final[list[tuple[Any, str]]] = [
    ([11, 1, 2, BIG], f"report stub unloaded: field count is {BIG}, at most 4294967295"),
    ([11, 1, 2, -1], "report stub unloaded: field count is -1, at least 0"),
    ([7, 1, 5, 0], "report set removed: field ordinal is 0, at least 1"),
    ([12, 1, 3], "report jammed: field zone is not of type str"),
    ([4, 1, 2], "report shuffle finished: 3 fields instead of at least 5"),
    ([8, 1, 2, 3, 4, 5, 300], "report card drawn: field card is out of range, at most 255"),
    ([8, 1, 2, 3, 4, 5, "KD"], "report card drawn: field card is not of type int"),
    ([8, 1, 2, 0, 4, 5, 13], "report card drawn: field ordinal is out of range, at least 1"),
    ([6, 1, 2, 3, 4, 5, [1, 300]], "report set dispensed: field cards is out of range, at most 255"),
    ([13], "report jam cleared: 1 fields instead of at least 3"),
    ([99, 1], "report: this version does not know its tag"),
    ([], "report: this version does not know its tag"),
    ({}, "report: the body is not an array"),
]


def heard_of(kind: FrameKind, body: bytes) -> Heard:
    """Return the one thing that a host hears when its device sends this."""
    device = BenchDevice()
    return only(linked(device).receive(sealed(device, kind, body, number=1), 0.1))


@pytest.mark.parametrize(("body", "words"), REPORTS, ids=lambda one: one if isinstance(one, str) else "")
def test_a_report(body: Any, words: str) -> None:
    heard = heard_of(FrameKind.REPORT, encode(body))
    assert isinstance(heard, Reported)
    assert heard.observation == NotUnderstood(words)


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x93\x0c\x01\xa2\xff\xff", b"\x99\x07"])
def test_a_report_that_is_not_messagepack(body: bytes) -> None:
    heard = heard_of(FrameKind.REPORT, body)
    assert isinstance(heard, Reported)
    assert heard.observation == NotUnderstood("report: the body is not a whole MessagePack array")


@pytest.mark.parametrize("face", range(1, 53))
def test_no_misplaced_card_is_shown(face: int) -> None:
    """A card where another field belongs, and something else where it belongs."""
    for place in range(2, 7):
        body: list[Any] = [8, 1, 2, 3, 4, 5, 6]
        body[place] = f"{face} of spades {1000 + face}"
        heard = heard_of(FrameKind.REPORT, encode(body))
        assert isinstance(heard, Reported)
        assert isinstance(heard.observation, NotUnderstood)
        assert str(1000 + face) not in heard.observation.reason
        assert "spades" not in heard.observation.reason


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        (FrameKind.STATUS, [1, 2], "status: 2 fields instead of at least 12."),
        (FrameKind.STATUS, [0, BIG**2, *[0] * 10], "status: field uptime_ms is 18446744073709551616"),
        (FrameKind.ANSWER, [-1, True], "answer: field command_id is -1, at least 0."),
        (FrameKind.ANSWER, [1, 3], "answer: field done is not of type bool."),
        (FrameKind.SEALED_REJECT, [3], "sealed reject: field code is not of type str."),
    ],
)
def test_another_frame_ends_the_link_with_the_same_message(kind: FrameKind, body: Any, words: str) -> None:
    try:
        data = encode(body)
    except OverflowError:
        data = b"\x9c\x00\xcf" + b"\xff" * 8 + b"\x00" * 10
        words = "status: field uptime_ms is 18446744073709551615, at most 9223372036854775807."
    heard = heard_of(kind, data)
    assert isinstance(heard, LinkOver)
    assert heard.code == "device-message"
    assert words in str(heard.sentence)


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        (FrameKind.REJECT, [3], "reject: field code is not of type str."),
        (FrameKind.IDENTITY, [1, "shoe"], "identity: 2 fields instead of at least 14."),
    ],
)
def test_clear_frames_are_named_in_the_same_way(kind: FrameKind, body: Any, words: str) -> None:
    heard = only(make_host().receive(frame(kind, encode(body)), 0.1))
    assert isinstance(heard, LinkOver)
    assert heard.code == "device-message"
    assert words in str(heard.sentence)
