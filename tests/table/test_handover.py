"""Duty: dealers go on and off duty, and the table is handed over with all open irregularities."""

from __future__ import annotations

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import PersonActed
from controller.table.operations import AnyOperation
from controller.table.permissions import PERMISSIONS
from controller.table.phases import Phase, Service
from tests.table.every_state import bring_to, to_phase
from tests.table.harness import TableHarness

ON, OFF = operations.DealerOn(), operations.DealerOff()


def on_duty(table: TableHarness) -> str:
    return view_of(table.state, LinkView()).dealer


def test_a_dealer_goes_on_and_off_duty_between_rounds() -> None:
    table = TableHarness().start()
    assert table.refused(OFF)[0] == "off-duty"
    table.do(ON)
    assert on_duty(table) == "dealer"
    assert table.refused(ON)[0] == "on-duty"
    code, sentence = table.refused(ON, Role.PIT_SUPERVISOR)
    assert (code, sentence) == ("on-duty", "The dealer on duty is dealer; take the table over instead.")
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


def test_taking_over_names_all_open_irregularities() -> None:
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


def test_taking_over_without_open_irregularities_names_none() -> None:
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


def as_person(table: TableHarness, person: str, role: Role, operation: AnyOperation) -> str:
    """Return the code of the refusal, or "" if the operation was accepted."""
    number = len(table.state.answers)
    table.give(PersonActed(f"{person}-{number}", person, role, table.state.round.number, operation))
    return table.state.answers[-1].code


def test_before_anyone_is_on_duty_any_dealer_deals() -> None:
    table = TableHarness().start()
    assert as_person(table, "dana", Role.DEALER, operations.OpenTable()) == ""
    assert as_person(table, "lee", Role.DEALER, operations.CloseTable()) == ""


def test_of_the_dealers_only_the_one_on_duty_deals() -> None:
    table = TableHarness().start().to_betting()
    table.do(operations.TakeOver(), Role.PIT_SUPERVISOR)
    assert table.refused(operations.NoMoreBets()) == (
        "not-on-duty",
        "Cannot close bets: pit-supervisor is on duty. Let pit-supervisor enter it, or take the table over first.",
    )
    table.do(operations.TakeOver())
    table.do(operations.NoMoreBets())
    assert as_person(table, "lee", Role.DEALER, operations.TakeOver()) == ""
    assert table.refused(operations.ReopenBets())[0] == "not-on-duty"


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.DEALER])
def test_rtp_6_2_nc_1_10_people_of_a_higher_rank_act_for_the_dealer_on_duty(role: Role) -> None:
    table = TableHarness().start()
    table.do(ON)
    table.do(operations.OpenTable(), role)
    table.do(OFF, role)
    assert on_duty(table) == ""


def test_a_dealer_off_duty_may_only_report_pause_and_take_over() -> None:
    assert {operation for operation, row in PERMISSIONS.items() if row.off_duty} == {
        operations.ReportIrregularity,
        operations.PauseTable,
        operations.DealerOn,
        operations.TakeOver,
        operations.SignOn,
        operations.LockScreen,
    }
    table = TableHarness().start().to_dealing()
    table.do(operations.TakeOver(), Role.PIT_SUPERVISOR)
    table.report(Kind.EXPOSED_CARD)
    table.do(operations.PauseTable("a card was seen"))
    assert table.refused(operations.ResumeTable())[0] == "not-on-duty"
    denial = operations.DenyIrregularity(table.open.id, table.open.revision, "no one saw it")
    assert table.refused(denial)[0] == "not-on-duty"


def test_a_dealer_does_not_end_the_duty_of_another() -> None:
    table = TableHarness().start()
    table.do(ON)
    assert as_person(table, "lee", Role.DEALER, OFF) == "not-on-duty"
    assert as_person(table, "lee", Role.DEALER, ON) == "on-duty"
    assert on_duty(table) == "dealer"


def test_the_user_of_a_dealers_entry_is_kept_until_the_next_dealer() -> None:
    table = TableHarness().start()
    duties = []
    acts = (("dana", ON, 1001), ("lee", operations.TakeOver(), 1002), ("lee", OFF, 1002))
    for person, operation, uid in acts:
        table.give(PersonActed(f"{person} {uid} {operation}", person, Role.DEALER, 0, operation, uid))
        duties.append((table.state.duty.dealer, table.state.duty.dealer_uid))
    assert duties == [("dana", 1001), ("lee", 1002), ("", None)]
