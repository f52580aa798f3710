"""Angel Eye: three copies are one report, a gap is suspected and never proven, orders are sent only when armed."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import msgspec
import pytest

from firmware_bridge.commands import HoldExit, ReleaseExit
from firmware_bridge.drivers.angel_eye import AngelEye, encode_telegram
from firmware_bridge.drivers.base import Answered, Heard, LinkReady
from firmware_bridge.drivers.memory import LinkMemory
from simulators.devices.angel_eye import AngelEyeDevice
from simulators.driver_conformance.every_driver import reports, texts_of

from .community import setting

LOCK = bytes.fromhex("024F504C4B3032033142")
UNLOCK = bytes.fromhex("024F504C4B3031033138")
ACK = b"\x06"


def driver(*, arm: bool = False, listen: bool = False) -> AngelEye:
    return AngelEye(setting("angel_eye", arm=arm, listen=listen), 0.0)


def card(seq: str, face: int = 0x9D) -> bytes:
    return encode_telegram(ord(seq), bytes([ord("D"), 0x80, face]))


def answers(heard: Iterable[Heard]) -> list[Answered]:
    return [thing for thing in heard if isinstance(thing, Answered)]


# -- copies and succession -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_copies_are_one_report(copies: int) -> None:
    shoe = driver()
    assert texts_of(shoe.receive(card("2") * copies + card("3", 0xAA) * copies, 0.0)) == ["card KD", "card TC"]
    assert shoe.statistics.reports_repeated == 2 * (copies - 1)


def test_further_copies_of_the_last_telegram_are_not_cards() -> None:
    shoe = driver()
    assert texts_of(shoe.receive(card("2") * 9, 0.0)) == ["card KD"]
    assert texts_of(shoe.receive(card("3", 0xAA) + card("2") * 3, 0.0)) == ["card TC", "card KD"]


AGAIN = "noted: the last telegram of the previous link came again"


@pytest.mark.parametrize("restarted", [False, True], ids=["the cable was out", "the daemon restarted"])
@pytest.mark.parametrize("before", [1, 2, 3])
def test_copies_over_a_later_link_are_not_cards(before: int, *, restarted: bool) -> None:
    """A serial server sends what the lost link did not take; a shoe may send its last telegram again."""
    link = setting("angel_eye")
    assert texts_of(AngelEye(link, 0.0).receive(card("1", 0xAA) * 3 + card("2") * before, 0.0)) == [
        "card TC",
        "card KD",
    ]
    kept = LinkMemory(link.memory.journaled()) if restarted else link.memory
    later = AngelEye(msgspec.structs.replace(link, nonce=bytes(16), memory=kept), 0.0)
    assert texts_of(later.receive(card("2") * 3, 0.0)) == [AGAIN]
    assert texts_of(later.receive(card("3") * 3, 0.0)) == ["card KD"]


def test_a_copy_is_known_over_a_later_link_although_damage_was_reported_last() -> None:
    link = setting("angel_eye")
    shoe = AngelEye(link, 0.0)
    shoe.receive(card("2") * 3 + card("3")[:-2], 0.0)
    assert texts_of(shoe.receive(card("4")[1:] + b"\x05", 0.1)) == []
    assert texts_of(shoe.tick(5.0)) == ["not understood"]
    later = AngelEye(msgspec.structs.replace(link, nonce=bytes(16)), 0.0)
    assert texts_of(later.receive(card("2") * 2 + card("3", 0xAA), 0.0)) == [AGAIN, "card TC"]


BETWEEN = {
    "a byte": b"\x00",
    "four bytes": b"\xff\x8d\x8d\x03",
    "lock": LOCK,
    "unlock": UNLOCK,
    "XON": b"\x11\r\n",
    "a banner": b"\r\nNPort 5110 ready. Port 1: 4800 8N1\r\n",
}


@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_bytes_between_telegrams_that_cannot_be_one_are_only_noted(between: bytes) -> None:
    shoe = driver()
    heard = texts_of(shoe.receive(card("2") * 3 + between + card("3") * 3, 0.0))
    assert heard == ["card KD", "noted: bytes that fit nothing", "card KD"]
    assert texts_of(shoe.tick(10.0)) == []


def test_the_same_card_under_another_number_is_reported_again() -> None:
    assert texts_of(driver().receive(card("2") * 3 + card("3") * 3, 0.0)) == ["card KD", "card KD"]


def test_one_good_copy_is_enough() -> None:
    shoe = driver()
    spoilt = card("2").replace(b"\x9d", b"\x9c")
    assert texts_of(shoe.receive(spoilt + spoilt + card("2"), 0.0)) == ["noted: bytes that fit nothing", "card KD"]
    assert texts_of(shoe.tick(10.0)) == []


def test_a_telegram_without_a_good_copy_is_reported_after_two_seconds() -> None:
    shoe = driver()
    spoilt = card("2").replace(b"\x9d", b"\x9c")
    assert texts_of(shoe.receive(spoilt * 3, 1.0)) == []
    assert texts_of(shoe.tick(2.9)) == []
    assert shoe.wake_at() == 3.0
    (report,) = reports(shoe.tick(3.0))
    assert texts_of([report]) == ["not understood"]
    assert report.evidence.open() == spoilt * 3
    assert shoe.tick(60.0) == []


def test_a_lost_telegram_is_reported_even_if_the_next_comes_immediately() -> None:
    shoe = driver()
    spoilt = card("2").replace(b"\x9d", b"\x9c")
    shoe.receive(card("1") * 3 + spoilt * 3 + card("3") * 3, 0.0)
    assert texts_of(shoe.tick(2.0)) == ["not understood"]


def cycle(first: str, last: str) -> bytes:
    seqs = [chr(code) for code in range(ord(first), ord(last) + 1)]
    return b"".join(encode_telegram(ord(seq), b"P") * 3 for seq in seqs)


@pytest.mark.parametrize(("first", "last"), [("0", "9"), ("A", "C"), ("!", "~")])
def test_a_departure_from_the_learned_order_is_suspected(first: str, last: str) -> None:
    shoe = driver()
    assert "gap suspected" not in texts_of(shoe.receive(cycle(first, last) * 3, 0.0))
    after = chr(ord(first) + 1)
    heard = texts_of(shoe.receive(card(after), 0.0))
    assert heard == ["gap suspected", "card KD"], "the number that was due did not come"


def test_a_suspicion_does_not_change_the_learned_order() -> None:
    shoe = driver()
    shoe.receive(cycle("0", "9") * 3 + card("1") * 3 + cycle("2", "9"), 0.0)
    assert "gap suspected" not in texts_of(shoe.receive(cycle("0", "9"), 0.0))


def test_wrongly_learned_numbers_are_corrected() -> None:
    """A gap in the first cycle: the second cycle raises a suspicion because of it, the third does not."""
    shoe = driver()
    gapped = cycle("0", "3") + cycle("5", "9")
    assert "gap suspected" not in texts_of(shoe.receive(gapped, 0.0))
    assert texts_of(shoe.receive(cycle("0", "9"), 0.0)).count("gap suspected") == 1
    assert "gap suspected" not in texts_of(shoe.receive(cycle("0", "9"), 0.0))


def test_a_shoe_that_starts_may_number_from_the_beginning() -> None:
    shoe = driver()
    shoe.receive(cycle("0", "9") * 3, 0.0)
    start = encode_telegram(ord("5"), b"S") * 3
    assert texts_of(shoe.receive(start, 0.0)) == ["started"]


# -- damage --------------------------------------------------------------------------------------------------------


def test_a_telegram_cut_short_costs_only_itself() -> None:
    heard = texts_of(driver().receive(card("2")[:-4] + card("3", 0xAA) * 3, 0.0))
    assert heard == ["noted: bytes that fit nothing", "card TC"]


def test_an_endless_telegram_counts_as_too_long() -> None:
    shoe = driver()
    shoe.receive(b"\x05" + b"\x90" * 500 + card("3") * 3, 0.0)
    assert shoe.statistics.frames_overlong == 1


@pytest.mark.parametrize("payload", [b"", b"\x80", b"\x80\x1d", b"\x00\x9d", b"\x80\x9d\x80"])
def test_a_card_telegram_of_another_shape_is_not_understood(payload: bytes) -> None:
    assert texts_of(driver().receive(encode_telegram(ord("2"), b"D" + payload), 0.0)) == ["not understood"]


def test_a_result_reveals_no_content() -> None:
    """A baccarat result depends on concealed cards."""
    shown = {repr(reports(driver().receive(encode_telegram(48, b"G" + bytes([byte])), 0.0))) for byte in (0x90, 0xC2)}
    assert len(shown) == 1


# -- orders --------------------------------------------------------------------------------------------------------


def test_an_armed_driver_has_the_capability_to_hold_the_exit() -> None:
    for arm in (False, True):
        (ready,) = driver(arm=arm).tick(0.0)
        assert isinstance(ready, LinkReady)
        assert ready.identity.capabilities.holds_exit is arm


@pytest.mark.parametrize(("command", "written"), [(HoldExit(), LOCK), (ReleaseExit(), UNLOCK)])
def test_an_armed_driver_locks_and_unlocks(command: HoldExit | ReleaseExit, written: bytes) -> None:
    shoe = driver(arm=True)
    shoe.command(7, command, 0.0)
    assert shoe.outgoing() == written
    assert answers(shoe.receive(ACK, 0.1)) == [Answered(7, True)]
    assert shoe.statistics.bytes_out == len(written)


@pytest.mark.parametrize(
    ("code", "reason"),
    [("01", "framing"), ("02", "check"), ("03", "no end"), ("11", "format"), ("12", "address"), ("13", "command"),
     ("14", "type"), ("21", "busy"), ("22", "writing"), ("FF", "other"), ("ff", "other"), ("99", "other")],
)  # fmt: skip
def test_a_refusal_has_its_reason(code: str, reason: str) -> None:
    shoe = driver(arm=True)
    shoe.command(7, HoldExit(), 0.0)
    assert answers(shoe.receive(b"\x15" + code.encode(), 0.1)) == [Answered(7, False, reason)]


@pytest.mark.parametrize(("code", "reason"), [(0x01, "framing"), (0x13, "command"), (0x22, "writing"), (0xFF, "other")])
def test_a_refusal_with_a_code_of_one_byte_has_its_reason(code: int, reason: str) -> None:
    shoe = driver(arm=True)
    shoe.command(7, HoldExit(), 0.0)
    heard = shoe.receive(b"\x15" + bytes([code]) + card("2"), 0.1)
    assert answers(heard) == [Answered(7, False, reason)]
    assert texts_of(heard) == ["card KD"], "what follows is read from its beginning"


def test_an_order_is_written_once_and_without_an_answer_it_is_not_done() -> None:
    shoe = driver(arm=True)
    shoe.tick(0.0)
    shoe.command(7, HoldExit(), 1.0)
    shoe.command(7, HoldExit(), 1.1)
    assert shoe.outgoing() == LOCK
    assert shoe.wake_at() == 3.0
    assert answers(shoe.tick(3.0)) == [Answered(7, False, "the shoe did not answer")]
    assert shoe.outgoing() == b""
    assert answers(shoe.receive(ACK, 3.1)) == [], "a late answer is of nothing"


def test_orders_are_sent_one_after_the_other() -> None:
    shoe = driver(arm=True)
    shoe.command(1, HoldExit(), 0.0)
    shoe.command(2, ReleaseExit(), 0.0)
    assert shoe.outgoing() == LOCK
    assert answers(shoe.receive(card("2")[:4], 0.1)) == []
    assert answers(shoe.receive(card("2")[4:] + ACK, 0.2)) == [Answered(1, True)]
    assert shoe.outgoing() == UNLOCK
    assert answers(shoe.receive(ACK, 0.3)) == [Answered(2, True)]


def test_an_answer_within_a_telegram_is_damage() -> None:
    shoe = driver(arm=True)
    shoe.command(1, HoldExit(), 0.0)
    assert answers(shoe.receive(card("2").replace(b"\x9d", ACK), 0.1)) == []


def test_an_answer_to_another_host_is_ignored() -> None:
    shoe = driver(listen=True)
    assert reports(shoe.receive(ACK + b"\x1502" + card("2"), 0.0))[0].number == 1
    assert shoe.statistics.frames_in == 3


def test_driver_and_simulated_shoe_lock_together() -> None:
    """A card drawn while the shoe is locked is reported like any other."""
    shoe, device = driver(arm=True), AngelEyeDevice(random=Random(1))
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    shoe.receive(device.outgoing(), 0.0)
    shoe.command(1, HoldExit(), 0.0)
    device.receive(shoe.outgoing())
    (drawn,) = device.mechanism.draw()
    heard = shoe.receive(device.outgoing(), 0.1)
    assert device.locked
    assert texts_of(heard) == ["noted: key lock changed", f"card {drawn.code}"]
    assert answers(heard) == [Answered(1, True)]


@pytest.mark.parametrize(
    ("order", "answer"), [(b"\x02OPLK02\x0300", b"\x1502"), (b"\x02OPZZ00\x03\x33\x33", b"\x1502")]
)
def test_the_simulated_shoe_refuses_a_wrong_check(order: bytes, answer: bytes) -> None:
    device = AngelEyeDevice(random=Random(1))
    device.outgoing()
    device.receive(order)
    assert device.outgoing() == answer
