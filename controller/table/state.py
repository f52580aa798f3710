"""What the table knows: frozen values, the fold of its events. Nothing here judges; derived questions are methods.

The place of a card is *assumed* from the dealing order until its hand is exposed.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import cache
from typing import TypeAlias

import msgspec

from controller.games import game
from controller.games.specification import Choice, Facts, Game, Grammar, Kind, Row, Unit
from controller.rules.dealing import Place
from controller.rules.hands import Outcome
from controller.rules.law import Law, read_law
from controller.rules.layout import Layout, Limit, TableRules
from controller.rules.paying import BetRuling, Rounding
from controller.table.phases import IN_ROUND, Condition, Phase, Service
from firmware_bridge.cards import DECK_SIZE, Card, Concealed
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import Capabilities


class ChosenReading(msgspec.Struct, frozen=True):
    """The option that a casino chose for a setting of the game, by whom and on which day (ISO date)."""

    setting: str
    option: str
    chosen_by: str = ""
    chosen_on: str = ""


class WagerLimit(msgspec.Struct, frozen=True):
    """Least and most for one kind of wager, in the smallest unit; `maximum` 0: none."""

    wager: str
    minimum: int = 1
    maximum: int = 0


class Settings(msgspec.Struct, frozen=True):
    """What a casino chooses for its table. Enters the journal with the game.

    `box_count`: betting boxes on the layout. `unit`: what leaves the device. `count_stub_by_hand`: where the device
    cannot count the stub, the dealer must before the round is settled (house procedure). `readings`: those that were
    chosen. `house`: the rows of the house's own irregularity table.
    `limits`: those of wagers, where the table knows of them. `rounding`: what becomes of parts of a unit in payouts.
    """

    game: str
    unit: Unit
    box_count: int
    count_stub_by_hand: bool = False
    readings: tuple[ChosenReading, ...] = ()
    house: tuple[Row, ...] = ()
    limits: tuple[WagerLimit, ...] = ()
    rounding: Rounding = Rounding.NONE


@cache
def law_of(settings: Settings) -> Law:
    """The law that these settings make."""
    chosen = {reading.setting: reading.option for reading in settings.readings}
    return read_law(game(settings.game), chosen, settings.house)


CardId: TypeAlias = tuple[int, int]
"""Which card: the shuffle that it is of and its ordinal in it. It tells no face."""


class HeldCard(msgspec.Struct, frozen=True):
    """A card that left the device. `face` None: not recognised. `face_up`: it lay open when it came out."""

    shuffle: int
    ordinal: int
    face: Concealed | None
    face_up: bool = False

    @property
    def id(self) -> CardId:
        return self.shuffle, self.ordinal


class Hand(msgspec.Struct, frozen=True):
    """The cards of one place (NC 1.5). `dead`: out of play, but it goes on taking its cards (reading 36)."""

    cards: tuple[HeldCard, ...] = ()
    surplus: int = 0  # how many more (or fewer) a person counted there than were known to be dealt
    dead: bool = False
    handled: bool = False
    viewed: bool = False
    shown: tuple[Card, ...] = ()
    outcome: Outcome | None = None

    @property
    def size(self) -> int:
        return len(self.cards) + self.surplus


class Deck(msgspec.Struct, frozen=True):
    """The deck in play. `dispensed` is what the device says has left it, `stub` what was counted after the deal."""

    deck: int = 0
    shuffle: int = 0
    loaded: int = 0
    dispensed: int = 0
    shuffled: bool = False
    used: bool = False  # dealt from, or begun to
    stub: int | None = None
    face_up: tuple[int, ...] = ()  # ordinals that the device found lying face up


class OpenCommand(msgspec.Struct, frozen=True):
    """`seen`: the device reported what the command was to bring about; only then may it be called done."""

    id: int
    command: AnyCommand
    seen: bool = False


class Device(msgspec.Struct, frozen=True):
    """The device as the journal knows it.

    `boot` and `last_report` name the last report held durably, `running_boot` is the device's at this moment. `stops`:
    why it moves no cards, each cause until it is gone.
    """

    connected: bool = False
    serial: str = ""
    kind: str = ""
    unit: str = ""
    running_boot: int = 0
    boot: int = 0
    last_report: int = 0
    capabilities: Capabilities | None = None
    exit_held: bool | None = None
    exit_fails: bool = False  # it refused to hold or to release its exit; not asked again before the next link
    open_commands: tuple[OpenCommand, ...] = ()
    stops: tuple[str, ...] = ()
    status_agrees: bool = False

    @property
    def stopped(self) -> str:
        """Why it stands still, in words; empty when it does not."""
        return "; ".join(self.stops)

    @property
    def moving(self) -> OpenCommand | None:
        """The open command that moves cards; there is one at most."""
        return next((opened for opened in self.open_commands if opened.command.moves_cards), None)


class Stage(StrEnum):
    """What an open irregularity waits for."""

    CLAIMED = "claimed"  # the fact to be confirmed or denied
    ORDERING = "ordering"  # the order of simultaneous cards to be named
    CHOOSING = "choosing"  # every bettor's choice
    MOVING = "moving"  # cards to be put where they belong
    RULING = "ruling"  # a ruling


class Irregularity(msgspec.Struct, frozen=True):
    """An open irregularity. `id` is the entry that raised it, `revision` the entry that changed it last."""

    id: int
    revision: int
    round: int
    kind: Kind
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    blocks: bool
    place: Place | None = None
    ordinals: tuple[int, ...] = ()
    counted: int | None = None
    choices: tuple[tuple[Place, str, Choice], ...] = ()  # place and bettor; no bettor: the box counts as one

    @property
    def offers(self) -> bool:
        """Whether bettors may choose something once the clause has taken effect."""
        return bool(self.row.options)


class SettledBet(msgspec.Struct, frozen=True):
    """What one bet came to: `amount` is returned + collected + held, and the house pays `paid` besides."""

    number: int
    bettor: str
    wager: str
    box: int
    amount: int
    verdict: str  # won, lost, returned; held: a ruling decides
    clause: str
    because: str
    returned: str
    collected: str
    held: str
    paid: str


class Restrictions(msgspec.Struct, frozen=True):
    """What a pit manager restricts until he lifts it; see `controller.rules.layout.TableRules`."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What a person's operation came to; kept so that a repeat gets the same. `code` empty: accepted."""

    operation_id: str
    operation: str
    person: str
    round: int
    entry: int
    code: str = ""
    sentence: str = ""


