"""Events of the deck in the device and of cards that leave it."""

from __future__ import annotations

from typing import ClassVar

import msgspec
from msgspec.structs import replace

from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table.events.base import (
    PILES,
    Event,
    drawn,
    with_aside_counted,
    with_deck,
    with_decks,
    with_effect_seen,
    with_hand,
    with_moves,
    with_new_deck,
    with_pile,
    with_read,
    with_record,
    with_round,
    with_taken_back,
    without_cards,
)
from controller.table.events.lines import (
    PILE_WORDS,
    Fields,
    cited,
    clauses,
    depending,
    done_by,
    for_next,
    listed,
    many_cards,
    of_its_deck,
    pile_named,
    under,
    with_reason,
    with_slots,
    witnessed_by,
)
from controller.table.model import (
    ASIDE,
    BeforeCount,
    Deck,
    Hand,
    HeldCard,
    Pile,
)
from controller.table.state import TableState
from firmware_bridge.cards import Card, Concealed, Exposed
from firmware_bridge.commands import Dispense, Shuffle, UnloadStub
from firmware_bridge.messages import AnyText, Message, counted, message


class DeckArrived(Event, frozen=True, tag="deck_arrived"):
    """A deck was put in. `waiting`, here and below: the deck waits for the next round and is not in play."""

    line = depending({"waiting": message("deck {deck} waits for the next round")})

    deck: int
    count: int | None
    shuffle: int | None = None
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        deck = Deck(deck=self.deck, loaded=self.count or 0, shuffle=self.shuffle or 0)
        if self.waiting:
            if state.decks.waiting is not None and state.decks.waiting.used:
                state = with_record(state, state.decks.waiting.label, shuffled_by="")
            return with_decks(state, waiting=deck)
        if state.decks.in_play.used:
            state = with_record(state, state.decks.in_play.label, shuffled_by="")
        return with_new_deck(state, deck, waiting=None)


class ShuffleBegan(Event, frozen=True, tag="shuffle_began"):
    line = of_its_deck(message("deck {deck} is being shuffled"))

    deck: int
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_deck(state, self.waiting, shuffled=False)


class DeckShuffled(Event, frozen=True, tag="deck_shuffled"):
    """A shuffle was completed. `by`: the device, or the person who entered it. `face_up`: how many are face up."""

    line = of_its_deck(with_slots(message("deck {deck} shuffled, {count} cards, by {by}"), by=done_by))

    deck: int
    shuffle: int
    count: int
    by: str = "device"
    face_up: int = 0
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.deck == state.decks.coming.deck:
            state = with_effect_seen(state, Shuffle)  # the command was about this deck
        deck = Deck(
            deck=self.deck,
            shuffle=self.shuffle,
            loaded=self.count,
            shuffled=True,
            face_up_count=self.face_up,
        )
        before = (state.decks.waiting or Deck()) if self.waiting else state.decks.in_play
        if before.deck == self.deck:  # the same cards, whatever their order
            deck = replace(deck, label=before.label, quarantined=before.quarantined)
        if self.waiting:
            return with_decks(state, waiting=deck)
        return with_new_deck(state, deck, waiting=state.decks.waiting)


class DeckMadeUnusable(Event, frozen=True, tag="shuffle_failed"):
    """The deck must not be dealt from until it is put in and shuffled again.

    It is incomplete, unshuffled, taken out, or someone could have reached it. `count_due`: it also has to be counted.
    """

    deck: int
    waiting: bool = False
    count_due: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        state = with_deck(state, self.waiting, shuffled=False, used=True)
        return with_decks(state, count_due=True) if self.count_due else state

    @staticmethod
    def line(event: Fields) -> Message | None:
        deck = for_next(message("deck {deck}", deck=event["deck"]), event)
        return message("shuffle {deck} again before dealing from it", deck=deck)


class CardFoundFaceUp(Event, frozen=True, tag="card_found_face_up"):
    """The card that will leave as number `ordinal` is face up in the device; no one at the table has seen it."""

    line = message("card {ordinal} lies face up in the device")

    ordinal: int
    card: Concealed | None = None
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        deck = (state.decks.waiting or Deck()) if self.waiting else state.decks.in_play
        read = deck.face_up_read
        if self.card is not None:
            read = (*read, HeldCard(self.card.shuffle, self.ordinal, self.card, face_up=True))
        return with_deck(state, self.waiting, face_up=(*deck.face_up, self.ordinal), face_up_read=read)


