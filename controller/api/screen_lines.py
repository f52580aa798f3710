"""Events in a sentence each for the people at a screen: by names, and cards with the signs of their suits.

What a technician needs besides, as the path of a port, is in the line of the event itself: `controller.api.narration`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from controller.api.narration import tell
from controller.games.kind_words import KINDS
from controller.games.own_words import OwnWords
from controller.table.state import TableState

Names = Mapping[str, str]
"""What people of the configuration, screens and open matters are called, by id."""

NAMED_FIELDS: Final = frozenset(
    {"by", "noticed_by", "person", "dealer", "from_dealer", "to_dealer", "witness_id", "authority", "screen"}
)
SUITS: Final = {"S": "\u2660", "H": "\u2665", "D": "\u2666", "C": "\u2663"}
FACE: Final = re.compile(r"([2-9TJQKA])([SHDC])")
MATTER: Final = "#"  # before the entry of a matter; no person or screen has such an id
CABLE_OUT: Final = "transport-lost"
RECONCILING: Final = "reconciling"  # what the sentence of the table says, and what to do besides


def line_for_screens(event: dict[str, Any], words: OwnWords, names: Names) -> str | None:
    """A sentence for an event, None for one that is not shown. `words`: of the game that is played."""
    if event["event"] == "service_changed" and event.get("service") == RECONCILING:
        return None
    shown = {key: _shown(key, value, names) for key, value in event.items()}
    if event["event"] == "device_lost" and event.get("code") == CABLE_OUT:
        shown["sentence"] = "check its power and its cable"
    line = tell(shown, words)
    if not line:
        return None
    text = f"{line[:1].upper()}{line[1:]}"
    return text if text.endswith((".", "?", "!")) else f"{text}."


def names_with_screens(people: Names, state: TableState) -> Names:
    """What the people and the screens of the table, and the matters that are open, are called."""
    matters = {f"{MATTER}{found.id}": state.game.words.own(KINDS[found.kind]) for found in state.open}
    return {**people, **{screen.id: screen.name for screen in state.screens}, **matters}


def with_names(event: dict[str, Any], names: Names) -> dict[str, Any]:
    """The event with people by their names."""
    return {
        key: names.get(value, value) if key in NAMED_FIELDS and isinstance(value, str) else value
        for key, value in event.items()
    }


def _shown(key: str, value: Any, names: Names) -> Any:
    if key in NAMED_FIELDS and isinstance(value, str):
        return names.get(value, value)
    if key == "open" and isinstance(value, list):
        return [names.get(f"{MATTER}{one}", one) for one in value]
    if key == "cards" and isinstance(value, list):
        return [face(one) for one in value]
    return face(value) if key == "card" else value


def face(value: Any) -> Any:
    """A card's code with the sign of its suit; anything else as it is."""
    found = FACE.fullmatch(value) if isinstance(value, str) else None
    return f"{found[1].replace('T', '10')}{SUITS[found[2]]}" if found else value
