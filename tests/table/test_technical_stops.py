"""NC 5.4: the device stops. If the place of every card is certain, play was not affected and continues."""

from __future__ import annotations

import pytest

from controller.games.specification import Facts, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.irregularities.questions import question
from controller.table.phases import Phase
from firmware_bridge.commands import Dispense, HoldExit, UnloadStub
from firmware_bridge.observations import (
    DeckLoaded,
    DoorMoved,
    NotUnderstood,
    ReportsLost,
    ShuffleAborted,
    ShuffleFinished,
    ShuffleStarted,
    StubUnloaded,
    Tampered,
)
from tests.table.harness import TableHarness


def jammed() -> TableHarness:
    table = TableHarness().start().to_dealing()
    table.take()
    table.device.jams_next = True
    table.take()
    return table


def test_nc_5_4_a_jam_is_one_irregularity_though_the_command_is_refused_as_well() -> None:
    table = jammed()
    assert (table.open.row.id, table.open.asks) == ("I19", ("places_certain",))
    assert len(table.events_of(events.CommandRefused)) == 1
    assert table.state.device.stopped


def test_nc_5_4_a_stop_is_not_confirmed_while_the_device_is_still_stopped() -> None:
    table = jammed()
    found = table.open
    confirm = operations.ConfirmIrregularity(found.id, found.revision, Facts(places_certain=True))
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "stopped"
    deny = operations.DenyIrregularity(found.id, found.revision, "it runs again")
    assert table.refused(deny, Role.PIT_SUPERVISOR)[0] == "stopped"


def test_nc_5_4_after_a_cleared_jam_a_new_command_is_issued() -> None:
    table = jammed()
    refused = table.last(events.CommandRefused).command_id
    table.device.clear_jam()
    assert table.is_held(), "clearing it decides nothing"
    assert "had stopped" in str(question(table.state, table.open))
    table.confirm(Role.DEALER, places_certain=True)
    command_id, command = table.device.received[-1]
    assert command == Dispense(3)
    assert command_id > refused
    assert len({entry for entry, _ in table.device.received}) == len(table.device.received)
    table.finish()


def test_nc_5_4_a_refused_command_without_a_jam_is_a_stop_too() -> None:
    table = TableHarness().start().to_dealing()
    table.device.refuses_next = "motor"
    table.take()
    assert table.open.kind is Kind.TECHNICAL_STOP
    table.confirm(Role.DEALER, places_certain=True)
    assert table.state.decks.tray
    table.finish()


def test_nc_5_4_a_stub_that_was_not_unloaded_is_requested_again() -> None:
    table = TableHarness().start().to_dealing()
    table.take(3)
    table.device.refuses_next = "motor"
    table.take()
    assert table.open.kind is Kind.TECHNICAL_STOP
    table.confirm(Role.DEALER, places_certain=True)
    assert [type(command) for _, command in table.device.received].count(UnloadStub) == 2
    table.finish()


def test_a_jam_between_rounds_stops_the_shuffle_without_an_irregularity() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.device.jams_next = True
    table.fresh_deck()
    assert not table.state.open
    assert "jam: transport" in table.state.device.stops
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"
    table.device.clear_jam()
    table.to_betting()


def test_an_open_door_stops_the_deal_until_closed_and_confirmed() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(DoorMoved(True))
    assert table.open.kind is Kind.TECHNICAL_STOP
    table.device.report(DoorMoved(False))
    table.confirm(Role.DEALER, places_certain=True)
    table.finish()


def test_tampering_holds_a_round_and_stops_the_device_between_rounds() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(Tampered("case"))
    assert table.open.kind is Kind.TECHNICAL_STOP
    idle = TableHarness().start()
    idle.device.report(Tampered("case"))
    assert idle.state.device.stopped


@pytest.mark.parametrize(
    "seen",
    [
        ReportsLost(1, 4, 9),
        NotUnderstood("too short"),
        DeckLoaded(1, 52),
        ShuffleStarted(1),
        ShuffleFinished(1, 9, 52),
        ShuffleAborted(1, 30),
        StubUnloaded(1, 40),
    ],
    ids=lambda seen: type(seen).__name__,
)
def test_nc_5_5_2_unclear_reports_put_the_count_in_doubt_only_in_a_round(seen: DeckLoaded) -> None:
    between = TableHarness(Unit.SINGLES).start()
    between.do(operations.OpenTable())
    between.device.report(seen)
    assert not between.state.open
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.report(seen)
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    table.device.report(seen)
    assert len(table.state.open) == 1, "the same doubt is not raised twice"
    table.count(52)
    table.confirm()
    table.finish()


def test_after_an_aborted_shuffle_the_deck_is_not_dealt_from() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.device.report(ShuffleAborted(1, 30))
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"
    assert table.state.decks.in_play.used
    table.to_dealing().finish()


def test_nc_5_4_a_jammed_round_is_voided_and_the_device_cleared_afterwards() -> None:
    table = jammed()
    table.report(Kind.UNSHUFFLED)
    table.confirm(found=table.state.open[1])
    assert table.at(Phase.VOIDED)
    assert not table.state.open
    assert table.refused(operations.PlaceYourBets())[0] == "stopped"
    table.device.clear_jam()
    table.to_dealing().finish()


@pytest.mark.parametrize("unit", Unit)
def test_nc_5_4_a_stuck_exit_is_a_stop_and_not_ordered_again(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    table.device.exit_stuck = True
    table.do(operations.PauseTable("drop"))
    assert table.open.kind is Kind.TECHNICAL_STOP
    assert table.state.device.exit_held is False, "it is as it was: open"
    before = len(table.device.received)
    table.do(operations.ResumeTable())
    table.confirm(Role.DEALER, places_certain=True)
    table.device.exit_stuck = False
    table.finish()
    assert [command for _, command in table.device.received[before:] if command == HoldExit()] == []
    table.lose_link()
    table.connect()
    assert not table.state.device.exit_fails


def test_a_jam_after_the_deal_is_raised_once_over_several_links() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal().expose_all()
    table.device.faults = ("jam: transport",)
    for _ in range(3):
        table.lose_link()
        table.connect()
        table.do(operations.ReturnToService(), Role.PIT_SUPERVISOR)
        table.connect()
    assert [event.row.id for event in table.events_of(events.IrregularityRaised)] == ["I19"]
    assert str(table.state.device.stopped) == "jam: transport"


def test_a_jam_during_the_deal_is_raised_at_every_new_link() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.faults = ("jam: transport",)
    table.lose_link()
    table.connect()
    table.do(operations.ReturnToService(), Role.PIT_SUPERVISOR)
    table.deny()
    table.connect()
    assert [event.row.id for event in table.events_of(events.IrregularityRaised)] == ["I19", "I19"]


def test_an_open_door_after_the_deal_is_raised_at_every_new_link() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    for _ in range(2):
        table.device.report(DoorMoved(True))
        table.device.report(DoorMoved(False))
        table.deny()
    assert [event.row.id for event in table.events_of(events.IrregularityRaised)] == ["I19", "I19"]
