"""Who deals: on duty, off duty, and the table handed over with all open irregularities."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase, Service
from tests.table.every_state import bring_to, to_phase
from tests.table.harness import TableHarness

ON, OFF = operations.DealerOn(), operations.DealerOff()


def on_duty(table: TableHarness) -> str:
    return view_of(table.state, LinkView()).dealer


def test_a_dealer_comes_and_goes_between_rounds() -> None:
    table = TableHarness().start()
    assert table.refused(OFF)[0] == "off-duty"
    table.do(ON)
    assert on_duty(table) == "dealer"
    assert table.refused(ON)[0] == "on-duty"
    code, sentence = table.refused(ON, Role.PIT_SUPERVISOR)
    assert (code, sentence) == ("on-duty", "dealer is on duty; take the table over instead.")
    table.do(OFF)
    assert on_duty(table) == ""
    table.do(ON)
    table.to_betting()
    assert table.refused(OFF)[0] == "phase"


def test_dealers_do_not_change_while_an_irregularity_is_open() -> None:
    table = to_phase(Unit.SETS, Phase.CONCLUDED)
    table.report(Kind.LATE_BET)
    assert table.refused(ON)[0] == "open"
    table.do(operations.TakeOver((table.open.id,)))
    assert table.refused(OFF)[0] == "open"


def test_who_takes_over_names_all_that_is_open() -> None:
    table = TableHarness().start().to_dealing()
    table.do(operations.TakeOver())
    table.report(Kind.EXPOSED_CARD)
    table.report(Kind.LATE_BET)
    first, second = (found.id for found in table.state.open)
    for named in ((), (first,), (first, second, second), (first, second, 999)):
        code, sentence = table.refused(operations.TakeOver(named), Role.PIT_SUPERVISOR)
        assert code == "open"
        assert f"{first} (" in sentence
        assert f"{second} (" in sentence
    before = table.state
    table.do(operations.TakeOver((second, first)), Role.PIT_SUPERVISOR)
    over = table.last(events.HandedOver)
    assert over == events.HandedOver(
        "dealer", "pit-supervisor", (first, second), before.round.number, Phase.DEALING_SETS
    )
    assert on_duty(table) == "pit-supervisor"
    assert table.state.open == before.open
    assert table.state.held


def test_nothing_open_is_named_as_nothing() -> None:
    table = TableHarness().start()
    assert table.refused(operations.TakeOver((7,))) == (
        "open",
        "No irregularity is open; take over without naming one.",
    )
    table.do(operations.TakeOver())
    assert table.last(events.HandedOver).from_dealer == ""
    assert table.refused(operations.TakeOver())[0] == "on-duty"


@pytest.mark.parametrize("service", Service)
@pytest.mark.parametrize("phase", [phase for phase in Phase if phase is not Phase.DEALING_SINGLES])
def test_a_table_is_taken_over_in_every_phase_and_service_and_in_a_pause(phase: Phase, service: Service) -> None:
    table = to_phase(Unit.SETS, phase)
    table.do(operations.PauseTable("the shift changes"))
    bring_to(table, service)
    table.do(operations.TakeOver(tuple(found.id for found in table.state.open)), Role.PIT_SUPERVISOR)
    assert table.last(events.HandedOver).phase is phase


def test_the_dealer_on_duty_restricts_no_one() -> None:
    table = TableHarness().start()
    table.do(operations.TakeOver(), Role.PIT_SUPERVISOR)
    table.to_dealing().finish()  # by the dealer, who is off duty
    assert on_duty(table) == "pit-supervisor"
