"""Events told in a line each, for people who follow a table without a screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Told = Callable[[dict[str, Any]], str]


def _cards(event: dict[str, Any]) -> str:
    return " ".join(event["cards"])


def _many(event: dict[str, Any]) -> str:
    count = len(event["cards"])
    return "a card" if count == 1 else f"{count} cards"


def _places(event: dict[str, Any]) -> str:
    places: list[str] = event["places"]
    return " ".join(dict.fromkeys(places))


def _raised(event: dict[str, Any]) -> str:
    row, note = event["row"], event["note"]
    at = f" at {event['place']}" if event["place"] else ""
    told = f"IRREGULARITY {row['id']}{at}: {row['because']} ({row['clause']}), noticed by {event['noticed_by']}"
    return f"{told}. {note}" if note else told


def _judged(event: dict[str, Any]) -> str:
    half = ", pays half" if event["half"] else ""
    return f"{event['place']}: {event['outcome'].upper()}, {event['hand']} against {event['dealer_hand']}{half}"


TELL: Final[dict[str, Told]] = {
    "table_began": lambda event: f"table {event['table']} began" + (" (SIMULATED)" if event["simulated"] else ""),
    "game_chosen": lambda event: f"game: {event['title']}, version {event['version']}",
    "device_ready": lambda event: f"device {event['identity']['serial']} is ready ({event['identity']['kind']})",
    "device_lost": lambda event: f"device lost: {event['sentence']}",
    "service_changed": lambda event: f"table {event['service'].replace('_', ' ')}: {event['cause']}",
    "deck_shuffled": lambda event: f"deck {event['deck']} shuffled, {event['count']} cards, by {event['by']}",
    "round_began": lambda event: f"round {event['round']} begins",
    "boxes_occupied": lambda event: f"wagers on boxes {', '.join(map(str, event['boxes']))}",
    "deal_began": lambda event: f"no more bets; dealing {event['order'].replace('_', ' ')} ({event['clause']})",
    "cards_dealt": lambda event: f"{_many(event)} to {_places(event)}",
    "cards_set_aside": lambda event: f"{_many(event)} set aside: {event['because']}",
    "card_found_face_up": lambda event: f"card {event['ordinal']} lies face up in the device: {event['card']}",
    "stub_counted": lambda event: f"stub: {event['count']} cards, {event['due']} due",
    "cards_counted": lambda event: f"{event['by']} counted {event['number']} cards, {event['due']} due",
    "hand_exposed": lambda event: f"{event['place']} shows {_cards(event)}",
    "hand_judged": _judged,
    "hand_removed": lambda event: f"{event['place']} is out of play, bets returned ({event['clause']})",
    "round_voided": lambda event: f"ROUND VOID ({event['clause']}): {event['text']}; all bets are returned",
    "irregularity_raised": _raised,
    "irregularity_confirmed": lambda event: f"confirmed: {event['row']['because']} ({event['row']['clause']})",
    "order_named": lambda event: f"order named: cards {', '.join(map(str, event['ordinals']))}",
    "option_chosen": lambda event: f"{event['place']} chooses to {event['choice']}",
    "ruled": lambda event: f"ruling: {event['action']}, by {event['authority']}: {event['text']}",
    "irregularity_resolved": lambda event: f"resolved: {event['outcome']} ({event['clause']}), by {event['by']}",
    "operation_refused": lambda event: f"refused: {event['sentence']}",
    "device_stopped": lambda event: f"device stopped: {event['cause']}",
    "device_freed": lambda event: f"device freed: {event['cause']}",
    "table_paused": lambda event: f"paused: {event['reason']}",
    "table_resumed": lambda event: "resumed",
}


def tell(event: dict[str, Any]) -> str | None:
    """A line for an event, None for those that only machines care about."""
    told = TELL.get(event["event"])
    if told is None and event["event"] == "phase_entered" and event["phase"] == "concluded":
        return f"round {event['round']} concluded"
    return told(event) if told else None
