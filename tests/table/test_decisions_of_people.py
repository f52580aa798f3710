"""Authority to decide: roles, revisions, rounds and repeated operations."""

from __future__ import annotations

import pytest

from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from tests.table.harness import TableHarness


def exposed() -> TableHarness:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1")
    return table


def test_a_denied_claim_changes_nothing_and_play_continues() -> None:
    table = exposed()
    table.deny()
    resolved = table.last(events.IrregularityResolved)
    assert (resolved.outcome, resolved.role) == ("denied", Role.PIT_SUPERVISOR)
    assert not table.exit_is_held()
    table.finish()


def test_a_denial_needs_a_reason() -> None:
    table = exposed()
    deny = operations.DenyIrregularity(table.open.id, table.open.revision, "  ")
    assert table.refused(deny, Role.PIT_SUPERVISOR)[0] == "reason"


@pytest.mark.parametrize("kind", [Kind.EXPOSED_CARD, Kind.FOREIGN_CARD, Kind.UNSHUFFLED])
def test_a_dealer_reports_and_a_supervisor_confirms_or_denies(kind: Kind) -> None:
    table = TableHarness().start().to_dealing()
    table.report(kind)
    found = table.open
    for operation in (
        operations.ConfirmIrregularity(found.id, found.revision),
        operations.DenyIrregularity(found.id, found.revision, "no"),
    ):
        code, sentence = table.refused(operation, Role.DEALER)
        assert code == "role"
        assert found.row.clause in sentence
    table.confirm(Role.PIT_SUPERVISOR)


def test_a_ruling_needs_the_shift_manager_whom_nc_5_17_names() -> None:
    table = TableHarness().start().to_betting()
    table.report(Kind.BEFORE_NO_MORE_BETS)
    for role in (Role.DEALER, Role.PIT_SUPERVISOR, Role.PIT_MANAGER):
        for operation in (
            operations.Rule(table.open.id, table.open.revision, RulingAction.CONTINUE, "me", "so"),
            operations.DenyIrregularity(table.open.id, table.open.revision, "no"),
        ):
            assert table.refused(operation, role)[0] == "role"
    table.rule(RulingAction.CONTINUE, Role.SHIFT_MANAGER)


def test_a_decision_on_something_that_changed_meanwhile_is_refused() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = -1
    table.deal()
    before = table.open
    table.count(39)
    assert table.open.revision > before.revision
    confirm = operations.ConfirmIrregularity(before.id, before.revision)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "changed"
    table.confirm()


def test_a_choice_leaves_the_revision_unchanged() -> None:
    table = exposed()
    table.confirm()
    revision = table.open.revision
    for place in table.state.round.live_places:
        table.do(operations.ChooseOption(table.state.open[0].id, revision, place, Choice.CONTINUE))
    assert not table.state.open


def test_each_step_waits_for_its_turn() -> None:
    table = exposed()
    found = table.open
    for operation in (
        operations.ChooseOption(found.id, found.revision, "B1", Choice.CONTINUE),
        operations.NameOrder(found.id, found.revision, ()),
        operations.Rule(found.id, found.revision, RulingAction.VOID, "me", "so"),
    ):
        assert table.refused(operation, Role.SHIFT_MANAGER)[0] == "stage"
    table.confirm()
    again = operations.ConfirmIrregularity(found.id, table.open.revision)
    assert table.refused(again, Role.SHIFT_MANAGER)[0] == "stage"


def test_an_irregularity_that_is_closed_is_not_decided_again() -> None:
    table = exposed()
    found = table.open
    table.deny()
    deny = operations.DenyIrregularity(found.id, found.revision, "no")
    assert table.refused(deny, Role.PIT_SUPERVISOR)[0] == "closed"


def test_the_same_operation_twice_gets_the_same_answer_and_happens_once() -> None:
    table = TableHarness().start().to_betting()
    first = table.say(operations.NoMoreBets(), operation_id="once")
    steps = len(table.steps)
    assert table.say(operations.NoMoreBets(), operation_id="once") == first
    assert len(table.steps) == steps, "a repeat is not even kept in the journal"
    assert table.say(operations.NoMoreBets(), operation_id="other").code == "phase"


def test_a_refusal_stays_a_refusal_when_it_is_repeated() -> None:
    table = TableHarness().start()
    first = table.say(operations.PlaceYourBets(), operation_id="early")
    assert first.code == "phase"
    table.to_betting()
    assert table.say(operations.PlaceYourBets(), operation_id="early") == first


def test_answers_are_kept_for_this_round_and_the_one_before() -> None:
    table = TableHarness(Unit.SINGLES).start().to_betting()
    accepted = table.say(operations.NoMoreBets(), operation_id="of-round-1")
    table.finish().to_dealing()
    assert table.say(operations.NoMoreBets(), operation_id="of-round-1", round_number=1) == accepted
    table.finish().to_betting()
    assert table.state.round.number == 3
    assert all(answer.round >= 2 for answer in table.state.answers)
    code, _ = table.refused(operations.NoMoreBets(), round_number=1, operation_id="of-round-1")
    assert code == "stale"
    assert table.at(Phase.BETTING)


