"""How far the round is."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets, with_hand, with_record
from controller.table.model import Hand
from controller.table.phases import Phase
from controller.table.state import TableState


@sets(events.PhaseEntered)
def _phase_entered(state: TableState, event: events.PhaseEntered, entry: int) -> TableState:
    if event.phase is Phase.BETTING:
        return replace(state, phase=event.phase, places=(), dealt=0, dealt_cards=())
    return replace(state, phase=event.phase, abandon_asked=(), start_cancelled=event.cancels)


@sets(events.RoundBegan)
def _round_began(state: TableState, event: events.RoundBegan, entry: int) -> TableState:
    answers = tuple(answer for answer in state.answers if answer.round >= event.round - 1)
    state = with_record(state, event.label, shuffled_by="")
    return replace(
        state,
        round=event.round,
        round_deck=event.deck,
        round_label=event.label,
        earlier_label=state.earlier_label if state.start_cancelled else state.round_label,
        earlier_round=event.round - 1 if event.earlier is None else event.earlier,
        start_cancelled=False,
        piles={},
        surplus={},
        boxes=(),
        places=(),
        dealt=0,
        dealt_cards=(),
        by_hand=False,
        dealt_by_hand=(),
        power_failure_told=False,
        stub_stop_told=False,
        read=(),
        read_before=state.read or state.read_before,
        device=replace(state.device, clock_doubted=False, cards_may_have_passed=False),
        hands={},
        first_card=None,
        first_card_shown=None,
        layout=replace(state.layout, bets=()),
        withdrawn=(),
        bet_rulings=(),
        removed=(),
        settlement=(),
        under_minimum=state.under_minimum_next,
        chose_to_go_on=False,
        chips_paid=False,
        conclusion_asked=False,
        abandon_asked=(),
        viewing=(),
        answers=answers,
        entered=(),
        closed=(),
        voided_from=None,
        voided_by=0,
    )


@sets(events.BoxesOccupied)
def _boxes_occupied(state: TableState, event: events.BoxesOccupied, entry: int) -> TableState:
    return replace(state, boxes=event.boxes)


@sets(events.DealBegan)
def _deal_began(state: TableState, event: events.DealBegan, entry: int) -> TableState:
    return replace(state, places=event.places, dealt=0, dealt_cards=())


@sets(events.CardsHandled)
def _cards_handled(state: TableState, event: events.CardsHandled, entry: int) -> TableState:
    if event.viewed and event.bettor:
        state = replace(state, viewing=(*state.viewing, (event.bettor, int(event.place[1:]))))
    return with_hand(state, event.place, handled=True, viewed=event.viewed)


@sets(events.HandCounted)
def _hand_counted(state: TableState, event: events.HandCounted, entry: int) -> TableState:
    known = len(state.hands.get(event.place, Hand()).cards)
    state = replace(state, aside=state.aside[event.from_aside :])
    return with_hand(state, event.place, surplus=event.count - known)


@sets(events.HandExposed)
def _hand_exposed(state: TableState, event: events.HandExposed, entry: int) -> TableState:
    return with_hand(state, event.place, shown=event.cards)


@sets(events.HandTakenBack)
def _hand_taken_back(state: TableState, event: events.HandTakenBack, entry: int) -> TableState:
    return with_hand(state, event.place, shown=())


@sets(events.HandJudged)
def _hand_judged(state: TableState, event: events.HandJudged, entry: int) -> TableState:
    return with_hand(state, event.place, outcome=event.outcome)


@sets(events.HandRemoved)
def _hand_removed(state: TableState, event: events.HandRemoved, entry: int) -> TableState:
    removed = (int(event.place[1:]), event.clause or event.authority, event.irregularity)
    state = replace(state, removed=(*state.removed, removed))
    return with_hand(state, event.place, dead=True, outcome=None)


@sets(events.RoundVoided)
def _round_voided(state: TableState, event: events.RoundVoided, entry: int) -> TableState:
    return state if event.of_round else replace(state, voided_from=state.phase, voided_by=event.irregularity)


@sets(events.ChipsPaid)
def _chips_paid(state: TableState, event: events.ChipsPaid, entry: int) -> TableState:
    return replace(state, chips_paid=True)


@sets(events.ConclusionAsked)
def _conclusion_asked(state: TableState, event: events.ConclusionAsked, entry: int) -> TableState:
    return replace(state, conclusion_asked=True)


@sets(events.AbandonAsked)
def _abandon_asked(state: TableState, event: events.AbandonAsked, entry: int) -> TableState:
    return replace(state, abandon_asked=(event.person, event.authority, event.text))


@sets(events.TablePaused)
def _table_paused(state: TableState, event: events.TablePaused, entry: int) -> TableState:
    return replace(state, paused=event.reason)


@sets(events.TableResumed)
def _table_resumed(state: TableState, event: events.TableResumed, entry: int) -> TableState:
    return replace(state, paused="")
