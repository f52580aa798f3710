"""The state of a table: a frozen value, the fold of its events. No rule is applied here; derived values are properties.

It is grouped by lifetime: `Decks`, `Duty`, `Round` (in `round_state`), and `TableState`, which holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from controller.games import game
from controller.games.specification import Choice, Game, Grammar, Kind, Unit
from controller.rules.dealing_order import Place
from controller.rules.law import Law
from controller.rules.layout import Bettor, Layout, Limit, TableRules
from controller.table.model import (
    ASIDE,
    NOT_SO,
    Answer,
    CardId,
    Deck,
    Device,
    DueDown,
    Hand,
    HeldCard,
    Irregularity,
    Move,
    Pile,
    PinLock,
    RecordedDeck,
    Restrictions,
    Screen,
    Turn,
)
from controller.table.phases import AFTER_DEAL, CARDS_LEAVE, DEALING, IN_ROUND, WINDOW_OPEN, Condition, Phase, Service
from controller.table.record import ConfigurationRecord
from controller.table.round_state import Round
from controller.table.settings import Settings, law_of
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import AnyText

CARDS_MOVED: Final = CARDS_LEAVE | AFTER_DEAL
FIRST_CARD_PLACE: Final = "first_card"
"""The place of the First Card in a move."""


class Decks(msgspec.Struct, frozen=True):
    """The decks of the table, and cards that left the deck in play and are in no hand; reset with the deck."""

    in_play: Deck = Deck()
    waiting: Deck | None = None  # also in the device: it waits for the next round
    tray: tuple[HeldCard, ...] = ()
    aside: tuple[HeldCard, ...] = ()  # outside the device, dealt to no place
    recorded: tuple[RecordedDeck, ...] = ()  # those that belong to the table
    taken_away: tuple[RecordedDeck, ...] = ()  # decks taken away: every quarantined one, and the last others
    keeps_records: bool = False  # once a deck has been recorded, only recorded decks are dealt from
    count_due: bool = False  # until the whole deck has been counted: after maintenance, or once it was in reach
    last_order: tuple[HeldCard, ...] = ()  # the cards of the last round in which any card left the device, in order

    @property
    def next_ordinal(self) -> int:
        """Return the number in the shuffle of the card that is dealt next: one in the tray has left the device."""
        return self.in_play.dispensed - len(self.tray) + 1

    @property
    def coming(self) -> Deck:
        """Return the deck from which the next round would be dealt: the waiting deck, after the other has been dealt
        from.
        """
        spent = not self.in_play.deck or self.in_play.used or self.quarantine_of(self.in_play)
        return self.waiting if self.waiting is not None and spent else self.in_play

    def next(self, *, in_round: bool) -> Deck | None:
        """Return the deck for the next round: during a round the waiting deck, between rounds the
        deck that is coming.
        """
        return self.waiting if in_round else self.coming

    def record(self, label: str) -> RecordedDeck | None:
        return next((record for record in self.recorded if record.label == label), None)

    def known(self, label: str) -> RecordedDeck | None:
        """Return the record of a deck that is at the table or was taken away from it."""
        return self.record(label) or next((record for record in self.taken_away if record.label == label), None)

    def quarantine_of(self, deck: Deck) -> AnyText:
        """Return why a deck in the device is quarantined; empty if it is not."""
        record = self.known(deck.label)
        return deck.quarantined or (record.quarantined if record else "")


class Duty(msgspec.Struct, frozen=True):
    """The dealer on duty, and the reasons for a pause or maintenance; independent of rounds."""

    dealer: str = ""  # who is on duty: no other dealer deals, people of a higher rank may; empty: anyone deals
    dealer_uid: int | None = None  # the user of the machine through whom the dealer came, and who represents the dealer
    paused: str = ""  # the reason; empty: not paused
    maintenance: str = ""  # the reason; empty: not under maintenance
    began_closed: bool = False  # the maintenance began at a closed table
    began_concluded: bool = False  # it began after a round, an error of which may still be reported


class TableState(msgspec.Struct, frozen=True):
    """Everything that decisions depend on, grouped by lifetime. `entry`: the last journal entry folded."""

    table: str = ""
    simulated: bool = False
    entry: int = 0
    settings: Settings | None = None
    settings_wait: Settings | None = None  # new settings, which take effect with the next round
    configuration: ConfigurationRecord | None = None  # what the daemon was started with; None: not recorded
    phase: Phase = Phase.CLOSED
    service: Service = Service.OUT_OF_SERVICE
    service_cause: AnyText = "the daemon has just started"  # in a state without events
    host_boot: str = ""  # identifies the start of the PC in which the daemon runs
    device: Device = Device()
    decks: Decks = Decks()
    duty: Duty = Duty()
    round: Round = Round()
    earlier: Round | None = None  # the previous round, while its errors may be reported
    rounds_numbered: int = 0  # the last number given to a round; numbers are not reused
    open: tuple[Irregularity, ...] = ()  # open irregularities of the round, the previous one or the waiting deck
    bettors: tuple[Bettor, ...] = ()
    bets_numbered: int = 0  # the last number given to a bet; numbers are not reused
    restrictions: Restrictions = Restrictions()
    answers: tuple[Answer, ...] = ()
    pin_locks: tuple[PinLock, ...] = ()  # for a person at a user of the machine or a screen, once a PIN was wrong
    files_deleted: tuple[str, ...] = ()  # ids of the files of the journal whose deletion was recorded last
    doubted_keys: tuple[str, ...] = ()  # public keys of the journal that a start found without an endorsement
    screens: tuple[Screen, ...] = ()
    turn: Turn = Turn()
    acting: int = 0  # the entry of the operation that the last event followed from; 0: none

    def pin_lock(self, person: str, uid: int | None, screen: str = "") -> PinLock:
        found = (lock for lock in self.pin_locks if (lock.person, lock.uid, lock.screen) == (person, uid, screen))
        return next(found, PinLock(person, uid, screen=screen))

    def screen(self, screen_id: str) -> Screen | None:
        return next((screen for screen in self.screens if screen.id == screen_id), None)

    def person_called(self, name: str) -> str:
        """Return the id of the configured person with that id or name; empty if there is none, or none is recorded."""
        return self.configuration.person_called(name) if self.configuration is not None else ""

    def name_of(self, person: str) -> str:
        """Return the name of a configured person, or the id of anyone else."""
        known = self.configuration.people if self.configuration is not None else ()
        return next((one.name for one in known if one.id == person), person)

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
    def window_open(self) -> bool:
        """Return whether an error of the last round may still be found; the round may then resume by its own rules."""
        return self.phase in WINDOW_OPEN or self.duty.began_concluded

    @property
    def held(self) -> bool:
        """Return whether nothing may be dealt: the table is paused, an irregularity blocks, or moves are due."""
        return self.blocked or bool(self.moves_due)

    @property
    def blocked(self) -> bool:
        """Return whether the table is paused, or an open irregularity blocks."""
        return bool(self.duty.paused) or (bool(self.open) and any(irregularity.blocks for irregularity in self.open))

    @property
    def moves_due(self) -> tuple[Move, ...]:
        """Return the cards that people move before play goes on, once all that blocks it is decided.

        Cards set aside go to the places whose turn it is; dropped cards go back to theirs, and exposed ones are turned
        face down where they are.
        """
        if not (self.decks.aside or self.round.face_down) or self.blocked or self.phase not in CARDS_MOVED:
            return ()
        return (*(move for _, moves in self.put_down_due for move in moves), *self._from_aside())

    @property
    def put_down_due(self) -> tuple[tuple[DueDown, tuple[Move, ...]], ...]:
        """Return each card that is put face down now, as decided, with its moves: several cards may have fallen."""
        found = ((due, tuple(self._put_down(*due))) for due in self.round.face_down)
        return tuple((due, moves) for due, moves in found if moves)

    def _put_down(self, irregularity: int, place: Place, card: int, ordinal: int) -> Iterator[Move]:
        ended = next((one for one in self.round.closed if one.found.id == irregularity), None)
        if ended is not None and ended.outcome in NOT_SO:
            return
        if ended is not None and ended.found.fell:
            yield from self._picked_up(irregularity, place, card)
            return
        where = next((at for at, hand in self.round.hands.items() if ordinal in _ordinals(hand)), place)
        hand = self.round.hands.get(where, Hand())
        lies = bool(hand.cards) and (not ordinal or ordinal in _ordinals(hand))
        anywhere = not (where or ordinal) and self.phase is not Phase.SETTLING and bool(self.round.live_places)
        if anywhere or (lies and not (hand.shown or hand.dead)):
            yield Move(ordinal, where, where, card)

    def _picked_up(self, irregularity: int, place: Place, card: int) -> Iterator[Move]:
        fell = self.fallen(irregularity, place)
        hands, intended = self.round.hands, self.round.intended
        for held in fell or ():
            if not hands.get(intended[held.id], Hand()).dead:
                yield Move(held.ordinal, Pile.DROPPED, intended[held.id])
        if fell == () and not (hands.get(place, Hand()).dead or hands.get(place, Hand()).shown):
            yield Move(0, Pile.DROPPED, place, card)

    def fallen(self, irregularity: int, place: Place) -> tuple[HeldCard, ...] | None:
        """Return the cards of a place that were entered as on the floor; an empty result: which one fell is not known.

        None: they were put back since that irregularity. `place` empty: of any place.
        """
        intended = self.round.intended
        dropped = (card for card in self.round.piles.get(Pile.DROPPED, ()) if card.id in intended)
        fell = tuple(card for card in dropped if place in ("", intended[card.id]))
        return fell if fell or self.round.placed_by <= irregularity else None

    @property
    def face_up_ahead(self) -> tuple[tuple[str, int], ...]:
        """Return where each face-up card in the device goes (place or pile), and which card of the hand it becomes.

        This covers cards that are still to be dealt. 0: it is in that set, but which card of it is not known.
        """
        deck, out = self.decks.in_play, self.decks.next_ordinal - 1
        denied = {
            ordinal
            for ended in self.round.closed
            if ended.outcome in NOT_SO and ended.found.kind is Kind.FACE_UP_IN_DEVICE
            for ordinal in ended.found.ordinals
        }
        sensed = set(deck.face_up) - denied
        told = {ordinal for _, _, _, ordinal in self.round.face_down}
        ahead: list[tuple[str, int]] = []
        for ordinal in sorted(sensed | told):
            turn = ordinal - out - 1 - self.burn_due
            if ordinal > out and turn < 0:
                ahead.append((Pile.BURNT, 0))
            elif ordinal > out and turn < len(self.round.places_due):
                place = self.round.places_due[turn]
                lie = self.round.hands.get(place, Hand()).size
                known = ordinal in sensed or self.grammar.unit is Unit.SINGLES
                ahead.append((place, lie + self.round.places_due[: turn + 1].count(place) if known else 0))
        return tuple(ahead)

    def _from_aside(self) -> Iterator[Move]:
        if self.phase not in CARDS_LEAVE:
            return
        burnt = (str(Pile.BURNT),) * self.burn_due
        first = self.phase is Phase.FIRST_CARD and self.round.first_card is None
        places = (FIRST_CARD_PLACE,) if first else self.round.places_due if self.phase in DEALING else ()
        for held, place in zip(self.decks.aside, (*burnt, *places), strict=False):
            yield Move(held.ordinal, ASIDE, place)

    @property
    def holds_cards(self) -> bool:
        """Return whether a card that the device reports now was taken out of turn because the table is held.

        Reports kept from before a power failure do not count: those cards left before the table was held.
        """
        if self.service is Service.RECONCILING and not self.device.status_agrees and not self.duty.paused:
            return any(found.blocks and found.kind is not Kind.POWER_FAILURE for found in self.open)
        return self.held

    @property
    def layout(self) -> Layout:
        """Return the bets on the layout, and the bettors."""
        return Layout(self.bettors, self.round.bets, self.bets_numbered)

    @property
    def table_rules(self) -> TableRules:
        """Return the limits and restrictions of wagers set by casino and pit manager."""
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
        """Return the layout without the bets that were withdrawn."""
        gone = {(bettor, box) for bettor, box, _, _ in self.round.withdrawn}
        bets = tuple(bet for bet in self.layout.bets if (bet.bettor, bet.box) not in gone)
        return msgspec.structs.replace(self.layout, bets=bets)

    @property
    def cards_lie(self) -> bool:
        """Return whether the round's cards belong to the deck in play as last shuffled, and are on the table.

        If the next start is cancelled after a set had left, they belong to the previous shuffle: all are in the deck.
        """
        deck = self.decks.in_play
        dealt = [card for hand in self.round.hands.values() for card in hand.cards]
        return deck.used and (not dealt or any(card.shuffle == deck.shuffle for card in dealt))

    @property
    def aside_size(self) -> int:
        """Return how many cards are set aside: by the last count, else those known."""
        return len(self.decks.aside) + self.round.surplus.get(ASIDE, 0)

    @property
    def lying(self) -> tuple[tuple[str, HeldCard], ...]:
        """Return every card of the deck in play that left the device, with its place or pile."""
        hands = self.round.hands.items() if self.cards_lie else ()
        first = (("first_card", self.round.first_card),) if self.round.first_card is not None else ()
        piles = ((pile, cards) for pile, cards in self.round.piles.items() if pile is not Pile.STRAYS)
        beside = (*piles, (ASIDE, self.decks.aside), ("tray", self.decks.tray))
        return (
            *((place, card) for place, hand in hands for card in hand.cards),
            *first,
            *((str(pile), card) for pile, cards in beside for card in cards),
        )

    @property
    def listed_again(self) -> Counter[str]:
        """Return, by place or pile, its cards that are also listed at an earlier place or pile.
        Each card counts once.
        """
        seen: set[CardId] = set()
        again: Counter[str] = Counter()
        for where, card in self.lying:
            again[where] += card.id in seen
            seen.add(card.id)
        return +again

    @property
    def stub_due(self) -> int:
        """Return how many of the 52 cards should be left, in the device and in the tray.

        After maintenance and for the next round's deck it is all of them: none of its cards is on the table.
        """
        if self.decks.count_due or (self.next_deck_in and self.decks.coming is self.decks.in_play):
            return DECK_SIZE
        hands = sum(hand.size for hand in self.round.hands.values()) + (self.round.first_card is not None)
        piles = sum(self.round.pile_size(pile) for pile in (Pile.BURNT, Pile.DROPPED, Pile.DISCARDS))
        known = (hands if self.cards_lie else 0) + self.aside_size + piles
        again = self.listed_again
        return DECK_SIZE - known + again.total() - again["tray"]  # a set in the tray is part of the stub

    def stub_fits(self, number: int) -> bool:
        """Return whether this is the right number of cards: those due, less cards taken back that may be set aside."""
        return 0 <= self.stub_due - number <= max(0, self.round.taken_back)

    @property
    def burn_due(self) -> int:
        """Return how many cards are still to be burnt before the first card is dealt."""
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
        """Return whether the device now holds a recorded deck other than that of the last round.

        The device's number does not show this, because a deck that is put in again may get a new
        number.
        """
        return bool(self.decks.in_play.label and self.round.label) and self.decks.in_play.label != self.round.label

    @property
    def next_deck_in(self) -> bool:
        """Return whether, after a round, the device holds the next round's deck, and it is not the deck of that round.

        The names of recorded decks decide; if one is not known, the device's number does.
        """
        deck = self.decks.coming
        if self.phase not in (Phase.CONCLUDED, Phase.VOIDED) or not deck.deck:
            return False
        return deck.label != self.round.label if deck.label and self.round.label else deck.deck != self.round.deck

    @property
    def conditions(self) -> frozenset[Condition]:
        """Return the conditions of the transition tables that hold now."""
        holds = {Condition.IN_ROUND if self.in_round else Condition.BETWEEN_ROUNDS}
        if self.duty.began_closed:
            holds.add(Condition.BEGAN_CLOSED)
        if self.in_round and self.earlier is not None and self.round.begun_from is Phase.CONCLUDED:
            holds.add(Condition.AFTER_CONCLUDED)
        if self.in_round and self.earlier is not None and self.round.begun_from is Phase.VOIDED:
            holds.add(Condition.AFTER_VOIDED)
        if self.duty.began_concluded:
            holds.add(Condition.BEGAN_CONCLUDED)
        if self.settings is not None:
            if self.game.first_card is not None:
                holds.add(Condition.SHOWS_FIRST_CARD)
            holds.add(Condition.SETS if self.settings.unit is Unit.SETS else Condition.SINGLES)
            holds.add(Condition.EXAMINES if self.game.examining else Condition.EXPOSES_AT_ONCE)
        return frozenset(holds)

    def went_on(self, before: int | None = None) -> bool:
        """Return whether a bettor's choice to continue after an error of this round is valid."""
        return bool(self.errors_gone_on_after(before))

    def errors_gone_on_after(self, before: int | None = None) -> list[Irregularity]:
        """Return the errors of this round after which a bettor chose to continue. A choice is valid while its error is.

        `before`: only those that were raised before that error.
        """
        number = self.round.number
        stand = [found for found in self.open if found.round == number and not found.waiting]
        stand += [ended.found for ended in self.round.closed if ended.outcome not in NOT_SO]
        return [
            found
            for found in stand
            if (before is None or found.id < before)
            and any(choice is Choice.CONTINUE for _, _, choice in found.choices)
        ]

    def find_open(self, irregularity_id: int) -> Irregularity | None:
        return next((found for found in self.open if found.id == irregularity_id), None)


def _ordinals(hand: Hand) -> tuple[int, ...]:
    return tuple(card.ordinal for card in hand.cards)
