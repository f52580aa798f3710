"""Reads orders of decks from a table's journal, as far as cards were exposed, without writing or needing a key.

decisions ──> JournalOrders ──> JournalDeck, one for each shuffle of the device
              ├── order out: a hand that is turned over opens the commitments to its cards: shuffle, ordinal and face
              └── order in: the maker's, for the first shuffle of a deck from its sealed box; otherwise unknown

After a round people put the deck together again in an order that no journal has, so the order in of later shuffles is
unknown. Which cards are shown must depend on where they were dealt, not on where they came from; that holds if every
hand that was dealt is turned over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.commands.journal.decisions import DecisionInRound, Happened, UnreadableEntryError, name_of, read
from controller.commands.journal.source import Source
from controller.journal.file import damaged
from controller.rules.dealing_order import DEALER, box
from controller.rules.layout import DEALERS_SPOT
from firmware_bridge.cards import DECK, DECK_SIZE, Card, UnknownCardError
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError, order_of

DEVICE: Final = "device"
SQLITE: Final = b"SQLite format 3\0"


def card_name(code: str) -> str:
    """Return the name in the form that files of decks use: `AS`, `10H`."""
    return code.replace("T", "10")


STANDARD: Final = tuple(card_name(card.code) for card in DECK)
"""A maker's new deck from the top: clubs, diamonds, hearts, spades, each from ace to king."""


def makers_order(text: str) -> tuple[str, ...]:
    """Read the names of all cards, from the top, separated by blanks. Raise `OrderError` if they are not a deck."""
    try:
        names = tuple(card_name(Card.parse(word).code) for word in text.split())
    except UnknownCardError as error:
        raise OrderError("no-card", str(error)) from error
    order_of(STANDARD, names)
    return names


def is_journal(path: Path) -> bool:
    """Return whether a path is a journal's folder or file, rather than a file of decks. Raise OSError if it cannot be
    read.
    """
    if path.is_dir():
        return True
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


class _Load(msgspec.Struct):
    """A deck that was put in. `is_new` means that it was in its maker's order. `shuffles` counts those begun or made
    since. `passed` means that another deck came before this one had a name.
    """

    label: str = ""
    is_new: bool = False
    shuffles: int = 0
    running: bool = False
    passed: bool = False


class _Shuffle(msgspec.Struct):
    """A shuffle. `first` means that it is the deck's first shuffle. `faces` is indexed by ordinal. `round` is the round
    in which the deck is dealt, or 0.
    """

    entry: int
    utc_ns: int
    load: _Load
    first: bool
    faces: dict[int, str] = {}
    hands: dict[str, tuple[str, ...]] = {}
    stakes: dict[str, int] = {}
    round: int = 0
    is_over: bool = False
    is_concluded: bool = False


class JournalDeck(msgspec.Struct, frozen=True):
    """A shuffle of the device, with its entry in the journal, its time, and the round in which the deck was dealt.
    `hands` has the hands of this deck that were turned over, by place, if the round was concluded; `stakes` what was
    staked on each box when the deal began.
    """

    entry: int
    utc_ns: int
    round: int
    deck: DeckOrders
    hands: dict[str, tuple[str, ...]] = {}
    stakes: dict[str, int] = {}


