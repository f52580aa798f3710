"""Requests and answers of the local API, version 1. docs/api.md describes them."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.table.operations import AnyOperation
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed


class OperationRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /v1/operations`. `id` is the client's UUID: the same again gets the same answer.

    `round` is the one that the person looks at. `person` and `pin`: who does it, when it is not the person whom the
    socket's peer stands for; above the dealer's rank the PIN is always needed.
    """

    id: str
    round: int
    operation: AnyOperation
    person: str = ""
    pin: str = ""


class OperationAnswer(msgspec.Struct, frozen=True):
    """`accepted` or refused with a `code` and a sentence. `entry`: the journal entry that holds it, 0 for none."""

    accepted: bool
    entry: int = 0
    code: str = ""
    sentence: str = ""


def decode_operation_hook(expected: Any, value: Any) -> Any:
    """msgspec `dec_hook` for what people send: a `Card` as they write it, and nothing that only a device can know.

    Raises `ValueError` with a sentence, which msgspec passes on with the path of the field.
    """
    if expected is Card:
        return _card(value)
    if expected in (Concealed, Exposed, Evidence):
        raise ValueError(f"{expected.__name__} comes from a device and cannot be sent")
    raise NotImplementedError(f"{expected!r} has no place in an operation")


def _card(value: Any) -> Card:
    if not isinstance(value, str):
        raise ValueError("a card is written as text: rank and suit, as in KD, 10C or AS")
    return Card.parse(value)


def encode_hook(value: Any) -> Any:
    if isinstance(value, Card):
        return value.code
    raise NotImplementedError(f"{type(value).__name__} cannot be sent")


decode_request = msgspec.json.Decoder(OperationRequest, dec_hook=decode_operation_hook).decode
decode_answer = msgspec.json.Decoder(OperationAnswer).decode
encode = msgspec.json.Encoder(enc_hook=encode_hook).encode