class SetInTray(Event, frozen=True, tag="set_in_tray"):
    line = None  # the screen shows how many cards lie at the place

    cards: tuple[HeldCard, ...]
    remaining: int

    def apply(self, state: TableState, entry: int) -> TableState:
        state = with_effect_seen(state, Dispense)
        deck = replace(state.decks.in_play, used=True, dispensed=state.decks.in_play.dispensed + len(self.cards))
        return with_read(with_decks(state, tray=(*state.decks.tray, *self.cards), in_play=deck), self.cards)


class CardsSetAside(Event, frozen=True, tag="cards_set_aside"):
    """Cards left the device and have not been dealt to a place yet."""

    line = with_slots(message("set {many_cards} aside: {because}"), many_cards=many_cards)

    cards: tuple[HeldCard, ...]
    from_tray: bool
    because: AnyText

    def apply(self, state: TableState, entry: int) -> TableState:
        tray, deck = ((), state.decks.in_play) if self.from_tray else (state.decks.tray, drawn(state, len(self.cards)))
        state = state if self.from_tray else with_read(state, self.cards)
        return with_decks(state, aside=(*state.decks.aside, *self.cards), tray=tray, in_play=deck)


class CardsBurnt(Event, frozen=True, tag="cards_burnt"):
    """Cards went to the burnt pile before the first card was dealt. `source`: device, tray, aside, by_hand."""

    line = with_slots(message("{many_cards} burnt"), many_cards=many_cards)

    cards: tuple[HeldCard, ...]
    source: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return without_cards(with_pile(state, Pile.BURNT, self.cards), self.cards, self.source)


class CardsStrayed(Event, frozen=True, tag="cards_strayed"):
    """Cards of the waiting deck, or of an unknown deck, left the device; they are not among the 52 of the round."""

    line = with_slots(message("{many_cards} from deck {deck}, which is not in play this round"), many_cards=many_cards)

    deck: int
    cards: tuple[HeldCard, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        """Make the waiting deck unusable if the cards are its cards: no round may begin with it."""
        waiting = state.decks.waiting
        if waiting is not None and waiting.deck == self.deck:
            state = with_deck(state, True, used=True, dispensed=waiting.dispensed + len(self.cards))
        return with_pile(state, Pile.STRAYS, self.cards)


class FirstCardDrawn(Event, frozen=True, tag="first_card_drawn"):
    """The card whose rank decides where the deal begins left the device. `source`: device, tray, aside."""

    line = message("the First Card leaves the device")

    card: HeldCard
    source: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return without_cards(with_round(state, first_card=self.card), (self.card,), self.source)


class FirstCardShown(Event, frozen=True, tag="first_card_shown"):
    """The First Card was turned over. `revealed` opens the commitment to it if the device had read it."""

    line = cited(message("the First Card is {card}"))

    card: Card
    clause: str
    revealed: Exposed | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, first_card_shown=self.card)