class JournalOrders:
    """Takes decisions in order. `maker` is the order of a new deck from the top; without it the order in is never
    known.
    """

    def __init__(self, maker: tuple[str, ...] | None) -> None:
        self._maker = maker
        self._loads: dict[int, _Load] = {}
        self._put_in: dict[str, int] = {}  # by label, how often a deck was put in since it was brought
        self._seals: set[tuple[str, str]] = set()
        self._shuffles: list[_Shuffle] = []
        self._by_number: dict[int, _Shuffle] = {}
        self._over: list[_Shuffle] = []
        self._round = 0
        self._places: set[str] = set()  # that cards are dealt to in this round
        self._layout: tuple[int, dict[str, int]] = (0, {})  # the round, and what is staked on each box
        self._staked: tuple[int, dict[str, int]] = (0, {})  # the same when the deal began
        self.unknown_boxes: dict[int, None] = {}
        """The rounds in which a hand was turned over at a box that is not in play by this journal."""

    def take(self, decided: DecisionInRound) -> None:
        for happened in decided.events:
            if (change := CHANGES.get(happened.name)) is not None:
                change(self, decided, happened)

    def taken_over(self) -> list[JournalDeck]:
        """Return the decks whose round ended since the last call."""
        over, self._over = self._over, []
        return [self._deck(one) for one in over]

    def every(self) -> list[JournalDeck]:
        """Return all shuffles so far, with what is known of them at this point."""
        return [self._deck(one) for one in self._shuffles]

    def add_face(self, round_number: int, ordinal: int, face: str) -> None:
        """Add a card from a round that was recalled."""
        for one in self._shuffles:
            if one.round == round_number:
                one.faces[ordinal] = card_name(face)

    def _deck(self, one: _Shuffle) -> JournalDeck:
        known = one.first and one.load.is_new and self._maker is not None
        after = tuple(one.faces.get(ordinal, UNKNOWN) for ordinal in range(1, DECK_SIZE + 1))
        before = self._maker if known and self._maker is not None else ()
        hands = one.hands if one.is_concluded else {}
        return JournalDeck(one.entry, one.utc_ns, one.round, DeckOrders(before, after), hands, one.stakes)

    # -- changes by event

    def brought(self, decided: DecisionInRound, happened: Happened) -> None:
        event = happened.event
        bought = event["deck"], event["seal"].strip()
        is_new = bool(bought[1]) and event["count"] == DECK_SIZE and bought not in self._seals
        self._seals.add(bought)
        self._put_in[event["deck"]] = 0 if is_new else 1

    def arrived(self, decided: DecisionInRound, happened: Happened) -> None:
        """Note a new deck. A deck that was shuffled and never named may be any of the decks recorded so far."""
        for load in self._loads.values():
            if load.shuffles and not load.label and not load.passed:
                load.passed = True
                self._put_in = {label: max(1, times) for label, times in self._put_in.items()}
        self._loads[happened.event["deck"]] = _Load()

    def named(self, decided: DecisionInRound, happened: Happened) -> None:
        """Note a deck's name. The same name again changes nothing; a different one replaces it."""
        label, load = happened.event["deck"], self._load(happened.event["number"])
        if load.label != label:
            load.label, load.is_new = label, self._put_in.get(label) == 0
            self._put_in[label] = self._put_in.get(label, 0) + 1

    def shuffled_outside(self, decided: DecisionInRound, happened: Happened) -> None:
        self._put_in[happened.event["deck"]] = 1

    def shuffle_began(self, decided: DecisionInRound, happened: Happened) -> None:
        load = self._load(happened.event["deck"])
        load.shuffles, load.running = load.shuffles + 1, True

    def shuffled(self, decided: DecisionInRound, happened: Happened) -> None:
        event = happened.event
        load = self._load(event["deck"])
        load.shuffles += not load.running
        load.running = False
        self._by_number.pop(event["shuffle"], None)
        if event.get("by", DEVICE) == DEVICE:
            first = load.shuffles == 1 and event["count"] == DECK_SIZE
            found = _Shuffle(happened.entry, decided.utc_ns, load, first)
            self._shuffles.append(found)
            self._by_number[event["shuffle"]] = found

    def failed(self, decided: DecisionInRound, happened: Happened) -> None:
        load = self._load(happened.event["deck"])
        load.shuffles, load.running = load.shuffles + 1, False

    def occupied(self, decided: DecisionInRound, happened: Happened) -> None:
        self._in_play(decided, [box(number) for number in happened.event["boxes"]])

    def deal_began(self, decided: DecisionInRound, happened: Happened) -> None:
        self._in_play(decided, happened.event["places"])
        number, staked = self._layout
        self._staked = decided.round, staked if number == decided.round else {}

    def layout_changed(self, decided: DecisionInRound, happened: Happened) -> None:
        staked: dict[str, int] = {}
        for bet in happened.event["bets"]:
            if bet["box"] != DEALERS_SPOT:
                staked[box(bet["box"])] = staked.get(box(bet["box"]), 0) + bet["amount"]
        self._layout = decided.round, staked

    def layout_corrected(self, decided: DecisionInRound, happened: Happened) -> None:
        """Note the bets as they lay when the deal began."""
        self.layout_changed(decided, happened)
        self._staked = self._layout
        for one in self._shuffles[-4:]:
            if one.round == decided.round:
                one.stakes = self._staked[1]

    def _in_play(self, decided: DecisionInRound, places: Sequence[str]) -> None:
        if decided.round != self._round:
            self._round, self._places = decided.round, {DEALER}
        self._places |= set(places)

    def dealt(self, decided: DecisionInRound, happened: Happened) -> None:
        for card in happened.event["cards"]:
            if (found := self._by_number.get(card["shuffle"])) is not None:
                found.round = decided.round
                found.stakes = self._staked[1] if self._staked[0] == decided.round else {}

    def shown(self, decided: DecisionInRound, happened: Happened) -> None:
        revealed = happened.event.get("revealed")
        for card in revealed if isinstance(revealed, list) else [revealed]:
            if card is not None and (found := self._by_number.get(card["shuffle"])) is not None:
                found.faces[card["ordinal"]] = card_name(card["card"])
        if isinstance(revealed, list) and (decided.round != self._round or happened.event["place"] not in self._places):
            self.unknown_boxes[decided.round] = None
        elif isinstance(revealed, list) and revealed and None not in revealed:
            shuffles = {card["shuffle"] for card in revealed}
            if len(shuffles) == 1 and (found := self._by_number.get(shuffles.pop())) is not None:
                found.hands[happened.event["place"]] = tuple(card_name(card["card"]) for card in revealed)

    def phase(self, decided: DecisionInRound, happened: Happened) -> None:
        if happened.event["phase"] in ("concluded", "voided"):
            over = [one for one in self._shuffles[-4:] if one.round == decided.round and not one.is_over]
            for one in over:
                one.is_over = True
                one.is_concluded = happened.event["phase"] == "concluded"
            self._over += over

    def _load(self, number: int) -> _Load:
        """Return the deck of this number. The order of a deck that was put in before the journal begins is unknown."""
        return self._loads.setdefault(number, _Load(shuffles=1))


