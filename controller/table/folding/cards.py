"""Where the cards are."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import drawn, effect_seen, sets, with_deck, with_hand, with_record
from controller.table.model import ASIDE, Deck, Hand, HeldCard, Pile
from controller.table.state import TableState
from firmware_bridge.commands import Dispense, Shuffle, UnloadStub

PILES = frozenset(Pile)


@sets(events.DeckArrived)
def _deck_arrived(state: TableState, event: events.DeckArrived, entry: int) -> TableState:
    deck = Deck(deck=event.deck, loaded=event.count or 0, shuffle=event.shuffle or 0)
    if event.waiting:
        if state.next_deck is not None and state.next_deck.used:
            state = with_record(state, state.next_deck.label, shuffled_by="")
        return replace(state, next_deck=deck)
    if state.deck.used:
        state = with_record(state, state.deck.label, shuffled_by="")
    return replace(_cleared(state), deck=deck, next_deck=None)


def _cleared(state: TableState) -> TableState:
    """Another deck is in play: what left the one before is no longer of it."""
    return replace(state, tray=(), aside=(), piles={}, surplus={}, places=(), dealt=0, dealt_cards=())


@sets(events.DeckComesIntoPlay)
def _deck_comes_into_play(state: TableState, event: events.DeckComesIntoPlay, entry: int) -> TableState:
    if state.deck.used:
        state = with_record(state, state.deck.label, shuffled_by="")
    return replace(_cleared(state), deck=state.next_deck or Deck(), next_deck=None)


@sets(events.ShuffleBegan)
def _shuffle_began(state: TableState, event: events.ShuffleBegan, entry: int) -> TableState:
    return with_deck(state, event.waiting, shuffled=False)


@sets(events.DeckShuffled)
def _deck_shuffled(state: TableState, event: events.DeckShuffled, entry: int) -> TableState:
    if event.deck == state.coming_deck.deck:
        state = effect_seen(state, Shuffle)  # a shuffle of another deck is not what was ordered
    deck = Deck(
        deck=event.deck,
        shuffle=event.shuffle,
        loaded=event.count,
        shuffled=True,
        face_up_count=event.face_up,
    )
    before = (state.next_deck or Deck()) if event.waiting else state.deck
    if before.deck == event.deck:  # the same cards, whatever their order
        deck = replace(deck, label=before.label, quarantined=before.quarantined)
    if event.waiting:
        return replace(state, next_deck=deck)
    return replace(_cleared(state), deck=deck)


@sets(events.CardFoundFaceUp)
def _card_found_face_up(state: TableState, event: events.CardFoundFaceUp, entry: int) -> TableState:
    deck = (state.next_deck or Deck()) if event.waiting else state.deck
    return with_deck(state, event.waiting, face_up=(*deck.face_up, event.ordinal))


@sets(events.SetInTray)
def _set_in_tray(state: TableState, event: events.SetInTray, entry: int) -> TableState:
    state = effect_seen(state, Dispense)
    deck = replace(state.deck, used=True, dispensed=state.deck.dispensed + len(event.cards))
    return _read(replace(state, tray=(*state.tray, *event.cards), deck=deck), event.cards)


def _read(state: TableState, cards: tuple[HeldCard, ...]) -> TableState:
    """Cards left the device in a round, in this order: so the next round's order can be compared with it (I03)."""
    return replace(state, read=(*state.read, *cards)) if state.in_round else state


@sets(events.CardsSetAside)
def _cards_set_aside(state: TableState, event: events.CardsSetAside, entry: int) -> TableState:
    tray, deck = ((), state.deck) if event.from_tray else (state.tray, drawn(state, len(event.cards)))
    state = state if event.from_tray else _read(state, event.cards)
    return replace(state, aside=(*state.aside, *event.cards), tray=tray, deck=deck)


@sets(events.CardsBurnt)
def _cards_burnt(state: TableState, event: events.CardsBurnt, entry: int) -> TableState:
    return _left(_onto(state, Pile.BURNT, event.cards), event.cards, event.source)


@sets(events.CardsStrayed)
def _cards_strayed(state: TableState, event: events.CardsStrayed, entry: int) -> TableState:
    """From a deck that was dealt from no round can begin."""
    before = state.next_deck.dispensed if state.next_deck is not None else 0
    state = with_deck(state, True, used=True, dispensed=before + len(event.cards))
    return _onto(state, Pile.STRAYS, event.cards)


