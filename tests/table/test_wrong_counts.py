"""A hand, or the deck, has a wrong number of cards: NC 5.5.2, 5.5.4, 5.5.5 and 5.9."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Disposition, Facts, Kind, Role, RulingAction, Unit
from controller.table import events, operations
from controller.table.phases import Phase
from firmware_bridge.observations import CardDrawn, ShuffleFinished, StubUnloaded
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


def four_at(place: str, *, handled_at: str = "") -> TableHarness:
    """A card more than the sensor saw lies at a place, and somebody counts it there."""
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.pass_unseen(1)
    table.deal()
    if handled_at:
        table.handle(handled_at)
    table.report(Kind.WRONG_COUNT, place, counted=4)
    return table


def test_nc_5_5_4_a_wrong_count_to_a_player_voids_when_nobody_has_handled_cards() -> None:
    table = four_at("B3")
    assert table.open.asks == ("handled",)
    table.confirm(handled=False)
    assert table.at(Phase.VOIDED)
    assert table.last(events.RoundVoided).clause == "NC 5.5.4"
    assert table.last(events.IrregularityConfirmed).row.id == "I09"


@pytest.mark.parametrize("who", ["B1", "B3"])
def test_nc_5_9_a_wrong_count_to_a_player_removes_that_hand_once_cards_were_handled(who: str) -> None:
    """Whoever it was that handled cards."""
    table = four_at("B3", handled_at=who)
    assert not table.open.asks
    table.confirm()
    removed = table.last(events.HandRemoved)
    assert (removed.place, removed.clause) == ("B3", "NC 5.9")
    assert table.state.hands["B3"].size == 4
    table.expose_all()
    assert [event.place for event in table.events_of(events.HandJudged)] == ["B1", "B6"]


def test_nc_5_9_the_end_count_knows_of_the_card_too_many() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.pass_unseen(1)
    table.handle("B3")
    table.report(Kind.WRONG_COUNT, "B3", counted=2)
    table.confirm()
    assert table.state.hands["B3"].size == 2
    table.deal().expose_all().settle()
    counted = table.last(events.StubCounted)
    assert (counted.count, counted.due) == (39, 39)
    assert not table.state.open


def test_nc_5_5_4_a_wrong_count_to_the_dealer_voids_when_nobody_has_handled_cards() -> None:
    table = four_at("D")
    table.confirm(handled=False)
    assert table.last(events.RoundVoided).clause == "NC 5.5.4"
    assert table.last(events.IrregularityConfirmed).row.id == "I08a"


def test_nc_5_5_5_a_wrong_count_to_the_dealer_voids_after_handling_too() -> None:
    table = four_at("D", handled_at="B1")
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.5"
    assert table.last(events.IrregularityConfirmed).row.id == "I08b"


def test_nc_5_5_5_reaches_a_round_that_is_settled_until_the_next_has_begun() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.handle("B1")
    table.expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "D", counted=4)
    table.confirm()
    assert table.at(Phase.VOIDED)


@pytest.mark.parametrize("facts", [Facts(handled=False), Facts(dealer_hand=True)])
def test_nc_5_9_an_answer_cannot_turn_round_what_the_table_knows(facts: Facts) -> None:
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
    table.confirm(found=table.state.open[1])
    assert table.open.id == short.id
    table.count(39)
    assert table.proposes(Disposition.CONTINUE)
    table.confirm()
    table.expose_all().settle().conclude()


def one_more(unit: Unit) -> TableHarness:
    """A set, or a card, is taken when the Dealer's hand is whole already; nothing unloads the stub before."""
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
    assert len(table.state.aside) == (3 if unit is Unit.SETS else 1)
    table.confirm(handled=False)
    assert table.last(events.RoundVoided).clause == "NC 5.5.4"


@BOTH
def test_nc_5_7_one_more_after_the_deal_gives_options_once_cards_were_handled(unit: Unit) -> None:
    table = one_more(unit)
    table.handle("B1")
    if unit is Unit.SETS:
        table.device.form_set(3)
    table.take()
    table.confirm()
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


def test_nc_5_5_2_a_stub_that_the_device_finds_short_is_counted_by_hand_and_voids() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = -1
    table.deal()
    assert table.state.open, "the device counts as soon as the deal is whole"
    assert (table.open.row.id, table.open.asks) == ("I02", ("counted_wrong",))
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "count"
    told = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(counted_wrong=True))
    assert table.refused(told, Role.PIT_SUPERVISOR)[0] == "count"
    table.count(39)
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_nc_5_5_2_a_count_by_hand_that_finds_the_deck_whole_lets_play_go_on() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = +1
    table.deal()
    table.count(40)
    assert table.proposes(Disposition.CONTINUE)
    table.confirm()
    assert not table.events_of(events.RoundVoided)
    table.expose_all().settle().conclude()


def test_nc_5_5_2_the_last_count_of_a_pile_stands() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = -1
    table.deal()
    table.count(39)
    assert table.proposes(Disposition.VOID)
    table.count(40)
    assert table.proposes(Disposition.CONTINUE)
    assert len(table.events_of(events.IrregularityRaised)) == 1


