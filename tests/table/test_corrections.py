"""Corrections of entries: nothing is erased, the corrected entry counts, and decisions that rested on it are made
again.
"""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.irregularities.corrections import CORRECTIONS
from controller.table.model import Stage
from controller.table.operations import Correctable, Replaceable
from controller.table.phases import Phase
from tests.table.correction_hands import HANDS, correct, dead, last_entry, outcomes
from tests.table.harness import TableHarness, cards


def test_every_operation_that_is_kept_for_correcting_has_its_row() -> None:
    assert set(CORRECTIONS) == set(get_args(Correctable))
    assert {kind for kind, row in CORRECTIONS.items() if row.otherwise} == set(get_args(Replaceable))


# -- permission and content --------------------------------------------------------------------------------------------


def test_a_dealer_may_not_correct_an_entry() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    entry = last_entry(table, operations.HandleCards)
    code, sentence = table.refused(operations.CorrectEntry(entry, "another box"))
    assert (code, "pit supervisor" in sentence) == ("role", True)


def test_a_lower_rank_may_not_correct_a_shift_managers_decision() -> None:
    table = TableHarness(game_id="TP").start().to_dealing()
    table.report(Kind.UNSHUFFLED)
    table.rule(RulingAction.CONTINUE)
    entry = last_entry(table, operations.Rule)
    assert table.refused(operations.CorrectEntry(entry, "not so"), Role.PIT_MANAGER)[0] == "role"
    correct(table, operations.Rule, by=Role.SHIFT_MANAGER)
    assert table.open.stage is Stage.RULING
    assert table.is_held()


@pytest.mark.parametrize(
    ("operation", "code"),
    [
        (operations.CorrectEntry(1, "wrong"), "entry"),
        (operations.CorrectEntry(0, " "), "reason"),
        (operations.CorrectEntry(0, "wrong", operations.CountCards("stub", 40, "a witness")), "instead"),
        (operations.CorrectEntry(0, "wrong", operations.HandleCards("B1")), "instead"),
        (operations.CorrectEntry(0, "wrong", operations.HandleCards("B9")), "no-cards"),
    ],
)
def test_an_invalid_correction_changes_nothing(operation: operations.CorrectEntry, code: str) -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    entry = operation.entry or last_entry(table, operations.HandleCards)
    meant = operations.CorrectEntry(entry, operation.reason, operation.instead)
    assert table.refused(meant, Role.PIT_SUPERVISOR)[0] == code


def test_the_record_has_the_old_value_the_new_one_and_the_reason() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    correct(table, operations.HandleCards, operations.HandleCards("B3", viewed=True))
    event = table.last(events.EntryCorrected)
    assert event.was == operations.HandleCards("B1")
    assert event.instead == operations.HandleCards("B3", viewed=True)
    assert (event.reason, event.by, event.role) == ("keyed wrongly", "pit-supervisor", Role.PIT_SUPERVISOR)
    assert {place: (hand.handled, hand.viewed) for place, hand in table.state.round.hands.items()} == {
        "B1": (False, False),
        "B3": (True, True),
        "B6": (False, False),
        "D": (False, False),
    }


def test_a_correction_can_be_corrected() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    correct(table, operations.HandleCards, operations.HandleCards("B3"))
    correct(table, operations.HandleCards, operations.HandleCards("B6"))
    assert [place for place, hand in table.state.round.hands.items() if hand.handled] == ["B6"]


def test_other_entries_about_the_same_hand_stay() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.do(operations.HandleCards("B1", viewed=True))
    correct(table, operations.HandleCards)
    assert (table.state.round.hands["B1"].handled, table.state.round.hands["B1"].viewed) == (True, False)


def test_entries_of_a_finished_round_are_not_corrected() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    entry = last_entry(table, operations.HandleCards)
    table.finish()
    table.to_betting()
    assert table.refused(operations.CorrectEntry(entry, "late"), Role.PIT_SUPERVISOR)[0] == "entry"


# -- wrongly entered hands ---------------------------------------------------------------------------------------------


def misread_at_b3() -> TableHarness:
    """Return a table whose device reads no faces, with three pictures entered for B3 by mistake."""
    table = TableHarness(hands=HANDS)
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=False)
    table.start().to_dealing().deal()
    for place, text in (("D", HANDS["D"]), ("B1", HANDS["B1"]), ("B3", "QC QD JC"), ("B6", HANDS["B6"])):
        table.expose(place, text)
    return table


def entry_of_hand(table: TableHarness, place: str) -> int:
    """Return the entry that exposed the hand of that place."""
    opened = {
        one.operation.place: one.entry
        for one in table.state.round.entered
        if isinstance(one.operation, operations.ExposeHand)
    }
    return opened[place]


