"""A count that is struck out or counted again: its effect on irregularities and on the account of the cards."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from controller.api.narration import line_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.inputs import PersonActed
from controller.table.model import ASIDE, Pile, Screen, Stage
from controller.table.offers import offers
from controller.table.phases import Phase
from controller.table.settings import Settings
from tests.table.correction_hands import correct, last_entry
from tests.table.deck_hands import load_beside, shuffle_beside
from tests.table.harness import TableHarness
from tests.table.said import next_step

Count = operations.CountCards


def count(table: TableHarness, number: int, pile: str = "stub") -> None:
    table.do(Count(pile, number, "a witness"))


def strike(table: TableHarness) -> None:
    correct(table, Count)


def stub_of(table: TableHarness) -> int | None:
    return table.state.decks.in_play.stub


# -- the stub


@pytest.mark.parametrize("wrong", [True, False])
@pytest.mark.parametrize("decided", [True, False])
def test_a_fact_answered_by_a_struck_out_count_needs_a_new_count(*, decided: bool, wrong: bool) -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.COUNT_IN_DOUBT)
    due = table.state.stub_due
    count(table, due - wrong)
    if decided:
        table.confirm()
        assert table.at(Phase.VOIDED) is wrong
    strike(table)
    assert table.at(Phase.DEALING_SETS)
    assert (table.open.stage, table.open.asks) == (Stage.CLAIMED, ("counted_wrong",))
    assert "ount" in next_step(table.state)
    assert table.refused(operations.ConfirmIrregularity(table.open.id, table.open.revision), Role.PIT_SUPERVISOR)
    count(table, due)
    table.confirm()
    assert not table.state.open


@pytest.mark.parametrize("decided", [True, False])
def test_a_finding_of_a_struck_out_stub_count_is_withdrawn(*, decided: bool) -> None:
    """Only the count raised I02, and confirming it voided the round."""
    table = TableHarness().start().to_dealing()
    table.take(2)
    count(table, table.state.stub_due - 1)
    assert table.open.kind is Kind.DECK_COUNT
    if decided:
        table.confirm()
        assert table.at(Phase.VOIDED)
    strike(table)
    assert table.at(Phase.DEALING_SETS)
    assert not table.state.open
    assert table.last(events.IrregularityResolved).outcome == "corrected"


def test_the_stub_is_counted_again_before_the_chips_are_paid() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal().expose_all()
    count(table, 40)
    assert stub_of(table) == 40
    strike(table)
    assert stub_of(table) is None
    assert table.refused(operations.RecordSettled())[0] == "stub"
    table.settle().conclude()
    strike(table)
    assert table.at(Phase.SETTLING)
    assert not table.state.round.chips_paid
    table.settle().conclude()


def test_the_previous_count_applies_again() -> None:
    """The account returns to the previous count, by the device or by people."""
    table = TableHarness().start().to_dealing().deal().expose_all()
    before = table.state.decks.in_play.stub, ledger_of(table.state)
    assert before[0] == 40, "the device gave the stub out and counted it"
    count(table, 39)
    strike(table)
    assert (table.state.decks.in_play.stub, ledger_of(table.state)) == before
    assert not table.state.open


def test_only_the_last_count_of_a_pile_is_corrected() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    count(table, 45)
    first = last_entry(table, Count)
    count(table, 46)
    last = last_entry(table, Count)
    code, sentence = table.refused(operations.CorrectEntry(first, "miskeyed"), Role.PIT_SUPERVISOR)
    assert (code, sentence) == ("later", f"A later count of the stub stands (entry {last}); correct that one instead.")
    instead = operations.CorrectEntry(first, "miskeyed", Count("stub", 44, "a witness"))
    assert table.refused(instead, Role.PIT_SUPERVISOR)[0] == "later"
    strike(table)
    table.do(operations.CorrectEntry(first, "miskeyed"), Role.PIT_SUPERVISOR)
    assert not table.state.open


def test_a_struck_out_count_does_not_reach_another_deck() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().finish()
    table.fresh_deck()
    before = ledger_of(table.state)
    strike(table)
    assert ledger_of(table.state) == before


# -- other piles, the tray, the whole deck


@pytest.mark.parametrize("pile", [Pile.BURNT, ASIDE, Pile.DROPPED, Pile.DISCARDS])
def test_the_account_of_a_pile_returns_to_the_previous_value(pile: str) -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    known = ledger_of(table.state), table.state.stub_due
    count(table, 1, pile)
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    once = ledger_of(table.state), table.state.stub_due
    count(table, 3, pile)
    strike(table)
    assert (ledger_of(table.state), table.state.stub_due) == once
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    strike(table)
    assert (ledger_of(table.state), table.state.stub_due) == known
    assert not table.state.open


def test_a_new_count_of_a_pile_is_compared_with_the_previous_value() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    count(table, 46, ASIDE)
    correct(table, Count, Count(ASIDE, 0, "a witness"))
    assert (table.state.stub_due, table.state.open) == (46, ())


def test_a_struck_out_count_of_the_tray_withdraws_its_finding() -> None:
    table = TableHarness().start().to_dealing()
    count(table, 4, "tray")
    assert table.open.kind is Kind.SIMULTANEOUS
    strike(table)
    assert not table.state.open


@pytest.mark.parametrize("decided", [True, False])
def test_a_struck_out_count_of_the_waiting_deck_asks_for_its_count_again(*, decided: bool) -> None:
    table = TableHarness().start().to_dealing()
    load_beside(table)
    shuffle_beside(table, count=51)
    assert table.open.waiting
    count(table, 51, "deck")
    if decided:
        table.confirm()
    strike(table)
    assert (table.open.waiting, table.open.asks) == (True, ("counted_wrong",))
    count(table, 52, "deck")
    table.confirm()
    assert not table.state.open


def test_after_maintenance_the_deck_is_counted_again() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().finish()
    table.do(operations.BeginMaintenance("the roller sticks"), Role.PIT_SUPERVISOR)
    table.do(operations.EndMaintenance(), Role.PIT_SUPERVISOR)
    table.device.load()
    table.do(operations.ShuffledOutside("batch shuffler"))
    count(table, 52, "deck")
    assert ledger_of(table.state) is not None
    strike(table)
    assert ledger_of(table.state) is None
    assert table.refused(operations.PlaceYourBets())[0] == "count-due"


# -- a hand


@pytest.mark.parametrize("decided", [True, False])
def test_a_struck_out_count_of_a_hand_withdraws_its_finding(*, decided: bool) -> None:
    table = TableHarness().start().to_dealing().deal()
    count(table, 4, "B3")
    if decided:
        table.confirm(handled=False)
    strike(table)
    assert not table.state.open
    assert table.at(Phase.EXAMINING)
    assert table.state.round.hands["B3"].size == 3


def test_the_previous_count_of_the_hand_applies_again() -> None:
    table = TableHarness().start().to_dealing().deal()
    count(table, 4, "B3")
    count(table, 5, "B3")
    assert table.open.counted == 5
    strike(table)
    assert table.open.counted == 4


def test_a_report_of_a_wrong_count_is_reopened() -> None:
    """This also holds after the wrong number was confirmed and decided the round."""
    table = TableHarness().start().to_dealing().deal()
    table.report(Kind.WRONG_COUNT, "B3", counted=2)
    count(table, 5, "B3")
    table.confirm(handled=False)
    assert table.at(Phase.VOIDED)
    strike(table)
    assert table.at(Phase.EXAMINING)
    assert (table.open.counted, table.open.stage) == (2, Stage.CLAIMED)
    assert table.state.round.hands["B3"].size == 3


# -- messages to people


def test_the_fate_of_the_irregularity_is_reported() -> None:
    withdrawn = {"event": "irregularity_resolved", "outcome": "corrected", "clause": "NC 5.5.2", "by": "sam"}
    assert str(line_of(withdrawn)) == "withdrawn by sam: the entry behind it was wrong"
    back = {"event": "count_taken_back", "pile": "stub", "account": {"stub": None}}
    assert str(line_of(back)) == "the count is withdrawn (stub); count again"
    assert str(line_of(back | {"pile": "burnt"})) == "the count is withdrawn (burnt cards)"


# -- the second counter


def test_the_second_counter_signs_at_a_screen_where_the_house_asks_for_it() -> None:
    table = TableHarness(settings=Settings("NC", Unit.SETS, 7, True, second_counter_signs=True)).start().to_dealing()
    table.take(2)
    table.state = replace(table.state, screens=(Screen("left", "left", ""),))
    counted, number = Count("stub", table.state.stub_due, "sam"), table.state.round.number
    codes = []
    for signed in ("", "max", "sam"):
        id_ = f"by {signed}"
        table.give(PersonActed(id_, "dealer", Role.DEALER, number, counted, screen="left", witness_signed=signed))
        codes.append(table.state.answers[-1].code)
    assert codes == ["witness-pin", "witness-pin", ""]
    assert table.last(events.OperationTaken).witness_signed == "sam"


# -- counted again by the dealer


def count_again(number: int, pile: str = "stub") -> operations.CountAgain:
    return operations.CountAgain(pile, number, "a witness")


def test_a_wrong_count_of_the_stub_is_counted_again_before_anything_is_decided() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    due = table.state.stub_due
    count(table, due - 1)
    assert table.open.kind is Kind.DECK_COUNT
    table.do(count_again(due))
    assert not table.state.open
    assert table.last(events.IrregularityResolved).outcome == "corrected"
    assert [one.operation for one in table.state.round.entered][-1] == Count("stub", due, "a witness")


def test_a_question_answered_by_a_wrong_count_is_answered_by_the_next() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.COUNT_IN_DOUBT)
    due = table.state.stub_due
    count(table, due - 1)
    table.do(count_again(due))
    assert table.open.facts.counted_wrong is False
    table.confirm()
    assert not table.state.open
    assert not table.at(Phase.VOIDED)


def test_a_wrong_count_of_a_hand_is_counted_again() -> None:
    table = TableHarness().start().to_dealing().deal()
    count(table, 4, "B3")
    assert table.open.kind is Kind.WRONG_COUNT
    table.do(count_again(3, "B3"))
    assert not table.state.open


def test_a_second_wrong_count_can_be_counted_again_too() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    due = table.state.stub_due
    count(table, due - 1)
    table.do(count_again(due - 2))
    assert table.open.kind is Kind.DECK_COUNT
    table.do(count_again(due))
    assert not table.state.open


def test_a_count_on_which_a_decision_rests_is_corrected_by_a_supervisor() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    due = table.state.stub_due
    assert table.refused(count_again(due))[0] == "not-last"  # nothing was counted
    count(table, due - 1)
    table.confirm()
    assert table.at(Phase.VOIDED)
    code, sentence = table.refused(count_again(due))
    assert code == "not-last"
    assert sentence.endswith("Call a pit supervisor to correct an older count.")
    correct(table, Count, Count("stub", due, "another witness"))
    assert table.at(Phase.DEALING_SETS)


@pytest.mark.parametrize("decision", ["deny", "name_order"])
def test_a_dealer_does_not_undo_what_a_supervisor_decided_on_a_count(decision: str) -> None:
    table = TableHarness().start().to_dealing()
    table.take(1)
    count(table, 4, "tray")
    assert table.open.kind is Kind.SIMULTANEOUS
    if decision == "deny":
        table.do(operations.DenyIrregularity(table.open.id, table.open.revision, "three cards"), Role.PIT_SUPERVISOR)
    else:
        table.confirm(order_known=False)
        found = table.open
        table.do(operations.NameOrder(found.id, found.revision, found.ordinals), Role.PIT_SUPERVISOR)
    before = table.state.round
    assert table.refused(count_again(3, "tray"))[0] == "not-last"
    assert table.state.round == before


def test_a_count_by_a_supervisor_is_not_replaced_by_a_dealer() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.do(Count("stub", table.state.stub_due - 1, "a witness"), Role.PIT_SUPERVISOR)
    assert table.refused(count_again(table.state.stub_due))[0] == "role"


def test_the_line_of_a_count_again_names_no_reason() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    count(table, table.state.stub_due - 1)
    table.do(count_again(table.state.stub_due))
    said = str(line_of(msgspec.to_builtins(table.last(events.EntryCorrected))))
    assert said is not None
    assert said.endswith("is counted again by dealer")


def test_count_again_needs_the_same_pile_and_another_number() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    due = table.state.stub_due
    count(table, due - 1)
    assert table.refused(count_again(due - 1))[0] == "instead"
    assert table.refused(count_again(2, "B1"))[0] == "pile"
    assert table.refused(count_again(-1))[0] == "number"


def test_count_again_is_offered_while_the_last_entry_is_a_count() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    assert not offered(table)
    count(table, table.state.stub_due - 1)
    assert offered(table) == [{"pile": "stub"}]
    table.confirm()
    assert not offered(table)


def offered(table: TableHarness) -> list[dict[str, object]]:
    return [one.arguments for one in offers(table.state) if one.operation == "count_again" and one.allowed]
