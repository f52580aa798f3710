"""After a void the screen asks to return the bets until that is recorded; a lifted void withdraws the record."""

from __future__ import annotations

import pytest

from controller.api.narration import line_of
from controller.games import GAMES
from controller.games.specification import Kind, RulingAction
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from tests.table.correction_hands import correct, with_bets
from tests.table.harness import TableHarness
from tests.table.said import next_step

RETURN = 'Return all bets, then press "Bets are back".'
TAKE_BACK = 'Take back what was paid and return all bets, then press "Bets are back".'
CHANGED = 'Pay or take back the difference, then press "Paid".'
RETURNED = operations.RecordSettled()


def abandoned(table: TableHarness) -> TableHarness:
    for _ in range(2):
        table.do(operations.AbandonRound("the shift manager", "the hall is cleared"), Role.SHIFT_MANAGER)
    return table


def voided(table: TableHarness) -> TableHarness:
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    return table


@pytest.mark.parametrize("game_id", GAMES)
def test_the_bets_are_to_be_returned_until_that_is_recorded(game_id: str) -> None:
    table = abandoned(TableHarness(game_id=game_id).start().to_dealing())
    assert next_step(table.state) == RETURN
    table.do(RETURNED)
    assert table.last(events.ChipsPaid).returned
    assert RETURN not in next_step(table.state)
    assert table.refused(RETURNED) == ("settled", "The bets are recorded as returned already; begin the next round.")


def test_the_next_round_may_begin_without_the_record() -> None:
    table = abandoned(TableHarness().start().to_dealing())
    table.to_betting()
    assert RETURN not in next_step(table.state)


def test_returning_bets_comes_first_also_at_a_closed_table_or_in_maintenance() -> None:
    table = abandoned(TableHarness().start().to_dealing())
    table.do(operations.PauseTable("a dispute"))
    assert next_step(table.state).startswith(f"{RETURN} Paused: a dispute. Resume when settled.")
    assert table.refused(RETURNED)[0] == "held"
    table.do(operations.ResumeTable())
    table.lose_link()
    assert next_step(table.state).startswith(f"{RETURN} The shuffler is not connected")
    table.connect()
    table.do(operations.BeginMaintenance("the belt is torn"), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == RETURN
    table.do(RETURNED)
    assert next_step(table.state).startswith("Under maintenance")


def test_without_a_void_there_is_nothing_to_return() -> None:
    table = TableHarness().start()
    assert table.refused(RETURNED) == ("phase", "There is nothing to pay or return. Begin the next round.")


@pytest.mark.parametrize("wagers", [True, False])
@pytest.mark.parametrize("paid", [True, False])
def test_a_payment_before_the_void_is_not_the_return(wagers: bool, paid: bool) -> None:
    table = with_bets() if wagers else TableHarness().start().to_dealing()
    table.deal().expose_all()
    if paid:
        table.settle()
    voided(table)
    assert table.last(events.RoundVoided).was_paid is paid
    assert next_step(table.state).startswith(TAKE_BACK if paid else RETURN)
    table.do(RETURNED)


def test_a_record_entered_by_mistake_is_struck_out() -> None:
    table = voided(TableHarness().start().to_dealing().deal().expose_all().settle())
    paid = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.RecordSettled))
    strike = operations.CorrectEntry(paid, "it was the other table")
    assert table.refused(strike, Role.PIT_SUPERVISOR)[0] == "not-settled"
    table.do(RETURNED)
    assert table.refused(strike, Role.PIT_SUPERVISOR)[0] == "not-settled"
    correct(table, operations.RecordSettled)
    assert table.at(Phase.VOIDED)
    assert next_step(table.state).startswith(TAKE_BACK)
    table.do(RETURNED)


@pytest.mark.parametrize("wagers", [True, False])
@pytest.mark.parametrize("returned", [True, False])
@pytest.mark.parametrize("ends", [Phase.DEALING_SETS, Phase.EXPOSING, Phase.SETTLING])
def test_a_lifted_void_withdraws_the_record(ends: Phase, returned: bool, wagers: bool) -> None:
    """The round was paid and its conclusion was requested once, but neither counts now."""
    table = with_bets() if wagers else TableHarness().start().to_dealing()
    if ends is not Phase.DEALING_SETS:
        table.deal()
        table.expose("D")
    if ends is Phase.SETTLING:
        table.expose_all().settle()
        table.do(operations.ConcludeRound())
    voided(table)
    if returned:
        table.do(RETURNED)
    correct(table, operations.ConfirmIrregularity)
    assert table.last(events.VoidLifted).returned is returned
    assert not table.state.round.chips_paid
    table.deny()
    assert not table.state.round.conclusion_asked
    assert RETURN not in next_step(table.state)


def test_a_void_earlier_round_has_only_a_void_result() -> None:
    """The bets of this round stay in place."""
    table = TableHarness(game_id="TP").start().to_dealing().finish().to_betting()
    table.report(Kind.EXPOSED_CARD, earlier=True)
    table.rule(RulingAction.VOID)
    assert not table.state.round.bets_to_return


def test_a_return_of_bets_has_a_text_for_the_table() -> None:
    assert str(line_of({"event": "chips_paid", "returned": True})) == "all bets are returned"
    back = {"event": "closing_taken_back", "chips": True, "returned": True}
    assert str(line_of(back)) == "the bets are returned after all"
    assert str(line_of({"event": "void_lifted", "returned": True})) == "the void is withdrawn; put the bets back"
    assert str(line_of({"event": "void_lifted"})) == "the void is withdrawn"


def test_a_bet_that_went_back_before_keeps_its_clause_in_a_void() -> None:
    table = with_bets().deal()
    table.do(operations.HandleCards("B1", viewed=True))
    table.report(Kind.WRONG_COUNT, "B1", counted=2)
    table.confirm(viewed=True, reconstructable=False)
    voided(table)
    clauses = {bet.box: bet.clause for bet in table.state.round.settlement}
    assert clauses.pop(1) == "NC 5.9"
    assert set(clauses.values()) == {"NC 5.5.1"}


@pytest.mark.parametrize("concluded", [True, False])
def test_a_settlement_that_changed_after_the_chips_were_paid_is_paid_again(*, concluded: bool) -> None:
    table = with_bets().deal()
    table.do(operations.HandleCards("B1", viewed=True))
    table.expose_all().settle()
    if concluded:
        table.conclude()
        assert table.refused(RETURNED)[0] == "phase"
    table.report(Kind.WRONG_COUNT, "B1", counted=2)
    table.confirm(viewed=True, reconstructable=False)
    assert next_step(table.state).startswith(CHANGED)
    table.do(RETURNED)
    assert not table.last(events.ChipsPaid).returned
    assert CHANGED not in next_step(table.state)


def test_a_round_that_does_not_begin_hands_its_bets_back() -> None:
    table = TableHarness(game_id="F3").start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.PlaceWager("ann", "win", 1, 100))
    table.report(Kind.CARD_IN_SHUFFLING)
    table.confirm()
    assert table.at(Phase.IDLE)
    (back,) = table.last(events.LayoutChanged).handed_back
    assert (back.bettor, back.amount, back.clause) == ("ann", 100, "")
    assert not table.state.round.bets
    assert next_step(table.state) == RETURN
    table.do(RETURNED)
    assert next_step(table.state).startswith("The deck must be shuffled again.")
