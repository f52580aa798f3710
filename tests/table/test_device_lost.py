"""A link or daemon is lost during a round: the link is restored automatically, and a person continues the round."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import DaemonStarted, DeviceConnected, DeviceReported, ReportsMissing
from controller.table.phases import Phase, Service
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit
from firmware_bridge.observations import CardDrawn
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


@BOTH
def test_a_device_lost_in_a_round_is_reconciled_and_the_dealer_continues(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take(2)
    table.lose_link()
    assert table.at(Service.RECONCILING)
    assert table.refused(operations.ContinueRound())[0] == "no-device"
    table.connect()
    assert table.status_agrees()
    assert table.at(Service.RECONCILING), "a round is continued by a person"
    assert table.exit_is_held()
    table.do(operations.ContinueRound())
    assert not table.exit_is_held()
    assert not table.events_of(events.IrregularityRaised)
    table.finish()


@BOTH
def test_cards_taken_without_a_link_are_dealt_from_the_reports_that_the_device_kept(unit: Unit) -> None:
    smooth = TableHarness(unit).start().to_dealing().deal()
    table = TableHarness(unit).start().to_dealing()
    table.take()
    table.lose_link()
    table.take()
    table.connect()
    table.do(operations.ContinueRound())
    assert not table.state.open
    table.deal()
    assert table.state.round.hands == smooth.state.round.hands


def test_a_report_that_is_repeated_after_a_loss_counts_once() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    repeated = next(given for given, _ in reversed(table.steps) if isinstance(given, DeviceReported))
    steps = len(table.steps)
    table.give(repeated)
    assert len(table.steps) == steps
    assert table.state.round.dealt == 1


def test_nc_5_5_2_a_status_that_differs_asks_for_a_count() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.skip_count(1)
    table.connect()
    assert table.open.row.id == "I04"
    differs = table.last(events.StatusDiffers)
    assert (differs.what, differs.journal, differs.device) == ("dispensed", 2, 3)
    table.count(len(table.device.inside))
    table.confirm()
    assert table.at(Phase.VOIDED)
    table.heartbeat()
    table.to_dealing().finish()


def test_nc_5_5_2_a_correct_count_lets_the_dealer_continue() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.dispensed += 1
    table.connect()
    table.count(50)
    table.confirm()
    table.do(operations.ContinueRound())
    table.finish()


def test_nc_5_5_2_lost_reports_ask_for_one_count_whatever_the_status() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.dispensed += 1
    table.give(ReportsMissing(1, table.device.last_report + 1, table.device.last_report + 2))
    table.device.last_report += 2
    table.connect()
    assert [found.row.id for found in table.state.open] == ["I04"]
    table.count(50)
    table.confirm()
    table.heartbeat()
    assert not table.state.open, "it was counted; the same difference is no second doubt"
    table.do(operations.ContinueRound())
    table.finish()


def test_reports_that_are_gone_between_rounds_are_only_noted() -> None:
    table = TableHarness().start()
    table.give(ReportsMissing(1, 1, 3))
    passed = table.last(events.ReportsPassed)
    assert (passed.boot, passed.number) == (1, 3)
    assert "reports 1 to 3" in str(passed.note)
    assert not table.state.open
    assert table.state.device.last_report == 3


def test_a_set_that_appeared_in_the_tray_meanwhile_is_a_doubt() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.lose_link()
    table.device.tray = []
    table.connect()
    assert table.open.row.id == "I04"
    assert ("tray", 1, 0) in [
        (event.what, event.journal, event.device) for event in table.events_of(events.StatusDiffers)
    ]
    assert not table.state.decks.tray
    assert len(table.state.decks.aside) == 3, "the set is set aside"


def test_a_command_carried_out_before_the_loss_is_not_repeated() -> None:
    table = TableHarness().start().to_dealing()
    table.device.answers = False
    table.take()
    opened = table.state.device.moving
    assert opened is not None
    table.lose_link()
    table.device.answers = True
    table.connect()
    assert opened.id in {event.command_id for event in table.events_of(events.CommandDone)}
    assert table.state.device.moving is None
    before = len(table.device.received)
    table.do(operations.ContinueRound())
    sent_since = [command for _, command in table.device.received[before:]]
    assert sent_since == [ReleaseExit()], "the set lies in the tray; no other is ordered"
    table.finish()


def test_a_command_that_never_reached_the_device_lapses_and_a_fresh_one_is_sent() -> None:
    table = TableHarness().start().to_dealing()
    table.device.ignores_commands = True
    table.take()
    opened = table.state.device.moving
    assert opened is not None
    table.device.ignores_commands = False
    table.device.received.clear()
    table.lose_link()
    table.connect()
    assert opened.id in {event.command_id for event in table.events_of(events.CommandLapsed)}
    table.do(operations.ContinueRound())
    sets = [entry for entry, command in table.device.received if command == Dispense(3)]
    assert len(sets) == 1
    assert sets[0] > opened.id
    table.finish()


def test_the_status_is_compared_only_when_it_speaks_of_the_reports_that_are_held() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    table.lose_link()
    table.device.draw()
    table.device.linked = True
    table.give(DeviceConnected(table.device.identity, table.device.status))
    assert not table.status_agrees()
    assert table.refused(operations.ContinueRound())[0] == "comparing"
    table.device.release_waiting()
    table.heartbeat()
    assert table.status_agrees()
    assert not table.state.open


def test_a_moving_device_is_compared_once_it_is_at_rest() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.lose_link()
    table.device.linked = True
    moving = replace(table.device.status, moving=True, dispensed=7)
    table.give(DeviceConnected(table.device.identity, moving))
    assert not table.state.open
    assert not table.status_agrees()


@BOTH
def test_a_daemon_that_starts_in_mid_round_waits_for_device_and_dealer(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take(2)
    table.give(DaemonStarted("T1", True, table.settings, "start-2"))
    assert table.at(Service.RECONCILING)
    assert not table.state.device.connected
    table.connect()
    table.do(operations.ContinueRound())
    table.finish()


def test_settings_that_changed_meanwhile_wait_for_the_next_round() -> None:
    table = TableHarness(boxes=(1, 3)).start().to_dealing()
    changed = replace(table.settings, box_count=5)
    table.give(DaemonStarted("T1", True, changed, "start-2"))
    assert table.state.settings == table.settings
    table.connect()
    table.do(operations.ContinueRound())
    table.finish().to_betting()
    assert table.state.settings == changed
    assert table.refused(operations.OccupyBoxes((6,)))[0] == "box"


def test_settings_that_changed_back_are_not_waited_for() -> None:
    table = TableHarness().start().to_dealing()
    table.give(DaemonStarted("T1", True, replace(table.settings, box_count=5), "start-2"))
    table.give(DaemonStarted("T1", True, table.settings, "start-3"))
    assert table.state.settings_wait is None


def test_a_link_lost_between_rounds_is_restored_automatically() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.lose_link()
    assert table.at(Service.OUT_OF_SERVICE)
    table.device.load()
    table.connect()
    assert table.at(Service.IN_SERVICE)
    table.do(operations.PlaceYourBets())


def test_a_round_voided_while_the_device_is_away_ends_normally() -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    table.report(Kind.UNSHUFFLED)
    table.confirm()
    assert table.at(Phase.VOIDED)
    table.connect()
    assert table.at(Service.IN_SERVICE)
    table.to_dealing().finish()


def test_the_word_simulated_binds_device_and_table() -> None:
    table = TableHarness()
    table.device.simulated = False
    table.start()
    assert table.at(Service.OUT_OF_SERVICE)
    assert table.last(events.DeviceLost).code == "device-unfit"
    assert "simulated" in str(table.state.service_cause)
    assert not table.state.device.connected
    assert not table.device.received


@BOTH
def test_nc_3_12_a_device_that_yields_the_other_unit_is_refused(unit: Unit) -> None:
    table = TableHarness(unit)
    other = Unit.SINGLES if unit is Unit.SETS else Unit.SETS
    table.settings = replace(table.settings, unit=other)
    table.start()
    assert table.at(Service.OUT_OF_SERVICE)
    assert {Unit.SETS: "yields sets", Unit.SINGLES: "yields single cards"}[unit] in str(table.state.service_cause)
    clause = "(NC 3.12.1)" if other is Unit.SETS else "(NC 3.12)"
    assert clause.strip() in str(table.state.service_cause)


def test_a_device_that_must_not_be_used_is_out_of_service_even_in_a_round() -> None:
    table = TableHarness().start().to_dealing()
    table.refuse_device()
    assert table.at(Service.OUT_OF_SERVICE)
    assert table.refused(operations.ReturnToService(), Role.DEALER)[0] == "role"
    table.connect()
    assert table.at(Service.RECONCILING)
    table.do(operations.ContinueRound())
    table.finish()


def test_a_return_to_service_without_a_device_waits_for_it() -> None:
    table = TableHarness().start().to_dealing()
    table.refuse_device()
    table.do(operations.ReturnToService(), Role.PIT_SUPERVISOR)
    assert str(table.state.service_cause).endswith(" returns the table to service: it waits for the device")


def test_cards_drawn_unseen_are_a_doubt_after_a_reboot_without_memory() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.draw()
    table.device.reboot()
    table.connect()
    assert [found.row.id for found in table.state.open] == ["I17", "I04"]


def test_a_report_from_another_shuffle_is_a_doubt() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.give(DeviceReported(1, 99, None, CardDrawn(77, 1, 51, 1, None), Evidence(b"")))
    assert table.open.row.id == "I04"
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT]


def test_while_reconciling_the_exit_is_held() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.lose_link()
    table.device.exit_held = False
    table.connect()
    assert table.device.received[-1][1] == HoldExit()


def test_nc_3_12_a_changed_unit_holds_the_next_round_for_a_suitable_device() -> None:
    table = TableHarness().start().to_dealing()
    changed = replace(table.settings, unit=Unit.SINGLES)
    table.give(DaemonStarted("T1", True, changed, "start-2"))
    table.connect()
    table.do(operations.ContinueRound())
    table.finish()
    table.fresh_deck()
    assert table.refused(operations.PlaceYourBets())[0] == "unit"
    table.lose_link()
    table.device = TableHarness(Unit.SINGLES).device
    table.device.connect_to(table.give)
    table.device.boot = 77
    table.device.order.reverse()
    table.connect()
    assert table.at(Service.IN_SERVICE)
    table.to_dealing().finish()
    assert table.state.settings == changed


def test_no_round_begins_or_is_dealt_while_the_device_is_away() -> None:
    table = TableHarness().start().to_betting()
    table.lose_link()
    code, sentence = table.refused(operations.NoMoreBets())
    assert (code, "is not connected: check its power" in sentence) == ("service", True)
    table.connect()
    code, sentence = table.refused(operations.NoMoreBets())
    assert (code, "confirm that the round continues" in sentence) == ("service", True)
    away = TableHarness().start()
    away.lose_link()
    assert away.refused(operations.OpenTable())[0] == "service"
    assert away.refused(operations.ContinueRound())[0] == "phase"


def test_a_round_in_service_is_not_continued_again() -> None:
    table = TableHarness().start().to_dealing()
    code, sentence = table.refused(operations.ContinueRound())
    assert (code, "in service" in sentence) == ("service", True)


def test_another_device_in_a_round_is_refused_every_time() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    first = table.device.serial
    table.lose_link()
    for _ in range(2):
        table.device.serial = "ANOTHER-1"
        table.connect()
        assert table.at(Service.OUT_OF_SERVICE)
        assert "ANOTHER-1" in str(table.state.service_cause)
        assert table.state.device.serial == first
    table.device.serial = first
    table.connect()
    assert table.at(Service.RECONCILING)


def test_another_device_between_rounds_is_recorded_and_takes_over() -> None:
    table = TableHarness().start()
    first = table.device.serial
    table.lose_link()
    table.device.serial = "ANOTHER-1"
    table.connect()
    assert table.events_of(events.DeviceDiffers) == [events.DeviceDiffers("serial", first, "ANOTHER-1")]
    assert table.state.device.serial == "ANOTHER-1"
    table.connect()
    assert len(table.events_of(events.DeviceDiffers)) == 1


def test_other_firmware_in_the_same_device_is_recorded() -> None:
    table = TableHarness().start()
    before = table.device.identity.firmware_digest
    table.device.firmware_digest = "e" * 64
    table.connect()
    assert table.events_of(events.DeviceDiffers) == [events.DeviceDiffers("firmware", before, "e" * 64)]
