"""Facts about the table, updated as its decisions are read: its name, the game, the people, the device."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.commands.journal.decisions import DecisionInRound, EventLine, Happened, line_of
from controller.commands.vocabulary import words_of
from controller.games import GAMES
from controller.games.own_words import OwnWords

OF_THE_TABLE: Final = frozenset(
    {"table_began", "game_chosen", "configuration_recorded", "device_ready", "dealer_came", "handed_over",
     "dealer_left", "service_changed"}
)  # fmt: skip
"""Events with facts about the table, each valid until the next of its kind."""
DECKS: Final = 8  # more than a table uses at a time; a device may number each deck that is put in


class Table(msgspec.Struct):
    """The table. `people` maps ids to names. `shuffles` holds the last shuffle by the device's number of a deck."""

    name: str = ""
    simulated: bool = False
    game: str = ""
    title: str = ""
    dealer: str = ""
    device: str = ""
    last_utc_ns: int = 0
    people: dict[str, str] = {}
    shuffles: dict[int, EventLine] = {}

    @property
    def words(self) -> OwnWords:
        """The game's words; the usual ones for a game that this version does not have."""
        return words_of(self.game if self.game in GAMES else "")

    def open_with(self, saved: Any) -> None:
        """Read the state with which a file begins, or as much as can be found in another version's state."""
        state = saved.get("table") or {}
        settings, configuration = state.get("settings") or {}, state.get("configuration") or {}
        self.game = settings.get("game", "")
        self.title = str(GAMES[self.game].title) if self.game in GAMES else ""
        self.people = {one["id"]: one["name"] for one in configuration.get("people", ())}
        self.dealer = (state.get("duty") or {}).get("dealer", "")
        device = state.get("device") or {}
        self.device = f"{device.get('kind', '')} {device.get('serial', '')}".strip()

    def take(self, decided: DecisionInRound, happened: Happened) -> None:
        event = happened.event
        self.last_utc_ns = decided.utc_ns
        match happened.name:
            case "table_began":
                self.name, self.simulated = event["table"], event["simulated"]
            case "game_chosen":
                self._play(event)
            case "configuration_recorded":
                self.people = {one["id"]: one["name"] for one in event["configuration"]["people"]}
            case "device_ready":
                self.device = f"{event['identity']['kind']} {event['identity']['serial']}"
            case "dealer_came":
                self.dealer = event["dealer"]
            case "handed_over":
                self.dealer = event["to_dealer"]
            case "dealer_left":
                self.dealer = ""
            case "deck_shuffled":
                known = [one for one in self.shuffles.items() if one[0] != event["deck"]]
                self.shuffles = dict([*known[1 - DECKS :], (event["deck"], line_of(decided, happened))])

    def _play(self, event: dict[str, Any]) -> None:
        self.game, self.title = event["settings"]["game"], event["title"]
