"""Whether a wager has conclusively won or lost already, from the cards known to the table (RTP 5.13, NC 5.4).

The casino chooses which cards count as known (setting `known_cards`). Where these are more than the cards shown, the
answer may disclose something about concealed cards, as the casino chose.
"""

from __future__ import annotations

from collections.abc import Iterator

from controller.rules.dealing_order import DEALER
from controller.rules.established import Sight, Sighting, established, known_under
from controller.rules.law import SettingError
from controller.table.model import Hand
from controller.table.state import TableState

BASIS = "known_cards"


def outcome_established(state: TableState) -> bool | None:
    """None: unknown, because no wagers are entered, a reading is not chosen, or a hand has a wrong count."""
    basis = state.law.chosen.get(BASIS, Sight.EXPOSED)
    placed = [(bet.box, bet.wager) for bet in state.layout.bets if f"B{bet.box}" in (*state.round.live_places, "B0")]
    try:
        found = established(state.law, placed, known_under(basis, _sightings(state)))
    except (SettingError, ValueError):
        return None
    return None if found is None else found.is_established


def _sightings(state: TableState) -> Iterator[Sighting]:
    live = {*state.round.live_places, DEALER}
    for place, hand in state.round.hands.items():
        yield from _of_hand(place if place in live else None, hand)
    if state.round.first_card is not None and state.round.first_card_shown is not None:
        yield None, state.round.first_card_shown, Sight.EXPOSED


def _of_hand(place: str | None, hand: Hand) -> Iterator[Sighting]:
    if hand.shown:
        yield from ((place, card, Sight.EXPOSED) for card in hand.shown)
        return
    for held in hand.cards:
        if held.face is not None:
            sight = Sight.EXPOSED if held.face_up else Sight.SEEN if hand.viewed else Sight.RECOGNISED
            yield place, held.face.expose(), sight
