"""Says why a body cannot be read, without revealing a card: frame, field and limit.

msgspec names the place in the array and what it expected there, but not the value. The value is added if it is a number
and the message has no cards.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.messages import Kind

_BODIES: Final[dict[int, type[messages.Body]]] = {
    Kind.IDENTITY: messages.Identity,
    Kind.DEVICE_PROOF: messages.Proof,
    Kind.REJECT: messages.Reject,
    Kind.SEALED_REJECT: messages.Reject,
    Kind.STATUS: messages.Status,
    Kind.ANSWER: messages.Answer,
}
_REPORTS: Final = {report.__struct_config__.tag: report for report in messages.Report.__subclasses__()}
_OF_CARDS: Final = frozenset({"card", "cards"})  # fields; for a message that has one of these, no value is shown
_PLACE: Final = re.compile(r"(?P<expected>.*) - at `\$\[(?P<place>\d+)\](?P<inside>.*)`", re.DOTALL)
_SHORT: Final = re.compile(r"Expected `array` of at least length (?P<least>\d+), got (?P<got>\d+)")
_LIMIT: Final = {"<=": "at most", ">=": "at least"}


def why_unreadable(kind: int, body: bytes, error: Exception) -> str:
    """Return what is wrong with the body of a frame of this kind, whose decoding raised `error`."""
    frame = _frame_name(kind)
    if not isinstance(error, msgspec.ValidationError):
        return f"{frame}: the body is no whole MessagePack array"
    try:
        array = msgspec.msgpack.decode(body)
    except (ValueError, TypeError, RecursionError):  # in fields that a newer device added
        return f"{frame}: a field is not as it should be"
    if not isinstance(array, list):
        return f"{frame}: the body is no array"
    if kind != Kind.REPORT:
        body_type = _BODIES.get(kind)
        names = () if body_type is None else body_type.__struct_fields__
        return f"{frame}: {_field(str(error), names, array)}"
    report = _REPORTS.get(array[0]) if array and type(array[0]) is int else None
    if report is None:
        return f"{frame}: this version knows no report with its tag"
    return f"{frame} {_words(report)}: {_field(str(error), ('tag', *report.__struct_fields__), array)}"


def _frame_name(kind: int) -> str:
    return Kind(kind).name.lower().replace("_", " ")


def _words(struct: type[msgspec.Struct]) -> str:
    """Return the name as docs/cardlink.md writes it: CardDrawn is "card drawn"."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", struct.__name__).lower()


def _field(error: str, names: tuple[str, ...], array: list[Any]) -> str:
    if short := _SHORT.fullmatch(error):
        return f"{short['got']} fields, at least {short['least']}"
    found = _PLACE.fullmatch(error)
    if found is None or int(found["place"]) >= len(names):
        return "a field is not as it should be"
    place = int(found["place"])
    value = array[place]
    tells = not found["inside"] and type(value) is int and not _OF_CARDS.intersection(names)
    is_value = f"is {value}" if tells else "is out of its limits"
    expected = found["expected"].replace("`", "").removeprefix("Expected ")
    kind, _, limit = expected.partition(" ")
    sign, _, bound = limit.partition(" ")
    if sign in _LIMIT and bound.lstrip("-").isdigit():
        return f"field {names[place]} {is_value}, {_LIMIT[sign]} {bound}"
    return f"field {names[place]} is no {kind.rstrip(',')}"
