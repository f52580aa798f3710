"""Renders the line of each event, which stands with its class in `controller/table/events`.

An event from a journal or a client is JSON, perhaps of another version and always without faces that are still
concealed. An event that this version does not know is only named.
"""

from __future__ import annotations

import re
from typing import Any, Final, TypeAlias

import msgspec

from controller.games.own_words import OwnWords
from controller.table import events
from controller.table.events.lines import USUAL, Fields, as_written, line_for
from controller.table.permissions import PERMISSIONS
from firmware_bridge.messages import Message
from firmware_bridge.plain_text import with_plain_texts

LONGEST_SHOWN: Final = 1000  # characters of one text; the program's own sentences are shorter

MESSAGE_FIELDS: Final = frozenset(Message.__struct_fields__)
PLACE: Final = re.compile(r"B[1-9][0-9]?|D")
PLACE_FIELDS: Final = frozenset({"pile", "place", "places", "source"})

EVENTS: Final = {str(kind.__struct_config__.tag): kind for kind in events.ALL}
PHRASES: Final = {str(kind.__struct_config__.tag): row.phrase for kind, row in PERMISSIONS.items()}
"""Phrases for what people do, by the operation's tag."""

Event: TypeAlias = dict[str, Any]


def with_messages(value: Any) -> Any:
    """Return a value of an event with its messages, which the journal has as objects."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and value.keys() <= MESSAGE_FIELDS:
            return msgspec.convert(value, Message)
        return {key: with_messages(one) for key, one in value.items()}
    return [with_messages(one) for one in value] if isinstance(value, list) else value


def line_of(event: Event, words: OwnWords = USUAL) -> Message | None:
    """Return the line of an event, or None if it is not shown. `words`: those of the game in play."""
    event = with_plain_texts(event, LONGEST_SHOWN)
    try:
        return _line(with_messages(event), words)
    except (KeyError, TypeError, ValueError):  # a daemon of another version has other fields
        return as_written(str(event["event"]))


def _line(event: Event, words: OwnWords) -> Message | None:
    name = str(event["event"])
    if name not in EVENTS:
        return as_written(name)
    line = EVENTS[name].line
    return None if line is None else line_for(line, Fields(_prepared(event, words), words))


def _prepared(event: Event, words: OwnWords) -> Event:
    """Return the event with its places, and those of its cards, in the words of the game, and operations by name."""
    named = {
        key: _place_named(value, words) if key in PLACE_FIELDS else _operation_named(value)
        for key, value in event.items()
    }
    cards = event.get("cards")
    if isinstance(cards, list) and cards and isinstance(cards[0], dict):
        named["cards"] = [_prepared(card, words) for card in cards]
    elif isinstance(cards, list) and cards and isinstance(cards[0], list):
        named["cards"] = _place_named(cards, words)
    return named


def _place_named(value: Any, words: OwnWords) -> Any:
    if isinstance(value, list):
        return [_place_named(one, words) for one in value]
    return words.of(value) if isinstance(value, str) and PLACE.fullmatch(value) else value


def _operation_named(value: Any) -> Any:
    if not isinstance(value, dict) or not isinstance(tag := value.get("operation"), str):
        return value
    return PHRASES.get(tag) or as_written(tag)
