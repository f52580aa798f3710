"""Requests of people: cards in the forms that people write, and nothing that only a device can know."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from controller.api.bodies import decode_operation_hook, decode_request
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed


class Asked(msgspec.Struct):
    card: Card | None = None
    cards: tuple[Card, ...] = ()


def ask(body: str, type_: Any = Asked) -> Any:
    return msgspec.json.decode(body, type=type_, dec_hook=decode_operation_hook)


def test_people_write_cards_as_they_do() -> None:
    assert ask('{"card":"10D","cards":["kd"," as "]}') == Asked(Card.parse("TD"), (Card.parse("KD"), Card.parse("AS")))
    assert ask('{"card":null}') == Asked()


@pytest.mark.parametrize(("card", "sentence"), [('"XX"', "'XX' is not a card; write"), ("7", "is written as text")])
def test_an_invalid_card_is_reported_with_its_place(card: str, sentence: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=rf"{sentence}.*\$\.card"):
        ask(f'{{"card":{card}}}')


@pytest.mark.parametrize("type_", [Concealed, Exposed, Evidence])
def test_people_cannot_send_values_that_only_a_device_knows(type_: type) -> None:
    with pytest.raises(msgspec.ValidationError, match="comes from a device"):
        ask('{"card":"KD"}', type_)


def test_other_types_are_not_operations() -> None:
    with pytest.raises(NotImplementedError, match="complex"):
        ask('"1"', complex | None)


@pytest.mark.parametrize(
    "fields",
    [
        '"operation":{"operation":"pause_table","reason":"lunch","reason":"a brawl"}',
        '"operation":{"operation":"resume_table"},"operation":{"operation":"pause_table","reason":"x"}',
        '"person":"dana","operation":{"operation":"resume_table"},"person":"sam"',
        r'"person":"dana","operation":{"operation":"resume_table"},"p\u0065rson":"sam"',
    ],
)
def test_a_field_that_is_there_twice_is_refused(fields: str) -> None:
    with pytest.raises(ValueError, match=r"the field `\w+` appears twice"):
        decode_request(b'{"id":"1","round":0,%s}' % fields.encode())
