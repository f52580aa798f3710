"""Who may do which operation, and when: one row an operation, with what it needs (`verify`) and does (`act`).

`perform` applies the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from controller.roles import Role
from controller.rules.law import SILENT_DECIDED_BY
from controller.table import (
    betting,
    card_places,
    counts,
    decks,
    exposing,
    operations,
    recall,
    rounds,
    screens,
    service,
)
from controller.table.decision import Decision
from controller.table.inputs import PersonActed
from controller.table.irregularities import adjudication, bet_corrections, corrections, reporting, rulings
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


class When(NamedTuple):
    """In which services of the table, and whether also while the table is held."""

    services: frozenset[Service]
    held: bool


RUNNING: Final = When(frozenset({Service.IN_SERVICE}), held=False)
NOT_HELD: Final = When(frozenset(Service), held=False)
ALWAYS: Final = When(frozenset(Service), held=True)  # irregularities, decks and counts do not wait for play
RECONCILING: Final = When(frozenset({Service.RECONCILING}), held=True)


class Permission(NamedTuple):
    """One operation's row. `phrase`: what it does, after "may" and "cannot"; `done`: the sentence once it is done.

    `verify` raises `RefusedError` for what phase, service and hold do not cover; `act` decides what follows. `role`:
    the lowest rank. `first`: what comes first in any other phase, where it is not what that phase waits for.
    `off_duty`: also for a dealer who is not on duty while another one is. Such a dealer may take the table over. He may
    also report what he noticed, and pause the table: both only hold the deal until other people decide, and an error
    that no one may report, or a deal that no one may stop, does more harm. `though_held`: when an irregularity that
    holds the table does not hold this.
    """

    phrase: str
    done: str
    verify: Callable[[TableState, PersonActed, Any], None]
    act: Callable[[Decision, PersonActed, Any], None]
    phases: frozenset[Phase]
    when: When = RUNNING
    role: Role = Role.DEALER
    first: str = ""
    off_duty: bool = False
    though_held: Callable[[TableState], bool] | None = None


ANY_PHASE: Final = frozenset(Phase)
BETTORS_COME: Final = frozenset(Phase) - {Phase.CLOSED}
REPORTED: Final = WINDOW_OPEN | {Phase.IDLE}  # after an announced start that was cancelled
BETS_LIE: Final = WINDOW_OPEN - {Phase.VOIDED}
CARDS_LIE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED}
CARDS_ON_TABLE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}
UNDER_MAINTENANCE: Final = frozenset({Phase.MAINTENANCE})
CLOSED: Final = frozenset({Phase.CLOSED})
BETTING: Final = frozenset({Phase.BETTING})
FIRST_CARD: Final = frozenset({Phase.FIRST_CARD})
SHOWING: Final = frozenset({Phase.EXAMINING, Phase.EXPOSING})
SETTLING: Final = frozenset({Phase.SETTLING})
TO_PAY: Final = SETTLING | BETWEEN_ROUNDS  # bets are returned, or a settlement was repeated

# fmt: off
PERMISSIONS: Final[dict[type[Operation], Permission]] = {
    operations.OpenTable: Permission(
        "open the table", "{who} opened the table.",
        service.verify_open_table, service.open_table, CLOSED),
    operations.CloseTable: Permission(
        "close the table", "{who} closed the table.",
        service.verify_close_table, service.close_table, BEGINNING, NOT_HELD),
    operations.ShuffledOutside: Permission(
        "record that the deck was shuffled outside", "{who} recorded that the deck was shuffled outside.",
        decks.verify_shuffled_outside, decks.shuffled_outside, ANY_PHASE - {Phase.MAINTENANCE}),
    operations.PlaceYourBets: Permission(
        "open bets", "{who} opened bets.",
        rounds.verify_place_your_bets, rounds.place_your_bets, BEGINNING),
    operations.CancelStart: Permission(
        "cancel the start of a round", "{who} cancelled the start of a round.",
        rounds.verify_cancel_start, rounds.cancel_start, BETTING, NOT_HELD),
    operations.OccupyBoxes: Permission(
        "mark the boxes with bets", "{who} marked the boxes with bets.",
        rounds.verify_occupy_boxes, rounds.occupy_boxes, BETTING, ALWAYS),
    operations.NoMoreBets: Permission(
        "close bets", "{who} closed bets.",
        rounds.verify_no_more_bets, rounds.no_more_bets, BETTING),
    operations.ReopenBets: Permission(
        "open bets again", "{who} opened bets again.",
        rounds.verify_reopen_bets, rounds.reopen_bets, CARDS_LEAVE, NOT_HELD),
    operations.EnterBettor: Permission(
        "enter a bettor", "{who} entered a bettor.",
        betting.verify_enter_bettor, betting.add_bettor, BETTORS_COME, ALWAYS),
    operations.BettorLeaves: Permission(
        "let a bettor leave", "{who} let a bettor leave.",
        betting.verify_bettor_leaves, betting.remove_bettor, BETTORS_COME, ALWAYS),
    operations.PlaceWager: Permission(
        "place a wager", "{who} placed a wager.",
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.ChangeWager: Permission(
        "change a wager", "{who} changed a wager.",
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.TakeBackWager: Permission(
        "take a wager back", "{who} took a wager back.",
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.RejectExcess: Permission(
        "hand back what is over the limit", "{who} handed back what is over the limit.",
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.RestrictBetting: Permission(
        "restrict betting", "{who} restricted betting.",
        betting.verify_restrict, betting.restrict, ANY_PHASE, ALWAYS, Role.PIT_MANAGER),
    operations.ShowFirstCard: Permission(
        "show the First Card", "{who} showed the First Card.",
        rounds.verify_show_first_card, rounds.show_first_card, FIRST_CARD, NOT_HELD),
    operations.HandleCards: Permission(
        "record that cards were handled", "{who} recorded that cards were handled.",
        exposing.verify_handle_cards, exposing.handle_cards, CARDS_ON_TABLE, ALWAYS),
    operations.PlayersExamined: Permission(
        "record that players have examined their cards", "{who} recorded that players have examined their cards.",
        exposing.verify_examined, exposing.record_examined, frozenset({Phase.EXAMINING}), NOT_HELD),
    operations.ExposeHand: Permission(
        "expose a hand", "{who} exposed a hand.",
        exposing.verify_expose_hand, exposing.expose_hand, SHOWING, NOT_HELD),
    operations.NameExposed: Permission(
        "name exposed cards", "{who} named exposed cards.",
        exposing.verify_name_exposed, exposing.name_exposed, CARDS_ON_TABLE, ALWAYS),
    operations.RecordSettled: Permission(
        "record that the chips are paid", "{who} recorded that the chips are paid.",
        rounds.verify_settled, rounds.record_settled, TO_PAY, NOT_HELD, though_held=rounds.returns_bets_after_void),
    operations.ConcludeRound: Permission(
        "conclude the round", "{who} concluded the round.",
        rounds.verify_conclude, rounds.conclude_round, SETTLING, NOT_HELD),
    operations.PauseTable: Permission(
        "pause the table", "{who} paused the table.",
        service.verify_pause, service.pause_table, ANY_PHASE, ALWAYS, off_duty=True),
    operations.ResumeTable: Permission(
        "resume play", "{who} resumed play.",
        service.verify_resume, service.resume_table, ANY_PHASE, ALWAYS),
    operations.ReportIrregularity: Permission(
        "report an irregularity", "{who} reported an irregularity.",
        reporting.verify_report, reporting.report, REPORTED, ALWAYS, off_duty=True),
    operations.ConfirmIrregularity: Permission(
        "confirm an irregularity", "{who} confirmed an irregularity.",
        adjudication.verify_confirm, adjudication.confirm, ANY_PHASE, ALWAYS),
    operations.DenyIrregularity: Permission(
        "deny an irregularity", "{who} denied an irregularity.",
        adjudication.verify_deny, adjudication.deny, ANY_PHASE, ALWAYS),
    operations.NameOrder: Permission(
        "name the order of the cards", "{who} named the order of the cards.",
        adjudication.verify_name_order, adjudication.name_order, ANY_PHASE, ALWAYS),
    operations.ChooseOption: Permission(
        "record a bettor's choice", "{who} recorded a bettor's choice.",
        adjudication.verify_choose, adjudication.choose, ANY_PHASE, ALWAYS),
    operations.Reconstruct: Permission(
        "record that the cards were moved", "{who} recorded that the cards were moved.",
        adjudication.verify_reconstruct, adjudication.confirm_reconstruction, ANY_PHASE, ALWAYS),
    operations.Rule: Permission(
        "give a ruling", "{who} gave a ruling.",
        rulings.verify_rule, rulings.rule, ANY_PHASE, ALWAYS),
    operations.PlaceCards: Permission(
        "record where cards lie", "{who} recorded where cards lie.",
        card_places.verify_place_cards, card_places.place_cards, CARDS_LIE, ALWAYS),
    operations.DealByHand: Permission(
        "deal by hand", "{who} dealt by hand.",
        rounds.verify_deal_by_hand, rounds.deal_by_hand, CARDS_LEAVE, NOT_HELD, Role.PIT_SUPERVISOR),
    operations.CountCards: Permission(
        "count cards", "{who} counted cards.",
        counts.verify_count, counts.count_cards, ANY_PHASE, ALWAYS),
    operations.CorrectEntry: Permission(
        "correct an entry", "{who} corrected an entry.",
        corrections.verify_correct_entry, corrections.correct_entry, WINDOW_OPEN, ALWAYS, Role.PIT_SUPERVISOR),
    operations.CorrectBet: Permission(
        "correct a bet", "{who} corrected a bet.",
        bet_corrections.verify_correct_bet, bet_corrections.correct_bet, WINDOW_OPEN - {Phase.BETTING, Phase.VOIDED},
        ALWAYS, Role.PIT_SUPERVISOR),
    operations.RecallCards: Permission(
        "recall concealed cards", "{who} recalled concealed cards.",
        recall.verify_recall, recall.recall_cards, ANY_PHASE, ALWAYS, Role.PIT_MANAGER),
    operations.BringDeck: Permission(
        "bring a deck", "{who} brought a deck.",
        decks.verify_bring, decks.bring, ANY_PHASE, ALWAYS),
    operations.TakeDeckOut: Permission(
        "take a deck away", "{who} took a deck away.",
        decks.verify_take_out, decks.take_out, ANY_PHASE, ALWAYS),
    operations.LoadDeck: Permission(
        "record which deck was put in", "{who} recorded which deck was put in.",
        decks.verify_load, decks.load, ANY_PHASE, ALWAYS),
    operations.QuarantineDeck: Permission(
        "put a deck out of use", "{who} put a deck out of use.",
        decks.verify_quarantine, decks.quarantine, ANY_PHASE, ALWAYS),
    operations.ReleaseDeck: Permission(
        "release a deck", "{who} released a deck.",
        decks.verify_release, decks.release, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.CutDeck: Permission(
        "cut the deck", "{who} cut the deck.",
        decks.verify_cut, decks.cut, ANY_PHASE, ALWAYS),
    operations.ContinueRound: Permission(
        "continue the round", "{who} continued the round.",
        service.verify_continue, service.continue_round, IN_ROUND, RECONCILING),
    operations.ReturnToService: Permission(
        "return the table to service", "{who} returned the table to service.",
        service.verify_return, service.return_to_service, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.AbandonRound: Permission(
        "void the round", "{who} voided the round.",
        rulings.verify_abandon, rulings.abandon_round, IN_ROUND, ALWAYS, SILENT_DECIDED_BY),
    operations.DealerOn: Permission(
        "go on duty", "{who} went on duty.",
        service.verify_dealer_on, service.dealer_on, BETWEEN_ROUNDS, ALWAYS, off_duty=True),
    operations.DealerOff: Permission(
        "go off duty", "{who} went off duty.",
        service.verify_dealer_off, service.dealer_off, BETWEEN_ROUNDS, ALWAYS),
    operations.TakeOver: Permission(
        "take the table over", "{who} took the table over.",
        service.verify_take_over, service.take_over, ANY_PHASE, ALWAYS, off_duty=True),
    operations.EnrolScreen: Permission(
        "enrol a screen", "{who} enrolled a screen.",
        screens.verify_enrol, screens.enrol, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.RemoveScreen: Permission(
        "remove a screen", "{who} removed a screen.",
        screens.verify_remove, screens.remove, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.SignOn: Permission(
        "sign on at a screen", "{who} signed on at a screen.",
        screens.verify_sign_on, screens.sign_on, ANY_PHASE, ALWAYS, off_duty=True),
    operations.LockScreen: Permission(
        "lock a screen", "{who} locked a screen.",
        screens.verify_lock, screens.lock, ANY_PHASE, ALWAYS, off_duty=True),
    operations.BeginMaintenance: Permission(
        "begin maintenance", "{who} began maintenance.",
        service.verify_begin_maintenance, service.begin_maintenance, BETWEEN_ROUNDS - {Phase.MAINTENANCE}, NOT_HELD,
        Role.PIT_SUPERVISOR),
    operations.EndMaintenance: Permission(
        "end maintenance", "{who} ended maintenance.",
        service.verify_end_maintenance, service.end_maintenance, UNDER_MAINTENANCE, NOT_HELD, Role.PIT_SUPERVISOR,
        "Maintenance has not begun; begin it between rounds."),
    operations.InstructDevice: Permission(
        "instruct the device", "{who} instructed the device.",
        service.verify_instruct, service.instruct, UNDER_MAINTENANCE, RUNNING, Role.PIT_SUPERVISOR,
        "In play only the table instructs it; begin maintenance between rounds first."),
}
# fmt: on