CHANGES: Final[dict[str, Callable[[JournalOrders, DecisionInRound, Happened], None]]] = {
    "deck_brought": JournalOrders.brought,
    "deck_arrived": JournalOrders.arrived,
    "deck_named": JournalOrders.named,
    "deck_shuffled_outside": JournalOrders.shuffled_outside,
    "shuffle_began": JournalOrders.shuffle_began,
    "deck_shuffled": JournalOrders.shuffled,
    "shuffle_failed": JournalOrders.failed,
    "boxes_occupied": JournalOrders.occupied,
    "deal_began": JournalOrders.deal_began,
    "layout_changed": JournalOrders.layout_changed,
    "layout_corrected": JournalOrders.layout_corrected,
    "cards_dealt": JournalOrders.dealt,
    "hand_exposed": JournalOrders.shown,
    "first_card_shown": JournalOrders.shown,
    "phase_entered": JournalOrders.phase,
}
RECALLED: Final = "cards_recalled"


def decided_after(source: Source, after: int = 0) -> Iterator[DecisionInRound]:
    """Yield the decisions after an entry that concern decks. Raise `JournalError` if the journal cannot be read or has
    been altered.
    """
    for said in source.misplaced:
        raise damaged(source.paths[0].parent, str(said).rstrip("."))
    for stored in source.decisions(after):
        if not stored.holds:
            where = source.path_of(stored.last)
            raise damaged(where, f"entries {stored.first} to {stored.last} were changed after they were recorded")
        names: set[Any] = set(map(name_of, stored.events))
        if not names.isdisjoint(CHANGES) or RECALLED in names:
            try:
                decided = read(stored)
            except UnreadableEntryError as error:
                entry = error.entry or stored.last
                raise damaged(source.path_of(entry), f"entry {entry} cannot be read: {error}") from error
            yield decided
