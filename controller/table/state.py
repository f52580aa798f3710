"""What the table knows: a frozen value, the fold of its events. Nothing here judges; derived questions are methods.

The place of a card is *assumed* from the dealing order until its hand is exposed.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

import msgspec

from controller.games import game
from controller.games.specification import Game, Grammar, Kind, Unit
from controller.rules.dealing_order import Place
from controller.rules.law import Law
from controller.rules.layout import Bet, Bettor, Layout, Limit, TableRules
from controller.rules.settlement import BetRuling
from controller.table.model import (
    ASIDE,
    Answer,
    CardId,
    Closed,
    Deck,
    Device,
    Entered,
    Hand,
    HeldCard,
    Irregularity,
    Pile,
    RecordedDeck,
    Restrictions,
    SettledBet,
)
from controller.table.phases import CARDS_LEAVE, IN_ROUND, Condition, Phase, Service
from controller.table.settings import Settings, law_of
from firmware_bridge.cards import DECK_SIZE, Card


class Decks(msgspec.Struct, frozen=True):
    """The decks of the table, and what left the one in play and is in no hand. Outlives a round, not its deck."""

    in_play: Deck = Deck()
    waiting: Deck | None = None  # in the device as well: it waits for the next round
    tray: tuple[HeldCard, ...] = ()
    aside: tuple[HeldCard, ...] = ()  # out of the device, given to no place
    recorded: tuple[RecordedDeck, ...] = ()  # that belong to the table
    keeps_records: bool = False  # once a deck was recorded, only recorded decks are dealt from
    count_due: bool = False  # after maintenance, until the whole deck was counted
    last_order: tuple[HeldCard, ...] = ()  # what left the device in the last round in which something did

    @property
    def coming(self) -> Deck:
        """The deck that the next round would be dealt from: the waiting one, once the other is dealt from."""
        spent = not self.in_play.deck or self.in_play.used or self.quarantine_of(self.in_play)
        return self.waiting if self.waiting is not None and spent else self.in_play

    def record(self, label: str) -> RecordedDeck | None:
        return next((record for record in self.recorded if record.label == label), None)

    def quarantine_of(self, deck: Deck) -> str:
        """Why a deck in the device is out of use; empty when it is not."""
        record = self.record(deck.label)
        return deck.quarantined or (record.quarantined if record else "")


class Duty(msgspec.Struct, frozen=True):
    """Who deals, and why the table stands still: matters of the table, not of a round."""

    dealer: str = ""  # who is on duty; no one is asked whether it was this person who did something
    paused: str = ""  # why
    maintenance: str = ""  # why the table is under maintenance
    began_closed: bool = False  # the maintenance began at a closed table
    began_concluded: bool = False  # it began after a round that may still be found to be in error


class Round(msgspec.Struct, frozen=True):
    """All that begins again with a round. The one before is kept whole while errors of it may be raised.

    `places` is the place of every card of the round, in dealing order; the first `dealt` of them are filled, by
    `dealt_cards` in this order. `read` is what left the device in this round, in the order of leaving.
    """

    number: int = 0
    deck: int = 0  # the device's name for the deck that the round is dealt from
    label: str = ""  # and the table's record of it
    cancelled: bool = False  # it was begun by mistake: it is no round

    boxes: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()
    dealt: int = 0
    dealt_cards: tuple[CardId, ...] = ()
    read: tuple[HeldCard, ...] = ()
    by_hand: bool = False  # the rest of the round is dealt by hand, without the device
    dealt_by_hand: tuple[CardId, ...] = ()  # a device that comes back may report these again
    first_card: HeldCard | None = None  # drawn to be shown; it lies beside the hands, or is dealt as the first of them
    first_card_shown: Card | None = None
    hands: dict[Place, Hand] = {}
    piles: dict[Pile, tuple[HeldCard, ...]] = {}
    surplus: dict[str, int] = {}  # by pile: how many more (or fewer) a person counted there than were known of
    viewing: tuple[tuple[str, int], ...] = ()  # bettor and box, in the order in which they looked

    bets: tuple[Bet, ...] = ()
    withdrawn: tuple[tuple[str, int, str, int], ...] = ()  # bettor, box, clause and irregularity
    bet_rulings: tuple[tuple[int, BetRuling, int], ...] = ()  # bet, what is ruled of it, and irregularity
    removed: tuple[tuple[int, str, int], ...] = ()  # boxes whose hand was removed, by what, and irregularity
    settlement: tuple[SettledBet, ...] = ()
    under_minimum: tuple[str, ...] = ()  # whose one time under the minimum was used up before this round (RTP 5.10)
    under_minimum_next: tuple[str, ...] = ()  # and after it
    chips_paid: bool = False
    conclusion_asked: bool = False
    abandon_asked: tuple[str, ...] = ()  # person, authority and text of the first asking

    closed: tuple[Closed, ...] = ()  # its irregularities that have ended
    entered: tuple[Entered, ...] = ()  # what may be corrected
    chose_to_go_on: bool = False  # a bettor did, after an error of this round
    voided_from: Phase | None = None  # the phase in which the round became void
    voided_by: int = 0  # and the irregularity by which it did
    power_failure_raised: bool = False  # in this interruption; one claim is enough
    stub_stop_raised: bool = False  # the device stood still after the deal, and it was raised
    clock_doubted: bool = False  # the device's clock ran backwards
    cards_may_have_passed: bool = False  # the device was away and cannot tell what it did; not yet asked about

    @property
    def next_place(self) -> Place | None:
        """The place that the next card belongs to; None when the deal is whole or has not begun."""
        return self.places[self.dealt] if self.dealt < len(self.places) else None

    @property
    def cards_due(self) -> int:
        """How many more cards the next place takes before another one's turn."""
        place, due = self.next_place, 0
        while self.dealt + due < len(self.places) and self.places[self.dealt + due] == place:
            due += 1
        return due

    def bettors_at(self, place: Place) -> tuple[str, ...]:
        """Who has a say about the hand of a box: those who bet there and did not withdraw; none entered: the box."""
        if not self.bets:
            return ("",)
        box = int(place[1:])
        gone = {bettor for bettor, at, _, _ in self.withdrawn if at == box}
        return tuple(dict.fromkeys(bet.bettor for bet in self.bets if bet.box == box and bet.bettor not in gone))

    @property
    def viewed_at(self) -> dict[str, int]:
        """The box at which each bettor looked first in this round."""
        return dict(reversed(self.viewing))

    @property
    def choosers(self) -> tuple[tuple[Place, str], ...]:
        """Place and bettor of everybody who chooses where a clause gives options."""
        return tuple((place, bettor) for place in self.live_places for bettor in self.bettors_at(place))

    @property
    def intended(self) -> dict[CardId, Place]:
        """To which place each card that was dealt belongs, by the order of the deal.

        One that the device counted twice has no known place.
        """
        times = Counter(self.dealt_cards)
        return {card: place for card, place in zip(self.dealt_cards, self.places, strict=False) if times[card] == 1}

    @property
    def misplaced(self) -> dict[CardId, tuple[Place, Place]]:
        """Cards that lie elsewhere than they belong, as far as people said so: where they lie, where they belong."""
        intended = self.intended
        return {
            card.id: (place, intended[card.id])
            for place, hand in self.hands.items()
            for card in hand.cards
            if intended.get(card.id, place) != place
        }

    @property
    def curable(self) -> bool:
        """Whether moving complete hands from place to place would bring every card where it belongs.

        What lies on the floor or was put to the discards is of no hand for the time being.
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
        """Whether a Player has handled cards; None: not stated, neither that one has nor that none has."""
        return True if any(hand.handled for hand in self.hands.values()) else None

    @property
    def live_places(self) -> tuple[Place, ...]:
        """The Players' hands that are in play."""
        places = (f"B{number}" for number in self.boxes)
        return tuple(place for place in places if place not in self.hands or not self.hands[place].dead)

    def pile_size(self, pile: Pile) -> int:
        """How many cards lie on a pile: as counted, else as known."""
        return len(self.piles.get(pile, ())) + self.surplus.get(pile, 0)


