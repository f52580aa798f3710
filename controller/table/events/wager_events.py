"""Events about bettors, bets and their settlement. Money is exact: fractions are text, such as "15/2"."""

from __future__ import annotations

from collections import Counter
from typing import Final

from msgspec.structs import replace

from controller.games.own_words import PLAYER
from controller.rules.layout import Bet, Bettor, HandedBack
from controller.table.events.base import Event, with_round
from controller.table.events.lines import Fields, cited, clauses, under, with_slots
from controller.table.model import (
    Restrictions,
    SettledBet,
)
from controller.table.state import TableState
from firmware_bridge.messages import Message, counted, message


class BettorEntered(Event, frozen=True, tag="bettor_entered"):
    """A bettor was entered, under a name kept until the bettor leaves. `seat`: the bettor's box; None: standing."""

    bettor: str
    seat: int | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        others = tuple(bettor for bettor in state.bettors if bettor.id != self.bettor)
        bettors = (*others, Bettor(self.bettor, self.seat))
        return replace(state, bettors=bettors)

    @staticmethod
    def line(event: Fields) -> Message | None:
        if event["seat"] is None:
            return message("{bettor} joins the table, standing", bettor=event["bettor"])
        return message("{bettor} joins the table at {box}", bettor=event["bettor"], box=event.words.box(event["seat"]))


class BettorLeft(Event, frozen=True, tag="bettor_left"):
    line = message("{bettor} leaves")

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

    @staticmethod
    def line(event: Fields) -> Message | None:
        """Return how many bets are on the layout, and what was handed back; the event itself has the whole layout."""
        bets = event["bets"]
        said = counted(
            "1 bet on the layout, {amount} in total",
            "{count} bets on the layout, {amount} in total",
            len(bets),
            amount=sum(bet["amount"] for bet in bets),
        )
        back = [
            under(message("{amount} returned to {bettor}", amount=one["amount"], bettor=one["bettor"]), one["clause"])
            for one in event["handed_back"]
        ]
        return clauses([said, *back])


class BettingRestricted(Event, frozen=True, tag="betting_restricted"):
    """A pit manager restricted betting: boxes that take no bets, boxes that take fewer, bettors with one box only."""

    closed_boxes: tuple[int, ...]
    fewer_wagers: tuple[tuple[int, int], ...]
    one_box: tuple[str, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, restrictions=Restrictions(self.closed_boxes, self.fewer_wagers, self.one_box))

    @staticmethod
    def line(event: Fields) -> Message | None:
        words = event.words
        each = [
            *(message("{spot} is closed to bets", spot=words.spot(box)) for box in event["closed_boxes"]),
            *(
                message("{spot} accepts at most {most} wagers", spot=words.spot(box), most=most)
                for box, most in event["fewer_wagers"]
            ),
            *(
                message(
                    "{bettor} bets on one Player only" if words.place == PLAYER else "{bettor} bets on one box only",
                    bettor=bettor,
                )
                for bettor in event["one_box"]
            ),
        ]
        if not each:
            return message("the restrictions on betting are lifted")
        return message("restricted: {listed}", listed=clauses(each))


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

    @staticmethod
    def line(event: Fields) -> Message | None:
        box = event.words.box(event["box"])
        said = message("{bettor} takes back all bets on {box}", bettor=event["bettor"], box=box)
        return under(said, event["clause"])


VERDICTS: Final = {
    "won": message("won"),
    "lost": message("lost"),
    "returned": message("returned"),
    "held": message("held for a ruling"),
}
"""Verdicts about bets."""


class WagersSettled(Event, frozen=True, tag="wagers_settled"):
    """Every bet was settled; the event has the house's gain too. `under_minimum`: who used the one bet of RTP 5.10."""

    bets: tuple[SettledBet, ...]
    house: str
    under_minimum: tuple[str, ...] = ()

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_round(state, settlement=self.bets, under_minimum_next=self.under_minimum)

    @staticmethod
    def line(event: Fields) -> Message | None:
        verdicts = Counter(bet["verdict"] for bet in event["bets"])
        each = tuple(
            counted("1 {verdict}", "{count} {verdict}", count, verdict=VERDICTS[verdict])
            for verdict, count in sorted(verdicts.items())
        )
        return message(
            "wagers settled: {listed:list}; house result: {house}",
            listed=each or message("none"), house=event["house"],
        )  # fmt: skip


class SettlementReversed(Event, frozen=True, tag="settlement_reversed"):
    """The settlement was reversed, bet by bet, because the round was voided or a hand removed after it."""

    line = cited(
        with_slots(message("settlement reversed for {bets_count} bets"), bets_count=lambda event: len(event["bets"]))
    )

    irregularity: int
    clause: str
    bets: tuple[SettledBet, ...]

    def apply(self, state: TableState, entry: int) -> TableState:
        paid = state.round.paid_before or state.round.chips_paid
        return with_round(state, settlement=(), chips_paid=False, paid_before=paid)
