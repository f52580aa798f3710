"""Events about bettors, bets and their settlement. Money is exact: fractions are text, such as "15/2"."""

from __future__ import annotations

from msgspec.structs import replace

from controller.rules.layout import Bet, Bettor, HandedBack
from controller.table.events.base import Event, with_round
from controller.table.model import (
    Restrictions,
    SettledBet,
)
from controller.table.state import TableState


class BettorEntered(Event, frozen=True, tag="bettor_entered"):
    """A bettor was entered, under a name kept until the bettor leaves. `seat`: the bettor's box; None: standing."""

    bettor: str
    seat: int | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        others = tuple(bettor for bettor in state.bettors if bettor.id != self.bettor)
        bettors = (*others, Bettor(self.bettor, self.seat))
        return replace(state, bettors=bettors)


class BettorLeft(Event, frozen=True, tag="bettor_left"):
    bettor: str

    def apply(self, state: TableState, entry: int) -> TableState:
        others = tuple(bettor for bettor in state.bettors if bettor.id != self.bettor)
        return replace(state, bettors=others)


class LayoutChanged(Event, frozen=True, tag="layout_changed"):
    """The bets on the layout changed: all bets, and the chips handed back. `numbered`: the last bet number given."""

    bets: tuple[Bet, ...]
    numbered: int
    handed_back: tuple[HandedBack, ...] = ()
    overlooked: bool = False  # a bet that the rules do not allow is on the layout

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, bets_numbered=self.numbered, round=replace(state.round, bets=self.bets))


class BettingRestricted(Event, frozen=True, tag="betting_restricted"):
    """A pit manager restricted betting: boxes that take no bets, boxes that take fewer, bettors with one box only."""

    closed_boxes: tuple[int, ...]
    fewer_wagers: tuple[tuple[int, int], ...]
    one_box: tuple[str, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, restrictions=Restrictions(self.closed_boxes, self.fewer_wagers, self.one_box))


class BettorWithdrew(Event, frozen=True, tag="bettor_withdrew"):
    """A bettor withdrew all bets on a box; the hand stays in play for the others."""

    bettor: str
    box: int
    clause: str
    irregularity: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(
            state, withdrawn=(*state.round.withdrawn, (self.bettor, self.box, self.clause, self.irregularity))
        )


class WagersSettled(Event, frozen=True, tag="wagers_settled"):
    """Every bet was settled; the event has the house's gain too. `under_minimum`: who used the one bet of RTP 5.10."""

    bets: tuple[SettledBet, ...]
    house: str
    under_minimum: tuple[str, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, settlement=self.bets, under_minimum_next=self.under_minimum)


class SettlementReversed(Event, frozen=True, tag="settlement_reversed"):
    """The settlement was reversed, bet by bet, because the round was voided or a hand removed after it."""

    irregularity: int
    clause: str
    bets: tuple[SettledBet, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        paid = state.round.paid_before or state.round.chips_paid
        return with_round(state, settlement=(), chips_paid=False, paid_before=paid)
