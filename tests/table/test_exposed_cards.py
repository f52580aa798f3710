"""NC 5.7: a card is exposed in dealing, and every bettor chooses."""

from __future__ import annotations

import pytest

from controller.games.specification import Choice, Disposition, Kind, Unit
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from tests.table.harness import TableHarness

CONTINUE, WITHDRAW = Choice.CONTINUE, Choice.WITHDRAW
BOTH = pytest.mark.parametrize("unit", Unit)


def exposed_in_mid_deal(unit: Unit) -> TableHarness:
    table = TableHarness(unit).start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B3", card=1)
    return table


def test_nc_5_7_an_exposed_card_holds_the_deal_until_every_bettor_has_chosen() -> None:
    table = exposed_in_mid_deal(Unit.SINGLES)
    assert (table.open.row.id, table.open.row.clause, table.open.stage) == ("I12", "NC 5.7", Stage.CLAIMED)
    assert table.exit_is_held()
    table.confirm()
    assert table.open.stage is Stage.CHOOSING
    table.choose(B1=CONTINUE, B6=CONTINUE)
    assert table.exit_is_held()
    assert table.is_held()
    table.choose(B3=CONTINUE)
    assert (table.is_held(), [move.place for move in table.state.moves_due]) == (True, ["B3"])
    table.move_cards()
    assert not table.is_held()
    assert not table.exit_is_held()
    table.finish()
    assert table.last(events.IrregularityResolved).outcome == Disposition.OPTIONS


@BOTH
def test_nc_5_7_3_a_withdrawn_hand_is_dead_and_still_gets_its_cards(unit: Unit) -> None:
    smooth = TableHarness(unit).start().to_dealing().deal()
    table = exposed_in_mid_deal(unit)
    table.confirm()
    table.choose(B1=CONTINUE, B3=WITHDRAW, B6=CONTINUE)
    removed = table.last(events.HandRemoved)
    assert (removed.place, removed.clause) == ("B3", "NC 5.7.3")
    table.deal()
    assert {place: hand.cards for place, hand in table.state.round.hands.items()} == {
        place: hand.cards for place, hand in smooth.state.round.hands.items()
    }, "every hand has the cards that were meant for it"
    table.expose_all()
    assert [event.place for event in table.events_of(events.HandJudged)] == ["B1", "B6"]
    table.settle()
    counted = table.last(events.StubCounted)
    assert (counted.count, counted.due) == (40, 40)


def test_nc_5_7_3_a_withdrawn_hand_is_not_opened() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.confirm()
    table.choose(B1=CONTINUE, B3=WITHDRAW, B6=CONTINUE)
    table.deal().expose("D")
    assert table.refused(operations.ExposeHand("B3"))[0] == "dead"


def test_nc_5_7_a_choice_is_entered_once_and_only_for_a_hand_in_play() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.confirm()
    table.choose(B1=WITHDRAW)
    found = table.open
    assert table.refused(operations.ChooseOption(found.id, found.revision, "B1", WITHDRAW))[0] == "chosen"
    assert table.refused(operations.ChooseOption(found.id, found.revision, "B2", CONTINUE))[0] == "place"
    assert table.refused(operations.ChooseOption(found.id, found.revision, "D", CONTINUE))[0] == "place"


def test_nc_5_7_the_round_ends_without_hands_when_all_withdraw() -> None:
    table = exposed_in_mid_deal(Unit.SINGLES)
    table.confirm()
    table.choose(B1=WITHDRAW, B3=WITHDRAW, B6=WITHDRAW)
    table.deal().expose("D")
    assert table.at(Phase.SETTLING)
    assert not table.events_of(events.HandJudged)
    table.settle().conclude()


def test_nc_5_7_an_exposed_card_does_not_void_even_before_cards_were_handled() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.confirm(handled=False)
    assert table.proposes(Disposition.OPTIONS)
    assert not table.events_of(events.RoundVoided)


def test_nc_5_7_a_second_error_without_a_bettor_left_resolves_itself() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.confirm()
    table.choose(B1=WITHDRAW, B3=WITHDRAW, B6=WITHDRAW)
    table.take()
    table.report(Kind.EXPOSED_CARD, "B6")
    table.confirm()
    assert not table.state.open
    table.deal()


def test_nc_5_7_no_choice_is_awaited_for_a_removed_hand() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.handle("B1")
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    exposed, wrong_count = table.state.open
    table.confirm(found=exposed)
    table.choose(B1=CONTINUE, B6=CONTINUE)
    table.confirm(found=wrong_count, reconstructable=False)
    assert not table.state.open
    assert table.state.round.live_places == ("B1", "B6")


def test_nc_5_7_no_choice_is_awaited_from_a_withdrawn_bettor() -> None:
    table = exposed_in_mid_deal(Unit.SETS)
    table.report(Kind.EXPOSED_CARD, "B1")
    first, second = table.state.open
    table.confirm(found=first)
    table.confirm(found=second)
    for place, choice in (("B1", CONTINUE), ("B6", CONTINUE)):
        table.do(operations.ChooseOption(second.id, table.state.open[1].revision, place, choice))
    table.choose(B1=CONTINUE, B3=WITHDRAW, B6=CONTINUE)
    assert not table.state.open


def test_nc_3_13_a_card_exposed_after_the_hands_were_judged_still_gives_options() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all()
    assert len(table.events_of(events.HandJudged)) == 3
    table.report(Kind.EXPOSED_CARD, "B1")
    table.confirm()
    table.choose(B1=WITHDRAW, B3=CONTINUE, B6=CONTINUE)
    assert table.state.round.hands["B1"].outcome is None
    table.settle().conclude()