def _onto(state: TableState, pile: Pile, cards: tuple[HeldCard, ...]) -> TableState:
    return replace(state, piles={**state.piles, pile: (*state.piles.get(pile, ()), *cards)})


@sets(events.FirstCardDrawn)
def _first_card_drawn(state: TableState, event: events.FirstCardDrawn, entry: int) -> TableState:
    return _left(replace(state, first_card=event.card), (event.card,), event.source)


@sets(events.FirstCardShown)
def _first_card_shown(state: TableState, event: events.FirstCardShown, entry: int) -> TableState:
    return replace(state, first_card_shown=event.card)


def _left(state: TableState, cards: tuple[HeldCard, ...], source: str) -> TableState:
    """These cards are no longer where they came from."""
    count = len(cards)
    if state.by_hand and source in ("by_hand", "tray"):
        state = replace(state, dealt_by_hand=(*state.dealt_by_hand, *(card.id for card in cards)))
    if source == "tray":
        return replace(state, tray=state.tray[count:])
    if source == "aside":
        return replace(state, aside=state.aside[count:])
    if source == "first_card":
        return replace(state, first_card=None)
    state = _read(state, cards) if source == "device" else state
    return replace(state, deck=drawn(state, count))


@sets(events.CardsDealt)
def _cards_dealt(state: TableState, event: events.CardsDealt, entry: int) -> TableState:
    hands = dict(state.hands)
    for place, card in zip(event.places, event.cards, strict=True):
        hand = hands.get(place, Hand())
        hands[place] = replace(hand, cards=(*hand.cards, card))
    dealt = state.dealt + len(event.cards)
    dealt_cards = (*state.dealt_cards, *(card.id for card in event.cards))
    return _left(replace(state, hands=hands, dealt=dealt, dealt_cards=dealt_cards), event.cards, event.source)


def _moved(state: TableState, moves: tuple[events.CardMoved, ...]) -> TableState:
    lying = {place: list(hand.cards) for place, hand in state.hands.items()}
    lying |= {pile: list(cards) for pile, cards in state.piles.items()}
    for move in moves:
        card = next(card for card in lying[move.source] if card.id == (move.shuffle, move.ordinal))
        lying[move.source].remove(card)
        lying.setdefault(move.place, []).append(card)
    as_they_left = {where: tuple(sorted(cards, key=lambda card: card.id)) for where, cards in lying.items()}
    hands = {
        place: replace(state.hands.get(place, Hand()), cards=cards)
        for place, cards in as_they_left.items()
        if place not in PILES
    }
    piles = {Pile(where): cards for where, cards in as_they_left.items() if where in PILES and cards}
    return replace(state, hands=hands, piles=piles)


@sets(events.CardsFoundElsewhere)
def _cards_found_elsewhere(state: TableState, event: events.CardsFoundElsewhere, entry: int) -> TableState:
    return _moved(state, event.cards)


@sets(events.CardsReconstructed)
def _cards_reconstructed(state: TableState, event: events.CardsReconstructed, entry: int) -> TableState:
    state = _moved(state, event.cards)
    return state if event.place is None else with_hand(state, event.place, surplus=0)


@sets(events.DealtByHand)
def _dealt_by_hand(state: TableState, event: events.DealtByHand, entry: int) -> TableState:
    return replace(state, by_hand=True)


@sets(events.StubCounted)
def _stub_counted(state: TableState, event: events.StubCounted, entry: int) -> TableState:
    state = state if event.in_device else effect_seen(state, UnloadStub)
    tray = state.tray if event.in_device else ()
    out = state.deck.stub_out or not event.in_device
    tray = state.tray if event.midway else tray
    by_count = state.deck.dispensed + event.count - len(tray)
    stub = None if event.midway else event.count
    return replace(state, deck=replace(state.deck, stub=stub, stub_out=out, by_count=by_count), tray=tray)


@sets(events.DeckCountedWhole)
def _deck_counted_whole(state: TableState, event: events.DeckCountedWhole, entry: int) -> TableState:
    return replace(state, count_due=False)


@sets(events.CardsCounted)
def _cards_counted(state: TableState, event: events.CardsCounted, entry: int) -> TableState:
    """What was counted beside stub, tray and hands stands until it is counted again; of those other events tell."""
    if event.pile not in (*PILES, ASIDE):
        return state
    known = len(state.aside) if event.pile == ASIDE else len(state.piles.get(Pile(event.pile), ()))
    return replace(state, surplus={**state.surplus, event.pile: event.number - known})
