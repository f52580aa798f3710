"""Bee-Tek: items of text arrive in order, and a damaged item is reported because it may have been a card."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.cards import DECK, Card
from firmware_bridge.drivers.bee_tek import ENDS_WITHIN, LONGEST_ITEM, BeeTek
from simulators.driver_conformance.every_driver import reports, texts_of

from .community import setting


def driver() -> BeeTek:
    return BeeTek(setting("bee_tek"), 0.0)


@pytest.mark.parametrize("between", [b"", b" ", b"\r\n", b" \r\n ", b"\n\n", b"\x00"])
def test_items_need_no_separator(between: bytes) -> None:
    items = between.join([b"[Game]<Card:4S>", b"[Game]<Alarm:E3 Card Not Read>", b"[Game]<Game>", b"<W0x01>"])
    assert texts_of(driver().receive(items + between, 0.0)) == [
        "card 4S",
        "alarm: E3",
        "unread card",
        "noted: warning W0x01",
    ]


@given(st.permutations([b"[Game]<Alarm:E3 Card Not Read>", b"[Game]<Card:AS>", b"[Game]<Game>", b"<W0x02>"]))
def test_alarms_and_cards_keep_their_order(items: list[bytes]) -> None:
    names = {b"3": "alarm: E3", b":": "card AS", b"e": "unread card", b"2": "noted: warning W0x02"}
    wanted = [next(names[key] for key in (b"3", b":", b"2", b"e") if key in item) for item in items]
    assert texts_of(driver().receive(b" ".join(items), 0.0)) == wanted


@pytest.mark.parametrize("mode", ["Game", "Manual Burn Cards"])
@pytest.mark.parametrize("card", DECK, ids=repr)
def test_every_card_in_both_modes(card: Card, mode: str) -> None:
    names = {card.code, card.code.replace("T", "10")}
    for name in names:
        assert texts_of(driver().receive(f" [{mode}]<Card:{name}> ".encode(), 0.0)) == [f"card {card.code}"]


@pytest.mark.parametrize(
    ("item", "heard"),
    [
        (b"[game]<CARD:4s>", "card 4S"),
        (b"[MANUAL BURN CARDS]<card:10h>", "card TH"),
        (b"[Manual Burn Cards]<game>", "unread card"),
        (b"[Manual Burn Cards]<manual burn cards>", "unread card"),
        (b"[gameAlarm]<alarm:e12 Cover>", "alarm: E12"),
        (b"<w0X0a>", "noted: warning W0x0A"),
    ],
)
def test_capitals_and_small_letters_mean_the_same(item: bytes, heard: str) -> None:
    assert texts_of(driver().receive(item, 0.0)) == [heard]


@pytest.mark.parametrize(
    "item",
    [
        b"[Game]<Card:1S>",
        b"[Game]<Card:4X>",
        b"[Game]<Card:>",
        b"[Game]<Cbrd:4S>",
        b"[Game]<Manual Burn Cards>",
        b"<Card:4S>",
        b"[Game] <Card:4S>",
        b"[Game]<Card:4S\r\n",
        b"[Game]<Card:4\xd3>",
        b"[Game]|Card:4S>",
        b"Card:4S>",
        b"<W0xZZ>",
    ],
)
def test_a_damaged_item_is_reported_with_its_bytes_and_the_next_one_is_read(item: bytes) -> None:
    shoe = driver()
    heard = shoe.receive(item + b" [Game]<Card:AS> ", 0.0)
    assert texts_of(heard) == ["not understood", "card AS"]
    assert reports(heard)[0].evidence.open() == item.strip()


def test_an_item_that_lost_its_end_does_not_swallow_the_next() -> None:
    assert texts_of(driver().receive(b"[Game]<Card:4[Game]<Card:AS>[Game]<Ca<W0x01>", 0.0)) == [
        "not understood",
        "card AS",
        "not understood",
        "noted: warning W0x01",
    ]


def test_an_item_that_never_ends_is_reported_and_counted() -> None:
    shoe = driver()
    assert texts_of(shoe.receive(b"[" + b"x" * 2 * LONGEST_ITEM, 0.0)) == ["not understood"]
    assert shoe.statistics.frames_overlong == 1


@pytest.mark.parametrize(("before", "after"), [(b"[Game]<Card:4", b"S>"), (b"[Ga", b"me]<Card:4S>")])
def test_an_unfinished_item_is_reported_after_a_timeout(before: bytes, after: bytes) -> None:
    """It may have been the last card of a deal, and nothing that follows would show it."""
    shoe = driver()
    assert texts_of(shoe.receive(before, 1.0)) == []
    assert shoe.wake_at() == 1.0 + ENDS_WITHIN
    assert texts_of(shoe.tick(shoe.wake_at())) == ["not understood"]
    assert shoe.wake_at() == math.inf
    assert "card 4S" not in texts_of(shoe.receive(after + b"[Game]<Card:AS>", 4.0)), (
        "a card is reported once or not at all"
    )


def test_unknown_bytes_are_kept_before_the_next_item() -> None:
    heard = driver().receive(b"\xff\xfe [Game]<Card:AS>", 0.0)
    assert texts_of(heard) == ["noted: bytes that fit nothing", "card AS"]
    assert reports(heard)[0].evidence.open() == b"\xff\xfe"


def test_the_text_of_an_alarm_is_not_shown() -> None:
    """It may name a card."""
    heard = driver().receive(b"[Game]<Alarm:E9 Duplicate KD>[GameAlarm]<Alarm:KD twice>", 0.0)
    assert texts_of(heard) == ["alarm: E9", "alarm: without a code"]
    assert "KD" not in repr(heard)
