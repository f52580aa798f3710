"""Where the 52 cards of the deck in play are: the account that must come out whole (rules.md E1, house procedure)."""

from __future__ import annotations

import msgspec

from controller.rules.dealing_order import Place
from controller.table.model import Pile
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE


class Ledger(msgspec.Struct, frozen=True):
    """How many cards of the deck in play lie where; counts only, no faces.

    `stub`: what is left in the device, or came out of it after the deal. `hands`: dead ones too.
    """

    stub: int = 0
    tray: int = 0
    hands: tuple[tuple[Place, int], ...] = ()
    first_card: int = 0
    burnt: int = 0
    aside: int = 0
    dropped: int = 0
    discards: int = 0

    @property
    def in_hands(self) -> int:
        return sum(count for _, count in self.hands)

    @property
    def beside(self) -> int:
        """Cards that lie neither in the stub, nor in the tray, nor in a hand."""
        return self.first_card + self.burnt + self.aside + self.dropped + self.discards

    @property
    def total(self) -> int:
        return self.stub + self.tray + self.in_hands + self.beside

    @property
    def whole(self) -> bool:
        return self.total == DECK_SIZE


def ledger_of(state: TableState) -> Ledger | None:
    """The account as it stands; None while no deck is in play, or that deck has still to be counted after maintenance.

    The stub is as it was counted last; until then as many as were loaded, less what the device says has left it.
    """
    deck = state.decks.in_play
    if not deck.deck or state.decks.count_due or state.phase is Phase.MAINTENANCE:
        return None
    size = deck.by_count if deck.by_count is not None else deck.loaded or DECK_SIZE
    hands = tuple((place, hand.size) for place, hand in sorted(state.round.hands.items())) if deck.used else ()
    return Ledger(
        stub=size - deck.dispensed,
        tray=len(state.decks.tray),
        hands=hands,
        first_card=int(deck.used and state.round.first_card is not None),
        burnt=state.round.pile_size(Pile.BURNT),
        aside=state.aside_size,
        dropped=state.round.pile_size(Pile.DROPPED),
        discards=state.round.pile_size(Pile.DISCARDS),
    )
