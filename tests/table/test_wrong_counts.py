"""A hand has a wrong number of cards, or cards came at a wrong moment: NC 5.5.4, 5.5.5, 5.7 and 5.9."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Disposition, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


def four_at(place: str, *, handled_at: str) -> TableHarness:
    """Give a hand one card more than the sensor saw. It is counted after someone has handled cards."""
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.pass_unseen(1)
    table.deal()
    table.handle(handled_at)
    table.report(Kind.WRONG_COUNT, place, counted=4)
    return table


def test_nc_5_9_a_wrong_count_to_a_player_who_handled_his_cards_removes_his_hand() -> None:
    table = four_at("B3", handled_at="B3")
    assert table.open.asks == ("reconstructable",)
    table.confirm(reconstructable=False)
    removed = table.last(events.HandRemoved)
    assert (removed.place, removed.clause) == ("B3", "NC 5.9")
    assert table.state.round.hands["B3"].size == 4
    table.expose_all()
    assert [event.place for event in table.events_of(events.HandJudged)] == ["B1", "B6"]


def test_nc_5_9_the_count_of_the_stub_includes_the_extra_card() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.pass_unseen(1)
    table.handle("B3")
    table.report(Kind.WRONG_COUNT, "B3", counted=2)
    table.confirm(reconstructable=False)
    assert table.state.round.hands["B3"].size == 2
    table.deal().expose_all().settle()
    counted = table.last(events.StubCounted)
    assert (counted.count, counted.due) == (39, 39)
    assert not table.state.open


def test_nc_5_5_5_reaches_a_round_that_is_settled_until_the_next_has_begun() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    table.confirm(reconstructable=False)
    assert table.at(Phase.VOIDED)


@pytest.mark.parametrize("facts", [Facts(handled=False), Facts(dealer_hand=True)])
def test_nc_5_9_an_answer_cannot_contradict_what_the_table_has_recorded(facts: Facts) -> None:
    table = four_at("B3", handled_at="B1")
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision, facts)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "fact"


def test_a_report_of_a_wrong_count_names_place_and_number() -> None:
    table = TableHarness().start().to_dealing()
    for place, counted in ((None, 4), ("B1", None), ("B1", 53), ("B1", -1)):
        assert table.refused(operations.ReportIrregularity(Kind.WRONG_COUNT, place, None, counted))[0] == "count"
    assert table.refused(operations.ReportIrregularity(Kind.WRONG_COUNT, "B2", None, 4))[0] == "place"


def test_nc_5_9_a_card_too_many_that_the_device_missed_explains_its_end_count() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.handle("B1")
    table.device.pass_unseen(1)
    table.deal()
    (short,) = table.state.open
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    table.confirm(found=table.state.open[1], reconstructable=False)
    assert table.open.id == short.id
    table.count(39)
    assert table.proposes(Disposition.CONTINUE)
    table.confirm()
    table.expose_all().settle().conclude()


def one_more(unit: Unit) -> TableHarness:
    """Take a set or card when the deal is complete, before the stub is unloaded."""
    table = TableHarness(unit)
    table.device.capabilities = replace(table.device.capabilities, unloads_stub=False)
    table.start().to_dealing().deal()
    return table


@BOTH
def test_nc_5_5_4_one_more_after_the_dealers_hand_is_a_dealing_error(unit: Unit) -> None:
    table = one_more(unit)
    if unit is Unit.SETS:
        table.device.form_set(3)
    table.take()
    assert (table.open.row.id, table.open.kind) == ("I16", Kind.OTHER_DEALING_ERROR)
    assert len(table.state.decks.aside) == (3 if unit is Unit.SETS else 1)
    table.confirm(wrong_number=False, misplaced=True)
    table.confirm(handled=False)
    assert table.last(events.RoundVoided).clause == "NC 5.5.4"


@BOTH
def test_nc_5_7_one_more_after_the_deal_gives_options_once_cards_were_handled(unit: Unit) -> None:
    table = one_more(unit)
    table.handle("B1")
    if unit is Unit.SETS:
        table.device.form_set(3)
    table.take()
    table.confirm(wrong_number=False, reconstructable=False)
    table.all_continue()
    table.expose_all().settle().conclude()
    counted = table.last(events.StubCounted)
    assert counted.count == counted.due == (37 if unit is Unit.SETS else 39)


def test_a_set_too_many_that_stays_in_the_tray_is_counted_with_the_stub() -> None:
    table = one_more(Unit.SETS)
    table.device.form_set(3)
    table.expose_all().settle().conclude()
    assert table.last(events.StubCounted).count == 40
    table.heartbeat()
    assert not table.events_of(events.IrregularityRaised), "counting it by hand does not take it out of the tray"


def test_nc_5_17_a_card_drawn_while_the_deal_is_held_is_a_separate_error() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    table.do(operations.PauseTable("fill"))
    table.device.draw()
    assert (table.open.kind, table.open.ordinals) == (Kind.OTHER_DEALING_ERROR, (2,))
    table.deny()
    assert table.is_held(), "still paused"
    table.do(operations.ResumeTable())
    assert table.is_held(), "it is moved first"
    table.move_cards()
    assert table.state.round.hands["B3"].cards[0].ordinal == 2, "it is dealt once play continues"
    table.finish()


def test_a_differing_face_on_the_table_is_a_dealing_error_and_counts() -> None:
    table = TableHarness(hands={"D": "KH 7S TD"}).start().to_dealing().deal()
    table.handle("B1")
    table.expose("D", "KH 8S TD")
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    table.confirm(reconstructable=False)
    table.all_continue()
    for place in table.state.round.live_places:
        table.expose(place)
    assert {str(event.dealer_hand) for event in table.events_of(events.HandJudged)} == {"Single Picture Eight"}


def test_nc_5_5_2_a_card_that_lies_on_the_table_twice_is_an_excess() -> None:
    table = TableHarness(hands={"D": "KH 7S TD", "B1": "KD QC JS"}).start().to_dealing().deal()
    table.expose("D")
    table.expose("B1", "KD QC TD")
    assert table.open.row.id == "I02"
    assert str(table.last(events.IrregularityRaised).note) == "TD was entered here and also lies elsewhere"


def test_unread_cards_are_entered_as_they_are_seen() -> None:
    table = TableHarness(Unit.SINGLES)
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=False)
    table.start().to_dealing().deal()
    assert table.refused(operations.ExposeHand("D"))[0] == "unread"
    table.expose("D", "KH 7S TD")
    assert table.at(Phase.EXPOSING)


def test_nc_5_17_a_ruling_is_kept_with_its_authority() -> None:
    table = TableHarness().start().to_betting()
    table.report(Kind.BEFORE_NO_MORE_BETS)
    for authority, text in (("", "why"), ("shift manager", " ")):
        ruling = operations.Rule(table.open.id, table.open.revision, RulingAction.CONTINUE, authority, text)
        assert table.refused(ruling, Role.SHIFT_MANAGER)[0] == "ruling"
    table.rule(RulingAction.CONTINUE)
    ruled = table.last(events.Ruled)
    assert (ruled.authority, ruled.text) == ("shift manager", "so decided")


def test_a_correct_number_of_cards_is_not_a_wrong_count() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    assert table.refused(operations.ReportIrregularity(Kind.WRONG_COUNT, "B1", None, 3))[0] == "count"
    assert table.refused(operations.ReportIrregularity(Kind.WRONG_COUNT, "B3", None, 0))[0] == "count"


def test_a_hand_that_was_entered_wrongly_is_entered_again() -> None:
    table = TableHarness(hands={"D": "KH 7S TD", "B1": "KD QC JS"}).start().to_dealing().deal()
    table.expose("D")
    table.expose("B1", "KD QC 2S")
    table.deny()
    assert not table.state.round.hands["B1"].shown
    table.expose("B1", "KD QC JS")
    for place in ("B3", "B6"):
        table.expose(place)
    judged = {event.place: event.hand for event in table.events_of(events.HandJudged)}
    assert str(judged["B1"]) == "Three Pictures"


def test_only_the_hand_that_the_claim_was_about_is_entered_again() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.expose("D")
    table.report(Kind.EXPOSED_CARD, "B3")
    found = table.open
    table.deny(found=found)
    table.report(Kind.OTHER_DEALING_ERROR, "B6")
    table.deny()
    assert table.state.round.hands["D"].shown
    assert not table.events_of(events.HandTakenBack)
