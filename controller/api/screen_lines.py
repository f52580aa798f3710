"""Events as sentences for people at a screen: with people's names, and with suit signs on cards.

Details for technicians, such as the path of a port, are in the event's other line (`controller.api.narration`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controller.api.narration import line_of
from controller.games.own_words import OwnWords
from controller.games.specification import KINDS
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, message

Names = Mapping[str, AnyText]
"""Names of the configuration's people, of screens and of open matters, by id."""

NAMED_FIELDS: Final = frozenset(
    {"by", "noticed_by", "person", "dealer", "from_dealer", "to_dealer", "witness_id", "authority", "screen"}
)
SUITS: Final = {"S": "\u2660", "H": "\u2665", "D": "\u2666", "C": "\u2663"}
FACE: Final = re.compile(r"([2-9TJQKA])([SHDC])")
MATTER: Final = "#"  # precedes the entry of a matter; no person's or screen's id has it
CABLE_OUT: Final = "transport-lost"
RECONCILING: Final = "reconciling"  # the table's own sentence says it, with the next step


def line_for_screens(event: dict[str, Any], words: OwnWords, names: Names) -> Message | None:
    """Return a sentence for an event, or None if it is not shown. `words`: those of the game in play."""
    if event["event"] == "service_changed" and event.get("service") == RECONCILING:
        return None
    shown = as_people_say(event, names)
    if event["event"] == "device_lost" and event.get("code") == CABLE_OUT:
        shown["sentence"] = message("check its power and its cable")
    line = line_of(shown, words)
    return line and message("{line}.", line=line)


def names_with_screens(people: Names, state: TableState) -> Names:
    """Return the names of the table's people and screens, and of open matters."""
    matters = {f"{MATTER}{found.id}": state.game.words.own(KINDS[found.kind]) for found in state.open}
    return {**people, **{screen.id: screen.name for screen in state.screens}, **matters}


def with_names(event: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return the event with people's names instead of their ids."""
    return {
        key: names.get(value, value) if key in NAMED_FIELDS and isinstance(value, str) else value
        for key, value in event.items()
    }


def as_people_say(event: dict[str, Any], names: Names) -> dict[str, Any]:
    """Return the event with names instead of ids, and with signs of suits on its cards."""
    return {key: _shown(key, value, names) for key, value in with_names(event, names).items()}


def _shown(key: str, value: Any, names: Names) -> Any:
    if key == "open" and isinstance(value, list):
        return [names.get(f"{MATTER}{one}", one) for one in value]
    if key == "cards" and isinstance(value, list):
        return [face(one) for one in value]
    return face(value) if key == "card" else value


def face(value: Any) -> Any:
    """Return a card's code with the sign of its suit; other values unchanged."""
    found = FACE.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1].replace('T', '10')}{SUITS[found[2]]}" if found else value
