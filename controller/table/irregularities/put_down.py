"""Decides what happens to a card that was exposed or dropped, or is face up in the device, when play goes on.

The card is put face down at its place, as every card is dealt (TP 3.4, RTP 3.12, NC 3.12, P3 3.5; F3 by reading 45).
RTP 5.8 says so explicitly; elsewhere the casino may leave an exposed card face up (reading 55).
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Disposition, Kind
from controller.rules.dealing_order import DEALER
from controller.table.events import CardToTurnDown
from controller.table.model import Irregularity, Stage
from controller.table.phases import AFTER_DEAL, CARDS_LEAVE, IN_ROUND, Phase
from controller.table.state import TableState
from firmware_bridge.messages import Message, message

EXPOSED: Final = frozenset({Kind.EXPOSED_CARD, Kind.PLAYER_EXPOSED, Kind.DEALER_EXPOSED_EARLY})
ENDS: Final = frozenset({Disposition.VOID, Disposition.RESHUFFLE})  # no hand is played on
BEFORE_SETTLING: Final = CARDS_LEAVE | {Phase.EXAMINING, Phase.EXPOSING}


def card_put_down(state: TableState, found: Irregularity) -> CardToTurnDown | None:
    """Return the card that is put face down if play goes on after this irregularity, or None if there is none."""
    if found.round != state.round.number or found.waiting:
        return None
    if found.kind is Kind.FACE_UP_IN_DEVICE:
        return _from_device(state, found) if _is_turned_down(state, found) else None
    if state.phase not in BEFORE_SETTLING:
        return None
    ordinal = found.ordinals[0] if found.ordinals else 0
    if found.fell:
        fell = state.fallen(found.id, found.place or "")
        return CardToTurnDown(found.id, found.place or "", found.card or 0, ordinal) if fell is not None else None
    if found.kind not in EXPOSED or not _lies_down(state) or not _is_turned_down(state, found):
        return None
    place = DEALER if found.kind is Kind.DEALER_EXPOSED_EARLY else found.place or ""
    return CardToTurnDown(found.id, place, found.card or 0, ordinal)


def _lies_down(state: TableState) -> bool:
    """Return whether cards at a place are face down: until the hands are turned over one after the other."""
    turned_over = state.phase is Phase.EXPOSING and any(hand.shown for hand in state.round.hands.values())
    return state.phase in BEFORE_SETTLING and not turned_over


def _is_turned_down(state: TableState, found: Irregularity) -> bool:
    """Return whether the card is turned face down. A First Card and hands dealt face up stay shown."""
    shown = bool(state.game.first_card and found.facts.first_card) or state.law.chosen.get("faces") == "up"
    return found.row.turned_down or not (shown or state.law.chosen.get("exposed_card") == "up")


def _from_device(state: TableState, found: Irregularity) -> CardToTurnDown | None:
    """Return the card with that number, wherever it is dealt. A card seen in the device leaves it next."""
    if found.facts.in_stub or state.phase not in IN_ROUND or found.facts.shuffling:
        return None
    if found.ordinals:
        return CardToTurnDown(found.id, found.place or "", 0, found.ordinals[0])
    if state.phase in AFTER_DEAL or not state.decks.in_play.deck:
        return None
    due = state.round.next_place if not state.burn_due else None
    return CardToTurnDown(found.id, due or "", 0, state.decks.next_ordinal)


def becomes(state: TableState, found: Irregularity, *, named: bool = True) -> Message | None:
    """Return what happens to the card, or to the result of an earlier round, as a clause, or None if it is about
    neither.

    None also while a question that it depends on is open. Not `named`: for use after a sentence that names the card.
    """
    row = found.row
    if (found.asks and found.stage is Stage.CLAIMED) or row.disposition in ENDS:
        return None
    if row.disposition is Disposition.STANDS:
        return with_clause(message("the result stands"), row.clause)
    due = card_put_down(state, found)
    if row.disposition is Disposition.NEXT_CARD and due is None:
        return with_clause(message("the face-up card counts as the next card"), row.clause)
    if due is None:
        stays = found.kind in EXPOSED and _lies_down(state) and found.round == state.round.number
        return message("the exposed card stays face up") if stays else None
    return _put_down_in_words(state, found, due) if named else _of_it(found)


def _put_down_in_words(state: TableState, found: Irregularity, due: CardToTurnDown) -> Message:
    clause = found.row.clause
    if found.row.disposition is Disposition.NEXT_CARD:
        return message(
            "the face-up card counts as the next card ({clause}), and is turned face down at its place", clause=clause
        )
    if found.kind is Kind.FACE_UP_IN_DEVICE:
        return message("the face-up card is dealt, and is turned face down at its place")
    if not due.place:
        if found.fell:
            return message("the dropped card goes back to its place, face down")
        return message("the exposed card is turned face down")
    hand = state.game.words.of_all([due.place])
    if found.fell:
        return message("the dropped card goes back to {hand}, face down", hand=hand)
    if found.kind is Kind.DEALER_EXPOSED_EARLY and not due.card:
        return message("{hand} is turned face down", hand=hand)
    down = message("the exposed card of {hand} is turned face down", hand=hand)
    return with_clause(down, clause if found.row.turned_down else "")


def with_clause(said: Message, clause: str) -> Message:
    """Return the text with its clause appended; `clause` is empty if the document is silent."""
    return message("{said} ({clause})", said=said, clause=clause) if clause else said


def _of_it(found: Irregularity) -> Message:
    """Return the same text for use after a sentence that names the card."""
    if found.kind is Kind.FACE_UP_IN_DEVICE:
        return message("it is dealt, and is turned face down at its place")
    if found.fell:
        return message("it goes back to its place, face down")
    return message("it is turned face down")
