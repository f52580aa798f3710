"""Orders to the device are compared with every status: an exit in the wrong position, and orders without an answer."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.events.device_events import NOTED
from controller.table.inputs import DeviceContradicted, StatusReceived
from controller.table.phases import Phase
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand, HoldExit, ReleaseExit
from firmware_bridge.drivers.base import Contradiction
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


def orders_of_exit(table: TableHarness) -> list[tuple[int, AnyCommand]]:
    return [one for one in table.device.received if isinstance(one[1], HoldExit | ReleaseExit)]


def status_says(table: TableHarness, *, held: bool, times: int = 1, moving: bool = False) -> None:
    for _ in range(times):
        table.give(StatusReceived(replace(table.device.status, exit_held=held, moving=moving)))


@BOTH
def test_an_exit_that_stays_open_is_held_again_and_then_a_stop(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    table.do(operations.PauseTable("drop"))
    before = orders_of_exit(table)
    status_says(table, held=False)
    assert orders_of_exit(table) == before, "that status may have been sent before the answer"
    status_says(table, held=False)
    (again,) = orders_of_exit(table)[len(before) :]
    assert again[1] == HoldExit()
    assert again[0] not in dict(before), "an order of its own"
    assert not table.state.open
    status_says(table, held=False, times=2)
    assert table.open.kind is Kind.TECHNICAL_STOP
    assert "cards can leave" in str(table.last(events.IrregularityRaised).note)
    assert "the exit is open" in str(table.last(events.IrregularityRaised).note)
    entries = table.state.entry
    status_says(table, held=False, times=50)
    assert table.state.entry == entries, "it is told once"


@BOTH
def test_an_exit_that_stays_held_is_a_stop_and_not_ordered_again(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    before = orders_of_exit(table)
    assert before[-1][1] == ReleaseExit()
    status_says(table, held=True, times=2)
    assert table.open.kind is Kind.TECHNICAL_STOP
    assert "no card can leave" in str(table.last(events.IrregularityRaised).note)
    assert ReleaseExit() not in [command for _, command in orders_of_exit(table)[len(before) :]]


def test_a_hold_that_works_the_second_time_is_not_a_stop() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.do(operations.PauseTable("drop"))
    status_says(table, held=False, times=2)
    status_says(table, held=True, times=5)
    table.do(operations.ResumeTable())
    table.finish()
    assert not table.events_of(events.IrregularityRaised)


def test_each_order_is_watched_separately() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    for times in (1, 2):
        table.do(operations.PauseTable("drop"))
        status_says(table, held=False, times=4)
        assert len(table.events_of(events.IrregularityRaised)) == times
        table.do(operations.ResumeTable())
        table.confirm(Role.DEALER, places_certain=True)
    table.finish()


def test_between_rounds_the_device_is_stopped_until_a_fresh_deck() -> None:
    table = TableHarness().start().to_dealing().finish()
    status_says(table, held=False, times=4)
    assert "cards can leave" in str(table.state.device.stopped)
    assert not table.state.open
    table.fresh_deck()
    assert not table.state.device.stopped


@pytest.mark.parametrize("spare", ["moving", "unanswered", "no lock", "another boot", "maintenance", "jammed"])
def test_statuses_that_prove_nothing(spare: str) -> None:
    table = TableHarness(Unit.SINGLES if spare == "no lock" else Unit.SETS)
    if spare == "no lock":
        table.device.capabilities = replace(table.device.capabilities, holds_exit=False)
    table.start()
    if spare == "maintenance":
        table.do(operations.BeginMaintenance("cleaning"), Role.PIT_SUPERVISOR)
    else:
        table.to_dealing()
        table.take()
    if spare == "unanswered":
        table.device.answers = False
    if spare == "jammed":
        table.device.faults = ("jam: transport",)
        status_says(table, held=True, times=9)
    elif spare != "maintenance":
        table.do(operations.PauseTable("drop"))
    if spare == "another boot":
        table.device.boot += 1
    if spare != "jammed":
        status_says(table, held=False, times=9, moving=spare == "moving")
    assert not table.events_of(events.ExitDiffers)
    stops = [Kind.TECHNICAL_STOP] if spare == "jammed" else []  # the fault in the status raises it, not the exit
    assert [one.kind for one in table.events_of(events.IrregularityRaised)] == stops


@BOTH
def test_an_unanswered_order_is_a_stop_showing_if_cards_can_leave(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    table.device.ignores_commands = True
    table.do(operations.PauseTable("drop"))
    opened = table.state.device.open_commands
    late = tuple(one.id for one in opened)
    assert any(one.command == HoldExit() for one in opened)
    table.give(StatusReceived(replace(table.device.status, moving=True), late))
    assert not table.state.open, "it may take its time while it moves"
    for _ in range(3):
        table.give(StatusReceived(table.device.status, late))
    assert table.open.kind is Kind.TECHNICAL_STOP
    assert len(table.events_of(events.CommandUnanswered)) == len(late)
    assert "does not answer the order" in str(table.last(events.IrregularityRaised).note)
    assert "cards can leave" in str(table.last(events.IrregularityRaised).note)


def test_an_answer_given_in_the_meantime_is_not_a_stop() -> None:
    table = TableHarness().start().to_dealing()
    given = tuple(number for number, _ in table.device.received)
    table.give(StatusReceived(table.device.status, given))
    assert not table.events_of(events.CommandUnanswered)
    table.finish()


def test_a_contradicting_report_is_a_doubt_only_in_a_round() -> None:
    table = TableHarness().start()
    table.give(DeviceContradicted("report", 1, 1, Evidence(b"KD")))
    assert not table.state.open
    table.to_dealing()
    table.take()
    table.give(DeviceContradicted("report", 1, 2, Evidence(b"KD")))
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    notes = [str(event.detail) for event in table.events_of(events.DeviceNoted) if event.what == "contradiction"]
    assert [note for note in notes if "report 1 again" in note]
    assert table.at(Phase.DEALING_SETS)


@pytest.mark.parametrize("what", sorted(set(get_args(Contradiction)) - {"report", "motion"}))
def test_other_contradictions_are_noted_and_decide_nothing(what: Contradiction) -> None:
    table = TableHarness().start().to_dealing()
    table.give(DeviceContradicted(what, 1, 7, Evidence(b"")))
    assert not table.state.open
    noted = table.last(events.DeviceNoted)
    assert noted.what in NOTED, "people read it"
    assert ("command 7" in str(noted.detail)) == (what in ("answer", "unknown_answer"))
    table.finish()


def test_endless_motion_that_nobody_ordered_is_a_stop_in_a_round() -> None:
    table = TableHarness().start()
    table.give(DeviceContradicted("motion", 1, 1, Evidence(b"")))
    assert not table.state.device.stops
    table.to_dealing()
    table.give(DeviceContradicted("motion", 1, 2, Evidence(b"")))
    assert table.open.kind is Kind.TECHNICAL_STOP
    assert "nothing was ordered" in str(table.last(events.IrregularityRaised).note)
