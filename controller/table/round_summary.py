"""The summary of a round: hands, bets, chips and payment, read from the state of the round after its events.

It needs no key: a card that is not exposed appears as a mark, whatever its state holds. Later events of the journal may
still change a round that has ended, so the summary is read again after each of them.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from fractions import Fraction
from typing import Any, Final

import msgspec

from controller.rules.dealing_order import DEALER, Place
from controller.table.events import DealBegan, HandJudged
from controller.table.events.base import Event
from controller.table.model import Hand
from controller.table.round_state import Round
from controller.table.state import TableState
from firmware_bridge.cards import Card
from firmware_bridge.messages import AnyText, message

FACE_DOWN: Final = "??"
FACE_UP: Final = "^^"  # a face-up card in a hand that is not turned over: an irregularity
A_RULING: Final = message("a ruling")
RETURNED: Final = "returned"
PAID: Final = "paid"


class HandSummary(msgspec.Struct, frozen=True):
    """The cards of a place as far as they were exposed, and what became of it.

    `cards`: a code for each card; `??` is face down, and `^^` came out face up and was not named. `shown`: the hand was
    turned over. `dead`: the clause or authority that took it out of play.
    """

    place: Place
    cards: list[str]
    shown: bool
    dead: AnyText
    outcome: str
    name: AnyText
    against: AnyText
    half: bool


class RoundSummary(msgspec.Struct, kw_only=True):
    """A round as its events made it: its state, and the events about the deal and the hands that the state drops."""

    state: Round = Round()
    deal: DealBegan | None = None
    judged: dict[Place, HandJudged] = {}

    def take(self, event: Event, after: TableState) -> None:
        """Take an event of the round, and the state of the table after it."""
        self.state = after.round
        if isinstance(event, DealBegan):
            self.deal = event
        elif isinstance(event, HandJudged):
            self.judged[event.place] = event

    @property
    def deck(self) -> str | int:
        """The name of the deck, or the device's number for it."""
        return self.state.label or self.state.deck

    @property
    def boxes(self) -> list[int]:
        return list(self.state.boxes)

    @property
    def first_card(self) -> str:
        """The First Card: its code once it is shown, "" if none was drawn."""
        return first_card(self.state)

    @property
    def hands(self) -> dict[Place, HandSummary]:
        return {place: self._hand(place, hand) for place, hand in self.state.hands.items()}

    @property
    def dealt(self) -> list[HandSummary]:
        """The hands that got cards, the boxes in order and the Dealer last."""
        held = [hand for hand in self.hands.values() if hand.cards]
        return sorted(held, key=lambda hand: (hand.place == DEALER, len(hand.place), hand.place))

    @property
    def bets(self) -> list[dict[str, Any]]:
        """The bets on the layout as plain values."""
        return [msgspec.to_builtins(bet) for bet in self.state.bets]

    @property
    def settlement(self) -> list[dict[str, Any]]:
        """The settled bets as plain values, while the settlement is valid."""
        return [msgspec.to_builtins(bet) for bet in self.state.settlement]

    @property
    def house(self) -> str:
        """The house's gain in the settlement, or "" before it."""
        bets = self.state.settlement
        return str(sum(Fraction(bet.collected) - Fraction(bet.paid) for bet in bets)) if bets else ""

    @property
    def chips(self) -> str:
        """The word for chips that were paid by the result, or bets that were returned; "" before either."""
        if not self.state.chips_paid:
            return ""
        return RETURNED if self.state.voided_from is not None or self.state.returning else PAID

    def _hand(self, place: Place, hand: Hand) -> HandSummary:
        judged = self.judged.get(place) if hand.outcome is not None else None
        dead = (self.state.removals.get(int(place[1:])) or A_RULING) if hand.dead else ""
        known = [card.code for card in hand.shown or hand.named]
        return HandSummary(
            place=place,
            cards=known if hand.shown else [*known, *marks(hand, hand.named, hand.size)],
            shown=bool(hand.shown),
            dead=dead,
            outcome=str(hand.outcome or ""),
            name=judged.hand if judged is not None else "",
            against=judged.dealer_hand if judged is not None else "",
            half=hand.half and judged is not None,
        )


def first_card(round_: Round) -> str:
    """Return the First Card's code, the mark of a card face down while it is not shown, or "" without one."""
    if round_.first_card_shown is not None:
        return round_.first_card_shown.code
    return FACE_DOWN if round_.first_card is not None else ""


def marks(hand: Hand, named: Sequence[Card], count: int, turned: Container[int] = ()) -> list[str]:
    """Return a mark for each of `count` cards of a hand that is not turned over, except for those that were named.

    `turned`: the numbers of cards that came out face up and were turned down.
    """
    found = [FACE_UP if card.face_up and card.ordinal not in turned else FACE_DOWN for card in hand.cards]
    found = (found + [FACE_DOWN] * count)[: max(0, count)]
    for _ in named[: len(found)]:
        found.remove(FACE_UP if FACE_UP in found else FACE_DOWN)
    return found