def test_nc_5_5_2_a_stub_counted_short_by_hand_voids() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal().expose_all()
    assert table.refused(operations.RecordSettled())[0] == "stub"
    table.count(39)
    assert (table.open.row.id, table.open.asks) == ("I02", ())
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_a_count_has_a_witness_who_is_somebody_else_and_a_number_that_can_be() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    for number, witness, code in ((40, "", "witness"), (40, "dealer", "witness"), (61, "x", "number")):
        assert table.refused(operations.CountCards("stub", number, witness))[0] == code


def test_nc_5_5_2_a_jump_in_the_devices_count_asks_for_a_count_by_hand() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.skip_count(1)
    table.take()
    assert (table.open.row.id, table.open.asks) == ("I04", ("counted_wrong",))
    table.count(len(table.device.inside))
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_nc_5_5_2_a_jump_in_the_count_with_no_card_gone_lets_play_go_on() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.dispensed += 1
    table.take()
    table.count(49)
    table.confirm()
    assert not table.is_held()
    table.finish()


def test_a_wrong_number_of_remaining_cards_is_a_doubt_too() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(CardDrawn(table.device.shuffle, 1, 50, 1, None))
    assert table.open.row.id == "I04"


@pytest.mark.parametrize("missing", [0, 1])
def test_nc_5_5_2_a_deck_that_is_short_at_the_shuffle_is_not_dealt_from(missing: int) -> None:
    """Whether or not the device draws the conclusion from its own count."""
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.device.report(ShuffleFinished(1, 9, 51, missing))
    assert table.open.row.id == "I02"
    assert table.refused(operations.PlaceYourBets())[0] == "held"
    table.count(51)
    table.confirm()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()


def test_nc_5_5_1_a_foreign_card_among_the_next_rounds_cards_keeps_that_deck_out() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.device.load()
    table.device.report(ShuffleFinished(1, 99, 52, foreign=1))
    assert table.open.row.clause == "NC 5.5.1"
    table.confirm()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_nc_5_5_1_a_foreign_card_found_while_bets_are_open_voids_and_keeps_that_deck_out() -> None:
    table = TableHarness().start().to_betting()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.1"
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_nc_5_5_1_a_foreign_card_that_the_sensor_sees_voids_when_it_is_confirmed() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.draw(foreign=1)
    assert (table.open.row.clause, table.open.ordinals) == ("NC 5.5.1", (1,))
    table.confirm()
    assert table.at(Phase.VOIDED)


def test_nc_5_5_3_unshuffled_cards_void() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.UNSHUFFLED)
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.3"


def test_a_fresh_deck_that_is_counted_still_gets_its_end_count() -> None:
    """A count between rounds is of the whole deck and no round's stub."""
    table = TableHarness().start().to_dealing().finish()
    table.fresh_deck()
    table.count(52)
    table.do(operations.PlaceYourBets())
    table.do(operations.OccupyBoxes((1,)))
    table.do(operations.NoMoreBets())
    table.deal()
    assert table.last(events.StubCounted).count == 46


def test_a_fresh_deck_that_is_given_out_again_cannot_begin_a_round() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.fresh_deck()
    table.device.report(StubUnloaded(1, 52))
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_nc_5_17_a_card_drawn_while_the_deal_is_held_is_an_error_of_its_own() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    table.do(operations.PauseTable("fill"))
    table.device.draw()
    assert (table.open.kind, table.open.ordinals) == (Kind.OTHER_DEALING_ERROR, (2,))
    table.deny()
    assert table.is_held(), "still paused"
    table.do(operations.ResumeTable())
    assert table.state.hands["B3"].cards[0].ordinal == 2, "it is dealt once the table goes on"
    table.finish()


def test_a_card_of_which_the_table_says_another_face_is_a_dealing_error_and_the_table_counts() -> None:
    table = TableHarness(hands={"D": "KH 7S TD"}).start().to_dealing().deal()
    table.handle("B1")
    table.expose("D", "KH 8S TD")
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    table.confirm()
    table.all_continue()
    for place in table.state.live_places:
        table.expose(place)
    assert {event.dealer_hand for event in table.events_of(events.HandJudged)} == {"Single Picture Eight"}


def test_nc_5_5_2_a_card_that_lies_on_the_table_twice_is_an_excess() -> None:
    table = TableHarness(hands={"D": "KH 7S TD", "B1": "KD QC JS"}).start().to_dealing().deal()
    table.expose("D")
    table.expose("B1", "KD QC TD")
    assert table.open.row.id == "I02"
    assert table.last(events.IrregularityRaised).note == "TD lies on the table twice"


def test_cards_that_nobody_read_are_entered_as_they_are_seen() -> None:
    table = TableHarness(Unit.SINGLES)
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=False)
    table.start().to_dealing().deal()
    assert table.refused(operations.ExposeHand("D"))[0] == "unread"
    table.expose("D", "KH 7S TD")
    assert table.at(Phase.EXPOSING)


def test_nc_5_17_what_was_ruled_is_kept_with_its_authority() -> None:
    table = TableHarness().start().to_betting()
    table.report(Kind.BEFORE_NO_MORE_BETS)
    for authority, text in (("", "why"), ("shift manager", " ")):
        ruling = operations.Rule(table.open.id, table.open.revision, RulingAction.CONTINUE, authority, text)
        assert table.refused(ruling, Role.SHIFT_MANAGER)[0] == "ruling"
    table.rule(RulingAction.CONTINUE)
    ruled = table.last(events.Ruled)
    assert (ruled.authority, ruled.text) == ("shift manager", "so decided")
