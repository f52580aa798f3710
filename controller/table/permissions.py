"""Who may do what, and when: one row an operation.

Each says who may, in which phases and services, whether also while the table is held, a `verify` that judges the rest
and an `act` that decides what follows. people.py asks the questions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from controller.roles import Role
from controller.rules.law import SILENT_DECIDED_BY
from controller.table import betting, card_places, counts, decks, duty, exposing, maintenance, operations, rounds
from controller.table.decision import Decision
from controller.table.inputs import PersonActed
from controller.table.irregularities import abandoning, adjudication, corrections, rulings
from controller.table.operations import Operation
from controller.table.phases import (
    BEGINNING,
    BETWEEN_ROUNDS,
    CARDS_LEAVE,
    DEALING,
    IN_ROUND,
    WINDOW_OPEN,
    Phase,
    Service,
)
from controller.table.state import TableState


class Lawful(NamedTuple):
    """One operation's row. `services` and `held` say whether it may be done while the table stands still.

    `first`: what should come first in any other phase, where that is not what the phase itself waits for.
    """

    verify: Callable[[TableState, PersonActed, Any], None]
    act: Callable[[Decision, PersonActed, Any], None]
    phases: frozenset[Phase]
    role: Role = Role.DEALER
    services: frozenset[Service] = frozenset({Service.IN_SERVICE})
    held: bool = False
    first: str = ""


ANY_PHASE: Final = frozenset(Phase)
ANY_SERVICE: Final = frozenset(Service)
BETTORS_COME: Final = frozenset(Phase) - {Phase.CLOSED}
BETS_LIE: Final = WINDOW_OPEN - {Phase.VOIDED}
UNDER_MAINTENANCE: Final = frozenset({Phase.MAINTENANCE})
CARDS_ON_TABLE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}


def _irregular(verify: Any, act: Any, role: Role = Role.DEALER) -> Lawful:
    """Irregularities are dealt with whatever else stands still."""
    return Lawful(verify, act, ANY_PHASE, role, ANY_SERVICE, held=True)


def _of_decks(verify: Any, act: Any, role: Role = Role.DEALER) -> Lawful:
    """Decks come and go whatever the table does; what the round in progress needs, each `verify` says."""
    return Lawful(verify, act, ANY_PHASE, role, ANY_SERVICE, held=True)


OPERATIONS: Final[dict[type[Operation], Lawful]] = {
    operations.OpenTable: Lawful(rounds.verify_open_table, rounds.open_table, frozenset({Phase.CLOSED})),
    operations.CloseTable: Lawful(rounds.verify_nothing, rounds.close_table, BEGINNING, services=ANY_SERVICE),
    operations.ShuffledOutside: Lawful(
        decks.verify_shuffled_outside, decks.shuffled_outside, ANY_PHASE - {Phase.MAINTENANCE}
    ),
    operations.PlaceYourBets: Lawful(rounds.verify_place_your_bets, rounds.place_your_bets, BEGINNING),
    operations.CancelStart: Lawful(
        rounds.verify_cancel_start, rounds.cancel_start, frozenset({Phase.BETTING}), services=ANY_SERVICE
    ),
    operations.OccupyBoxes: Lawful(
        rounds.verify_occupy_boxes, rounds.occupy_boxes, frozenset({Phase.BETTING}), services=ANY_SERVICE, held=True
    ),
    operations.NoMoreBets: Lawful(rounds.verify_no_more_bets, rounds.no_more_bets, frozenset({Phase.BETTING})),
    operations.ReopenBets: Lawful(rounds.verify_reopen_bets, rounds.reopen_bets, CARDS_LEAVE, services=ANY_SERVICE),
    operations.EnterBettor: Lawful(
        betting.verify_enter_bettor, betting.add_bettor, BETTORS_COME, services=ANY_SERVICE, held=True
    ),
    operations.BettorLeaves: Lawful(
        betting.verify_bettor_leaves, betting.remove_bettor, BETTORS_COME, services=ANY_SERVICE, held=True
    ),
    **{
        moving: Lawful(betting.verify_wager, betting.lay, BETS_LIE, services=ANY_SERVICE, held=True)
        for moving in (
            operations.PlaceWager,
            operations.ChangeWager,
            operations.TakeBackWager,
            operations.RejectExcess,
        )
    },
    operations.RestrictBetting: Lawful(
        betting.verify_restrict, betting.restrict, ANY_PHASE, Role.PIT_MANAGER, ANY_SERVICE, held=True
    ),
    operations.ShowFirstCard: Lawful(
        rounds.verify_show_first_card, rounds.show_first_card, frozenset({Phase.FIRST_CARD}), services=ANY_SERVICE
    ),
    operations.HandleCards: Lawful(
        exposing.verify_handle_cards, exposing.handle_cards, CARDS_ON_TABLE, services=ANY_SERVICE, held=True
    ),
    operations.ExposeHand: Lawful(
        exposing.verify_expose_hand,
        exposing.expose_hand,
        frozenset({Phase.EXAMINING, Phase.EXPOSING}),
        services=ANY_SERVICE,
    ),
    operations.RecordSettled: Lawful(
        rounds.verify_settled, rounds.record_settled, frozenset({Phase.SETTLING}), services=ANY_SERVICE
    ),
    operations.ConcludeRound: Lawful(
        rounds.verify_conclude, rounds.conclude_round, frozenset({Phase.SETTLING}), services=ANY_SERVICE
    ),
    operations.PauseTable: Lawful(rounds.verify_pause, rounds.pause_table, ANY_PHASE, services=ANY_SERVICE, held=True),
    operations.ResumeTable: Lawful(
        rounds.verify_resume, rounds.resume_table, ANY_PHASE, services=ANY_SERVICE, held=True
    ),
    operations.ReportIrregularity: Lawful(
        adjudication.verify_report,
        adjudication.report,
        WINDOW_OPEN,
        services=ANY_SERVICE,
        held=True,
    ),
    operations.ConfirmIrregularity: _irregular(adjudication.verify_confirm, adjudication.confirm),
    operations.DenyIrregularity: _irregular(adjudication.verify_deny, adjudication.deny),
    operations.NameOrder: _irregular(adjudication.verify_name_order, adjudication.name_order),
    operations.ChooseOption: _irregular(adjudication.verify_choose, adjudication.choose),
    operations.Reconstruct: _irregular(adjudication.verify_reconstruct, adjudication.put_right),
    operations.Rule: _irregular(rulings.verify_rule, rulings.rule),
    operations.PlaceCards: Lawful(
        card_places.verify_place_cards,
        card_places.place_cards,
        CARDS_ON_TABLE,
        services=ANY_SERVICE,
        held=True,
    ),
    operations.DealByHand: Lawful(
        rounds.verify_deal_by_hand, rounds.deal_by_hand, CARDS_LEAVE, Role.PIT_SUPERVISOR, ANY_SERVICE
    ),
    operations.CountCards: Lawful(counts.verify_count, counts.count_cards, ANY_PHASE, services=ANY_SERVICE, held=True),
    operations.CorrectEntry: Lawful(
        corrections.verify_correct_entry,
        corrections.correct_entry,
        WINDOW_OPEN,
        Role.PIT_SUPERVISOR,
        ANY_SERVICE,
        held=True,
    ),
    operations.CorrectBet: Lawful(
        corrections.verify_correct_bet,
        corrections.correct_bet,
        WINDOW_OPEN - {Phase.BETTING, Phase.VOIDED},
        Role.PIT_SUPERVISOR,
        ANY_SERVICE,
        held=True,
    ),
    operations.BringDeck: _of_decks(decks.verify_bring, decks.bring),
    operations.TakeDeckOut: _of_decks(decks.verify_take_out, decks.take_out),
    operations.LoadDeck: _of_decks(decks.verify_load, decks.load),
    operations.QuarantineDeck: _of_decks(decks.verify_quarantine, decks.quarantine),
    operations.ReleaseDeck: _of_decks(decks.verify_release, decks.release, Role.PIT_SUPERVISOR),
    operations.CutDeck: _of_decks(decks.verify_cut, decks.cut),
    operations.ContinueRound: Lawful(
        rounds.verify_continue, rounds.continue_round, IN_ROUND, services=frozenset({Service.RECONCILING}), held=True
    ),
    operations.ReturnToService: Lawful(
        rounds.verify_nothing, rounds.return_to_service, ANY_PHASE, Role.PIT_SUPERVISOR, ANY_SERVICE, held=True
    ),
    operations.AbandonRound: Lawful(
        abandoning.verify_abandon, abandoning.abandon_round, IN_ROUND, SILENT_DECIDED_BY, ANY_SERVICE, held=True
    ),
    operations.DealerOn: Lawful(duty.verify_dealer_on, duty.dealer_on, BETWEEN_ROUNDS, services=ANY_SERVICE, held=True),
    operations.DealerOff: Lawful(
        duty.verify_dealer_off, duty.dealer_off, BETWEEN_ROUNDS, services=ANY_SERVICE, held=True
    ),
    operations.TakeOver: Lawful(duty.verify_take_over, duty.take_over, ANY_PHASE, services=ANY_SERVICE, held=True),
    operations.BeginMaintenance: Lawful(
        maintenance.verify_begin,
        maintenance.begin,
        BETWEEN_ROUNDS - {Phase.MAINTENANCE},
        Role.PIT_SUPERVISOR,
        ANY_SERVICE,
    ),
    operations.EndMaintenance: Lawful(
        maintenance.verify_end,
        maintenance.end,
        UNDER_MAINTENANCE,
        Role.PIT_SUPERVISOR,
        ANY_SERVICE,
        first="Maintenance has not begun; begin it between rounds.",
    ),
    operations.InstructDevice: Lawful(
        maintenance.verify_instruct,
        maintenance.instruct,
        UNDER_MAINTENANCE,
        Role.PIT_SUPERVISOR,
        first="In play it is told by the table alone; begin maintenance between rounds first.",
    ),
}
