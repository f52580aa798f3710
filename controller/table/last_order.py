"""The order of the last round comes again: then the cards were not shuffled (I03).

Both orders stay concealed. That they are the same is all that is ever told: no card, no number, no place.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from controller.table.decision import Decision
from controller.table.inputs import DeviceReported
from controller.table.irregularities.raising import INFERENCE, already_open, raise_irregularity
from controller.table.model import HeldCard
from controller.table.state import TableState

ENOUGH: Final = 6  # recognised cards; by chance six are the same once in 14.6 thousand million shuffles


def notice_last_order(decision: Decision, given: DeviceReported, count: int) -> None:
    """`count`: how many cards have just left. It is looked at once, when the sixth card of a shuffle is recognised."""
    state = decision.state
    recognised = _recognised(state.round.read)
    before = len(_recognised(state.round.read[: len(state.round.read) - count]))
    if not before < ENOUGH <= len(recognised):
        return
    if _is_last_order(state, recognised[:ENOUGH]) and not already_open(decision, Kind.UNSHUFFLED):
        note = "the device read the first cards in the order of the round before"
        raise_irregularity(decision, Kind.UNSHUFFLED, noticed_by=INFERENCE, report=given, note=note)


def _recognised(cards: tuple[HeldCard, ...]) -> list[HeldCard]:
    return [card for card in cards if card.face is not None]


def _is_last_order(state: TableState, cards: list[HeldCard]) -> bool:
    last = {card.ordinal: card.face for card in state.decks.last_order}
    for card in cards:
        face = last.get(card.ordinal)
        if face is None or card.face is None or not face.has_same_face(card.face):
            return False
    return True
