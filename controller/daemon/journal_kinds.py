"""Checks that inputs and events from a journal have the fields of their kind, and makes the form that followers get.

A holder of all keys can write anything into a journal. Kinds that this version does not know are not checked: a later
version may have written them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, get_args

import msgspec

from controller.api.feed import CHANGED, Published
from controller.journal.codec import UNKNOWN_CARD, decode_open, decode_published
from controller.journal.reader import JournaledDecision
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from firmware_bridge.cards import Concealed, Evidence

_EVIDENCE: Final = Evidence(b"")


def read_event(text: bytes) -> AnyEvent | None:
    """Return an event with a placeholder for each face-down card, or None for a kind that this version does not know.

    Raise `msgspec.MsgspecError` or ValueError for an event without the fields of its kind.
    """
    found: AnyEvent | None = _read(text, "event", _EVENTS, _EVENT_TAGS)
    return found


def check_input(text: bytes) -> None:
    """Raise the same errors as `read_event` for an input."""
    _read(text, "input", _INPUTS, _INPUT_TAGS)


def _read(text: bytes, field: str, decoder: msgspec.json.Decoder[Any], tags: frozenset[str]) -> Any:
    try:
        return decoder.decode(text)
    except msgspec.ValidationError:
        found = msgspec.json.decode(text)
        if not isinstance(found, dict) or not isinstance(found.get(field), str) or found[field] in tags:
            raise
        return None


def _sealed(expected: Any, value: Any) -> Any:
    """Decode a field of an input: a sealed value is represented by its number."""
    if expected is not Concealed and expected is not Evidence:
        return decode_open(expected, value)
    if type(value) is not int or value < 0:
        raise ValueError("a sealed item is a number")
    return UNKNOWN_CARD if expected is Concealed else _EVIDENCE


def _decoder(kinds: Any, hook: Callable[[Any, Any], Any]) -> tuple[msgspec.json.Decoder[Any], frozenset[str]]:
    tags = frozenset(str(one.__struct_config__.tag) for one in get_args(kinds) or (kinds,))
    return msgspec.json.Decoder(kinds, dec_hook=hook), tags


_EVENTS, _EVENT_TAGS = _decoder(AnyEvent, decode_published)
_INPUTS, _INPUT_TAGS = _decoder(AnyInput, _sealed)


def of_decision(decision: JournaledDecision) -> list[Published]:
    """Return a decision's events. Raise `msgspec.MsgspecError` or ValueError for one without the fields of its kind."""
    for event in decision.events:
        read_event(event)
    events = decision.events if decision.holds else [event[:-1] + CHANGED for event in decision.events]
    return published(decision.first, decision.utc_ns, decision.round, events)


def published(first: int, utc_ns: int, round_number: int, events: Sequence[bytes]) -> list[Published]:
    """Return the events of one decision, which the journal already holds in the form that anyone may read."""
    head = b',"utc_ns":%d,"round":%d,' % (utc_ns, round_number)
    return [
        Published(number, b'{"entry":%d%s%s' % (number, head, event[1:]))
        for number, event in enumerate(events, first + 1)
    ]
