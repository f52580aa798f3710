"""What corrections set, and which operations of the round may be corrected."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets, with_hand
from controller.table.model import Entered, Hand
from controller.table.state import TableState


@sets(events.EntryCorrected)
def _entry_corrected(state: TableState, event: events.EntryCorrected, entry: int) -> TableState:
    left = tuple(entered for entered in state.entered if entered.entry != event.corrected)
    if event.instead is not None:
        left = (*left, Entered(entry, event.by, event.role, event.instead))
    return replace(state, entered=left)


@sets(events.HandlingCorrected)
def _handling_corrected(state: TableState, event: events.HandlingCorrected, entry: int) -> TableState:
    state = replace(state, viewing=event.viewing)
    return with_hand(state, event.place, handled=event.handled, viewed=event.viewed)


@sets(events.OrderCorrected)
def _order_corrected(state: TableState, event: events.OrderCorrected, entry: int) -> TableState:
    return replace(state, places=event.places)


@sets(events.JudgementTakenBack)
def _judgement_taken_back(state: TableState, event: events.JudgementTakenBack, entry: int) -> TableState:
    for place in event.places:
        state = with_hand(state, place, outcome=None)
    return state


@sets(events.ClosingTakenBack)
def _closing_taken_back(state: TableState, event: events.ClosingTakenBack, entry: int) -> TableState:
    return replace(state, conclusion_asked=False, chips_paid=state.chips_paid and not event.chips)


@sets(events.LayoutCorrected)
def _layout_corrected(state: TableState, event: events.LayoutCorrected, entry: int) -> TableState:
    return replace(state, layout=replace(state.layout, bets=event.bets, numbered=event.numbered))


@sets(events.IrregularityReopened)
def _irregularity_reopened(state: TableState, event: events.IrregularityReopened, entry: int) -> TableState:
    every = (*state.open, *(closed.found for closed in state.closed))
    found = replace(
        next(found for found in every if found.id == event.irregularity),
        revision=entry,
        row=event.row,
        facts=event.facts,
        asks=event.asks,
        stage=event.stage,
        choices=event.choices,
        void_asked=False,
    )
    hands = dict(state.hands)
    for place in event.hands:
        hands[place] = replace(hands.get(place, Hand()), dead=False)
    return replace(
        state,
        open=tuple(sorted((*(one for one in state.open if one.id != found.id), found), key=lambda one: one.id)),
        closed=tuple(closed for closed in state.closed if closed.found.id != found.id),
        hands=hands,
        removed=tuple(removed for removed in state.removed if f"B{removed[0]}" not in event.hands),
        withdrawn=tuple(gone for gone in state.withdrawn if (gone[0], gone[1]) not in event.withdrawals),
        bet_rulings=tuple(ruled for ruled in state.bet_rulings if (ruled[0], ruled[2]) not in _ruled(event)),
    )


def _ruled(event: events.IrregularityReopened) -> set[tuple[int, int]]:
    return {(bet, event.irregularity) for bet in event.bets}


@sets(events.VoidLifted)
def _void_lifted(state: TableState, event: events.VoidLifted, entry: int) -> TableState:
    return replace(state, voided_by=0, voided_from=None)