class CardsDealt(Event, frozen=True, tag="cards_dealt"):
    """Cards were dealt, to the places that the dealing order assumes. `source`: device, tray, aside, first_card."""

    places: tuple[Place, ...]
    cards: tuple[HeldCard, ...]
    source: str

    def apply(self, state: TableState, entry: int) -> TableState:
        hands = dict(state.round.hands)
        for place, card in zip(self.places, self.cards, strict=True):
            hand = hands.get(place, Hand())
            hands[place] = replace(hand, cards=(*hand.cards, card))
        dealt = state.round.dealt + len(self.cards)
        dealt_cards = (*state.round.dealt_cards, *(card.id for card in self.cards))
        changed = with_round(state, hands=hands, dealt=dealt, dealt_cards=dealt_cards)
        return without_cards(changed, self.cards, self.source)

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the line for dealt cards: those set aside are moved now, others were just dealt."""
        places = listed(event["places"])
        if event["source"] == ASIDE:
            return counted(
                "move 1 set-aside card to {places}",
                "move {count} set-aside cards to {places}",
                len(event["cards"]),
                places=places,
            )
        return message("{cards} to {places}", cards=many_cards(event), places=places)


class CardToTurnDown(Event, frozen=True, tag="card_to_turn_down"):
    """A card has to be put face down at its place before play goes on: it was exposed or dropped, or is face up.

    `place` empty: not known. `card`: which card of the hand, `ordinal`: its number in the shuffle; 0: not known. The
    card may still be in the device.
    """

    line = None  # the screen shows the move if the hand is still in play; `CardsTurnedDown` is shown

    irregularity: int
    place: Place
    card: int
    ordinal: int

    def apply(self, state: TableState, entry: int) -> TableState:
        due = (self.irregularity, self.place, self.card, self.ordinal)
        return with_round(state, face_down=(*state.round.face_down, due))


class CardsTurnedDown(Event, frozen=True, tag="cards_turned_down"):
    """People put cards face down at their places. `cards`: as in `CardToTurnDown`."""

    outdates: ClassVar[Message | None] = message("Cards were turned down.")

    cards: tuple[tuple[Place, int, int], ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        turned = {ordinal for _, _, ordinal in self.cards} - {0}
        places = {place for place, _, _ in self.cards}
        hands = {
            place: replace(hand, turned_at=entry)
            if place in places or turned & {card.ordinal for card in hand.cards}
            else hand
            for place, hand in state.round.hands.items()
        }
        left = tuple(due for due in state.round.face_down if due[1:] not in self.cards)
        return with_round(state, hands=hands, face_down=left, turned=(*state.round.turned, *sorted(turned)))

    @staticmethod
    def line(event: Fields) -> Message | None:
        places = tuple(dict.fromkeys(place for place, *_ in event["cards"] if place))
        if not places:
            return message("the exposed card is face down")
        return message("cards were turned face down at {places:list}", places=places)


class CardMoved(msgspec.Struct, frozen=True):
    """A card moves from a place or pile (dropped, discards) to another."""

    shuffle: int
    ordinal: int
    source: Place
    place: Place


class CardsFoundElsewhere(Event, frozen=True, tag="cards_found_elsewhere"):
    """A person entered where cards actually are; before that their places were assumed from the order of the deal."""

    cards: tuple[CardMoved, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        """Keep the counted number of cards of a place: a card found there is one of the counted cards."""
        before = {place: hand for place, hand in state.round.hands.items() if hand.surplus}
        state = with_moves(state, self.cards, entry)
        for place, hand in before.items():
            state = with_hand(state, place, surplus=hand.size - len(state.round.hands[place].cards))
        return state

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return the cards by their numbers, in one phrase if they went the same way."""
        return clauses(
            counted(
                "card {numbers:list} is at {place}, not at {source}",
                "cards {numbers:list} are at {place}, not at {source}",
                len(numbers),
                numbers=tuple(numbers),
                place=place,
                source=source,
            )
            for (source, place), numbers in _ways(event).items()
        )


class CardsReconstructed(Event, frozen=True, tag="cards_reconstructed"):
    """Cards were put where they belong. `whole_hands`: only complete hands were moved.

    `taken_back`: how many surplus cards were taken out of the hand; negative: how many missing cards it was given.
    """

    cards: tuple[CardMoved, ...]
    clause: str
    irregularity: int
    whole_hands: bool
    place: Place | None = None  # if the number of cards was wrong, it is now right
    taken_back: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        named = state.round.hands
        state = with_taken_back(with_moves(state, self.cards, entry), self.taken_back)
        for place, cards in _names_moved(named, self.cards).items():
            state = with_hand(state, place, named=cards)
        return state if self.place is None else with_hand(state, self.place, surplus=0)

    @staticmethod
    def line(event: Fields) -> Message | None:
        whole = event["whole_hands"]
        said = under(message("hands were corrected") if whole else message("cards were corrected"), event["clause"])
        if event["cards"]:
            said = with_reason(said, _moved_hands(event) if whole else _moved(event))
        back = event["taken_back"]
        if back <= 0:
            return said
        taken = counted(
            "1 excess card removed from {place}",
            "{count} excess cards removed from {place}",
            back,
            place=event["place"],
        )
        return with_reason(said, taken)


def _ways(event: Fields) -> dict[tuple[Message, Message], list[int]]:
    """Return the numbers of the cards for each way, from one place to another."""
    together: dict[tuple[Message, Message], list[int]] = {}
    for card in event["cards"]:
        way = (PILE_WORDS.get(card["source"]) or card["source"], PILE_WORDS.get(card["place"]) or card["place"])
        together.setdefault(way, []).append(card["ordinal"])
    return together


def _moved(event: Fields) -> Message:
    """Return the cards by their numbers, in one phrase if they went the same way."""
    return clauses(
        counted(
            "card {numbers:list} from {source} to {place}",
            "cards {numbers:list} from {source} to {place}",
            len(numbers),
            numbers=tuple(numbers),
            place=place,
            source=source,
        )
        for (source, place), numbers in _ways(event).items()
    )


def _moved_hands(event: Fields) -> Message:
    """Return hands by how many cards they have, since the people who move them do not know the cards' numbers."""
    return clauses(
        counted(
            "1 card from {source} to {place}",
            "{count} cards from {source} to {place}",
            len(numbers),
            source=source,
            place=place,
        )
        for (source, place), numbers in _ways(event).items()
    )