@pytest.mark.parametrize("ends", [Phase.SETTLING, Phase.CONCLUDED])
def test_a_corrected_hand_is_judged_again(ends: Phase) -> None:
    table = misread_at_b3()
    assert outcomes(table)["B3"] == "win"
    if ends is Phase.CONCLUDED:
        table.settle().conclude()
    entry = entry_of_hand(table, "B3")
    right = operations.ExposeHand("B3", cards(HANDS["B3"]))
    table.do(operations.CorrectEntry(entry, "misread", right), Role.PIT_SUPERVISOR)
    assert outcomes(table)["B3"] == "lose"
    assert table.at(Phase.SETTLING)
    assert not table.state.round.chips_paid
    table.settle().conclude()


def test_a_corrected_dealers_hand_judges_every_hand_again() -> None:
    table = misread_at_b3()
    before = outcomes(table)
    entry = entry_of_hand(table, "D")
    right = operations.ExposeHand("D", cards("KS KH JS"))
    table.do(operations.CorrectEntry(entry, "misread", right), Role.PIT_SUPERVISOR)
    assert before["B1"] == "win"
    assert outcomes(table)["B1"] == "lose"
    assert table.at(Phase.SETTLING)


def test_a_hand_entered_at_the_wrong_box_is_struck_out_and_waited_for() -> None:
    table = misread_at_b3()
    entry = last_entry(table, operations.ExposeHand)
    table.do(operations.CorrectEntry(entry, "another box"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXPOSING)
    assert not table.state.round.hands["B6"].shown
    table.expose("B6", HANDS["B6"])
    assert table.at(Phase.SETTLING)


def test_the_irregularity_of_a_misread_hand_ends_with_the_correction() -> None:
    """The device read other cards, so I16 was raised, but the entry was wrong."""
    table = TableHarness(hands=HANDS).start().to_dealing().deal()
    table.expose("D")
    table.expose("B1", "KD KC 8S")
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards(HANDS["B1"])))
    assert not table.state.open
    assert table.last(events.IrregularityResolved).outcome == "corrected"
    assert outcomes(table)["B1"] == "win"


def test_guesses_at_a_face_down_hand_are_answered_three_times() -> None:
    """The dealer and a supervisor name one hand after another to learn which hand the device read.

    The answer to the fourth hand, which is correct, does not differ from the answer to a wrong
    hand.
    """
    table = TableHarness(hands=HANDS, by_device=False).start().to_dealing().deal()
    table.expose("D", HANDS["D"])
    said: list[tuple[bool, str]] = []
    for guess in ("KD KC TS", "KD KC JS", "KD KC QS", HANDS["B1"], "KD KC 8S"):
        if said:
            correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards(guess)))
        else:
            table.expose("B1", guess)
        shown = table.last(events.HandExposed)
        said.append((any(shown.revealed), str(table.open.note).replace(guess, "") if table.state.open else ""))
    assert [revealed for revealed, _ in said] == [False] * 5
    assert len({note for _, note in said[:3]}) == 1
    assert len({note for _, note in said[3:]}) == 1
    assert "was not compared with what" in said[3][1]
    assert [one.differs_by for one in table.events_of(events.HandExposed)] == [
        "", "dealer", *["pit-supervisor"] * 2, "", ""
    ]  # fmt: skip
    assert table.state.round.hands["B1"].differed == 3


def test_a_hand_that_was_misread_twice_is_compared_again() -> None:
    table = TableHarness(hands=HANDS, by_device=False).start().to_dealing().deal()
    table.expose("D", HANDS["D"])
    table.expose("B1", "KD KC 8S")
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards("KD KC TS")))
    correct(table, operations.ExposeHand, operations.ExposeHand("B1", cards(HANDS["B1"])))
    assert not table.state.open
    assert all(table.last(events.HandExposed).revealed)


# -- dependent decisions -----------------------------------------------------------------------------------------------


def test_nc_5_5_5_the_row_is_looked_up_again_when_handling_is_corrected() -> None:
    """The misdeal gave options because cards were handled. If they were not, NC 5.5.4 lets the dealer move the hands
    back.
    """
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.handle("B1")
    table.swap("B1", "B3")
    table.confirm(reconstructable=True)
    assert (table.open.row.clause, table.open.stage) == ("NC 5.7", Stage.CHOOSING)
    table.all_continue()
    table.put_right()
    assert not table.state.open
    correct(table, operations.HandleCards)
    again = table.open
    assert table.last(events.IrregularityReopened).outcome == "options"
    assert (again.stage, "handled" in again.asks) == (Stage.CLAIMED, True)
    table.confirm(handled=False)
    assert (table.open.row.clause, table.open.stage) == ("NC 5.5.4", Stage.MOVING)
    table.put_right()
    assert table.finish().at(Phase.CONCLUDED)


def test_nc_5_5_2_a_void_that_rested_on_a_wrong_count_is_lifted() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.COUNT_IN_DOUBT)
    due = table.state.stub_due
    table.count(due - 1)
    table.confirm()
    assert table.at(Phase.VOIDED)
    correct(table, operations.CountCards, operations.CountCards("stub", due, "another witness"))
    assert table.at(Phase.DEALING_SETS)
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert table.open.facts.counted_wrong is False
    table.confirm()
    assert not table.state.open
    assert table.state.decks.in_play.stub_out, "when the round was void the device gave out its stub"
    table.do(operations.DealByHand(6, "the stub is out"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)


def test_nc_5_5_2_a_corrected_count_reopens_what_the_wrong_one_had_closed() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.COUNT_IN_DOUBT)
    due = table.state.stub_due
    table.count(due)
    table.confirm()
    assert not table.state.open
    correct(table, operations.CountCards, operations.CountCards("stub", due - 1, "another witness"))
    (again,) = table.state.open
    assert (again.facts.counted_wrong, again.row.clause) == (True, "NC 5.5.2")
    table.confirm(found=again)
    assert table.at(Phase.VOIDED)


