"""Permissions of operations: who may do which, and when. Each row has what it needs (`verify`) and does (`act`).

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
from firmware_bridge.messages import Message, message


class When(NamedTuple):
    """The services of the table that permit an operation, and whether it is also permitted while the table is held."""

    services: frozenset[Service]
    held: bool


RUNNING: Final = When(frozenset({Service.IN_SERVICE}), held=False)
NOT_HELD: Final = When(frozenset(Service), held=False)
ALWAYS: Final = When(frozenset(Service), held=True)  # irregularities, decks and counts do not wait for play
RECONCILING: Final = When(frozenset({Service.RECONCILING}), held=True)


class Permission(NamedTuple):
    """One operation's row. `phrase`: what it does, after "may" and "cannot"; `done`: who did it, by name in `{who}`.

    `verify` raises `RefusedError` for what phase, service and hold do not cover; `act` decides what follows. `role`:
    the lowest rank. `first`: what comes first in any other phase, if it is not what that phase waits for. `off_duty`:
    permitted also to a dealer who is not on duty while another one is. Such a dealer may take over the table, report
    what he noticed, and pause the table. The last two only hold the deal until others decide; preventing them would do
    more harm. `though_held`: when an irregularity that holds the table does not prevent this operation.
    """

    phrase: Message
    done: Message
    verify: Callable[[TableState, PersonActed, Any], None]
    act: Callable[[Decision, PersonActed, Any], None]
    phases: frozenset[Phase]
    when: When = RUNNING
    role: Role = Role.DEALER
    first: Message | None = None
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
        message("open the table"), message("{who} opened the table."),
        service.verify_open_table, service.open_table, CLOSED),
    operations.CloseTable: Permission(
        message("close the table"), message("{who} closed the table."),
        service.verify_close_table, service.close_table, BEGINNING, NOT_HELD),
    operations.ShuffledOutside: Permission(
        message("record that the deck was shuffled outside"),
        message("{who} recorded that the deck was shuffled outside."),
        decks.verify_shuffled_outside, decks.shuffled_outside, ANY_PHASE - {Phase.MAINTENANCE}),
    operations.PlaceYourBets: Permission(
        message("open bets"), message("{who} opened bets."),
        rounds.verify_place_your_bets, rounds.place_your_bets, BEGINNING),
    operations.CancelStart: Permission(
        message("cancel the start of a round"), message("{who} cancelled the start of a round."),
        rounds.verify_cancel_start, rounds.cancel_start, BETTING, NOT_HELD),
    operations.OccupyBoxes: Permission(
        message("mark the boxes with bets"), message("{who} marked the boxes with bets."),
        rounds.verify_occupy_boxes, rounds.occupy_boxes, BETTING, ALWAYS),
    operations.NoMoreBets: Permission(
        message("close bets"), message("{who} closed bets."),
        rounds.verify_no_more_bets, rounds.no_more_bets, BETTING),
    operations.ReopenBets: Permission(
        message("open bets again"), message("{who} opened bets again."),
        rounds.verify_reopen_bets, rounds.reopen_bets, CARDS_LEAVE, NOT_HELD),
    operations.EnterBettor: Permission(
        message("enter a bettor"), message("{who} entered a bettor."),
        betting.verify_enter_bettor, betting.add_bettor, BETTORS_COME, ALWAYS),
    operations.BettorLeaves: Permission(
        message("let a bettor leave"), message("{who} let a bettor leave."),
        betting.verify_bettor_leaves, betting.remove_bettor, BETTORS_COME, ALWAYS),
    operations.PlaceWager: Permission(
        message("place a wager"), message("{who} placed a wager."),
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.ChangeWager: Permission(
        message("change a wager"), message("{who} changed a wager."),
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.TakeBackWager: Permission(
        message("take a wager back"), message("{who} took a wager back."),
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.RejectExcess: Permission(
        message("hand back what is over the limit"), message("{who} handed back what is over the limit."),
        betting.verify_wager, betting.lay, BETS_LIE, ALWAYS),
    operations.RestrictBetting: Permission(
        message("restrict betting"), message("{who} restricted betting."),
        betting.verify_restrict, betting.restrict, ANY_PHASE, ALWAYS, Role.PIT_MANAGER),
    operations.ShowFirstCard: Permission(
        message("show the First Card"), message("{who} showed the First Card."),
        rounds.verify_show_first_card, rounds.show_first_card, FIRST_CARD, NOT_HELD),
    operations.HandleCards: Permission(
        message("record that cards were handled"), message("{who} recorded that cards were handled."),
        exposing.verify_handle_cards, exposing.handle_cards, CARDS_ON_TABLE, ALWAYS),
    operations.PlayersExamined: Permission(
        message("record that players have examined their cards"),
        message("{who} recorded that players have examined their cards."),
        exposing.verify_examined, exposing.record_examined, frozenset({Phase.EXAMINING}), NOT_HELD),
    operations.ExposeHand: Permission(
        message("expose a hand"), message("{who} exposed a hand."),
        exposing.verify_expose_hand, exposing.expose_hand, SHOWING, NOT_HELD),
    operations.NameExposed: Permission(
        message("name exposed cards"), message("{who} named exposed cards."),
        exposing.verify_name_exposed, exposing.name_exposed, CARDS_ON_TABLE, ALWAYS),
    operations.RecordSettled: Permission(
        message("record that the chips are paid"), message("{who} recorded that the chips are paid."),
        rounds.verify_settled, rounds.record_settled, TO_PAY, NOT_HELD, though_held=rounds.returns_bets_after_void),
    operations.ConcludeRound: Permission(
        message("conclude the round"), message("{who} concluded the round."),
        rounds.verify_conclude, rounds.conclude_round, SETTLING, NOT_HELD),
    operations.PauseTable: Permission(
        message("pause the table"), message("{who} paused the table."),
        service.verify_pause, service.pause_table, ANY_PHASE, ALWAYS, off_duty=True),
    operations.ResumeTable: Permission(
        message("resume play"), message("{who} resumed play."),
        service.verify_resume, service.resume_table, ANY_PHASE, ALWAYS),
    operations.ReportIrregularity: Permission(
        message("report an irregularity"), message("{who} reported an irregularity."),
        reporting.verify_report, reporting.report, REPORTED, ALWAYS, off_duty=True),
    operations.ConfirmIrregularity: Permission(
        message("confirm an irregularity"), message("{who} confirmed an irregularity."),
        adjudication.verify_confirm, adjudication.confirm, ANY_PHASE, ALWAYS),
    operations.DenyIrregularity: Permission(
        message("deny an irregularity"), message("{who} denied an irregularity."),
        adjudication.verify_deny, adjudication.deny, ANY_PHASE, ALWAYS),
    operations.NameOrder: Permission(
        message("name the order of the cards"), message("{who} named the order of the cards."),
        adjudication.verify_name_order, adjudication.name_order, ANY_PHASE, ALWAYS),
    operations.ChooseOption: Permission(
        message("record a bettor's choice"), message("{who} recorded a bettor's choice."),
        adjudication.verify_choose, adjudication.choose, ANY_PHASE, ALWAYS),
    operations.Reconstruct: Permission(
        message("record that the cards were moved"), message("{who} recorded that the cards were moved."),
        adjudication.verify_reconstruct, adjudication.confirm_reconstruction, ANY_PHASE, ALWAYS),
    operations.Rule: Permission(
        message("give a ruling"), message("{who} gave a ruling."),
        rulings.verify_rule, rulings.rule, ANY_PHASE, ALWAYS),
    operations.PlaceCards: Permission(
        message("record where cards lie"), message("{who} recorded where cards lie."),
        card_places.verify_place_cards, card_places.place_cards, CARDS_LIE, ALWAYS),
    operations.DealByHand: Permission(
        message("deal by hand"), message("{who} dealt by hand."),
        rounds.verify_deal_by_hand, rounds.deal_by_hand, CARDS_LEAVE, NOT_HELD, Role.PIT_SUPERVISOR),
    operations.CountCards: Permission(
        message("count cards"), message("{who} counted cards."),
        counts.verify_count, counts.count_cards, ANY_PHASE, ALWAYS),
    operations.CorrectEntry: Permission(
        message("correct an entry"), message("{who} corrected an entry."),
        corrections.verify_correct_entry, corrections.correct_entry, WINDOW_OPEN, ALWAYS, Role.PIT_SUPERVISOR),
    operations.CorrectBet: Permission(
        message("correct a bet"), message("{who} corrected a bet."),
        bet_corrections.verify_correct_bet, bet_corrections.correct_bet, WINDOW_OPEN - {Phase.BETTING, Phase.VOIDED},
        ALWAYS, Role.PIT_SUPERVISOR),
    operations.RecallCards: Permission(
        message("recall concealed cards"), message("{who} recalled concealed cards."),
        recall.verify_recall, recall.recall_cards, ANY_PHASE, ALWAYS, Role.PIT_MANAGER),
    operations.BringDeck: Permission(
        message("bring a deck"), message("{who} brought a deck."),
        decks.verify_bring, decks.bring, ANY_PHASE, ALWAYS),
    operations.TakeDeckOut: Permission(
        message("take a deck away"), message("{who} took a deck away."),
        decks.verify_take_out, decks.take_out, ANY_PHASE, ALWAYS),
    operations.LoadDeck: Permission(
        message("record which deck was put in"), message("{who} recorded which deck was put in."),
        decks.verify_load, decks.load, ANY_PHASE, ALWAYS),
    operations.QuarantineDeck: Permission(
        message("put a deck out of use"), message("{who} put a deck out of use."),
        decks.verify_quarantine, decks.quarantine, ANY_PHASE, ALWAYS),
    operations.ReleaseDeck: Permission(
        message("release a deck"), message("{who} released a deck."),
        decks.verify_release, decks.release, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.CutDeck: Permission(
        message("cut the deck"), message("{who} cut the deck."),
        decks.verify_cut, decks.cut, ANY_PHASE, ALWAYS),
    operations.ContinueRound: Permission(
        message("continue the round"), message("{who} continued the round."),
        service.verify_continue, service.continue_round, IN_ROUND, RECONCILING),
    operations.ReturnToService: Permission(
        message("return the table to service"), message("{who} returned the table to service."),
        service.verify_return, service.return_to_service, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.AbandonRound: Permission(
        message("void the round"), message("{who} voided the round."),
        rulings.verify_abandon, rulings.abandon_round, IN_ROUND, ALWAYS, SILENT_DECIDED_BY),
    operations.DealerOn: Permission(
        message("go on duty"), message("{who} went on duty."),
        service.verify_dealer_on, service.dealer_on, BETWEEN_ROUNDS, ALWAYS, off_duty=True),
    operations.DealerOff: Permission(
        message("go off duty"), message("{who} went off duty."),
        service.verify_dealer_off, service.dealer_off, BETWEEN_ROUNDS, ALWAYS),
    operations.TakeOver: Permission(
        message("take the table over"), message("{who} took the table over."),
        service.verify_take_over, service.take_over, ANY_PHASE, ALWAYS, off_duty=True),
    operations.EnrolScreen: Permission(
        message("enrol a screen"), message("{who} enrolled a screen."),
        screens.verify_enrol, screens.enrol, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.RemoveScreen: Permission(
        message("remove a screen"), message("{who} removed a screen."),
        screens.verify_remove, screens.remove, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    operations.SignOn: Permission(
        message("sign on at a screen"), message("{who} signed on at a screen."),
        screens.verify_sign_on, screens.sign_on, ANY_PHASE, ALWAYS, off_duty=True),
    operations.LockScreen: Permission(
        message("lock a screen"), message("{who} locked a screen."),
        screens.verify_lock, screens.lock, ANY_PHASE, ALWAYS, off_duty=True),
    operations.BeginMaintenance: Permission(
        message("begin maintenance"), message("{who} began maintenance."),
        service.verify_begin_maintenance, service.begin_maintenance, BETWEEN_ROUNDS - {Phase.MAINTENANCE}, NOT_HELD,
        Role.PIT_SUPERVISOR),
    operations.EndMaintenance: Permission(
        message("end maintenance"), message("{who} ended maintenance."),
        service.verify_end_maintenance, service.end_maintenance, UNDER_MAINTENANCE, NOT_HELD, Role.PIT_SUPERVISOR,
        message("Maintenance has not begun; begin it between rounds.")),
    operations.InstructDevice: Permission(
        message("instruct the device"), message("{who} instructed the device."),
        service.verify_instruct, service.instruct, UNDER_MAINTENANCE, RUNNING, Role.PIT_SUPERVISOR,
        message("Only the table instructs the device during play. Begin maintenance between rounds first.")),
}
# fmt: on