class TableState(msgspec.Struct, frozen=True):
    """All that decisions rest on. `entry` is the last journal entry folded."""

    table: str = ""
    simulated: bool = False
    entry: int = 0
    settings: Settings | None = None
    settings_wait: Settings | None = None  # take effect after the round
    phase: Phase = Phase.CLOSED
    service: Service = Service.OUT_OF_SERVICE
    service_cause: str = "the daemon has just started"
    paused: str = ""
    round: int = 0
    round_deck: int = 0  # the deck that the round is dealt from
    boxes: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()  # of every card of the round, in dealing order
    dealt: int = 0  # how many of them are filled
    dealt_cards: tuple[CardId, ...] = ()  # in the order in which they were dealt: the first belongs to the first place
    by_hand: bool = False  # the rest of the round is dealt by hand, without the device
    first_card: HeldCard | None = None  # drawn to be shown; it lies beside the hands, or is dealt as the first of them
    first_card_shown: Card | None = None
    hands: dict[Place, Hand] = {}
    tray: tuple[HeldCard, ...] = ()
    aside: tuple[HeldCard, ...] = ()  # out of the device, given to no place
    deck: Deck = Deck()
    device: Device = Device()
    open: tuple[Irregularity, ...] = ()
    chose_to_go_on: bool = False  # a bettor did, after an error of this round
    layout: Layout = Layout()
    restrictions: Restrictions = Restrictions()
    withdrawn: tuple[tuple[str, int, str], ...] = ()  # bettor, box and clause
    bet_rulings: tuple[tuple[int, BetRuling], ...] = ()
    removed: tuple[tuple[int, str], ...] = ()  # boxes whose hand was removed, and by what
    settlement: tuple[SettledBet, ...] = ()
    under_minimum: tuple[str, ...] = ()  # whose one time under the minimum was used up before this round (RTP 5.10)
    under_minimum_next: tuple[str, ...] = ()  # and after it
    chips_paid: bool = False
    conclusion_asked: bool = False
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
        return bool(self.paused) or any(irregularity.blocks for irregularity in self.open)

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

    def bettors_at(self, place: Place) -> tuple[str, ...]:
        """Who has a say about the hand of a box: whoever bet there and did not withdraw; none entered: the box."""
        if not self.layout.bets:
            return ("",)
        box = int(place[1:])
        gone = {bettor for bettor, at, _ in self.withdrawn if at == box}
        return tuple(dict.fromkeys(bet.bettor for bet in self.layout.on(box) if bet.bettor not in gone))

    @property
    def choosers(self) -> tuple[tuple[Place, str], ...]:
        """Place and bettor of everybody who chooses where a clause gives options."""
        return tuple((place, bettor) for place in self.live_places for bettor in self.bettors_at(place))

    @property
    def intended(self) -> dict[CardId, Place]:
        """To which place each card that was dealt belongs, by the order of the deal.

        One that the device counted twice belongs to nobody knows where.
        """
        told = Counter(self.dealt_cards)
        return {card: place for card, place in zip(self.dealt_cards, self.places, strict=False) if told[card] == 1}

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
        """Whether moving complete hands from place to place would bring every card where it belongs."""
        lying = [frozenset(card.id for card in hand.cards) for hand in self.hands.values()]
        belonging: dict[Place, set[CardId]] = {place: set() for place in self.hands}
        for card, place in self.intended.items():
            belonging.setdefault(place, set()).add(card)
        return Counter(lying) == Counter(map(frozenset, belonging.values()))

    @property
    def handled(self) -> bool | None:
        """Whether a Player has handled cards; None: nobody said so, and nobody said that none has."""
        return True if any(hand.handled for hand in self.hands.values()) else None

    @property
    def live_places(self) -> tuple[Place, ...]:
        """The Players' hands that are in play."""
        return tuple(f"B{number}" for number in self.boxes if not self.hands.get(f"B{number}", Hand()).dead)

    @property
    def stub_due(self) -> int:
        """How many of the 52 must be left over: in the device, with a set that waits in the tray."""
        hands = sum(hand.size for hand in self.hands.values()) + (self.first_card is not None)
        return DECK_SIZE - (hands if self.deck.used else 0) - len(self.aside)

    @property
    def conditions(self) -> frozenset[Condition]:
        """What the transition tables may depend on."""
        holds = {Condition.IN_ROUND if self.in_round else Condition.BETWEEN_ROUNDS}
        if self.settings is not None:
            if self.game.first_card is not None:
                holds.add(Condition.SHOWS_FIRST_CARD)
            holds.add(Condition.SETS if self.settings.unit is Unit.SETS else Condition.SINGLES)
            holds.add(Condition.EXAMINES if self.game.examining else Condition.EXPOSES_AT_ONCE)
        return frozenset(holds)

    def find_open(self, irregularity_id: int) -> Irregularity | None:
        return next((found for found in self.open if found.id == irregularity_id), None)
