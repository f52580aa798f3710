"""docs/other_devices.md's golden vectors: read by the drivers, and by an independent decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.cards import Card
from firmware_bridge.drivers.angel_eye import Telegram, TelegramReader, bcc, encode_order, encode_telegram
from firmware_bridge.drivers.registry import load_driver
from simulators.devices.angel_eye import AngelEyeDevice
from simulators.devices.armed_faults import ArmedFault
from simulators.devices.bee_tek import BeeTekDevice
from simulators.devices.line_reader import LineReaderDevice, simulated_identifiers
from simulators.devices.one_way import OneWayDevice
from simulators.driver_conformance.every_driver import texts_of

from .community import setting
from .independent_community import check, decode_angel_eye, decode_bee_tek, decode_lines

PAGE: Final = (Path(__file__).parents[2] / "docs" / "other_devices.md").read_text(encoding="utf-8")
TAGS: Final = {"E280689400130000": "KC", "E280689400130001": "KC"}


class Row(NamedTuple):
    driver: str
    what: str
    data: bytes
    heard: str


def rows() -> Iterator[Row]:
    block = PAGE.split("<!-- vectors -->\n")[1].split("\n<!-- end of vectors -->")[0]
    for line in block.splitlines()[2:]:
        driver, what, data, heard = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        yield Row(driver, what, bytes.fromhex(data), heard)


ROWS: Final = tuple(rows())
HEARD: Final = [row for row in ROWS if row.heard]
ORDERS: Final = {row.what: row.data for row in ROWS if not row.heard}


def by_hand(driver: str, data: bytes, tags: dict[str, str]) -> list[str]:
    if driver == "line_reader":
        return decode_lines(data, tags)
    return decode_angel_eye(data) if driver == "angel_eye" else decode_bee_tek(data)


@pytest.mark.parametrize("row", HEARD, ids=lambda row: f"{row.driver}: {row.what}")
def test_driver_and_independent_decoder_agree_with_the_page(row: Row) -> None:
    cards = {identifier: Card.parse(code) for identifier, code in TAGS.items()}
    driver = load_driver(row.driver)(setting(row.driver, card_table=cards), 0.0)
    assert texts_of(driver.receive(row.data, 0.0)) == [row.heard]
    assert by_hand(row.driver, row.data, TAGS) == [row.heard]


def test_the_page_has_every_code_that_is_known() -> None:
    known = {chr(row.data[2]) for row in HEARD if row.driver == "angel_eye"}
    assert known >= set("SPDdRGCEeLM")


def test_orders_are_encoded_as_on_the_page() -> None:
    assert ORDERS["order: lock"].endswith(b"1B")
    assert {
        "order: lock": encode_order("LK", "02"),
        "order: unlock": encode_order("LK", "01"),
        "order: cancel error 1": encode_order("EC", "01"),
        "order: confirm": encode_order("GP", "00"),
    } == ORDERS


@pytest.mark.parametrize(("kind", "data"), [("L", "02"), ("LK", "2"), ("LKK", "02")])
def test_an_order_has_two_characters_of_each(kind: str, data: str) -> None:
    with pytest.raises(ValueError, match="two characters"):
        encode_order(kind, data)


@given(st.binary(max_size=50))
def test_the_checksum_agrees_with_an_independent_one(data: bytes) -> None:
    assert bcc(data).decode() == check(data)


@given(st.integers(0x20, 0x7E), st.sampled_from("DdRGSPCLX"), st.lists(st.integers(0x80, 0xFF), max_size=3))
def test_any_telegram_with_a_right_check_is_decoded_independently(seq: int, code: str, payload: list[int]) -> None:
    """The payload has the length that the code requires; other telegrams are not understood."""
    data = code.encode() + bytes(payload)
    driver = load_driver("angel_eye")(setting("angel_eye"), 0.0)
    heard = texts_of(driver.receive(encode_telegram(seq, data) * 3, 0.0))
    wants = {"D": 2, "d": 2, "S": 0}.get(code, len(payload))
    assert heard == (decode_angel_eye(encode_telegram(seq, data)) if len(payload) == wants else ["not understood"])


def test_a_simulated_angel_eye_numbers_the_cards_of_a_hand_from_one() -> None:
    """Public readers of a game's cards drop any other index."""
    device = AngelEyeDevice(random=Random(1))
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    device.outgoing()
    while device.mechanism.inside:
        device.mechanism.draw()
    cards = [piece for piece in TelegramReader().receive(device.outgoing()) if isinstance(piece, Telegram)][::3]
    hands = [(card.data[1] >> 4 & 7, card.data[1] & 0x0F) for card in cards]
    assert hands[:7] == [(0, 1), (1, 1), (0, 2), (1, 2), (0, 3), (1, 3), (0, 1)]
    assert len(hands) == 52
    assert {index for _, index in hands} == {1, 2, 3}


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("angel_eye", AngelEyeDevice),
        ("bee_tek", BeeTekDevice),
        ("bee_tek", partial(BeeTekDevice, mode="Game")),
        ("line_reader", LineReaderDevice),
        ("line_reader", partial(LineReaderDevice, ending=b"\r")),
    ],
)
@pytest.mark.parametrize("fault", ["", "unreadable", "double-draw", "jam"])
def test_a_whole_simulated_deck_is_decoded_independently(
    name: str, make: Callable[..., OneWayDevice], fault: str
) -> None:
    """This includes its faults: the device's side is checked as strictly as the driver."""
    device = make(random=Random(1))
    mechanism = device.mechanism
    mechanism.load(mechanism.shuffled_by_hand(), deck=1)
    if fault:
        mechanism.faults.planned.append(ArmedFault(fault, 20))
    while mechanism.inside:
        mechanism.draw()
        if mechanism.jammed:
            mechanism.clear_jam()
    stream = device.outgoing()
    tags = simulated_identifiers()
    driver = load_driver(name)(setting(name, card_table=tags), 0.0)
    heard = texts_of(driver.receive(stream, 0.0))
    assert heard == by_hand(name, stream, {identifier: card.code for identifier, card in tags.items()})
    lost = fault == "unreadable" and name != "bee_tek"
    cards = [what for what in heard if what == "unread card" or what.startswith("card ")]
    assert len(cards) == 52 - lost
