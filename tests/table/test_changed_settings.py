"""New settings wait for the next round; a round that continues after a correction keeps the settings of its deal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import AnyInput, ConfigurationRead, DaemonStarted
from controller.table.phases import Phase, Service
from controller.table.record import ConfigurationRecord, DeviceRecord
from controller.table.settings import Settings
from tests.table.correction_hands import correct
from tests.table.harness import TableHarness

RECORD = ConfigurationRecord("1.0", DeviceRecord("serial:///dev/cardshoe/X"))
NC = Settings("NC", Unit.SETS, 7)
P3 = Settings("P3", Unit.SETS, 7, hands_by_device=True)


def read(settings: Settings) -> ConfigurationRead:
    return ConfigurationRead(RECORD, settings)


def restarted(settings: Settings) -> DaemonStarted:
    return DaemonStarted("T1", True, settings, "start-2", "", RECORD)


def void() -> TableHarness:
    table = TableHarness(settings=NC).start().to_dealing()
    table.take(2)
    table.report(Kind.COUNT_IN_DOUBT)
    table.count(table.state.stub_due - 1)
    table.confirm()
    assert table.at(Phase.VOIDED)
    return table


def games(table: TableHarness) -> list[str]:
    """Return the games in force after each change."""
    return [chosen.settings.game for chosen in table.events_of(events.GameChosen)]


@pytest.mark.parametrize("changed", [read(P3), restarted(P3)], ids=["reload", "restart"])
def test_a_lifted_void_continues_under_the_rules_of_its_deal(changed: AnyInput) -> None:
    table = void()
    table.give(changed)
    table.connect()
    assert (table.state.game.id, table.state.settings_wait) == ("NC", P3)
    due = table.state.stub_due
    correct(table, operations.CountCards, operations.CountCards("stub", due, "another witness"))
    assert table.state.in_round
    table.confirm()
    table.do(operations.DealByHand(6, "the stub is out"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)
    assert games(table) == ["NC"]


@pytest.mark.parametrize("changed", [read(P3), restarted(P3)], ids=["reload", "restart"])
def test_a_late_report_is_judged_by_the_rules_of_the_deal(changed: AnyInput) -> None:
    table = TableHarness(settings=NC).start().to_dealing().finish()
    table.give(changed)
    table.connect()
    table.report(Kind.FOREIGN_CARD)
    assert table.open.row.clause.startswith("NC ")
    table.deny()
    assert games(table) == ["NC"]
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    assert games(table) == ["NC", "P3"]


def test_maintenance_after_a_conclusion_does_not_end_the_wait() -> None:
    table = TableHarness(settings=NC).start().to_dealing().finish()
    table.do(operations.BeginMaintenance("the belt is torn"), Role.PIT_SUPERVISOR)
    table.give(read(P3))
    assert (table.state.game.id, table.state.settings_wait) == ("NC", P3)
    table.do(operations.EndMaintenance(), Role.PIT_SUPERVISOR)
    assert table.at(Phase.CONCLUDED)
    assert table.state.game.id == "NC"


def test_settings_in_force_that_are_read_again_end_the_wait() -> None:
    table = TableHarness(settings=NC).start().to_dealing().finish()
    in_force = table.state.settings
    assert in_force is not None
    for settings, waiting in ((P3, P3), (P3, P3), (in_force, None), (in_force, None)):
        table.give(read(settings))
        assert table.state.settings_wait == waiting
    assert [event.settings for event in table.events_of(events.SettingsDeferred)] == [P3, None]


def test_a_closed_table_applies_new_settings_immediately() -> None:
    table = TableHarness(settings=NC).start().to_dealing().finish()
    table.give(read(P3))
    table.do(operations.CloseTable())
    table.give(read(P3))
    assert (table.state.settings, table.state.settings_wait) == (P3, None)


def test_a_device_that_is_connected_between_rounds_must_fit_the_next_one() -> None:
    table = TableHarness(settings=NC).start().to_dealing().finish()
    table.give(read(replace(NC, unit=Unit.SINGLES)))
    table.lose_link()
    table.connect()
    assert table.at(Service.OUT_OF_SERVICE)
    assert "the table deals single cards" in str(table.state.service_cause)
