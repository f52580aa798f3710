"""Which irregularities are open, and what they wait for."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from controller.games.specification import Choice, Kind
from controller.rules.settlement import BetRuling
from controller.table import events
from controller.table.folding.setters import sets, with_open
from controller.table.model import Closed, Irregularity
from controller.table.phases import AFTER_DEAL, Service
from controller.table.state import TableState


@sets(events.IrregularityRaised)
def _irregularity_raised(state: TableState, event: events.IrregularityRaised, entry: int) -> TableState:
    raised = Irregularity(
        id=entry,
        revision=entry,
        round=event.of_round or state.round,
        kind=event.kind,
        row=event.row,
        facts=event.facts,
        asks=event.asks,
        stage=event.stage,
        blocks=event.blocks,
        place=event.place,
        ordinals=event.ordinals,
        counted=event.counted,
        first_facts=event.facts,
        origin=event.origin,
        of_deck=event.of_deck,
        waiting=event.waiting,
    )
    other = event.of_round != 0 or event.waiting  # what is not about this round does not ask it back
    asked = state.conclusion_asked and other
    told = state.power_failure_told or (
        event.kind is Kind.POWER_FAILURE and not event.of_round and state.service is not Service.IN_SERVICE
    )
    stands = event.kind is Kind.TECHNICAL_STOP and event.noticed_by == "device" and state.phase in AFTER_DEAL
    return replace(
        state,
        open=(*state.open, raised),
        conclusion_asked=asked,
        power_failure_told=told,
        stub_stop_told=state.stub_stop_told or stands,
    )


@sets(events.IrregularityConfirmed)
def _irregularity_confirmed(state: TableState, event: events.IrregularityConfirmed, entry: int) -> TableState:
    changes: dict[str, Any] = {"row": event.row, "facts": event.facts, "asks": ()}
    if event.stage is not None:
        changes["stage"] = event.stage
    return with_open(state, event.irregularity, entry, **changes)


@sets(events.FactStated)
def _fact_stated(state: TableState, event: events.FactStated, entry: int) -> TableState:
    changes: dict[str, Any] = {} if event.counted is None else {"counted": event.counted}
    return with_open(state, event.irregularity, entry, facts=event.facts, row=event.row, asks=event.asks, **changes)


@sets(events.OrderNamed)
def _order_named(state: TableState, event: events.OrderNamed, entry: int) -> TableState:
    def place_in_order(ordinal: int) -> int:
        return event.ordinals.index(ordinal) if ordinal in event.ordinals else len(event.ordinals)

    state = replace(
        state,
        aside=tuple(sorted(state.aside, key=lambda card: place_in_order(card.ordinal))),
        tray=tuple(sorted(state.tray, key=lambda card: place_in_order(card.ordinal))),
    )
    changes: dict[str, Any] = {} if event.stage is None else {"stage": event.stage}
    return with_open(state, event.irregularity, entry, **changes)


@sets(events.VoidAsked)
def _void_asked(state: TableState, event: events.VoidAsked, entry: int) -> TableState:
    """It leaves the revision alone: what is said again is said of the irregularity as it stands."""
    changed = tuple(
        replace(found, void_asked=True) if found.id == event.irregularity else found for found in state.open
    )
    return replace(state, open=changed)


@sets(events.OptionChosen)
def _option_chosen(state: TableState, event: events.OptionChosen, entry: int) -> TableState:
    """A choice leaves the revision alone: the next bettor chooses in the same irregularity, as it stands."""
    changed = tuple(
        replace(found, choices=(*found.choices, (event.place, event.bettor, event.choice)))
        if found.id == event.irregularity
        else found
        for found in state.open
    )
    goes_on = state.chose_to_go_on or event.choice is Choice.CONTINUE
    return replace(state, open=changed, chose_to_go_on=goes_on)


@sets(events.Ruled)
def _ruled(state: TableState, event: events.Ruled, entry: int) -> TableState:
    """A ruling on bets is remembered until they are settled."""
    ruling = BetRuling(event.bet_action, event.authority, event.text)
    rulings = tuple((number, ruling, event.irregularity) for number in event.bets)
    return replace(state, bet_rulings=(*state.bet_rulings, *rulings))


@sets(events.IrregularityResolved)
def _irregularity_resolved(state: TableState, event: events.IrregularityResolved, entry: int) -> TableState:
    left = tuple(found for found in state.open if found.id != event.irregularity)
    ended = tuple(
        Closed(found, event.outcome)
        for found in state.open
        if found.id == event.irregularity and found.round == state.round
    )
    return replace(state, open=left, closed=(*state.closed, *ended))
