"""NC 5.10 and 5.17: a card lies face up in the device."""

from __future__ import annotations

import pytest

from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from firmware_bridge.cards import Concealed
from firmware_bridge.observations import FaceUpFound
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


def announce(table: TableHarness, ordinal: int) -> None:
    device = table.device
    card = Concealed(device.order[ordinal - 1], device.shuffle, ordinal)
    device.report(FaceUpFound(device.shuffle, ordinal, 1, card))


@BOTH
def test_nc_5_10_an_announced_card_is_the_next_card(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    announce(table, 8)
    assert (table.open.row.clause, table.open.ordinals) == ("NC 5.10", (8,))
    assert table.open.place == ("B6" if unit is Unit.SETS else "D")
    assert table.exit_is_held()
    table.confirm(Role.DEALER)
    assert not table.is_held()
    table.deal()
    shown = [held.ordinal for hand in table.state.round.hands.values() for held in hand.cards if held.face_up]
    assert shown == [8]
    assert len(table.events_of(events.IrregularityRaised)) == 1, "it is not announced again when it comes out"
    table.expose_all().settle().conclude()


def test_nc_5_10_a_face_up_card_is_raised_when_it_comes_out_unannounced() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(4)
    table.device.draw(face_up=True)
    assert (table.open.row.clause, table.open.place, table.open.ordinals) == ("NC 5.10", "B1", (5,))
    assert table.last(events.IrregularityRaised).faces_seen is True
    table.confirm(Role.DEALER)
    assert table.state.round.hands["B1"].cards[1].face_up
    table.finish()


@BOTH
@pytest.mark.parametrize("action", [RulingAction.VOID, RulingAction.CONTINUE])
def test_nc_5_17_before_no_more_bets_a_ruling_is_asked_for(unit: Unit, action: RulingAction) -> None:
    table = TableHarness(unit).start().to_betting()
    announce(table, 2)
    assert (table.open.row.clause, table.open.stage) == ("NC 5.17", Stage.RULING)
    assert table.refused(operations.NoMoreBets())[0] == "held"
    ruling = operations.Rule(table.open.id, table.open.revision, action, "pit supervisor", "so decided")
    assert table.refused(ruling, Role.PIT_SUPERVISOR)[0] == "role"
    table.rule(action)
    if action is RulingAction.VOID:
        assert table.at(Phase.VOIDED)
    else:
        table.do(operations.NoMoreBets())
        table.finish()


@BOTH
def test_nc_5_10_in_the_stub_it_has_no_effect(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing().deal()
    announce(table, 20)
    assert not table.events_of(events.IrregularityRaised)
    table.expose_all().settle().conclude()


def test_nc_5_10_a_person_may_report_it() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FACE_UP_IN_DEVICE)
    assert table.open.row.clause == "NC 5.10"
    table.confirm(Role.DEALER)
    table.finish()


def test_a_deck_with_a_face_up_card_before_the_round_is_shuffled_again() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    announce(table, 30)
    assert not table.state.open
    assert table.refused(operations.PlaceYourBets())[0] == "face-up"
    table.to_dealing().finish()
