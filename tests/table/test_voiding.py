"""A void takes effect at the second request (house procedure)."""

from __future__ import annotations

from controller.games.specification import Facts, Kind, RulingAction
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from tests.table.harness import TableHarness


def _foreign_card(table: TableHarness) -> operations.ConfirmIrregularity:
    table.report(Kind.FOREIGN_CARD)
    return operations.ConfirmIrregularity(table.open.id, table.open.revision)


def test_nc_5_5_1_a_void_takes_effect_at_the_second_confirmation() -> None:
    table = TableHarness().start().to_dealing()
    confirmation = _foreign_card(table)
    table.do(confirmation, Role.PIT_SUPERVISOR)
    assert table.open.void_asked
    assert table.at(Phase.DEALING_SETS)
    assert not table.events_of(events.RoundVoided)
    table.do(confirmation, Role.PIT_SUPERVISOR)
    assert table.at(Phase.VOIDED)
    assert table.last(events.RoundVoided).clause == "NC 5.5.1"


def test_a_repeated_request_is_not_a_second_confirmation() -> None:
    table = TableHarness().start().to_dealing()
    confirmation = _foreign_card(table)
    for _ in range(2):
        table.say(confirmation, Role.PIT_SUPERVISOR, operation_id="the same")
    assert table.at(Phase.DEALING_SETS)


def test_a_void_confirmed_once_can_still_be_denied() -> None:
    table = TableHarness().start().to_dealing()
    table.do(_foreign_card(table), Role.PIT_SUPERVISOR)
    table.deny()
    assert not table.state.open
    assert table.finish().at(Phase.CONCLUDED)


def test_a_new_fact_cancels_the_first_confirmation_of_a_void() -> None:
    table = TableHarness(count_by_hand=True).start().to_dealing()
    table.take()
    table.report(Kind.COUNT_IN_DOUBT)
    table.count(table.state.stub_due - 1)
    confirmation = operations.ConfirmIrregularity(table.open.id, table.open.revision)
    table.do(confirmation, Role.PIT_SUPERVISOR)
    asked = table.open
    table.count(table.state.stub_due - 1)  # counted again
    assert (asked.void_asked, table.open.void_asked) == (True, False)
    assert table.refused(confirmation, Role.PIT_SUPERVISOR)[0] == "changed"


def test_nc_5_5_4_an_answer_that_leads_to_a_void_is_entered_twice() -> None:
    """The answer that misplaced cards cannot be put right voids the round at the second entry."""
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.swap("B1", "B3")
    table.confirm(handled=False)
    impossible = Facts(curable=False)
    said = operations.ConfirmIrregularity(table.open.id, table.open.revision, impossible)
    table.do(said, Role.PIT_SUPERVISOR)
    assert table.open.void_asked
    table.put_right()
    assert not table.state.open
    assert table.at(Phase.DEALING_SETS)


def test_a_ruling_to_void_is_entered_twice() -> None:
    table = TableHarness(game_id="TP").start().to_dealing()
    table.report(Kind.UNSHUFFLED)
    found = table.open
    ruling = operations.Rule(found.id, found.revision, RulingAction.VOID, "shift manager", "start again")
    table.do(ruling, Role.SHIFT_MANAGER)
    assert not table.events_of(events.Ruled)
    table.do(ruling, Role.SHIFT_MANAGER)
    assert len(table.events_of(events.Ruled)) == 1
    assert table.at(Phase.VOIDED)
