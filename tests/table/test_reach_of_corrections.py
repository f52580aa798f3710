"""Corrections: the decisions they affect, and those they leave unchanged."""

from __future__ import annotations

import pytest

from controller.games.specification import Choice, Kind
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from tests.table.correction_hands import HANDS, correct, last_entry, with_bets
from tests.table.deck_hands import load_beside, shuffle_beside
from tests.table.harness import TableHarness, cards
from tests.table.way_out import play_on

SUPERVISOR = Role.PIT_SUPERVISOR


def test_an_irregularity_of_a_correction_ends_with_its_correction() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().deal()
    table.expose("D")
    table.expose("B1", "KD KC 8S")
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards("KD KC 7S")))
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards(HANDS["B1"])))
    assert not table.state.open


def voided_when_settled() -> TableHarness:
    """Return a table on which an exposed card was denied and a foreign card then voided the round."""
    table = with_bets().deal()
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.deny()
    table.expose_all()
    table.report(Kind.FOREIGN_CARD)
    return table


def test_nc_5_5_1_in_a_void_round_only_the_cause_of_the_void_is_reopened() -> None:
    table = voided_when_settled()
    table.confirm()
    denied = operations.CorrectEntry(last_entry(table, operations.DenyIrregularity), "it was so")
    code, sentence = table.refused(denied, SUPERVISOR)
    assert (code, "correct the entry" in sentence) == ("voided", True)
    correct(table, operations.ConfirmIrregularity)
    table.deny()
    table.do(denied, SUPERVISOR)
    assert table.open.kind is Kind.EXPOSED_CARD


def test_nc_5_15_a_ruling_after_a_void_pays_no_bet() -> None:
    """A wrong count is still raised, but removing a hand afterwards does not settle any bet again."""
    table = voided_when_settled()
    table.confirm()
    before = table.state.round.settlement
    assert {bet.verdict for bet in before} == {"returned"}
    table.count(table.state.stub_due - 1)
    table.confirm()
    assert (table.state.round.settlement, table.state.open) == (before, ())


def test_of_a_round_that_was_abandoned_no_decision_is_taken_back() -> None:
    table = with_bets().deal()
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.deny()
    for _ in range(2):
        table.do(operations.AbandonRound("shift manager", "a fire alarm"), Role.SHIFT_MANAGER)
    denied = operations.CorrectEntry(last_entry(table, operations.DenyIrregularity), "it was so")
    assert "ruled so" in table.refused(denied, SUPERVISOR)[1]


def test_a_denial_survives_the_correction_of_something_else() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.handle("B1")
    table.swap("B1", "B3")
    table.deny()
    table.handle("B3")
    correct(table, operations.HandleCards, operations.HandleCards("B3", viewed=True))
    assert not table.state.open


def test_a_count_of_one_pile_does_not_become_the_count_of_another() -> None:
    """Otherwise the wrong count would stay in the account."""
    table = TableHarness().start().to_dealing()
    table.take(2)
    due = table.state.stub_due
    table.do(operations.CountCards("aside", due, "a witness"))
    entry = last_entry(table, operations.CountCards)
    meant = operations.CountCards("stub", due, "a witness")
    code, sentence = table.refused(operations.CorrectEntry(entry, "it was the stub", meant), SUPERVISOR)
    assert (code, "then the count of the stub" in sentence) == ("pile", True)
    correct(table, operations.CountCards, operations.CountCards("aside", 0, "a witness"))
    table.do(meant)
    assert (table.state.stub_due, table.state.open) == (due, ())


def test_a_decision_on_the_waiting_deck_leaves_the_settled_round() -> None:
    table = with_bets()
    load_beside(table)
    shuffle_beside(table, foreign=1)
    table.confirm()
    table.deal().expose_all().settle()
    correct(table, operations.ConfirmIrregularity)
    assert table.open.waiting
    assert (table.state.round.chips_paid, table.events_of(events.SettlementReversed)) == (True, [])


def test_a_corrected_stub_count_does_not_concern_the_waiting_deck() -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    shuffle_beside(table, count=51)
    table.do(operations.CountCards("deck", 51, "a witness"))
    table.confirm()
    table.take(2)
    due = table.state.stub_due
    table.count(due - 1)
    correct(table, operations.CountCards, operations.CountCards("stub", due, "another witness"))
    assert not any(found.waiting for found in table.state.open)


@pytest.mark.parametrize("choice", Choice)
def test_cards_dealt_by_hand_after_a_lifted_void_are_in_the_end_count(choice: Choice) -> None:
    """The stub was unloaded and counted because of the void; the remaining cards are dealt from it."""
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.confirm()
    table.choose(B1=choice, B3=Choice.CONTINUE, B6=Choice.CONTINUE)
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    correct(table, operations.ConfirmIrregularity)
    table.deny()
    assert (table.state.decks.in_play.stub, table.state.decks.in_play.stub_out) == (None, True)
    table.move_cards()
    table.do(operations.DealByHand(6, "the stub is out"), SUPERVISOR)
    while table.state.phase is not Phase.SETTLING:
        play_on(table)
    code, sentence = table.refused(operations.RecordSettled())
    assert (code, "by hand" in sentence) == ("stub", True)
    table.count(40)
    table.do(operations.RecordSettled())
    table.conclude()