def test_an_operation_meant_for_the_last_round_is_judged_by_the_present_state() -> None:
    table = TableHarness().start().to_dealing().finish().to_betting()
    assert not table.say(operations.OccupyBoxes((2,)), round_number=1).code
    assert table.state.round.boxes == (2,)


def test_two_irregularities_hold_until_both_are_resolved() -> None:
    table = exposed()
    table.report(Kind.UNSHUFFLED)
    first, second = table.state.open
    table.deny(found=second)
    assert table.is_held()
    table.deny(found=first)
    assert not table.is_held()
    table.finish()


def test_nc_5_15_a_void_ends_everything_else_open_in_the_round() -> None:
    table = exposed()
    table.report(Kind.FOREIGN_CARD)
    table.confirm(found=table.state.open[0])
    table.report(Kind.BEFORE_NO_MORE_BETS)
    table.confirm(found=table.state.open[1])
    assert table.at(Phase.VOIDED)
    assert not table.state.open
    outcomes = [event.outcome for event in table.events_of(events.IrregularityResolved)]
    assert outcomes == ["overtaken", "overtaken", "void"]
    assert len(table.events_of(events.RoundVoided)) == 1
    table.to_dealing().finish()


def test_nc_5_15_nothing_more_follows_for_a_round_that_is_void() -> None:
    table = exposed()
    table.report(Kind.FOREIGN_CARD)
    table.confirm(found=table.state.open[1])
    assert table.refused(operations.ReportIrregularity(Kind.EXPOSED_CARD))[0] == "voided"


def test_a_missing_answer_is_asked_for_with_its_question() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.OTHER_DEALING_ERROR)
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(order_known=True))
    code, sentence = table.refused(confirm, Role.PIT_SUPERVISOR)
    assert code == "fact"
    assert sentence.startswith("Answer first: ")
    assert "Had Players handled cards before you noticed?" in sentence
    assert "order of the cards" not in sentence, "what was answered is not asked again"


@pytest.mark.parametrize(
    ("boxes", "code"), [((0,), "box"), ((8,), "box"), ((2, 2), "box"), ((), "")], ids=["none", "beyond", "twice", "no"]
)
def test_boxes_are_those_of_the_layout_each_once(boxes: tuple[int, ...], code: str) -> None:
    table = TableHarness().start().to_betting()
    assert table.say(operations.OccupyBoxes(boxes)).code == code
    assert table.say(operations.NoMoreBets()).code == ("" if code else "no-boxes")


def test_only_a_player_with_cards_handles_cards() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    for place in ("B3", "D", "B2"):
        assert table.refused(operations.HandleCards(place))[0] == "no-cards"
    table.handle("B1")
    assert table.state.round.handled is True


def test_nc_3_13_the_dealers_hand_is_exposed_first_and_each_hand_once() -> None:
    table = TableHarness().start().to_dealing().deal()
    assert table.refused(operations.ExposeHand("B1"))[0] == "dealer-first"
    table.expose("D")
    table.expose("B1")
    assert table.refused(operations.ExposeHand("B1"))[0] == "shown"
    assert table.refused(operations.ExposeHand("B2"))[0] == "no-cards"


def test_boxes_do_not_change_under_bettors_who_are_choosing() -> None:
    table = TableHarness().start().to_betting()
    table.report(Kind.EXPOSED_CARD)
    table.confirm()
    assert table.refused(operations.OccupyBoxes(()))[0] == "choosing"
    table.all_continue()
    table.do(operations.OccupyBoxes((2,)))


def test_nc_5_17_a_ruling_voids_a_round_that_is_concluded_until_the_next_begins() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.report(Kind.BEFORE_NO_MORE_BETS)
    table.rule(RulingAction.VOID)
    assert table.at(Phase.VOIDED)


def test_an_answer_that_leads_to_another_question_is_kept() -> None:
    """NC 5.7 asks whether the intended order of the cards can be restored (NC 1.13)."""
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.WRONG_DISTRIBUTION)
    assert "handled" in table.open.asks
    table.confirm(handled=True)
    assert (table.open.asks, table.open.facts.handled) == (("reconstructable",), True)
    assert table.is_held()
    table.confirm(reconstructable=True)
    assert [option.clause for option in table.open.row.options] == ["NC 5.7.2", "NC 5.7.3"]


def test_an_irregularity_about_chips_alone_does_not_hold_the_table() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.LATE_BET)
    assert not table.is_held()
    table.confirm(withdrawn=False)
    assert table.last(events.IrregularityResolved).clause == "NC 3.11"
