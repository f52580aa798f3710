"""The base of all events, and the changes of the state that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import msgspec
from msgspec.structs import replace

from controller.table.events.lines import Line
from controller.table.model import ASIDE, Deck, Hand, HeldCard, Pile, RecordedDeck
from controller.table.state import TableState
from firmware_bridge.commands import Command
from firmware_bridge.messages import Message

PILES = frozenset(Pile)


class Event(msgspec.Struct, frozen=True, tag_field="event"):
    """Base class of all events. The tag is the event's name in journals and in the API: it never changes.

    `outdates`: what happened, if the event gives the buttons of a screen another meaning, so that an operation entered
    from an older screen is refused. None: they mean the same as before; such an event only adds to a deal in progress.

    `line`: what people read who follow the table without a screen. None: only machines read the event.
    """

    line: ClassVar[Line | None]
    outdates: ClassVar[Message | None] = None

    def apply(self, state: TableState, entry: int) -> TableState:
        """Return the state after the event, without judging it; `entry` is the event's number in the journal."""
        return state


def with_round(state: TableState, **changes: Any) -> TableState:
    return replace(state, round=replace(state.round, **changes))


def with_decks(state: TableState, **changes: Any) -> TableState:
    return replace(state, decks=replace(state.decks, **changes))


def with_device(state: TableState, **changes: Any) -> TableState:
    return replace(state, device=replace(state.device, **changes))


def with_duty(state: TableState, **changes: Any) -> TableState:
    return replace(state, duty=replace(state.duty, **changes))


def with_hand(state: TableState, place: str, **changes: Any) -> TableState:
    hand = replace(state.round.hands.get(place, Hand()), **changes)
    return with_round(state, hands={**state.round.hands, place: hand})


def with_open(state: TableState, irregularity: int, entry: int, **changes: Any) -> TableState:
    """Change an open irregularity; a void that was requested once has to be requested twice again."""
    changes = {"void_asked": False, **changes}
    changed = tuple(
        replace(found, revision=entry, **changes) if found.id == irregularity else found for found in state.open
    )
    return replace(state, open=changed)


def with_record(state: TableState, label: str, **changes: Any) -> TableState:
    """Change a recorded deck; an unknown name changes nothing."""

    def changed(records: tuple[RecordedDeck, ...]) -> tuple[RecordedDeck, ...]:
        return tuple(replace(record, **changes) if record.label == label else record for record in records)

    return with_decks(state, recorded=changed(state.decks.recorded), taken_away=changed(state.decks.taken_away))


def with_deck(state: TableState, waiting: bool, **changes: Any) -> TableState:
    """Change the deck in play, or the waiting deck."""
    if not waiting:
        return with_decks(state, in_play=replace(state.decks.in_play, **changes))
    return with_decks(state, waiting=replace(state.decks.waiting or Deck(), **changes))


def with_new_deck(state: TableState, deck: Deck, *, waiting: Deck | None) -> TableState:
    """Put another deck in play: cards that left the previous one no longer count."""
    return replace(
        state,
        decks=replace(state.decks, in_play=deck, waiting=waiting, tray=(), aside=()),
        round=replace(state.round, piles={}, surplus={}, taken_back=0, places=(), dealt=0, dealt_cards=()),
    )


def with_effect_seen(state: TableState, command: type[Command]) -> TableState:
    """Record that the effect of an open command was reported."""
    opened = tuple(
        replace(one, seen=True) if isinstance(one.command, command) else one for one in state.device.open_commands
    )
    return with_device(state, open_commands=opened)


def with_status_compared(state: TableState) -> TableState:
    return with_round(with_device(state, status_agrees=True), cards_may_have_passed=False)


def drawn(state: TableState, count: int) -> Deck:
    """Return the deck in play after so many cards left it."""
    deck = state.decks.in_play
    return replace(deck, used=True, dispensed=deck.dispensed + count)


def with_read(state: TableState, cards: tuple[HeldCard, ...]) -> TableState:
    """Record, in order, cards that left the device in a round, to compare them with the next round's (I03)."""
    return with_round(state, read=(*state.round.read, *cards)) if state.in_round else state


def with_pile(state: TableState, pile: Pile, cards: tuple[HeldCard, ...]) -> TableState:
    piles = state.round.piles
    return with_round(state, piles={**piles, pile: (*piles.get(pile, ()), *cards)})


def with_aside_counted(state: TableState, more: int) -> TableState:
    """Change how many cards are set aside; negative: fewer."""
    counted = state.round.surplus.get(ASIDE, 0) + more
    return with_round(state, surplus={**state.round.surplus, ASIDE: counted}) if more else state


def with_taken_back(state: TableState, count: int) -> TableState:
    """Take `count` surplus cards out of a hand. If `count` is negative, give the hand its missing cards, from the
    surplus or from those set aside.
    """
    left = state.round.taken_back + count
    from_aside = min(max(0, -left), state.aside_size)
    return with_aside_counted(with_round(state, taken_back=left + from_aside), -from_aside)


def without_cards(state: TableState, cards: tuple[HeldCard, ...], source: str) -> TableState:
    """Remove these cards from where they came from."""
    count = len(cards)
    if state.round.by_hand and source in ("by_hand", "tray"):
        state = with_round(state, dealt_by_hand=(*state.round.dealt_by_hand, *(card.id for card in cards)))
    if source == "tray":
        return with_decks(state, tray=state.decks.tray[count:])
    if source == "aside":
        return with_decks(state, aside=state.decks.aside[count:])
    if source == "first_card":
        return with_round(state, first_card=None)
    state = with_read(state, cards) if source == "device" else state
    return with_decks(state, in_play=drawn(state, count))


class CardMove(Protocol):
    """A move of one card from a place or pile to another."""

    @property
    def shuffle(self) -> int: ...
    @property
    def ordinal(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def place(self) -> str: ...


def with_moves(state: TableState, moves: Sequence[CardMove], entry: int) -> TableState:
    """Move cards; each place and pile keeps them in the order in which they left the device."""
    lying = {place: list(hand.cards) for place, hand in state.round.hands.items()}
    lying |= {pile: list(cards) for pile, cards in state.round.piles.items()}
    for move in moves:
        card = next(card for card in lying[move.source] if card.id == (move.shuffle, move.ordinal))
        lying[move.source].remove(card)
        lying.setdefault(move.place, []).append(card)
    as_they_left = {where: tuple(sorted(cards, key=lambda card: card.id)) for where, cards in lying.items()}
    hands = {
        place: replace(state.round.hands.get(place, Hand()), cards=cards)
        for place, cards in as_they_left.items()
        if place not in PILES
    }
    piles = {Pile(where): cards for where, cards in as_they_left.items() if where in PILES and cards}
    return with_round(state, hands=hands, piles=piles, placed_by=entry)
