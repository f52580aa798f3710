"""What people do with the deck and with cards beside the device."""

from __future__ import annotations

import msgspec

from controller.rules.dealing_order import Place
from controller.table.operations.base import Operation


class ShuffledOutside(Operation, frozen=True, tag="shuffled_outside"):
    """The deck in the device was shuffled by hand or by a batch shuffler; for a shoe it stands for a shuffle.

    `deck`: a recorded deck, which need not lie in the device yet; it counts as shuffled when it is loaded.
    """

    by: str
    deck: str = ""


class CardAt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a card lies: the card that left the device as number `ordinal` of this round's shuffle.

    `place`: a place of the deal; or `dropped`, it lies on the floor; or `discards`, for the cards of a dead hand.
    """

    ordinal: int
    place: Place


class PlaceCards(Operation, frozen=True, tag="place_cards"):
    """Cards lie elsewhere than the order of the deal has it. A whole hand is named card by card.

    A card that was dropped and found is named with the place where it lies again.
    """

    cards: tuple[CardAt, ...]


class DealByHand(Operation, frozen=True, tag="deal_by_hand"):
    """The device is dead and play must go on: `cards` from the stub were dealt to the places whose turn it was."""

    cards: int
    because: str


class CountCards(Operation, frozen=True, tag="count_cards"):
    """A count by hand, with a witness. The last count of a pile stands.

    `pile`: `stub` (with a set in the tray), `tray`, `burnt`, `aside`, `dropped`, `discards`, a place (`B1`, `D`); or
    `deck`, the whole of it, between rounds; in a round that is the deck that waits for the next one.
    """

    pile: str
    number: int
    witness: str