def test_a_void_whose_cards_are_gone_is_not_lifted() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    table.device.load()
    entry = last_entry(table, operations.ConfirmIrregularity)
    code, sentence = table.refused(operations.CorrectEntry(entry, "it was ours"), Role.PIT_SUPERVISOR)
    assert (code, "next round" in sentence) == ("gone", True)


@pytest.mark.parametrize("unit", Unit)
def test_irregularities_overtaken_by_a_void_are_open_again_when_it_is_lifted(unit: Unit) -> None:
    table = TableHarness(unit, game_id="RTP").start().to_dealing()
    table.take()
    table.report(Kind.WRONG_VIEWER, "B1")
    viewer = table.open
    table.report(Kind.FOREIGN_CARD)
    foreign = next(found for found in table.state.open if found.kind is Kind.FOREIGN_CARD)
    table.confirm(found=foreign)
    assert not table.state.open
    entry = [
        one.entry for one in table.state.round.entered if isinstance(one.operation, operations.ConfirmIrregularity)
    ][-1]
    table.do(operations.CorrectEntry(entry, "a stain, no other back"), Role.PIT_SUPERVISOR)
    assert [found.id for found in table.state.open] == [viewer.id, foreign.id]
    table.deny(found=next(found for found in table.state.open if found.id == foreign.id))
    assert table.state.in_round


def test_a_question_that_a_void_left_unanswered_is_asked_again_when_it_is_lifted() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing()
    table.take(2)
    table.report(Kind.WRONG_DISTRIBUTION)
    asked = table.open
    assert asked.asks
    table.report(Kind.FOREIGN_CARD)
    foreign = next(found for found in table.state.open if found.kind is Kind.FOREIGN_CARD)
    table.confirm(found=foreign)
    assert table.at(Phase.VOIDED)
    correct(table, operations.ConfirmIrregularity)
    again = next(found for found in table.state.open if found.id == asked.id)
    assert (again.stage, again.row, again.asks) == (asked.stage, asked.row, asked.asks)


def test_nc_5_9_a_hand_that_was_removed_plays_again() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing()
    table.take(2)
    table.do(operations.HandleCards("B1", viewed=True))
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(reconstructable=False)
    assert dead(table) == ["B1"]
    correct(table, operations.ConfirmIrregularity)
    assert dead(table) == []
    assert table.state.round.hands["B1"].size == 3
    assert table.state.round.removed == ()
    table.deny()
    table.finish()
    assert outcomes(table)["B1"] == "win"


def test_nc_5_7_3_one_bettors_choice_is_taken_back_and_the_others_remain() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    assert dead(table) == ["B3"]
    entry = next(
        one.entry
        for one in table.state.round.entered
        if isinstance(one.operation, operations.ChooseOption) and one.operation.place == "B3"
    )
    table.do(operations.CorrectEntry(entry, "he said continue"), Role.PIT_SUPERVISOR)
    assert table.open.stage is Stage.CHOOSING
    assert [place for place, _, _ in table.open.choices] == ["B1", "B6"]
    table.choose(B3=Choice.CONTINUE)
    assert not table.state.open
    assert dead(table) == []
    assert table.finish().at(Phase.CONCLUDED)


def test_a_report_about_the_wrong_box_is_made_about_the_right_one() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    correct(table, operations.ReportIrregularity, operations.ReportIrregularity(Kind.EXPOSED_CARD, "B3", card=2))
    assert table.open.place == "B3"
    assert [one.outcome for one in table.events_of(events.IrregularityResolved)] == ["corrected"]


def test_a_decided_report_is_reopened_when_it_is_struck_out() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B1", card=1)
    table.confirm()
    table.choose(B1=Choice.WITHDRAW, B3=Choice.CONTINUE, B6=Choice.CONTINUE)
    correct(table, operations.ReportIrregularity)
    assert not table.state.round.hands["B1"].dead
    table.deny()
    assert not table.state.open


def test_a_denial_is_taken_back() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.deny()
    correct(table, operations.DenyIrregularity)
    assert (table.open.kind, table.open.stage) == (Kind.FOREIGN_CARD, Stage.CLAIMED)


def test_facts_that_a_person_had_stated_are_asked_for_again() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    assert table.open.stage is Stage.MOVING
    correct(table, operations.ConfirmIrregularity)
    assert (table.open.stage, table.open.facts.handled) == (Stage.CLAIMED, None)
    said = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts())
    assert table.refused(said, Role.PIT_SUPERVISOR)[0] == "fact"
