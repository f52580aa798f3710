"""The course of a round."""

from __future__ import annotations

from controller.rules.dealing_order import Place
from controller.table.operations.base import Operation
from firmware_bridge.cards import Card


class PlaceYourBets(Operation, frozen=True, tag="place_your_bets"):
    """The Dealer's announcement: a round begins."""


class CancelStart(Operation, frozen=True, tag="cancel_start"):
    """ "Place your bets" was keyed by mistake, or nobody bets."""


class OccupyBoxes(Operation, frozen=True, tag="occupy_boxes"):
    """The boxes with a main wager. The last word before "No more bets" counts."""

    boxes: tuple[int, ...]


class NoMoreBets(Operation, frozen=True, tag="no_more_bets"):
    """The Dealer's announcement: the deal begins."""


class ReopenBets(Operation, frozen=True, tag="reopen_bets"):
    """ "No more bets" was keyed by mistake: possible until a card has left the device."""


class ShowFirstCard(Operation, frozen=True, tag="show_first_card"):
    """The First Card lies open. `card` as it is seen; None confirms what the device read."""

    card: Card | None = None


class HandleCards(Operation, frozen=True, tag="handle_cards"):
    """The Player at a place has touched cards; `viewed`: and looked at them. `bettor`: who it was, where it is said."""

    place: Place
    viewed: bool = False
    bettor: str = ""


class ExposeHand(Operation, frozen=True, tag="expose_hand"):
    """A hand lies open. `cards` as they are seen on the table; None confirms what the device read."""

    place: Place
    cards: tuple[Card, ...] | None = None


class RecordSettled(Operation, frozen=True, tag="record_settled"):
    """The chips are paid."""


class ConcludeRound(Operation, frozen=True, tag="conclude_round"):
    """The round is over. Asked twice: the first time it only asks back."""


class AbandonRound(Operation, frozen=True, tag="abandon_round"):
    """The round cannot be finished: it is void by a named person's ruling. Asked twice, in the same words.

    `authority`: who rules so; `text`: why.
    """

    authority: str
    text: str
