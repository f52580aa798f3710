"""NC 5.11: cards come out together and a supervisor names their order, but it remains a dealing error."""

from __future__ import annotations

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.phases import Phase
from firmware_bridge.commands import Dispense
from tests.table.harness import TableHarness


def ordinals_at(table: TableHarness, place: str) -> list[int]:
    return [held.ordinal for held in table.state.round.hands[place].cards]


def two_singles() -> TableHarness:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(3)
    table.device.draw_together(2)
    return table


def test_nc_5_11_cards_that_came_together_are_not_dealt_before_their_order_is_named() -> None:
    table = two_singles()
    assert (table.open.row.clause, table.open.ordinals, table.open.place) == ("NC 5.11", (4, 5), "D")
    assert [held.ordinal for held in table.state.decks.aside] == [4, 5]
    assert table.state.round.dealt == 3
    assert table.exit_is_held()


def test_nc_5_11_the_order_names_these_cards_and_each_once() -> None:
    table = two_singles()
    table.confirm()
    for named in ((4,), (4, 4), (5, 6), (4, 5, 6), ()):
        order = operations.NameOrder(table.open.id, table.open.revision, named)
        assert table.refused(order, Role.PIT_SUPERVISOR)[0] == "order"


def test_nc_5_11_three_singles_fill_places_across_the_end_of_a_round_of_cards() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(10)
    table.device.draw_together(3)
    table.confirm()
    table.name_order(13, 11, 12)
    table.all_continue()
    table.move_cards()
    assert table.at(Phase.EXAMINING)
    assert (ordinals_at(table, "B6")[-1], ordinals_at(table, "D")[-1]) == (13, 11)
    assert [held.ordinal for held in table.state.decks.aside] == [12], "the deal had no room for the last"
    table.expose_all().settle().conclude()
    assert (table.last(events.StubCounted).count, table.last(events.StubCounted).due) == (39, 39)


def test_nc_5_11_a_set_of_four_may_be_lifted_while_its_order_is_named() -> None:
    table = TableHarness().start().to_betting()
    table.device.next_set = 4
    table.do(operations.NoMoreBets())
    table.take()
    assert [found.kind for found in table.state.open] == [Kind.SIMULTANEOUS], "lifting it is no second error"
    table.confirm()
    table.name_order(4, 3, 2, 1)
    table.all_continue()
    table.move_cards()
    assert (ordinals_at(table, "B1"), ordinals_at(table, "B3")) == ([4, 3, 2], [1])
    table.finish()


def test_nc_5_11_a_set_of_two_is_completed_to_three_for_its_place() -> None:
    table = TableHarness().start().to_dealing()
    table.device.next_set = 2
    table.take()
    assert table.open.ordinals == (4, 5)
    table.confirm()
    table.name_order(4, 5)
    table.all_continue()
    table.take()
    assert table.device.received[-1][1] == Dispense(1)
    table.take()
    assert ordinals_at(table, "B3") == [4, 5, 6]
    table.finish()


def test_nc_5_11_a_person_may_report_what_the_sensor_missed() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.report(Kind.SIMULTANEOUS, "B3")
    assert table.open.asks == ("order_known",)
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "fact"
    table.confirm(order_known=True)
    table.all_continue()
    table.finish()
