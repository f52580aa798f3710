"""The part of a table's state that is reset when a round begins: a frozen value.

No rule is applied here; derived values are properties. Those that many decisions ask for are cached: they are computed
once for each state, and no caller changes them. The place of a card is *assumed* from the dealing order until its hand
is exposed.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from itertools import chain, takewhile

import msgspec

from controller.rules.dealing_order import DEALER, Place
from controller.rules.layout import Bet
from controller.rules.settlement import BetRuling
from controller.table.model import (
    Asking,
    BeforeCount,
    CardId,
    Closed,
    DueDown,
    Entered,
    Hand,
    HeldCard,
    PaidBox,
    Pile,
    SettledBet,
)
from controller.table.phases import Phase
from controller.table.settings import Settings
from firmware_bridge.cards import Card


class Round(msgspec.Struct, frozen=True, dict=True):
    """The state of a round. The previous round is kept while its errors may be reported.

    When the next deck comes into play, the places and piles of a round that is over are emptied: its cards are gone.

    `places`: the place of every card of the round, in dealing order. The first `dealt` of them are filled, by
    `dealt_cards` in this order. `read`: the cards that left the device in this round, in order.
    """

    number: int = 0
    deck: int = 0  # the device's name for the deck that the round is dealt from
    label: str = ""  # the table's record of it
    cancelled: bool = False  # no one bet: it does not count as a round
    begun_from: Phase | None = None  # the phase before its start
    settings_before: Settings | None = None  # those of the previous round, if others took effect with this one

    boxes: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()
    dealt: int = 0
    dealt_cards: tuple[CardId, ...] = ()
    read: tuple[HeldCard, ...] = ()
    face_down: tuple[DueDown, ...] = ()  # cards that people still have to put face down at their places
    turned: tuple[int, ...] = ()  # numbers of cards that came out face up and were turned down
    by_hand: bool = False  # the rest of the round is dealt by hand, without the device
    dealt_by_hand: tuple[CardId, ...] = ()  # a device that comes back may report these again
    first_card: HeldCard | None = None  # drawn to be shown; not yet, or never, dealt to a hand
    first_card_shown: Card | None = None
    hands: dict[Place, Hand] = {}
    piles: dict[Pile, tuple[HeldCard, ...]] = {}
    surplus: dict[str, int] = {}  # by pile: cards counted there by a person, less those known to be there
    before_counts: tuple[tuple[int, BeforeCount], ...] = ()  # by the entry of each count by hand
    taken_back: int = 0  # surplus cards taken out of hands, less those given to hands that lacked cards:
    # they are set aside, or back in the stub; a count will show
    examined: bool = False  # a person entered that the Players have examined their cards
    viewing: tuple[tuple[str, int], ...] = ()  # bettor and box, in the order in which they looked

    bets: tuple[Bet, ...] = ()
    withdrawn: tuple[tuple[str, int, str, int], ...] = ()  # bettor, box, clause and irregularity
    bet_rulings: tuple[tuple[int, BetRuling, int], ...] = ()  # bet, the ruling about it, and irregularity
    removed: tuple[tuple[int, str, int], ...] = ()  # boxes whose hand was removed, clause or authority, irregularity
    settlement: tuple[SettledBet, ...] = ()
    under_minimum: tuple[str, ...] = ()  # bettors who used their one bet below the minimum before (RTP 5.10)
    under_minimum_next: tuple[str, ...] = ()  # the same, after this round
    paid_before: bool = False  # chips were paid by a settlement that is no longer valid
    paid_as: tuple[SettledBet, ...] = ()  # the last settlement by which chips were paid or returned
    paid_boxes: tuple[PaidBox, ...] = ()  # the same if no bets are entered
    returning: bool = False  # the round does not begin, and its bets go back
    chips_paid: bool = False  # in a void round: every bet is recorded as returned
    conclusion_asked: bool = False
    conclusion_asking: Asking | None = None  # that request
    abandon_asked: tuple[str, ...] = ()  # person, authority and text of the first request
    abandon_asking: Asking | None = None  # that request

    closed: tuple[Closed, ...] = ()  # irregularities of the round that have ended
    entered: tuple[Entered, ...] = ()  # operations that may be corrected
    chose_to_go_on: bool = False  # only in states of earlier versions: `TableState.went_on` is derived from the choices
    voided_from: Phase | None = None  # the phase in which the round became void
    voided_by: int = 0  # the irregularity that made it void
    power_failure_raised: bool = False  # raised once per interruption, however often power was lost
    stub_stop_raised: bool = False  # a stop of the device after the deal was raised
    clock_doubted: bool = False  # the device's clock ran backwards
    differences: int = 0  # differences between the device's count and the journal
    placed_by: int = 0  # the last entry by which cards were moved, or found to lie elsewhere
    cards_may_have_passed: bool = False  # the device was away and cannot report what it did; nothing is raised yet

    @property
    def bets_to_return(self) -> bool:
        """Return whether the round is void or did not begin, and the return of its bets is not recorded."""
        return (self.voided_from is not None or self.returning) and not self.chips_paid

    @property
    def difference_due(self) -> bool:
        """Return whether chips were paid, the settlement was repeated, and the difference is not recorded as paid."""
        return bool(self.settlement) and self.voided_from is None and self.paid_before and not self.chips_paid

    @cached_property
    def places_due(self) -> tuple[Place, ...]:
        """Return the places of the cards that are still to be dealt, in order.

        If cards stay in the wrong place, a place may already have its number of cards: the card due there goes to the
        first place that lacks one. `intended` keeps the order of the deal.
        """
        due = self.places[self.dealt :]
        if self._filled_in_order or not self.misplaced:
            return due
        lacking = {place: self._lacks(place) for place in dict.fromkeys(self.places)}
        given = []
        for place in due:
            first = next((other for other, number in lacking.items() if number > 0), place)
            given.append(place if lacking[place] > 0 else first)
            lacking[given[-1]] -= 1
        return tuple(given)

    @property
    def _filled_in_order(self) -> bool:
        """Return whether no place has more cards than the order of the deal has given it so far."""
        given = self.places[: self.dealt]
        fell = [self.intended.get(card.id) for card in self.piles.get(Pile.DROPPED, ())]
        return all(hand.size + fell.count(place) <= given.count(place) for place, hand in self.hands.items())

    def go_to_one_hand(self, number: int) -> bool | None:
        """Return whether so many simultaneous cards go to one hand, or None if only people see where the dealer lays
        them.

        If the next place lacks fewer, the order of the deal puts the others at the following place, although the whole
        set may be laid at one.
        """
        due = self.places_due[:number]
        if len(set(due)) < 2:
            return True if due else None
        return None if due[0] == due[1] else False

    def _lacks(self, place: Place) -> int:
        """Return how many cards a place lacks. A card that fell from it counts as its own."""
        return self._lacks_dealt(place) - self.hands.get(place, Hand()).surplus

    def _lacks_dealt(self, place: Place) -> int:
        """Return how many cards a place lacks according to the cards known to be at it, whatever was counted."""
        fell = sum(self.intended.get(card.id) == place for card in self.piles.get(Pile.DROPPED, ()))
        return self.places.count(place) - len(self.hands.get(place, Hand()).cards) - fell

    @cached_property
    def next_place(self) -> Place | None:
        """Return the place of the next card, or None if the deal is complete or has not begun."""
        return next(iter(self.places_due), None)

    @cached_property
    def left_short(self) -> tuple[Place, ...]:
        """Return the places in play that lack cards once the rest is dealt: their cards are elsewhere."""
        if not self.dealt:
            return ()
        coming = Counter(self.places_due)
        return tuple(place for place in (*self.live_places, DEALER) if self._lacks_dealt(place) > coming[place])

    @cached_property
    def cards_due(self) -> int:
        """Return how many more cards the next place takes before it is another place's turn."""
        return sum(1 for _ in takewhile(lambda place: place == self.next_place, self.places_due))

    def bettors_at(self, place: Place) -> tuple[str, ...]:
        """Return who decides for the hand of a box: its bettors who did not withdraw; without entered bets, the box."""
        if not self.bets:
            return ("",)
        box = int(place[1:])
        gone = {bettor for bettor, at, _, _ in self.withdrawn if at == box}
        return tuple(dict.fromkeys(bet.bettor for bet in self.bets if bet.box == box and bet.bettor not in gone))

    @property
    def viewed_at(self) -> dict[str, int]:
        """Return the box at which each bettor looked first in this round."""
        return dict(reversed(self.viewing))

    @property
    def choosers(self) -> tuple[tuple[Place, str], ...]:
        """Return the place and bettor of each person who chooses if a clause gives options."""
        return tuple((place, bettor) for place in self.live_places for bettor in self.bettors_at(place))

    @cached_property
    def intended(self) -> dict[CardId, Place]:
        """Return the place to which each dealt card belongs, by the order of the deal.

        A card that the device counted twice has no known place.
        """
        intended = dict(zip(self.dealt_cards, self.places, strict=False))
        if len(intended) == len(self.dealt_cards):
            return intended
        times = Counter(self.dealt_cards)
        return {card: place for card, place in intended.items() if times[card] == 1}

    @cached_property
    def misplaced(self) -> dict[CardId, tuple[Place, Place]]:
        """Return the cards known to be in the wrong place: where they are, and where they belong."""
        intended, found = self.intended, {}
        for place, hand in self.hands.items():
            for card in hand.cards:
                belongs = intended.get((card.shuffle, card.ordinal), place)
                if belongs != place:
                    found[card.id] = (place, belongs)
        return found

    @property
    def out_of_place(self) -> dict[CardId, tuple[str, Place]]:
        """Return the cards that must be moved so that each is where it belongs: misplaced cards, and those on the
        floor.
        """
        intended = self.intended
        dropped = (card.id for card in self.piles.get(Pile.DROPPED, ()) if card.id in intended)
        return self.misplaced | {card: (str(Pile.DROPPED), intended[card]) for card in dropped}

    @property
    def removals(self) -> dict[int, str]:
        """Return the boxes whose hand was removed, with the clause or authority."""
        return {box: why for box, why, _ in self.removed}

    @property
    def withdrawals(self) -> dict[tuple[str, int], str]:
        """Return bettor and box of each withdrawal, with its clause."""
        return {(bettor, box): clause for bettor, box, clause, _ in self.withdrawn}

    @property
    def rulings(self) -> dict[int, BetRuling]:
        """Return the rulings on bets, by bet number."""
        return {number: ruling for number, ruling, _ in self.bet_rulings}

    @property
    def curable(self) -> bool:
        """Return whether moving complete hands from place to place would bring every card where it belongs.

        Cards on the floor or among the discards do not count as part of a hand.
        """
        beside = {card.id for card in chain.from_iterable(self.piles.values())}
        lying = [frozenset(card.id for card in hand.cards) for hand in self.hands.values() if hand.cards]
        belonging: dict[Place, set[CardId]] = {}
        for card, place in self.intended.items():
            if card in beside:
                continue
            belonging.setdefault(place, set()).add(card)
        return Counter(lying) == Counter(map(frozenset, belonging.values()))

    @property
    def handled(self) -> bool | None:
        """Return whether a Player has handled cards, or None if neither is stated."""
        return True if any(hand.handled for hand in self.hands.values()) else None

    @property
    def dealt_to(self) -> tuple[Place, ...]:
        """Return the places that get cards in this round."""
        return (*(f"B{number}" for number in self.boxes), "D")

    @cached_property
    def live_places(self) -> tuple[Place, ...]:
        """Return the Players' hands that are in play."""
        places = (f"B{number}" for number in self.boxes)
        return tuple(place for place in places if place not in self.hands or not self.hands[place].dead)

    def pile_size(self, pile: Pile) -> int:
        """Return the number of cards on a pile: by the last count, else those known to be on it."""
        return len(self.piles.get(pile, ())) + self.surplus.get(pile, 0)