class TableState(msgspec.Struct, frozen=True):
    """All that decisions rest on, grouped by how long it lasts. `entry` is the last journal entry folded."""

    table: str = ""
    simulated: bool = False
    entry: int = 0
    settings: Settings | None = None
    settings_wait: Settings | None = None  # take effect after the round
    phase: Phase = Phase.CLOSED
    service: Service = Service.OUT_OF_SERVICE
    service_cause: str = "the daemon has just started"
    host_boot: str = ""  # which start of the PC the daemon runs in
    device: Device = Device()
    decks: Decks = Decks()
    duty: Duty = Duty()
    round: Round = Round()
    earlier: Round | None = None  # the one before it that was played, while errors of it may be raised
    open: tuple[Irregularity, ...] = ()  # of the round, the one before, or the deck that waits
    bettors: tuple[Bettor, ...] = ()
    bets_numbered: int = 0  # the last number given to a bet; none is given twice
    restrictions: Restrictions = Restrictions()
    answers: tuple[Answer, ...] = ()

    @property
    def game(self) -> Game:
        assert self.settings is not None, "no game has been chosen"
        return game(self.settings.game)

    @property
    def law(self) -> Law:
        assert self.settings is not None, "no game has been chosen"
        return law_of(self.settings)

    @property
    def grammar(self) -> Grammar:
        assert self.settings is not None, "no game has been chosen"
        return self.game.grammar(self.settings.unit)

    @property
    def in_round(self) -> bool:
        return self.phase in IN_ROUND

    @property
    def held(self) -> bool:
        """Whether nothing may be dealt: the table is paused or an irregularity is open that blocks."""
        return bool(self.duty.paused) or (bool(self.open) and any(irregularity.blocks for irregularity in self.open))

    @property
    def holds_cards(self) -> bool:
        """Whether a card that the device tells of now was taken out of turn, because the table is held.

        What it had kept when the power failed left it before anybody held the table.
        """
        if self.service is Service.RECONCILING and not self.device.status_agrees and not self.duty.paused:
            return any(found.blocks and found.kind is not Kind.POWER_FAILURE for found in self.open)
        return self.held

    @property
    def layout(self) -> Layout:
        """What lies on the layout, and who bets there."""
        return Layout(self.bettors, self.round.bets, self.bets_numbered)

    @property
    def table_rules(self) -> TableRules:
        """What casino and pit manager set for wagers here."""
        assert self.settings is not None, "no game has been chosen"
        limits = {limit.wager: Limit(limit.minimum, limit.maximum or None) for limit in self.settings.limits}
        restricted = self.restrictions
        return TableRules(
            self.settings.box_count,
            limits,
            frozenset(restricted.closed_boxes),
            dict(restricted.fewer_wagers),
            frozenset(restricted.one_box),
        )

    @property
    def layout_in_play(self) -> Layout:
        """What lies on the layout without the bets that were withdrawn."""
        gone = {(bettor, box) for bettor, box, _, _ in self.round.withdrawn}
        bets = tuple(bet for bet in self.layout.bets if (bet.bettor, bet.box) not in gone)
        return msgspec.structs.replace(self.layout, bets=bets)

    @property
    def aside_size(self) -> int:
        """How many cards are set aside: as counted, else as known."""
        return len(self.decks.aside) + self.round.surplus.get(ASIDE, 0)

    @property
    def stub_due(self) -> int:
        """How many of the 52 must be left over: in the device, with a set that waits in the tray.

        After maintenance all of them: nothing lies on the table any more.
        """
        if self.decks.count_due:
            return DECK_SIZE
        hands = sum(hand.size for hand in self.round.hands.values()) + (self.round.first_card is not None)
        piles = sum(self.round.pile_size(pile) for pile in (Pile.BURNT, Pile.DROPPED, Pile.DISCARDS))
        return DECK_SIZE - (hands if self.decks.in_play.used else 0) - self.aside_size - piles

    @property
    def burn_due(self) -> int:
        """How many cards are still to be burnt before the first one is dealt."""
        if (
            self.settings is None
            or self.phase not in CARDS_LEAVE
            or self.round.dealt
            or self.round.first_card is not None
        ):
            return 0
        return max(0, self.settings.burn - len(self.round.piles.get(Pile.BURNT, ())))

    @property
    def other_deck_in(self) -> bool:
        """Whether another recorded deck than that of the last round lies in the device now.

        The device's number does not tell: a deck that is put in again may have another.
        """
        return bool(self.decks.in_play.label and self.round.label) and self.decks.in_play.label != self.round.label

    @property
    def conditions(self) -> frozenset[Condition]:
        """What the transition tables may depend on."""
        holds = {Condition.IN_ROUND if self.in_round else Condition.BETWEEN_ROUNDS}
        if self.duty.began_closed:
            holds.add(Condition.BEGAN_CLOSED)
        if self.duty.began_concluded:
            holds.add(Condition.BEGAN_CONCLUDED)
        if self.settings is not None:
            if self.game.first_card is not None:
                holds.add(Condition.SHOWS_FIRST_CARD)
            holds.add(Condition.SETS if self.settings.unit is Unit.SETS else Condition.SINGLES)
            holds.add(Condition.EXAMINES if self.game.examining else Condition.EXPOSES_AT_ONCE)
        return frozenset(holds)

    def find_open(self, irregularity_id: int) -> Irregularity | None:
        return next((found for found in self.open if found.id == irregularity_id), None)
