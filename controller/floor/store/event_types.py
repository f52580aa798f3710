"""Checks whether a table publishes an event, using the types of the journal's events without the sealed fields."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from controller.journal.codec import decode_open
from controller.table.events import AnyEvent, Event
from firmware_bridge.cards import Card, Concealed

KNOWN: Final = frozenset(one.__struct_config__.tag for one in Event.__subclasses__())
_NAME: Final = re.compile(r"[a-z][a-z_]{0,63}")
_COMMITMENT: Final = re.compile(r"[0-9a-f]{64}")
_SOME_CARD: Final = Concealed(Card.numbered(1), 0, 0)


def check_event(name: str, event: msgspec.Raw) -> None:
    """Raise ValueError or `msgspec.MsgspecError` unless a table publishes such an event.

    An event of a later version has an unknown name; no view reads it.
    """
    if name in KNOWN:
        _EVENT.decode(event)
    elif not _NAME.fullmatch(name):
        raise ValueError("an event in it has an invalid name")


def _public(expected: Any, value: Any) -> Any:
    if expected is not Concealed:
        return decode_open(expected, value)
    if type(value) is dict and value.keys() == {"commitment"} and _COMMITMENT.fullmatch(str(value["commitment"])):
        return _SOME_CARD
    raise ValueError("no commitment to a card")


_EVENT: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(AnyEvent, dec_hook=_public)
