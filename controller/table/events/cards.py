"""The deck, and cards that leave the device."""

from __future__ import annotations

import msgspec

from controller.rules.dealing_order import Place
from controller.table.events.base import Event
from controller.table.model import HeldCard
from firmware_bridge.cards import Card, Concealed, Exposed


class DeckArrived(Event, frozen=True, tag="deck_arrived"):
    """`waiting`, here and below: it is about the deck that waits for the next round, not about the one in play."""

    deck: int
    count: int | None
    shuffle: int | None = None
    waiting: bool = False


class ShuffleBegan(Event, frozen=True, tag="shuffle_began"):
    deck: int
    waiting: bool = False


class DeckShuffled(Event, frozen=True, tag="deck_shuffled"):
    """A completed shuffle. `by`: the device, or the person who says so. `face_up`: so many cards lie face up in it."""

    deck: int
    shuffle: int
    count: int
    by: str = "device"
    face_up: int = 0
    waiting: bool = False


class ShuffleFailed(Event, frozen=True, tag="shuffle_failed"):
    deck: int
    waiting: bool = False


class CardFoundFaceUp(Event, frozen=True, tag="card_found_face_up"):
    """The card that will leave as number `ordinal` lies face up in the device; nobody at the table has seen it."""

    ordinal: int
    card: Concealed | None = None
    waiting: bool = False


class SetInTray(Event, frozen=True, tag="set_in_tray"):
    cards: tuple[HeldCard, ...]
    remaining: int


class CardsSetAside(Event, frozen=True, tag="cards_set_aside"):
    """Cards left the device and belong to no place yet."""

    cards: tuple[HeldCard, ...]
    from_tray: bool
    because: str


class CardsBurnt(Event, frozen=True, tag="cards_burnt"):
    """Cards went to the burnt pile before the first one was dealt. `source`: device, tray, aside, by_hand."""

    cards: tuple[HeldCard, ...]
    source: str


class CardsStrayed(Event, frozen=True, tag="cards_strayed"):
    """Cards of the waiting deck left the device: none of the 52 that the round is dealt from."""

    deck: int
    cards: tuple[HeldCard, ...]


class FirstCardDrawn(Event, frozen=True, tag="first_card_drawn"):
    """The card that will say where the deal begins left the device. `source`: device, tray, aside."""

    card: HeldCard
    source: str


class FirstCardShown(Event, frozen=True, tag="first_card_shown"):
    """It lies open. `revealed` opens the commitment to it, where the device had read it."""

    card: Card
    clause: str
    revealed: Exposed | None = None


class CardsDealt(Event, frozen=True, tag="cards_dealt"):
    """Cards came to their places, as the dealing order assumes. `source`: device, tray, aside, first_card."""

    places: tuple[Place, ...]
    cards: tuple[HeldCard, ...]
    source: str


class CardMoved(msgspec.Struct, frozen=True):
    """One card goes from a place to another. Either may be a pile: dropped, discards."""

    shuffle: int
    ordinal: int
    source: Place
    place: Place


class CardsFoundElsewhere(Event, frozen=True, tag="cards_found_elsewhere"):
    """A person says where cards really lie; until then their places were assumed from the order of the deal."""

    cards: tuple[CardMoved, ...]


class CardsReconstructed(Event, frozen=True, tag="cards_reconstructed"):
    """Cards were put where they belong. `whole_hands`: complete hands were moved, and nothing else."""

    cards: tuple[CardMoved, ...]
    clause: str
    irregularity: int
    whole_hands: bool
    place: Place | None = None  # where a wrong number of cards lay, and lies no more


class DealtByHand(Event, frozen=True, tag="dealt_by_hand"):
    """From here on the round is dealt by hand from the stub, without the device."""

    because: str


class CardsCounted(Event, frozen=True, tag="cards_counted"):
    """A count by hand, whatever it decides."""

    pile: str
    number: int
    due: int
    by: str
    witness: str


class StubCounted(Event, frozen=True, tag="stub_counted"):
    """What was left after the deal, a set in the tray included. `by`: device, or the person who counted.

    `in_device`: it was counted where it lies; otherwise it came out, and the tray is empty. `midway`: the deal is not
    over; the tray is as it was, and what is left is counted again after the deal.
    """

    count: int
    due: int
    by: str
    in_device: bool = False
    midway: bool = False


class DeckCountedWhole(Event, frozen=True, tag="deck_counted_whole"):
    """After maintenance all 52 cards were counted. `by`: device, or the person who counted."""

    deck: int
    by: str
    witness: str = ""
