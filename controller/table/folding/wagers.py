"""What lies on the layout, and what it came to."""

from __future__ import annotations

from msgspec.structs import replace

from controller.rules.layout import Bettor
from controller.table import events
from controller.table.folding.setters import sets
from controller.table.model import Restrictions
from controller.table.state import TableState


@sets(events.BettorEntered)
def _bettor_entered(state: TableState, event: events.BettorEntered, entry: int) -> TableState:
    others = tuple(bettor for bettor in state.layout.bettors if bettor.id != event.bettor)
    bettors = (*others, Bettor(event.bettor, event.seat))
    return replace(state, layout=replace(state.layout, bettors=bettors))


@sets(events.BettorLeft)
def _bettor_left(state: TableState, event: events.BettorLeft, entry: int) -> TableState:
    others = tuple(bettor for bettor in state.layout.bettors if bettor.id != event.bettor)
    return replace(state, layout=replace(state.layout, bettors=others))


@sets(events.LayoutChanged)
def _layout_changed(state: TableState, event: events.LayoutChanged, entry: int) -> TableState:
    return replace(state, layout=replace(state.layout, bets=event.bets, numbered=event.numbered))


@sets(events.BettingRestricted)
def _betting_restricted(state: TableState, event: events.BettingRestricted, entry: int) -> TableState:
    return replace(state, restrictions=Restrictions(event.closed_boxes, event.fewer_wagers, event.one_box))


@sets(events.BettorWithdrew)
def _bettor_withdrew(state: TableState, event: events.BettorWithdrew, entry: int) -> TableState:
    return replace(state, withdrawn=(*state.withdrawn, (event.bettor, event.box, event.clause, event.irregularity)))


@sets(events.WagersSettled)
def _wagers_settled(state: TableState, event: events.WagersSettled, entry: int) -> TableState:
    return replace(state, settlement=event.bets, under_minimum_next=event.under_minimum)


@sets(events.SettlementReversed)
def _settlement_reversed(state: TableState, event: events.SettlementReversed, entry: int) -> TableState:
    return replace(state, settlement=(), chips_paid=False)