def _names_moved(hands: dict[Place, Hand], moves: tuple[CardMoved, ...]) -> dict[Place, tuple[Card, ...]]:
    """Move the named faces with a hand that was moved whole; for other hands nobody knows where the cards are."""
    goes: dict[Place, set[Place]] = {}
    for move in moves:
        goes.setdefault(move.source, set()).add(move.place)
    named: dict[Place, tuple[Card, ...]] = {place: () for move in moves for place in (move.source, move.place)}
    for source, targets in goes.items():
        hand = hands.get(source, Hand())
        if len(targets) == 1 and len([move for move in moves if move.source == source]) == len(hand.cards):
            named[targets.pop()] = hand.named
    return {place: cards for place, cards in named.items() if place in hands}


class DealtByHand(Event, frozen=True, tag="dealt_by_hand"):
    """The rest of the round is dealt by hand from the stub, without the device."""

    outdates: ClassVar[Message | None] = message("The round is dealt by hand.")
    line = message("dealt by hand from now on: {because}")

    because: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, by_hand=True)


class CardsCounted(Event, frozen=True, tag="cards_counted"):
    """A person counted cards; the count may be wrong. `operation`: its entry. `before`: the account before the count.

    `witness_id`: the configured person who witnessed it; empty: `witness` is only a name.
    """

    line = with_slots(
        message("{by} counted {number} cards ({pile_named}), {due} expected; witness: {witnessed_by}"),
        pile_named=pile_named,
        witnessed_by=witnessed_by,
    )

    pile: str
    number: int
    due: int
    by: str
    witness: str
    operation: int = 0
    before: BeforeCount | None = None
    witness_id: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Store counts of piles and of cards set aside; counts of stub, tray and hands have their own events."""
        if self.before is not None:
            state = with_round(state, before_counts=(*state.round.before_counts, (self.operation, self.before)))
        if self.pile not in (*PILES, ASIDE):
            return state
        if self.pile == ASIDE:
            state = with_round(state, taken_back=0)  # it shows whether the missing cards are there
        known = len(state.decks.aside) if self.pile == ASIDE else len(state.round.piles.get(Pile(self.pile), ()))
        return with_round(state, surplus={**state.round.surplus, self.pile: self.number - known})


class StubCounted(Event, frozen=True, tag="stub_counted"):
    """The cards left after the deal were counted, including a set in the tray. `by`: device, or the person who counted.

    `in_device`: counted in the device; otherwise the stub came out, and the tray is empty. `midway`: counted before the
    end of the deal; the tray stays, and the stub is counted again after the deal.
    """

    line = message("stub: {count} cards, {due} expected")

    count: int
    due: int
    by: str
    in_device: bool = False
    midway: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        state = state if self.in_device else with_effect_seen(state, UnloadStub)
        if 0 <= (missing := self.due - self.count) <= max(0, state.round.taken_back):
            state = with_aside_counted(with_round(state, taken_back=0), missing)
        tray = state.decks.tray if self.in_device else ()
        out = state.decks.in_play.stub_out or not self.in_device
        tray = state.decks.tray if self.midway else tray
        by_count = state.decks.in_play.dispensed + self.count - len(tray)
        stub = None if self.midway else self.count
        return with_decks(
            state, in_play=replace(state.decks.in_play, stub=stub, stub_out=out, by_count=by_count), tray=tray
        )


class CardsRecalled(Event, frozen=True, tag="cards_recalled"):
    """A person asked for the faces that the device read in that round. The answer has them; the event does not.

    `place` empty: all cards of the round. `irregularity`: the one that requires reconstruction; 0: the round was over.
    """

    of_round: int
    place: Place
    reason: str
    by: str
    role: Role
    irregularity: int = 0

    @staticmethod
    def line(event: Fields) -> Message | None:
        which = message("the cards of {place}", place=event["place"]) if event["place"] else message("all cards")
        said = message("{by} recalls {which} from round {round}", by=event["by"], which=which, round=event["of_round"])
        return with_reason(said, event["reason"])


class DeckCountedWhole(Event, frozen=True, tag="deck_counted_whole"):
    """All 52 cards were counted, as was due. `by`: device, or the person who counted.

    `witness_id`: as in `CardsCounted`.
    """

    line = with_slots(message("the deck is complete, counted by {by}"), by=done_by)

    deck: int
    by: str
    witness: str = ""
    witness_id: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_decks(state, count_due=False)
