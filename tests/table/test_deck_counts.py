"""A deck that is short, has too many or foreign cards, or was not shuffled: NC 5.5.1 to 5.5.3."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Disposition, Facts, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from firmware_bridge.observations import CardDrawn, ShuffleFinished, StubUnloaded
from tests.table.harness import TableHarness


def test_nc_5_5_2_a_stub_that_the_device_finds_short_is_counted_by_hand_and_voids() -> None:
    table = TableHarness().start().to_dealing()
    table.device.miscount = -1
    table.deal()
    assert table.state.open, "the device counts as soon as the deal is whole"
    assert (table.open.row.id, table.open.asks) == ("I02", ("counted_wrong",))
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "count"
    stated = operations.ConfirmIrregularity(table.open.id, table.open.revision, Facts(counted_wrong=True))
    assert table.refused(stated, Role.PIT_SUPERVISOR)[0] == "count"
    table.count(39)
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_nc_5_5_2_the_last_count_of_a_pile_applies() -> None:
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


def test_a_count_has_a_second_person_as_witness_and_a_possible_number() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    for witness in ("", "dealer", "Dealer "):
        assert table.refused(operations.CountCards("stub", 40, witness))[0] == "witness"
    for number in (-1, 61):
        assert table.refused(operations.CountCards("stub", number, "a witness"))[0] == "number"


@pytest.mark.parametrize("number", [0, 60])
def test_a_count_may_find_nothing_or_more_than_a_deck(number: int) -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.count(number)
    assert table.last(events.CardsCounted).number == number
    assert table.open.row.id == "I02"


def test_nc_5_5_2_a_jump_in_the_devices_count_asks_for_a_count_by_hand() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.skip_count(1)
    table.take()
    assert (table.open.row.id, table.open.asks) == ("I04", ("counted_wrong",))
    table.count(len(table.device.inside))
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_nc_5_5_2_play_continues_after_a_jump_in_the_count_without_a_missing_card() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.dispensed += 1
    table.take()
    table.count(49)
    table.confirm()
    table.move_cards()
    assert not table.is_held()
    table.finish()


def test_a_wrong_number_of_remaining_cards_is_a_doubt_too() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(CardDrawn(table.device.shuffle, 1, 50, 1, None))
    assert table.open.row.id == "I04"


@pytest.mark.parametrize("missing", [0, 1])
def test_nc_5_5_2_a_deck_that_is_short_at_the_shuffle_is_not_dealt_from(missing: int) -> None:
    """The result is the same if the table infers it from the device's own count."""
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
    table.do(operations.RecordSettled())
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_nc_5_5_1_a_foreign_card_before_the_close_voids_and_quarantines_the_deck() -> None:
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


def test_a_fresh_deck_that_is_counted_still_gets_its_end_count() -> None:
    """A count between rounds covers the whole deck, not a stub."""
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


def test_a_count_answers_only_questions_about_the_count() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.OTHER_DEALING_ERROR, "B1")
    before = table.open
    table.count(49)
    assert table.open == before


# -- the order of the last round ---------------------------------------------------------------------------------------


def second_round(unit: Unit) -> TableHarness:
    """Begin the second round with the deck in the order of the first."""
    table = TableHarness(unit)
    table.device.same_order = True
    return table.start().to_dealing().finish().to_dealing()


def test_nc_5_5_3_the_order_of_the_last_round_means_an_unshuffled_deck() -> None:
    table = second_round(Unit.SINGLES)
    table.take(5)
    assert not table.state.open
    table.take()
    raised = table.last(events.IrregularityRaised)
    assert (raised.row.id, raised.row.clause, raised.noticed_by) == ("I03", "NC 5.5.3", "inference")
    table.confirm()
    assert table.at(Phase.VOIDED)


def test_nc_5_5_3_two_sets_of_the_last_round_are_enough() -> None:
    table = second_round(Unit.SETS)
    table.take()
    assert [found.row.id for found in table.state.open] == ["I03"]


def test_nc_5_5_3_a_repeated_order_is_raised_once_and_names_no_card() -> None:
    table = second_round(Unit.SINGLES)
    table.take(6)
    raised = table.last(events.IrregularityRaised)
    assert (raised.ordinals, raised.place, raised.card, raised.faces_seen) == ((), None, None, None)
    assert not any(card.code in str(raised.note) for card in table.device.order)
    table.deny()
    table.finish()
    assert len(table.events_of(events.IrregularityRaised)) == 1


@pytest.mark.parametrize("changed", range(6))
def test_one_other_card_among_the_first_six_is_another_order(changed: int) -> None:
    table = second_round(Unit.SINGLES)
    inside = table.device.inside
    inside[changed], inside[-1] = inside[-1], inside[changed]
    table.take(12)
    assert not table.events_of(events.IrregularityRaised)


def test_the_same_cards_one_place_further_on_are_another_order() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().finish().to_dealing()
    table.finish()
    assert not table.events_of(events.IrregularityRaised)


def test_the_order_of_unread_cards_is_not_compared() -> None:
    table = second_round(Unit.SINGLES)
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=False)
    table.take(12)
    assert not table.events_of(events.IrregularityRaised)


# -- face up in the shuffle, and stubs of other decks ------------------------------------------------------------------


def test_nc_5_10_a_deck_in_which_the_shuffle_counted_a_card_face_up_begins_no_round() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.device.load()
    table.device.report(ShuffleFinished(1, 99, 52, face_up=1))
    code, sentence = table.refused(operations.PlaceYourBets())
    assert (code, "face up" in sentence) == ("face-up", True)
    table.to_dealing().finish()


def test_nc_5_5_2_a_stub_counted_as_another_decks_raises_a_doubt() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.device.report(StubUnloaded(7, 40))
    assert table.open.row.id == "I04"
    assert "deck 7" in str(table.last(events.IrregularityRaised).note)
    assert table.state.decks.in_play.stub is None
    table.count(40)
    table.confirm()
    table.expose_all().settle().conclude()


def test_between_rounds_a_stub_of_another_deck_is_noted() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().finish()
    table.device.report(StubUnloaded(7, 40))
    assert table.last(events.DeviceNoted).what == "stub_of_another_deck"
    assert not table.state.open
